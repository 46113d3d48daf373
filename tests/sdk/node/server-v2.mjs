// What server.mjs needs of @modelcontextprotocol/server 2.x: the server, its transport, and the three ways to ask the
// client. The 2.4.0 transport is the one of @modelcontextprotocol/node; that package asks for server 2.4.0, so that
// 2.0.0 is joined to node:http by the same listener, here.
import { getRequestListener } from '@hono/node-server';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';

const packages = { '2.0.0': 'server-2.0.0', '2.4.0': '@modelcontextprotocol/server' };

function onNode(Transport, options) {
    const transport = new Transport(options);
    const handle = transport.handleRequest.bind(transport);
    transport.handleRequest = (req, res, parsedBody) =>
        getRequestListener(request => handle(request, { parsedBody }), { overrideGlobalObjects: false })(req, res);
    return transport;
}

export async function load(version) {
    const sdk = await import(packages[version]);

    /** The request rides the stream of the call in hand. */
    const related = (ctx, method, params, options) => ctx.mcpReq.send({ method, params }, options);

    /** The helper of the call's own context, as the documentation has it. */
    const helper = (ctx, method, params, options) =>
        ({
            'sampling/createMessage': () => ctx.mcpReq.requestSampling(params, options),
            'elicitation/create': () => ctx.mcpReq.elicitInput(params, options)
        })[method]();

    /** The request names no call, so that it rides the standalone GET. */
    const unrelated = (server, method, params, options) =>
        ({
            'sampling/createMessage': () => server.createMessage(params, options),
            'elicitation/create': () => server.elicitInput(params, options),
            'roots/list': () => server.listRoots(params, options)
        })[method]();

    return {
        /** A handler of requests of 2026-07-28, each with a server of its own. */
        modern: version === '2.4.0' ? factory => toNodeHandler(sdk.createMcpHandler(factory)) : undefined,
        server: (info, capabilities) => new sdk.Server(info, { capabilities }),
        transport: options =>
            version === '2.0.0'
                ? onNode(sdk.WebStandardStreamableHTTPServerTransport, options)
                : new NodeStreamableHTTPServerTransport(options),
        onListTools: (server, handler) => server.setRequestHandler('tools/list', handler),
        onCallTool: (server, handler) =>
            server.setRequestHandler('tools/call', (request, ctx) =>
                handler(request.params, {
                    request: ctx.mcpReq.id,
                    notify: notification => ctx.mcpReq.notify(notification),
                    ask: (how, method, params, options) =>
                        ({
                            related: () => related(ctx, method, params, options),
                            helper: () => helper(ctx, method, params, options),
                            unrelated: () => unrelated(server, method, params, options)
                        })[how]()
                })
            )
    };
}
