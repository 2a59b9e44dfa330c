"""Services over a store in a temporary folder."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from nur import bootstrap
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.domain.filters import NoteFilter
from nur.domain.search import SearchRequest
from nur.domain.writes import OnEmbeddingFailure
from nur.settings import load
from tests.callers import LOCAL_CALLER
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import InMemoryEmbedder
from tests.doubles.vector_index import InMemoryVectorIndex
from tests.empty_store import copy_store
from tests.note_world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path
    from typing import Protocol

    from nur.domain.search import SearchResult
    from nur.ports.reranker import Reranker

    class OpenNur(Protocol):
        """Opens a separate Nur with this reranker and these settings."""

        async def __call__(self, reranker: Reranker | None = None, **settings: Any) -> Nur: ...

    class OpenWorld(Protocol):
        """Opens a separate World with these settings."""

        async def __call__(
            self, *, follows: bool = True, clock: ManualClock | None = None, **settings: Any
        ) -> World: ...


@dataclass
class Nur:
    """A complete Nur with its store on disk, and clock, embedder and vector index in memory."""

    folder: Path
    reranker: Reranker | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.stores = SqliteStores(self.folder)
        self.embedder = InMemoryEmbedder(256)
        self.services = bootstrap.assemble(
            load(**self.settings),
            self.stores,
            InMemoryVectorIndex(self.clock),
            self.embedder,
            self.reranker,
            self.clock,
        )

    def with_few_candidates(self) -> None:
        """Let each ranker find one candidate per requested hit."""
        retrieve = replace(self.services.search.retrieve, min_candidates=1, overfetch=1)
        self.services = replace(self.services, search=replace(self.services.search, retrieve=retrieve))

    async def remember(self, *texts: str) -> list[str]:
        """Public ids of new memories."""
        stored = [
            await self.services.remember(
                text,
                type="fact",
                confidence=1.0,
                conversation_id=None,
                caller=LOCAL_CALLER,
                on_failure=OnEmbeddingFailure.DEFER,
            )
            for text in texts
        ]
        return [one.note.public_id for one in stored]

    async def say(self, conversation_id: str, turn_index: int, content: str) -> None:
        """Store a turn, or replace it."""
        await self.services.append_turn(
            conversation_id,
            turn_index,
            role="user",
            content=content,
            caller=LOCAL_CALLER,
            on_failure=OnEmbeddingFailure.DEFER,
        )

    async def search(self, query: str, **changes: Any) -> SearchResult:
        """Search everything, unless another filter is named."""
        return await self.services.search(a_request(query, **changes))


def a_request(query: str, **changes: Any) -> SearchRequest:
    """A question about everything, unless another filter is named."""
    where = NoteFilter(tenant=LOCAL_CALLER.tenant)
    return SearchRequest(**{"query": query, "caller": LOCAL_CALLER, "where": where, **changes})


@pytest.fixture
def new_folder(tmp_path: Path, empty_store: Path) -> Callable[[], Path]:
    """Makes a data folder with an empty store in it."""

    def make() -> Path:
        return copy_store(empty_store, tmp_path / f"store{len(list(tmp_path.iterdir()))}")

    return make


@pytest.fixture
async def open_nur(new_folder: Callable[[], Path]) -> AsyncIterator[OpenNur]:
    """For tests that need a reranker or other settings."""
    async with contextlib.AsyncExitStack() as stack:

        async def opened(reranker: Reranker | None = None, **settings: Any) -> Nur:
            nur = Nur(new_folder(), reranker, settings)
            await nur.stores.open(nur.clock.now())
            stack.push_async_callback(nur.stores.close)
            return nur

        yield opened


@pytest.fixture
async def nur(open_nur: OpenNur) -> Nur:
    """A Nur with default settings."""
    return await open_nur()


@pytest.fixture
async def open_world(new_folder: Callable[[], Path]) -> AsyncIterator[OpenWorld]:
    """For tests of notes: a World with these settings, closed after the test."""
    async with contextlib.AsyncExitStack() as stack:

        async def opened(*, follows: bool = True, clock: ManualClock | None = None, **settings: Any) -> World:
            world = World(new_folder(), follows=follows, clock=clock, **settings)
            await world.open()
            stack.push_async_callback(world.close)
            return world

        yield opened
