"""Runs mishap for the length of a test: a plain subprocess, no library."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

SERVER = f"{sys.executable} {Path(__file__).parent / 'server.py'} {{port}}"

Mishap = Callable[..., AbstractContextManager[str]]


@pytest.fixture
def mishap() -> Mishap:
    """`with mishap("-p", PROFILE) as url:` runs the server behind that profile and fails the test with the verdict."""

    @contextmanager
    def run(*args: str, status: int = 0) -> Iterator[str]:
        # It ends when its stdin does, so that a test runner that is killed leaves nothing behind.
        words = ["mishap", "run", "--until-stdin-closes", "--serve", SERVER, *args]
        child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        url = child.stdout.readline().strip()
        if not url:
            pytest.fail(child.communicate()[1])
        try:
            yield url
        finally:
            _, verdict = child.communicate()
            print(verdict)  # shown with whatever fails
        assert child.returncode == status, verdict

    return run
