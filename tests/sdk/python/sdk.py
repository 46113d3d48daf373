"""What differs between the first and the second major version of the Python SDK, and nothing else.

Messages are built from and dumped to their JSON form, because only the Python names of the fields changed between the
two. The one rule: no other file of these drivers asks which version it runs on.
"""

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel

try:
    from mcp.shared.exceptions import MCPError

    FIRST = False
except ImportError:
    from mcp.shared.exceptions import McpError as MCPError

    FIRST = True

# 2.x marks sampling, roots and logging as deprecated and warns at every use; these drivers exist to use them.
warnings.simplefilter("ignore")

CONNECTION_CLOSED = -32000
# The first version borrows HTTP's status for a timeout, the second has the TypeScript SDK's code.
REQUEST_TIMEOUT = 408 if FIRST else -32001

ToolHandler = Callable[[Any, str, dict[str, Any]], Awaitable[dict[str, Any]]]


def wire(model: Any) -> Any:
    """The JSON form of a message or of a part of one."""
    return model.model_dump(by_alias=True, mode="json", exclude_none=True) if isinstance(model, BaseModel) else model


def error_outcome(error: MCPError) -> tuple[str, int, str]:
    """How a request that the SDK rejected ended: outcome, code and message."""
    outcome = {REQUEST_TIMEOUT: "timeout", CONNECTION_CLOSED: "closed"}.get(error.error.code, "error")
    return outcome, error.error.code, error.error.message


@asynccontextmanager
async def client_session(url: str, seconds: float | None, modern: bool, **callbacks: Any) -> AsyncIterator[ClientSession]:
    """A session, initialized or (in the era of 2026-07-28) discovered, closed in order when left."""
    limit = None if seconds is None else call_limit(seconds)
    async with streamable_http_client(url) as streams:
        async with ClientSession(streams[0], streams[1], read_timeout_seconds=limit, **callbacks) as session:
            await (session.discover() if modern else session.initialize())
            yield session


def call_limit(seconds: float) -> Any:
    """A timeout in the form that the SDK takes."""
    return timedelta(seconds=seconds) if FIRST else seconds


def handler_fields(context: Any) -> list[str]:
    """The names a callback can see in its context, which is all it could tell the originating request by."""
    return sorted(name for name in vars(context) if not name.startswith("_"))


def request_meta(context: Any) -> dict[str, Any] | None:
    """`params._meta` of the server's request."""
    return None if context.meta is None else dict(wire(context.meta))


def tool_server(name: str, tools: list[dict[str, Any]], handle: ToolHandler) -> Server:
    """A server that offers `tools` and runs `handle(context, tool, arguments)` for a CallToolResult in JSON form."""
    listed = types.ListToolsResult.model_validate({"tools": tools})
    if FIRST:
        server = Server(name)

        @server.list_tools()
        async def _list() -> list[types.Tool]:
            return listed.tools

        @server.call_tool()
        async def _call(tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
            return types.CallToolResult.model_validate(await handle(server.request_context, tool, arguments))

        return server

    async def on_list(_context: Any, _params: Any) -> types.ListToolsResult:
        return listed

    async def on_call(context: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult.model_validate(await handle(context, params.name, params.arguments or {}))

    return Server(name, on_list_tools=on_list, on_call_tool=on_call)


async def ask_client(context: Any, request: BaseModel, result: type[BaseModel], related: bool, seconds: float) -> Any:
    """Asks the client, on the stream of the call in hand or on the standalone GET; the answer in JSON form."""
    answer = await context.session.send_request(
        types.ServerRequest(request) if FIRST else request,
        result,
        request_read_timeout_seconds=timedelta(seconds=seconds) if FIRST else seconds,
        metadata=ServerMessageMetadata(related_request_id=context.request_id) if related else None,
    )
    return wire(answer)


async def notify_client(context: Any, notification: BaseModel) -> None:
    """Sends a notification on the stream of the call in hand."""
    await context.session.send_notification(
        types.ServerNotification(notification) if FIRST else notification, related_request_id=context.request_id
    )
