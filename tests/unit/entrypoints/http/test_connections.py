"""Connections that do not come to their request are dropped; those that are being answered are not."""

from __future__ import annotations

import asyncio
import errno
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import uvicorn

from nur.entrypoints.http.connections import (
    MAX_CONNECTIONS,
    BoundedProtocol,
    ThrottledWarning,
    most_connections,
    on_loop_error,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

HEAD_SECONDS = 0.5
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Quick(BoundedProtocol):
    """Not as patient, and for two connections."""

    head_seconds = HEAD_SECONDS
    _too_many = ThrottledWarning("too_many_connections")

    def max_connections(self) -> int:
        return 2


async def _slow_stream(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer that takes several times as long as a head may."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(5):
        await asyncio.sleep(HEAD_SECONDS)
        await send({"type": "http.response.body", "body": b"part", "more_body": True})
    await send({"type": "http.response.body", "body": b"end"})


@asynccontextmanager
async def _serving() -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(_slow_stream, http=Quick, lifespan="off", log_config=None, timeout_keep_alive=60)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve([listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await serving


async def _rest_of(reader: asyncio.StreamReader) -> bytes:
    """What still comes until the server ends the connection."""
    try:
        return await asyncio.wait_for(reader.read(), 30)
    except ConnectionError:
        return b""


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: lo"])
async def test_a_connection_without_a_whole_head_is_dropped(sent: bytes) -> None:
    async with _serving() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        assert await _rest_of(reader) == b""
        writer.close()


async def test_a_long_answer_is_not_cut_but_half_a_request_after_it_is_dropped() -> None:
    async with _serving() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        assert await asyncio.wait_for(reader.readuntil(b"end\r\n0\r\n\r\n"), 30)
        writer.write(b"GET / HT")
        assert await _rest_of(reader) == b""
        writer.close()


async def test_a_connection_too_many_is_dropped_and_the_others_are_answered(caplog: pytest.LogCaptureFixture) -> None:
    async with _serving() as port:
        taken = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for _, writer in taken:
            writer.write(REQUEST)
        for reader, _ in taken:
            await reader.readuntil(b"part")
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await _rest_of(reader) == b""
            writer.close()
        for reader, writer in taken:
            assert await asyncio.wait_for(reader.readuntil(b"end"), 30)
            writer.close()
    assert [record.getMessage() for record in caplog.records if record.name == "nur.Server"] == ["too_many_connections"]


def test_the_bound_leaves_descriptors_to_others() -> None:
    assert 0 < most_connections() <= MAX_CONNECTIONS


async def test_running_out_of_descriptors_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.get_running_loop()
    handle = on_loop_error()
    for _ in range(1000):
        handle(loop, {"message": "accept", "exception": OSError(errno.EMFILE, "Too many open files")})
    assert [record.getMessage() for record in caplog.records] == ["out_of_descriptors"]
    handle(loop, {"message": "another"})
    assert len(caplog.records) == 2
