"""A program whose call is lost on the way, and which must be told so at once: `python gives_up.py URL`.

What comes back is of no interest, an answer or an error. That the caller's own timeout had to end the wait is the flaw.
"""

import asyncio
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

TIMEOUT = -32001


async def main(url: str) -> None:
    async with streamable_http_client(url) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        try:
            await session.call_tool("add", {"a": 1, "b": 2}, read_timeout_seconds=60)
        except MCPError as error:
            assert error.error.code != TIMEOUT, "nobody told the caller that its answer is lost"


asyncio.run(main(sys.argv[1]))
