// What client.mjs needs of @modelcontextprotocol/client 2.x.

const packages = { '2.0.0': 'client-2.0.0', '2.4.0': '@modelcontextprotocol/client' };
const methods = { sampling: 'sampling/createMessage', elicitation: 'elicitation/create', roots: 'roots/list' };

export async function load(version) {
    const sdk = await import(packages[version]);
    return {
        client: (info, capabilities, modern) =>
            new sdk.Client(info, { capabilities, versionNegotiation: { mode: modern ? { pin: '2026-07-28' } : 'legacy' } }),
        transport: (url, options) => new sdk.StreamableHTTPClientTransport(url, options),
        /** `handler(params, context)`: the context is all the SDK gives a handler beside the message. */
        onRequest: (client, kind, handler) =>
            client.setRequestHandler(methods[kind], (request, ctx) => handler(request.params ?? {}, ctx)),
        callTool: (client, params, options) => client.callTool(params, options),
        outcomes: new Map([
            [sdk.SdkErrorCode.RequestTimeout, 'timeout'],
            [sdk.SdkErrorCode.ConnectionClosed, 'closed']
        ]),
        /** The names of what a handler can see. */
        fields: ctx => Object.keys(ctx).flatMap(name => (name === 'mcpReq' ? Object.keys(ctx.mcpReq).map(inner => `mcpReq.${inner}`) : [name])),
        requestId: ctx => ctx.mcpReq.id
    };
}
