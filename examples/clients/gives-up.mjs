// A program whose call is lost on the way, and which must be told so at once: `node gives-up.mjs URL`.
//
// What comes back is of no interest, an answer or an error. That the caller's own timeout had to end the wait is the flaw.
import assert from 'node:assert/strict';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';

const client = new Client({ name: 'gives-up', version: '1.0.0' });
client.onerror = () => {};
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));

const call = client.callTool({ name: 'add', arguments: { a: 1, b: 2 } }, undefined, { timeout: 3000 });
const [outcome] = await Promise.allSettled([call]);
await client.listTools(); // the session lives on
await client.close();
assert.notEqual(outcome.reason?.code, ErrorCode.RequestTimeout, 'nobody told the caller that its answer is lost');
