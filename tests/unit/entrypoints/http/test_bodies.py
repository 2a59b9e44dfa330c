"""Limits of request bodies, below any framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from starlette.responses import PlainTextResponse

from nur.entrypoints.http.bodies import BoundedBody

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Message, Receive, Scope, Send

MAX_BYTES = 10


async def answer(parts: Sequence[bytes], path: str = "/") -> tuple[int, bytes, list[Message]]:
    """Send a body in parts; returns status, answer and what the application received."""
    sent = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    sent[-1]["more_body"] = False
    received: list[Message] = []
    answered: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        received.append(await receive())
        await PlainTextResponse("taken")(scope, receive, send)

    async def receive() -> Message:
        return sent.pop(0)

    async def send(message: Message) -> None:
        answered.append(message)

    bounded = BoundedBody(app, MAX_BYTES, lambda status, text: PlainTextResponse(text, status), frozenset({"/stream"}))
    scope: dict[str, Any] = {"type": "http", "path": path, "headers": []}
    await bounded(scope, receive, send)
    return answered[0]["status"], answered[1]["body"], received


async def test_a_body_of_the_maximum_size_arrives_in_one_piece() -> None:
    status, _, received = await answer([b"12345", b"67890"])
    assert status == 200
    assert received == [{"type": "http.request", "body": b"1234567890", "more_body": False}]


@pytest.mark.parametrize("parts", [[b"12345678901"], [b"12345", b"678901"], [b"12345", b"678901", b"more"]])
async def test_a_larger_body_is_refused_before_the_application_sees_it(parts: list[bytes]) -> None:
    assert await answer(parts) == (413, b"The body has more than 10 bytes.", [])


async def test_the_body_of_a_streamed_path_has_no_limit() -> None:
    status, _, received = await answer([b"12345", b"678901"], path="/stream")
    assert (status, received[0]["body"]) == (200, b"12345")
