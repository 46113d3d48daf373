"""The drivers' wire to the test: commands in on stdin, events out on stdout, one JSON object a line.

Not MCP: nothing here knows what a session or a tool is. The one rule: whatever happens in the SDK, stdout carries
nothing but whole event lines.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

# A call's arguments may be larger than asyncio's own limit of 64 KiB a line.
LONGEST_COMMAND = 1 << 20


def options() -> dict[str, Any]:
    """The JSON object that is the driver's last argument, empty when there is none."""
    return json.loads(sys.argv[-1]) if len(sys.argv) > 1 else {}


def emit(event: str, **fields: Any) -> None:
    """Writes one event; flushed at once, because the test decides by it what to do next."""
    sys.stdout.write(json.dumps({"event": event, **fields}, default=str) + "\n")
    sys.stdout.flush()


async def commands() -> AsyncIterator[dict[str, Any]]:
    """Yields the commands of stdin until it ends."""
    reader = asyncio.StreamReader(limit=LONGEST_COMMAND)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        if line.strip():
            yield json.loads(line)


def leave() -> None:
    """Ends the driver now, with whatever is in flight left as it is.

    The orderly way would send a DELETE for every open session, which a stalled proxy would never answer; a session
    that is to end in order is closed by command.
    """
    sys.stdout.flush()
    os._exit(0)
