// The server that the conformance runner's scenarios need, which the runner does not bring:
// `node conformance/server.mjs VERSION OPTIONS`. With `faulty` the tools that ask the client something ask outside
// their call, on the standalone GET; without, on the call's own stream. That is the only difference.
import { randomUUID } from 'node:crypto';

import { ReadableEventStore } from '../event-store.mjs';
import { obey, options, say, version } from '../lines.mjs';
import { prompts, readTemplate, resources, template, tools } from './scenarios.mjs';

const { Server } = await import(`sdk-${version}/server/index.js`);
const { StreamableHTTPServerTransport } = await import(`sdk-${version}/server/streamableHttp.js`);
const { createMcpExpressApp } = await import(`sdk-${version}/server/express.js`);
const types = await import(`sdk-${version}/types.js`);

const answers = { 'sampling/createMessage': types.CreateMessageResultSchema, 'elicitation/create': types.ElicitResultSchema };
const sessions = new Map();

// === The protocol's methods ===

function callOf(server, extra) {
    const send = options.faulty ? server.request.bind(server) : extra.sendRequest;
    return {
        ask: (method, params) => send({ method, params }, answers[method], { timeout: options.timeout }),
        notify: (method, params) => extra.sendNotification({ method, params }),
        progressToken: extra._meta?.progressToken
    };
}

async function callTool(server, { name, arguments: args = {} }, extra) {
    try {
        const [, run] = tools[name];
        return await run(callOf(server, extra), args);
    } catch (error) {
        say('failed', { tool: name, message: error.message });
        return { content: [{ type: 'text', text: error.message }], isError: true };
    }
}

function handle(server) {
    const on = (schema, handler) => server.setRequestHandler(schema, (request, extra) => handler(request.params, extra));
    const described = (name, rest) => ({ name, description: `The conformance scenarios' ${name}`, ...rest });

    on(types.ListToolsRequestSchema, () => ({
        tools: Object.entries(tools).map(([name, [inputSchema]]) => described(name, { inputSchema }))
    }));
    on(types.CallToolRequestSchema, (params, extra) => callTool(server, params, extra));
    on(types.ListResourcesRequestSchema, () => ({ resources: Object.keys(resources).map(uri => described(uri, { uri })) }));
    on(types.ListResourceTemplatesRequestSchema, () => ({
        resourceTemplates: [described('template', { uriTemplate: template })]
    }));
    on(types.ReadResourceRequestSchema, ({ uri }) => resources[uri]?.(uri) ?? readTemplate(uri));
    on(types.SubscribeRequestSchema, () => ({}));
    on(types.UnsubscribeRequestSchema, () => ({}));
    on(types.ListPromptsRequestSchema, () => ({
        prompts: Object.entries(prompts).map(([name, [names]]) =>
            described(name, { arguments: names.map(argument => ({ name: argument, required: true })) })
        )
    }));
    on(types.GetPromptRequestSchema, ({ name, arguments: args }) => ({ messages: prompts[name][1](args) }));
    on(types.CompleteRequestSchema, () => ({ completion: { values: [], total: 0, hasMore: false } }));
}

// === Sessions ===

const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} };

async function openSession() {
    const server = new Server({ name: 'mishap-conformance-server', version: '1.0.0' }, { capabilities });
    handle(server);
    const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: new ReadableEventStore(),
        onsessioninitialized: id => sessions.set(id, transport)
    });
    await server.connect(transport);
    return transport;
}

// The SDK's own application checks the Host header, which a scenario tests (DNS rebinding).
const app = createMcpExpressApp();

app.all('/mcp', async (req, res) => {
    const known = sessions.get(req.headers['mcp-session-id']);
    const transport = known ?? (types.isInitializeRequest(req.body) ? await openSession() : undefined);
    if (!transport) return res.status(404).end();
    await transport.handleRequest(req, res, req.body);
});

const http = app.listen(0, '127.0.0.1', () => say('listening', { url: `http://127.0.0.1:${http.address().port}/mcp` }));
// As in ../server.mjs: an idle connection that closes just as a request is sent on it is another subject.
http.keepAliveTimeout = 0;
obey({});
