// A maintainer's own test of a client, as a program: calls a tool of server-everything at the URL in MISHAP_URL and looks at
// what came back. Exit 0 if that is right, 1 if not; it knows nothing of a proxy.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const client = new Client({ name: 'a-client', version: '1.0.0' }, { capabilities: {}, versionNegotiation: { mode: 'legacy' } });
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MISHAP_URL)));
const { content } = await client.callTool({ name: 'echo', arguments: { message: 'hello' } }, { timeout: 1000 });
await client.close();
process.exit(content[0].text === 'Echo: hello' ? 0 : 1);
