"""Services over ports that live in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from nur import bootstrap
from nur.adapters.in_memory.clock import ManualClock
from nur.adapters.in_memory.embedder import InMemoryEmbedder
from nur.adapters.in_memory.ledger import InMemoryLedger
from nur.adapters.in_memory.vector_index import InMemoryVectorIndex
from nur.adapters.rerank.none import NoReranker
from nur.domain.notes import Principal
from nur.domain.search import SearchRequest
from nur.domain.writes import OnEmbeddingFailure
from nur.settings import load

if TYPE_CHECKING:
    from nur.domain.search import SearchResult
    from nur.ports.reranker import Reranker


@dataclass
class Nur:
    """A whole Nur in memory."""

    reranker: Reranker = field(default_factory=NoReranker)
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.ledger = InMemoryLedger(self.clock)
        self.embedder = InMemoryEmbedder(256)
        self.services = bootstrap.assemble(
            load(**self.settings),
            self.ledger,
            InMemoryVectorIndex(self.clock),
            self.embedder,
            self.reranker,
            self.clock,
        )

    async def remember(self, *texts: str) -> list[str]:
        """Public ids of new memories."""
        stored = [
            await self.services.remember(
                text,
                type="fact",
                confidence=1.0,
                conversation_id=None,
                principal=Principal(),
                on_failure=OnEmbeddingFailure.DEFER,
            )
            for text in texts
        ]
        return [one.note.public_id for one in stored]

    async def search(self, query: str, **changes: Any) -> SearchResult:
        return await self.services.search(SearchRequest(query=query, **changes))


@pytest.fixture
def nur() -> Nur:
    return Nur()
