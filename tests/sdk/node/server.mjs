// A server driver: `node server.mjs VERSION OPTIONS`, many sessions of one SDK version in one process.
// It says what happened and in which order; when a tool asks the client, a test says when (see the protocol in
// ../README.md). What the SDK does with a request is never its business.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

import { ReadableEventStore } from './event-store.mjs';
import { Gates, obey, options, say, version } from './lines.mjs';

const { load } = await import(version.startsWith('1.') ? './server-v1.mjs' : './server-v2.mjs');
const sdk = await load(version);
const released = new Gates();
const sessions = new Map();

// === The tools ===

const questions = {
    sampling: tag => ({
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'text', text: `tag:${tag}` } }], maxTokens: 16 },
        answer: result => result.content.text
    }),
    elicitation: tag => ({
        method: 'elicitation/create',
        params: {
            message: `tag:${tag}`,
            requestedSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] }
        },
        answer: result => result.content.answer
    }),
    roots: tag => ({ method: 'roots/list', params: { _meta: { tag } }, answer: result => result.roots[0].name })
};

async function ask({ tag, kind, related, wait, via, timeout = options.timeout }, call) {
    say('entered', { tag, session: call.session, request: call.request });
    if (wait) await released.passed(tag);
    const how = related ? 'related' : via === 'elicitInput' ? 'helper' : 'unrelated';
    const { method, params, answer } = questions[kind](tag);
    const pending = call.ask(how, method, params, { timeout });
    say('asked', { tag });
    try {
        say('answered', { tag, answer: answer(await pending) });
        return text('answered');
    } catch (error) {
        say('ask-failed', { tag, message: error.message });
        return { ...text(error.message), isError: true };
    }
}

async function notify({ tag, count, wait }, call) {
    for (let n = 1; n <= count; n++) {
        await call.notify({ method: 'notifications/message', params: { level: 'info', data: `${n} of ${count} for ${tag}` } });
    }
    say('notified', { tag, session: call.session });
    if (wait) await released.passed(tag);
    return text('done');
}

async function slow({ tag }, call) {
    say('entered', { tag, session: call.session, request: call.request });
    await released.passed(tag);
    return text('done');
}

const text = value => ({ content: [{ type: 'text', text: value }] });
const tools = { ask, notify, slow, echo: async ({ text: words }) => text(words) };

// === Sessions ===

/** A server with the tools; `session()` is the id of its session. */
function toolServer(session) {
    const server = sdk.server({ name: 'mishap-sdk-tests', version: '1.0.0' }, { tools: {}, logging: {} });
    sdk.onListTools(server, async () => ({ tools: Object.keys(tools).map(name => ({ name, inputSchema: { type: 'object' } })) }));
    sdk.onCallTool(server, (params, call) => tools[params.name](params.arguments, { ...call, session: session() }));
    return server;
}

/** The era of 2026-07-28, in which there are no sessions; none in the first major version. */
const modern = sdk.modern?.(() => toolServer(() => null));

async function openSession() {
    const server = toolServer(() => session.transport.sessionId);
    const session = { calls: new Map() };
    session.transport = sdk.transport({
        sessionIdGenerator: randomUUID,
        eventStore: options.store ? new ReadableEventStore() : undefined,
        enableJsonResponse: options.json,
        onsessioninitialized: id => sessions.set(id, session)
    });
    await server.connect(session.transport);
    sayWhenCallsEnd(session);
    return session;
}

// The answer is handed over when the transport's `send` has returned: after it, nothing of the call is left to do.
function sayWhenCallsEnd({ transport, calls }) {
    const send = transport.send.bind(transport);
    transport.send = async (message, sendOptions) => {
        const call = message.method === undefined ? calls.get(message.id) : undefined;
        try {
            return await send(message, sendOptions);
        } finally {
            if (call) {
                call.answered = true;
                say('call-end', { tag: call.tag });
            }
        }
    };
}

// === HTTP ===

async function onPost(req, res) {
    const body = await json(req);
    if (modern && req.headers['mcp-protocol-version'] === '2026-07-28') return modern(req, res, body);
    const session = body.method === 'initialize' ? await openSession() : sessions.get(req.headers['mcp-session-id']);
    if (!session) return res.writeHead(404).end();
    // What a gateway in front of the server would say; `?refuse=METHOD` in the URL asks for it.
    if (new URL(req.url, 'http://localhost').searchParams.get('refuse') === body.method) {
        return res.writeHead(502, { 'content-type': 'text/plain' }).end('bad gateway');
    }
    const tag = body.method === 'tools/call' ? body.params.arguments?.tag : undefined;
    if (tag !== undefined) {
        const call = { tag, answered: false };
        session.calls.set(body.id, call);
        res.once('close', () => say('post-closed', { tag, answered: call.answered }));
    }
    if (body.method === 'notifications/initialized') say('initialized', { session: session.transport.sessionId });
    await session.transport.handleRequest(req, res, body);
}

// `get` is the GET's arrival, `get-open` the SDK's answer to it: from then on the stream is there to be written to.
async function onGet(req, res) {
    const id = req.headers['mcp-session-id'];
    const last = req.headers['last-event-id'] ?? null;
    const session = sessions.get(id);
    if (!session) return res.writeHead(404).end();
    say('get', { session: id, last });
    const writeHead = res.writeHead;
    res.writeHead = (status, ...rest) => {
        say('get-open', { session: id, last, status });
        return writeHead.call(res, status, ...rest);
    };
    await session.transport.handleRequest(req, res);
}

async function onDelete(req, res) {
    const session = sessions.get(req.headers['mcp-session-id']);
    if (!session) return res.writeHead(404).end();
    await session.transport.handleRequest(req, res);
}

const routes = { POST: onPost, GET: onGet, DELETE: onDelete };
const http = createServer((req, res) => {
    const route = routes[req.method] ?? ((_, answer) => answer.writeHead(405).end());
    route(req, res).catch(error => {
        process.stderr.write(`${error.stack}\n`);
        res.destroy(error);
    });
});

// A request may be held for longer than Node keeps an idle connection (5 s). Whether it then meets a connection that is
// just being closed is a race of its own, and none of these tests is about it.
http.keepAliveTimeout = 0;
http.listen(0, '127.0.0.1', () => say('listening', { url: `http://127.0.0.1:${http.address().port}/mcp` }));
obey({ release: ({ tag }) => released.open(tag), mark: ({ mark }) => say('mark', { mark }) });
