"""Reads a JUnit file with a parser of its format and says in JSON what is in it: each suite's numbers, properties and cases."""

import json
import sys

from junitparser import JUnitXml


def case(one):
    results = [[type(result).__name__, result.type, result.message, result.text] for result in one.result]
    return {"name": one.name, "classname": one.classname, "results": results}


def suite(one):
    return {
        "name": one.name,
        "numbers": [one.tests, one.failures, one.errors, one.skipped],
        "properties": [[property.name, property.value] for property in one.properties()],
        "cases": [case(inner) for inner in one],
    }


json.dump([suite(one) for one in JUnitXml.fromfile(sys.argv[1])], sys.stdout)
