// A program that uses a server as a person would for a minute: looks round, calls tools, watches progress. `node tour.mjs URL`.
import assert from 'node:assert/strict';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const client = new Client({ name: 'tour', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));

const { tools } = await client.listTools();
assert.ok(tools.some(tool => tool.name === 'echo'));

const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const echoed = await call('echo', { message: 'here' });
assert.equal(echoed.content[0].text, 'Echo: here');

const steps = [];
const onprogress = ({ progress }) => steps.push(progress);
await call('trigger-long-running-operation', { duration: 0.3, steps: 3 }, { onprogress });
assert.deepEqual(steps, [1, 2, 3]);

const [sum, again] = await Promise.all([call('get-sum', { a: 1, b: 2 }), call('echo', { message: 'again' })]);
assert.match(sum.content[0].text, /3/);
assert.equal(again.content[0].text, 'Echo: again');
await client.close();
