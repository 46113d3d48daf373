// What server.mjs needs of @modelcontextprotocol/sdk 1.x: the server, its transport, and the two ways to ask the client.

export async function load(version) {
    const { Server } = await import(`sdk-${version}/server/index.js`);
    const { StreamableHTTPServerTransport } = await import(`sdk-${version}/server/streamableHttp.js`);
    const types = await import(`sdk-${version}/types.js`);
    const results = {
        'sampling/createMessage': types.CreateMessageResultSchema,
        'elicitation/create': types.ElicitResultSchema,
        'roots/list': types.ListRootsResultSchema
    };

    /** The request rides the stream of the call in hand. */
    const related = (extra, method, params, options) => extra.sendRequest({ method, params }, results[method], options);

    /** The request names no call, so that it rides the standalone GET: the helpers a tool's author finds first. */
    const unrelated = (server, method, params, options) =>
        ({
            'sampling/createMessage': () => server.createMessage(params, options),
            'elicitation/create': () => server.elicitInput(params, options),
            'roots/list': () => server.listRoots(params, options)
        })[method]();

    return {
        server: (info, capabilities) => new Server(info, { capabilities }),
        transport: options => new StreamableHTTPServerTransport(options),
        onListTools: (server, handler) => server.setRequestHandler(types.ListToolsRequestSchema, handler),
        onCallTool: (server, handler) =>
            server.setRequestHandler(types.CallToolRequestSchema, (request, extra) =>
                handler(request.params, {
                    request: extra.requestId,
                    notify: notification => extra.sendNotification(notification),
                    ask: (how, method, params, options) =>
                        how === 'related' ? related(extra, method, params, options) : unrelated(server, method, params, options)
                })
            )
    };
}
