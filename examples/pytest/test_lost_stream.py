"""pytest: `python -m pytest examples/pytest`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from conftest import Mishap
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[ClientSession]:
    async with streamable_http_client(url) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        yield session


async def test_a_caller_whose_answer_is_lost_is_told(mishap: Mishap) -> None:
    with mishap("-p", "post-stream-lost") as url:
        async with connected(url) as session:
            with pytest.raises(MCPError, match="ended without a response"):
                await session.call_tool("add", {"a": 1, "b": 2}, read_timeout_seconds=60)


async def test_without_the_profile_it_gets_its_answer(mishap: Mishap) -> None:
    with mishap("-p", "transparent") as url:
        async with connected(url) as session:
            result = await session.call_tool("add", {"a": 1, "b": 2}, read_timeout_seconds=60)
            assert result.content[0].text == "3"
