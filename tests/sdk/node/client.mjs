// A client driver: `node client.mjs VERSION OPTIONS`, many clients of one SDK version in one process.
// It does as it is told and says how it went (see the protocol in ../README.md): an outcome is what the application's
// promise came to, never what should have become of it.
import { Gates, obey, say, version } from './lines.mjs';
import { WrappedFetch } from './wrapped-fetch.mjs';

const { load } = await import(version.startsWith('1.') ? './client-v1.mjs' : './client-v2.mjs');
const sdk = await load(version);
const clients = new Map();

// === The server's requests ===

const kinds = {
    sampling: {
        tag: params => params.messages[0].content.text.replace(/^tag:/, ''),
        answer: tag => ({ model: 'none', role: 'assistant', content: { type: 'text', text: `for ${tag}` } })
    },
    elicitation: {
        tag: params => params.message.replace(/^tag:/, ''),
        answer: tag => ({ action: 'accept', content: { answer: `for ${tag}` } })
    },
    roots: {
        tag: params => params._meta?.tag ?? null,
        answer: tag => ({ roots: [{ uri: 'file:///nowhere', name: `for ${tag}` }] })
    }
};

function answerRequests(id, client, { wrapped, answers, hold }) {
    for (const [kind, { tag: tagOf, answer }] of Object.entries(kinds)) {
        sdk.onRequest(client, kind, async (params, context) => {
            const tag = tagOf(params);
            const request = sdk.requestId(context);
            say('server-request', {
                id,
                kind,
                tag,
                request,
                fields: sdk.fields(context),
                origin: null, // no TypeScript SDK has a field for it; `fields` is what the tests compare
                wrapped: wrapped?.origin(request) ?? null,
                meta: params._meta ?? null
            });
            if (hold) await answers.passed(tag);
            say('answering', { id, tag });
            return answer(tag);
        });
    }
}

// === Commands ===

async function connect({ id, url, timeout, hold_answers: hold, fetch_wrapped: wrap, modern = false, then = [] }) {
    const wrapped = wrap ? new WrappedFetch(stream => say('stream-ended', { id, stream })) : undefined;
    const client = sdk.client({ name: 'mishap-sdk-tests', version: '1.0.0' }, { sampling: {}, elicitation: {}, roots: {} }, modern);
    client.onerror = error => say('onerror', { id, message: String(error.message) });
    client.fallbackNotificationHandler = async ({ method, params }) => say('notification', { id, method, data: params?.data ?? null });
    const answers = new Gates();
    answerRequests(id, client, { wrapped, answers, hold });
    try {
        await client.connect(sdk.transport(new URL(url), { fetch: wrapped?.fetch }), { timeout });
        clients.set(id, { client, answers, timeout });
        say('connected', { id });
        for (const command of then) handlers[command.cmd]({ id, ...command });
    } catch (error) {
        say('connect-failed', { id, message: error.message });
    }
}

async function settle({ id, call, timeout = clients.get(id).timeout }, request) {
    const { client } = clients.get(id);
    const start = performance.now();
    const said = outcome => say('settled', { id, call, ms: Math.round(performance.now() - start), ...outcome });
    try {
        const result = await request(client, { timeout });
        said({ outcome: result.isError ? 'tool-error' : 'ok', code: null, message: null, result });
    } catch (error) {
        said({ outcome: sdk.outcomes.get(error.code) ?? 'error', code: error.code ?? null, message: error.message, result: null });
    }
}

const handlers = {
    connect,
    call: command =>
        settle(command, (client, options) => sdk.callTool(client, { name: command.tool, arguments: command.args }, options)),
    ping: command => settle(command, (client, options) => client.ping(options)),
    answer: ({ id, tag }) => clients.get(id).answers.open(tag),
    close: async ({ id }) => {
        await clients.get(id).client.close();
        say('closed', { id });
    }
};

// A promise that nobody awaits belongs to no client that could be named.
process.on('uncaughtException', error => say('crashed', { id: null, message: String(error?.message ?? error) }));
obey(handlers);
