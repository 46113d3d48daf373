"""Server driver of the Python SDK: one server, many sessions, its tools released by lines (`lines.py`).

Not a server of its own making: HTTP, sessions and streams are the SDK's session manager behind uvicorn. The one rule:
what the SDK was given is logged before the SDK acts on it, so that the log is evidence of order.
"""

import asyncio
import json
import socket
from collections.abc import Callable
from typing import Any

import sdk
import uvicorn
from lines import commands, emit, leave, options
from mcp import types
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

TEXT = {"type": "string"}
SCHEMA = {"type": "object", "properties": {"tag": TEXT}, "required": ["tag"]}
TOOLS = [{"name": name, "inputSchema": SCHEMA} for name in ("echo", "ask", "notify", "slow")]

releases: dict[str, asyncio.Event] = {}


def release(tag: str) -> asyncio.Event:
    """The leave to go on that the test gives, whichever of the two comes first."""
    return releases.setdefault(tag, asyncio.Event())


# === Tools ===


async def call_tool(context: Any, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    tag = args["tag"]
    try:
        if tool == "echo":
            return text(args.get("text", ""))
        return await {"ask": ask, "notify": notify, "slow": slow}[tool](context, tag, args)
    finally:
        emit("call-end", tag=tag)


async def ask(context: Any, tag: str, args: dict[str, Any]) -> dict[str, Any]:
    """Asks the client something: on the call's own stream when `related`, else on the standalone GET."""
    emit("entered", tag=tag, session=session_of(context), request=context.request_id)
    if args.get("wait"):
        await release(tag).wait()
    request, result, words = question(args["kind"], tag)
    seconds = args.get("timeout", given.get("timeout", 60_000)) / 1000
    emit("asked", tag=tag)
    try:
        answer = await sdk.ask_client(context, request, result, bool(args.get("related")), seconds)
    except Exception as error:
        emit("ask-failed", tag=tag, message=str(error))
        return text(str(error), failed=True)
    emit("answered", tag=tag, answer=words(answer))
    return text("answered")


def question(kind: str, tag: str) -> tuple[Any, Any, Callable[[Any], str]]:
    """The request of that kind with the tag in it, the type of its result, and what to read in the answer."""
    if kind == "sampling":
        message = {"role": "user", "content": {"type": "text", "text": f"tag:{tag}"}}
        wire = {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 16}}
        request = types.CreateMessageRequest.model_validate(wire)
        return request, types.CreateMessageResult, lambda answer: answer["content"]["text"]
    if kind == "elicitation":
        schema = {"type": "object", "properties": {"answer": TEXT}, "required": ["answer"]}
        wire = {"method": "elicitation/create", "params": {"message": f"tag:{tag}", "requestedSchema": schema}}
        return types.ElicitRequest.model_validate(wire), types.ElicitResult, lambda answer: answer["content"]["answer"]
    wire = {"method": "roots/list", "params": {"_meta": {"tag": tag}}}
    return types.ListRootsRequest.model_validate(wire), types.ListRootsResult, lambda answer: answer["roots"][0]["name"]


async def notify(context: Any, tag: str, args: dict[str, Any]) -> dict[str, Any]:
    for number in range(args["count"]):
        params = {"level": "info", "data": f"tag:{tag} {number + 1}"}
        message = {"method": "notifications/message", "params": params}
        await sdk.notify_client(context, types.LoggingMessageNotification.model_validate(message))
    emit("notified", tag=tag, session=session_of(context))
    if args.get("wait"):
        await release(tag).wait()
    return text("done")


async def slow(context: Any, tag: str, _args: dict[str, Any]) -> dict[str, Any]:
    emit("entered", tag=tag, session=session_of(context), request=context.request_id)
    await release(tag).wait()
    return text("done")


def session_of(context: Any) -> str | None:
    """The id of the session that a call came in."""
    return context.request.headers.get("mcp-session-id")


def text(words: str, failed: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": failed}


# === HTTP ===


class Store(EventStore):
    """Keeps every event of every stream, so that a client can resume from any of them."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
        stream = self.events[int(last_event_id) - 1][0]
        for number, (owner, message) in enumerate(self.events, start=1):
            # A priming event is stored without a message; there is nothing in it to send again.
            if number > int(last_event_id) and owner == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


class Logged:
    """The SDK's HTTP handler with a log of what it is given and of how each call's answer ended."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self.manager = manager

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        if scope["method"] == "GET":
            await self.get(headers.get("mcp-session-id"), headers.get("last-event-id"), scope, receive, send)
        elif scope["method"] == "POST":
            await self.post(scope, receive, send)
        else:
            await self.manager.handle_request(scope, receive, send)

    async def get(self, session: str | None, last: str | None, scope: Any, receive: Any, send: Any) -> None:
        """`get` is the GET's arrival, `get-open` the SDK's answer to it: from then on the stream can be written to."""

        async def watch(message: Any) -> None:
            if message["type"] == "http.response.start":
                emit("get-open", session=session, last=last, status=message["status"])
            await send(message)

        emit("get", session=session, last=last)
        await self.manager.handle_request(scope, receive, watch)

    async def post(self, scope: Any, receive: Any, send: Any) -> None:
        body = bytearray()
        more = True
        while more:
            part = await receive()
            body += part.get("body", b"")
            more = part.get("more_body", False)
        first = [{"type": "http.request", "body": bytes(body), "more_body": False}]
        answered = False

        async def replay() -> Any:
            return first.pop() if first else await receive()

        async def watch(message: Any) -> None:
            nonlocal answered
            await send(message)
            answered = answered or b'"result":' in message.get("body", b"")

        await self.manager.handle_request(scope, replay, watch)
        if tag := tag_of(bytes(body)):
            emit("post-closed", tag=tag, answered=answered)


def tag_of(body: bytes) -> str | None:
    """The tag of the tools/call in a request's body."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return None
    return message["params"].get("arguments", {}).get("tag")


async def main() -> None:
    server = sdk.tool_server("mishap-python-driver", TOOLS, call_tool)
    store = Store() if given.get("store") else None
    manager = StreamableHTTPSessionManager(server, event_store=store, json_response=bool(given.get("json")))
    listener = socket.create_server(("127.0.0.1", 0))
    # An idle connection that closes just as a request is sent on it is another subject, so none closes.
    config = uvicorn.Config(Logged(manager), lifespan="off", log_level="critical", timeout_keep_alive=3600)
    http = uvicorn.Server(config)
    async with manager.run():
        serving = asyncio.create_task(http.serve(sockets=[listener]))
        emit("listening", url=f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
        async for command in commands():
            if command["cmd"] == "release":
                release(command["tag"]).set()
        serving.cancel()
        leave()


given = options()
asyncio.run(main())
