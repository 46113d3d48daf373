// An MCP server with two tools: `greet` asks the user for a name, `add` asks nobody. `node asking.mjs PORT [--fixed]`.
//
// It has the flaw of modelcontextprotocol/conformance#407: its question names no call, so it rides the standalone GET and is
// lost where that is not open yet. With --fixed it rides the stream of the call.
import { randomUUID } from 'node:crypto';

import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const [port, flag] = process.argv.slice(2);
const fixed = flag === '--fixed';

const question = {
    message: 'Who are you?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
};
// Short, so that a lost question is known soon; the SDK's own is 60 s.
const patience = { timeout: 2000 };

function newServer() {
    const mcp = new McpServer({ name: 'asking', version: '1.0.0' });
    mcp.registerTool('greet', { description: 'Asks who you are and greets you' }, async extra => {
        const answer = fixed
            ? await extra.sendRequest({ method: 'elicitation/create', params: question }, ElicitResultSchema, patience)
            : await mcp.server.elicitInput(question, patience);
        return { content: [{ type: 'text', text: `Hello, ${answer.content?.name}` }] };
    });
    mcp.registerTool('add', { description: 'Adds', inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
        content: [{ type: 'text', text: String(a + b) }]
    }));
    return mcp;
}

const sessions = new Map();

async function newSession() {
    const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: id => sessions.set(id, transport)
    });
    await newServer().connect(transport);
    return transport;
}

const app = createMcpExpressApp();
app.all('/mcp', async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const transport = id === undefined ? await newSession() : sessions.get(id);
    if (!transport) return response.status(404).end();
    await transport.handleRequest(request, response, request.body);
});
app.listen(Number(port), '127.0.0.1');
