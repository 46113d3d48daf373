// Runs a test behind mishap: a plain subprocess, no library. It ends when its stdin does, so that a test runner that is
// killed leaves nothing behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Runs `test(url)` behind `mishap run` with these arguments. Whatever fails, the test or the run (a fault that never
 * happened, a request left open, an expectation not met), the verdict says more.
 */
export async function behind(args, test, expected = 0) {
    const child = spawn('mishap', ['run', '--until-stdin-closes', ...args]);
    let verdict = '';
    child.stderr.setEncoding('utf8').on('data', text => (verdict += text));
    const ended = once(child, 'close');
    try {
        const failed = ended.then(() => Promise.reject(new Error('mishap did not start')));
        const [url] = await Promise.race([once(createInterface(child.stdout), 'line'), failed]);
        await test(url);
    } catch (error) {
        child.stdin.end();
        await ended;
        error.message += `\n${verdict}`;
        throw error;
    }
    child.stdin.end();
    const [status] = await ended;
    assert.equal(status, expected, verdict);
}
