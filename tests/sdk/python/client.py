"""Client driver of the Python SDK: many sessions in one process, driven by lines (`lines.py`).

Not a client of its own making: every request goes through `ClientSession` the way an application would send it. The one
rule: what kills a session is reported as that session's crash, and the driver goes on.
"""

import asyncio
import time
from typing import Any

import anyio
import sdk
from lines import commands, emit, leave
from mcp import types

class Session:
    """One MCP session with its calls, in the task that owns the SDK's context managers."""

    def __init__(self, command: dict[str, Any]) -> None:
        self.id: str = command["id"]
        self.url: str = command["url"]
        self.then: list[dict[str, Any]] = command.get("then", [])
        self.seconds = command["timeout"] / 1000 if "timeout" in command else None
        self.modern = bool(command.get("modern"))
        self.hold_answers = bool(command.get("hold_answers"))
        self.leaving = asyncio.Event()
        self.answers: dict[str, asyncio.Event] = {}
        self.open: dict[str, float] = {}
        self.calls: anyio.abc.TaskGroup | None = None
        self.client: Any = None

    async def run(self) -> None:
        """Connects, serves calls until it is closed, and tells how it ended."""
        connected = False
        try:
            async with sdk.client_session(self.url, self.seconds, self.modern, **self.callbacks()) as self.client:
                # Calls run inside the session's scope, as an application's would: what kills the session cancels them.
                async with anyio.create_task_group() as self.calls:
                    connected = True
                    emit("connected", id=self.id)
                    for command in self.then:
                        self.start(command)
                    await self.leaving.wait()
                    self.calls.cancel_scope.cancel()
        except Exception as error:
            self.calls = None
            if connected:
                self.crash(error)
            else:
                emit("connect-failed", id=self.id, message=flat(error))
            return
        emit("closed", id=self.id)

    def crash(self, error: Exception) -> None:
        """Reports the session's death, and with it that of every call still open."""
        for call in list(self.open):
            self.settled(call, "crash", message=flat(error))
        emit("crashed", id=self.id, message=flat(error))

    def start(self, command: dict[str, Any]) -> None:
        """Starts a call or a ping; on a session that has died it settles at once."""
        self.open[command["call"]] = time.monotonic()
        if self.calls is None:
            self.settled(command["call"], "crash", message="the session is dead")
        else:
            self.calls.start_soon(self.request, command)

    async def request(self, command: dict[str, Any]) -> None:
        """One request and its outcome."""
        call = command["call"]
        try:
            if command["cmd"] == "ping":
                result = await self.client.send_ping()
            else:
                limit = sdk.call_limit(command["timeout"] / 1000) if "timeout" in command else None
                result = await self.client.call_tool(command["tool"], command["args"], read_timeout_seconds=limit)
        except sdk.MCPError as error:
            outcome, code, message = sdk.error_outcome(error)
            self.settled(call, outcome, code=code, message=message)
        except Exception as error:
            self.settled(call, "error", message=flat(error))
        else:
            result = sdk.wire(result)
            self.settled(call, "tool-error" if result.get("isError") else "ok", result=result)

    def settled(self, call: str, outcome: str, **fields: Any) -> None:
        """Reports a call's outcome, once."""
        taken = round((time.monotonic() - self.open.pop(call)) * 1000)
        known = {"code": None, "message": None, "result": None, **fields}
        emit("settled", id=self.id, call=call, outcome=outcome, ms=taken, **known)

    # === What the server asks ===

    def callbacks(self) -> dict[str, Any]:
        return {
            "sampling_callback": self.sampling,
            "elicitation_callback": self.elicitation,
            "list_roots_callback": self.roots,
            "message_handler": self.message,
        }

    async def sampling(self, context: Any, params: Any) -> Any:
        tag = await self.asked("sampling", context, sdk.wire(params)["messages"][0]["content"]["text"])
        content = {"type": "text", "text": f"for {tag}"}
        return types.CreateMessageResult.model_validate({"role": "assistant", "model": "none", "content": content})

    async def elicitation(self, context: Any, params: Any) -> Any:
        tag = await self.asked("elicitation", context, sdk.wire(params)["message"])
        return types.ElicitResult.model_validate({"action": "accept", "content": {"answer": f"for {tag}"}})

    async def roots(self, context: Any) -> Any:
        # A roots/list has no text of its own, so its tag travels as metadata.
        tag = await self.asked("roots", context, f"tag:{(sdk.request_meta(context) or {}).get('tag')}")
        root = {"uri": "file:///nowhere", "name": f"for {tag}"}
        return types.ListRootsResult.model_validate({"roots": [root]})

    async def asked(self, kind: str, context: Any, words: str) -> str:
        """Reports a server's request and, when answers are held, waits for leave to answer it; its tag."""
        tag = words.removeprefix("tag:")
        seen = {"fields": sdk.handler_fields(context), "meta": sdk.request_meta(context), "request": context.request_id}
        # The SDK says nothing of the request that a question belongs to, so the origin is never known.
        emit("server-request", id=self.id, kind=kind, tag=tag, origin=None, wrapped=None, **seen)
        if self.hold_answers:
            await self.answer(tag).wait()
        emit("answering", id=self.id, tag=tag)
        return tag

    def answer(self, tag: str) -> asyncio.Event:
        """The leave to answer the question `tag`, whichever of the two comes first."""
        return self.answers.setdefault(tag, asyncio.Event())

    async def message(self, message: Any) -> None:
        if isinstance(message, Exception):
            emit("onerror", id=self.id, message=flat(message))


def flat(error: BaseException) -> str:
    """An exception in one line, an exception group with all that it holds."""
    if isinstance(error, BaseExceptionGroup):
        return f"{type(error).__name__}: " + "; ".join(flat(inner) for inner in error.exceptions)
    return f"{type(error).__name__}: {error}"


async def main() -> None:
    sessions: dict[str, Session] = {}
    tasks: set[asyncio.Task[None]] = set()
    async for command in commands():
        name = command["cmd"]
        if name == "connect":
            session = sessions[command["id"]] = Session(command)
            tasks.add(asyncio.create_task(session.run()))
        elif name in ("call", "ping"):
            sessions[command["id"]].start(command)
        elif name == "answer":
            sessions[command["id"]].answer(command["tag"]).set()
        elif name == "close":
            sessions[command["id"]].leaving.set()
    leave()


asyncio.run(main())
