"""Progress notifications. Reporting never waits for the client, which gets only the newest state."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server.mcpserver import Context


@asynccontextmanager
async def reported(context: Context[Any, Any]) -> AsyncIterator[Callable[[int, int], None]]:
    """A callback for `done, total`; only the newest state is sent, so that a slow client slows nothing down."""
    news: asyncio.Queue[tuple[int, int]] = asyncio.Queue()

    async def send() -> None:
        while True:
            done, total = await news.get()
            while not news.empty():
                done, total = news.get_nowait()
            await context.report_progress(done, total, f"{done} of {total} chunks embedded")

    sending = asyncio.create_task(send())
    try:
        yield lambda done, total: news.put_nowait((done, total))
        await asyncio.sleep(0)  # let the last state be picked up
    finally:
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sending
