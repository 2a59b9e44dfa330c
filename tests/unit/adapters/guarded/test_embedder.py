"""The circuit breaker around an embedder, over one that fails on demand."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from nur.adapters.guarded.embedder import GuardedEmbedder
from nur.domain.errors import EmbedderDown, EmbedderRefused
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import InMemoryEmbedder

if TYPE_CHECKING:
    from nur.ports.embedder import Floats


class Counting(InMemoryEmbedder):
    """Counts what reaches it."""

    queries = 0

    async def embed_query(self, text: str) -> Floats:
        self.queries += 1
        return await super().embed_query(text)


async def test_after_a_failure_queries_are_refused_with_its_reason_and_not_sent() -> None:
    inner = Counting()
    guarded = GuardedEmbedder(inner, ManualClock())
    inner.down = True
    for _ in range(5):
        with pytest.raises(EmbedderDown, match="The embedding provider is down"):
            await guarded.embed_query("tea")
    assert inner.queries == 1
    assert guarded.last_known().error == "The embedding provider is down."


async def test_texts_to_store_are_always_tried_and_an_answer_closes_the_circuit() -> None:
    inner = InMemoryEmbedder()
    guarded = GuardedEmbedder(inner, ManualClock())
    inner.down = True
    with pytest.raises(EmbedderDown):
        await guarded.embed(["tea"])
    inner.down = False
    await guarded.embed(["tea"])
    assert (await guarded.embed_query("tea")).shape == (64,)


async def test_the_watch_closes_the_circuit_by_itself() -> None:
    inner = InMemoryEmbedder()
    guarded = GuardedEmbedder(inner, ManualClock())
    inner.down = True
    with pytest.raises(EmbedderDown):
        await guarded.embed_query("tea")
    inner.down = False
    watching = asyncio.create_task(guarded.watch())
    async with asyncio.timeout(30):
        while not guarded.last_known().healthy:  # noqa: ASYNC110
            await asyncio.sleep(0)
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching


async def test_a_refused_text_opens_the_circuit_only_if_the_probe_is_refused_too() -> None:
    inner = InMemoryEmbedder()
    guarded = GuardedEmbedder(inner, ManualClock())
    inner.refuse = True
    with pytest.raises(EmbedderRefused):
        await guarded.embed_query("tea")
    inner.refuse = False
    assert (await guarded.embed_query("tea")).shape == (64,)
    inner.refuse = True
    assert not (await guarded.probe()).healthy
    with pytest.raises(EmbedderDown):
        await guarded.embed_query("coffee")


async def test_the_first_good_answer_is_told_once_and_before_it_is_returned() -> None:
    told: list[str] = []

    async def tell() -> None:
        told.append("answered")

    inner = InMemoryEmbedder()
    guarded = GuardedEmbedder(inner, ManualClock(), on_answer=tell)
    inner.down = True
    assert not (await guarded.probe()).healthy
    assert told == []
    inner.down = False
    await guarded.embed(["tea"])
    await guarded.probe()
    assert told == ["answered"]
