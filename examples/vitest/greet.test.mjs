// vitest: `npx vitest run --dir vitest`.
import { afterEach, beforeEach, expect, test } from 'vitest';

import { greeting } from '../greeting.mjs';
import { mishap } from '../mishap.mjs';

let proxy;

beforeEach(async () => {
    proxy = await mishap('--serve', 'node servers/asking.mjs {port} --fixed', '-p', 'get-opens-late');
});

// A fault that never happened, a request left open, an expectation not met: all of that is in the exit status.
afterEach(async () => {
    const { status, verdict } = await proxy.finish();
    expect(status, verdict).toBe(0);
});

test('the greeting comes although the GET opens late', async () => {
    expect(await greeting(proxy.url)).toBe('Hello, Ada');
});
