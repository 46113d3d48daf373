// A program that lets itself be greeted, and fails where the greeting does not come: `node greet.mjs URL`.
import assert from 'node:assert/strict';

import { greeting } from '../greeting.mjs';

assert.equal(await greeting(process.argv[2]), 'Hello, Ada');
