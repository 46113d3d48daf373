// Runs mishap for the length of a test: a plain subprocess, no library. It ends when its stdin does, so that a test runner
// that is killed leaves nothing behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Starts `mishap run` with these arguments: the URL for the client, and `finish()` for the exit status and the verdict. */
export async function mishap(...args) {
    const child = spawn('mishap', ['run', '--until-stdin-closes', ...args], { cwd: import.meta.dirname });
    let verdict = '';
    child.stderr.setEncoding('utf8').on('data', text => (verdict += text));
    const ended = once(child, 'close');
    const failed = ended.then(() => Promise.reject(new Error(verdict)));
    const [url] = await Promise.race([once(createInterface(child.stdout), 'line'), failed]);
    return {
        url,
        async finish() {
            child.stdin.end();
            const [status] = await ended;
            return { status, verdict };
        }
    };
}
