// vitest, run in examples/: `npx vitest run --dir vitest`.
import { expect, test } from 'vitest';

import { greeting } from '../greeting.mjs';
import { behind } from '../mishap.mjs';

test.each(['get-opens-late', 'get-late-by', 'get-opens-first'])('the greeting comes behind %s', profile =>
    behind(['--serve', 'node servers/asking.mjs {port} --fixed', '-p', profile], async url => {
        expect(await greeting(url)).toBe('Hello, Ada');
    })
);
