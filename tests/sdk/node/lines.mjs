// The driver protocol's two ends: one JSON value a line, commands on stdin, events on stdout.
// It knows nothing of MCP. A driver lives as long as its stdin.
import { createInterface } from 'node:readline';

/** The driver's options: the last argument, as JSON. */
export const options = JSON.parse(process.argv.at(-1));

/** The SDK version to drive: the first argument. */
export const version = process.argv[2];

/** Writes one event. Pipes are written synchronously here, so the order of the lines is the order of the calls. */
export function say(event, fields = {}) {
    process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
}

/** Hands every command to its handler, by name, and ends the process with stdin. */
export function obey(handlers) {
    const lines = createInterface({ input: process.stdin });
    lines.on('line', line => {
        const command = JSON.parse(line);
        const handler = handlers[command.cmd];
        if (!handler) throw new Error(`unknown command ${line}`);
        handler(command);
    });
    lines.on('close', () => process.exit(0));
}

/** Promises that the other side opens by name, no matter which side comes first. */
export class Gates {
    #gates = new Map();

    #gate(name) {
        if (!this.#gates.has(name)) this.#gates.set(name, Promise.withResolvers());
        return this.#gates.get(name);
    }

    /** Resolves when the gate of that name was opened. */
    passed(name) {
        return this.#gate(name).promise;
    }

    open(name) {
        this.#gate(name).resolve();
    }
}
