"""An MCP server with one tool, `add`: `python server.py PORT`."""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("adding")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
