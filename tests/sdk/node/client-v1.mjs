// What client.mjs needs of @modelcontextprotocol/sdk 1.x.

export async function load(version) {
    const { Client } = await import(`sdk-${version}/client/index.js`);
    const { StreamableHTTPClientTransport } = await import(`sdk-${version}/client/streamableHttp.js`);
    const types = await import(`sdk-${version}/types.js`);
    const schemas = {
        sampling: types.CreateMessageRequestSchema,
        elicitation: types.ElicitRequestSchema,
        roots: types.ListRootsRequestSchema
    };
    return {
        client: (info, capabilities) => new Client(info, { capabilities }),
        transport: (url, options) => new StreamableHTTPClientTransport(url, options),
        /** `handler(params, context)`: the context is all the SDK gives a handler beside the message. */
        onRequest: (client, kind, handler) =>
            client.setRequestHandler(schemas[kind], (request, extra) => handler(request.params ?? {}, extra)),
        callTool: (client, params, options) => client.callTool(params, undefined, options),
        outcomes: new Map([
            [types.ErrorCode.RequestTimeout, 'timeout'],
            [types.ErrorCode.ConnectionClosed, 'closed']
        ]),
        /** The names of what a handler can see. */
        fields: extra => Object.keys(extra),
        requestId: extra => extra.requestId
    };
}
