// node:test: `node --test node-test/greet.test.mjs`.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { greeting } from '../greeting.mjs';
import { mishap } from '../mishap.mjs';

test('the greeting comes although the GET opens late', async () => {
    const proxy = await mishap('--serve', 'node servers/asking.mjs {port} --fixed', '-p', 'get-opens-late');
    assert.equal(await greeting(proxy.url), 'Hello, Ada');
    const { status, verdict } = await proxy.finish();
    assert.equal(status, 0, verdict);
});

test('this test can fail: a server with the flaw loses its question', async () => {
    const proxy = await mishap('--serve', 'node servers/asking.mjs {port}', '-p', 'get-opens-late');
    assert.match(await greeting(proxy.url), /timed out/);
    await proxy.finish();
});
