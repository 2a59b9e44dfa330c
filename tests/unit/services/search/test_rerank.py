from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nur.domain.errors import RerankerDown
from nur.domain.notes import DEFAULT_TENANT, NoteMetadata, Principal
from nur.domain.writes import OnEmbeddingFailure, Protection
from tests.unit.services.conftest import Nur

if TYPE_CHECKING:
    from collections.abc import Sequence

TEA = ("Tea is drunk at four.", "Tea comes from Assam.", "Tea is green, black or white.")


@dataclass
class Contrary:
    """Likes the shortest passage best, and remembers what it was shown."""

    name: str = "contrary"
    max_chars: int = 300
    hangs: bool = False
    fails: bool = False
    seen: list[str] = field(default_factory=list)

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.seen = list(passages)
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            raise RerankerDown("down")
        return [-float(len(passage)) for passage in passages]

    async def close(self) -> None:
        pass


async def test_the_reranker_decides_the_order_and_its_scores_are_shown() -> None:
    nur = Nur(Contrary())
    await nur.remember(*TEA)
    result = await nur.search("tea drunk at four")
    lengths = [len(hit.passages[0].text) for hit in result.hits]
    assert lengths == sorted(lengths)
    assert [hit.rerank_score for hit in result.hits] == [-length for length in lengths]
    assert result.degraded == ()


async def test_only_the_first_hits_are_asked_about_and_the_others_follow() -> None:
    nur = Nur(Contrary(), {"rerank_top": 2})
    await nur.remember(*TEA, "Bridges")
    result = await nur.search("tea drunk at four")
    assert [hit.rerank_score is None for hit in result.hits] == [False, False, True, True]


async def test_more_hits_are_reranked_than_are_shown() -> None:
    nur = Nur(Contrary())
    await nur.remember(*TEA)
    assert [hit.passages[0].text for hit in (await nur.search("tea is green, black or white", limit=1)).hits] == [
        min(TEA, key=len)
    ]


async def test_one_that_hangs_or_fails_leaves_the_order_as_it_was_and_that_is_said() -> None:
    for broken in (Contrary(hangs=True), Contrary(fails=True)):
        nur = Nur(broken, {"rerank_deadline": 0.05})
        await nur.remember(*TEA)
        result = await nur.search("tea drunk at four")
        assert result.degraded == ("rerank",)
        assert result.hits[0].passages[0].text == TEA[0]
        assert [hit.rerank_score for hit in result.hits] == [None] * 3
        trace = await nur.services.traces.find(DEFAULT_TENANT, result.search_id)
        assert trace is not None
        assert trace.outcome["degraded"] == ["rerank"]


async def test_nobody_is_asked_about_nothing() -> None:
    reranker = Contrary(fails=True)
    assert (await Nur(reranker).search("tea")).degraded == ()


async def ingested(nur: Nur, text: str) -> None:
    await nur.services.ingest(
        text,
        NoteMetadata(type="doc", source_system="test"),
        Protection(),
        principal=Principal(),
        on_failure=OnEmbeddingFailure.REJECT,
    )


async def test_of_a_long_chunk_the_sentences_that_answer_are_read() -> None:
    reranker = Contrary()
    nur = Nur(reranker)
    filler = " ".join(f"Ship number {number} is moored at the quay." for number in range(60))
    await ingested(nur, f"{filler} Tea is drunk at four by the crew. {filler}")
    await nur.search("when is tea drunk by the crew")
    assert "Tea is drunk at four" in reranker.seen[0]
    assert len(reranker.seen[0]) <= reranker.max_chars


async def test_a_short_chunk_is_read_between_its_neighbours() -> None:
    reranker = Contrary(max_chars=10_000)
    nur = Nur(reranker, {"single_piece_max_tokens": 40, "chunk_target_tokens": 40, "chunk_overlap_tokens": 10})
    sentences = [f"Keeper {number} of the lighthouse trims the lamp called {number}." for number in range(12)]
    text = " ".join(sentences)
    await ingested(nur, text)
    hit = (await nur.search("Keeper 6 lamp called 6")).hits[0]
    [best] = await nur.ledger.chunk_range(hit.note.note_id, hit.chunk_index, hit.chunk_index)
    assert reranker.seen[0] in text  # stitched by offsets: no overlap is said twice
    assert best.chunk.content in reranker.seen[0]
    assert len(reranker.seen[0]) > len(best.chunk.content)
