// node:test, run in examples/: `node --test node-test/greet.test.mjs`.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { greeting } from '../greeting.mjs';
import { behind } from '../mishap.mjs';

test('the greeting comes although the GET opens late', () =>
    behind(['--serve', 'node servers/asking.mjs {port} --fixed', '-p', 'get-opens-late'], async url => {
        assert.equal(await greeting(url), 'Hello, Ada');
    }));

// It can fail: a server with the flaw loses its question, and the verdict has found that too (exit 3).
test('the greeting of the broken server does not come', () =>
    behind(
        ['--serve', 'node servers/asking.mjs {port}', '-p', 'get-opens-late'],
        async url => {
            assert.match(await greeting(url), /timed out/);
        },
        3
    ));
