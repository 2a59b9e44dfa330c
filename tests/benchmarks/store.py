"""A store to measure on: memories, conversations and documents of English-looking text, in process."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nur import bootstrap
from nur.domain.notes import NoteMetadata
from nur.domain.writes import OnEmbeddingFailure, Protection
from nur.settings import load
from tests.benchmarks import baselines
from tests.callers import LOCAL_CALLER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
    from typing import Any

    from nur.bootstrap import Services

T = TypeVar("T")

REJECT = OnEmbeddingFailure.REJECT
CONCURRENT_WRITES = 32
TURNS_IN_CONVERSATION = 40
#: Characters of a document that is cut into about ten chunks.
DOCUMENT_CHARS = 32_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """Contents of a store: a third of the chunks of each kind."""

    chunks: int

    @property
    def memories(self) -> int:
        """One chunk each."""
        return self.chunks // 3

    @property
    def turns(self) -> int:
        """One chunk each."""
        return self.chunks // 3

    @property
    def documents(self) -> int:
        """Ten chunks each."""
        return self.chunks // 30


@asynccontextmanager
async def opened(**settings: Any) -> AsyncIterator[Services]:
    """An empty Nur in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        async with bootstrap.running(load(nur_data_dir=Path(folder) / "data", **settings)) as services:
            yield services


async def fill(services: Services, sizes: Sizes, seed: int = 0) -> None:
    """Store everything, some writes at a time. Another seed adds other notes."""
    short = baselines.english_documents(sizes.memories + sizes.turns, words=60, seed=seed)
    text = baselines.english_text(sizes.documents * DOCUMENT_CHARS, seed=seed + 1)
    writes: list[Coroutine[Any, Any, object]] = [remember(services, content) for content in short[: sizes.memories]]
    for number, content in enumerate(short[sizes.memories :]):
        conversation, turn = divmod(number, TURNS_IN_CONVERSATION)
        role = "user" if turn % 2 == 0 else "assistant"
        writes.append(
            services.append_turn(
                f"conversation-{seed}-{conversation}",
                turn,
                role=role,
                content=content,
                caller=LOCAL_CALLER,
                on_failure=REJECT,
            )
        )
    for number in range(sizes.documents):
        content = text[number * DOCUMENT_CHARS : (number + 1) * DOCUMENT_CHARS]
        meta = NoteMetadata(type="doc", source_system="bench", source_id=f"{seed}-{number}", title=f"Document {number}")
        writes.append(services.ingest(content, meta, Protection(), caller=LOCAL_CALLER, on_failure=REJECT))
    gate = asyncio.Semaphore(CONCURRENT_WRITES)

    async def gated(write: Awaitable[object]) -> None:
        async with gate:
            await write

    await asyncio.gather(*(gated(write) for write in writes))


async def remember(services: Services, content: str) -> object:
    """Store one memory."""
    return await services.remember(
        content, type="fact", confidence=1.0, conversation_id=None, caller=LOCAL_CALLER, on_failure=REJECT
    )


def questions(count: int, seed: int = 7) -> list[str]:
    """Realistic queries of a few words, including frequent ones."""
    rng = random.Random(seed)
    words = baselines.english_text(200_000, seed=seed).split()
    starts = (rng.randrange(len(words) - 10) for _ in range(count))
    return [" ".join(words[start : start + rng.randint(4, 9)]) for start in starts]


async def timed(
    operation: Callable[[T], Awaitable[object]], inputs: Sequence[T], warmup: int = 5
) -> tuple[list[float], list[float]]:
    """CPU (all threads of this process) and wall seconds of the operation on each input, one after the other."""
    for value in inputs[:warmup]:
        await operation(value)
    cpu: list[float] = []
    wall: list[float] = []
    for value in inputs:
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        await operation(value)
        cpu.append(time.process_time() - cpu_start)
        wall.append(time.perf_counter() - wall_start)
    return cpu, wall
