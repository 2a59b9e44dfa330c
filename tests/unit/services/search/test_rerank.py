from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from nur.domain.chunks import Chunk
from nur.domain.errors import RerankerDown
from nur.domain.notes import NoteMetadata
from nur.domain.writes import OnEmbeddingFailure, Protection
from nur.services.search.rerank import Rerank
from tests.callers import LOCAL_CALLER
from tests.candidates import a_read
from tests.store_notes import a_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.unit.services.conftest import Nur, OpenNur

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


async def test_the_reranker_decides_the_order_and_its_scores_are_shown(open_nur: OpenNur) -> None:
    nur = await open_nur(Contrary())
    await nur.remember(*TEA)
    result = await nur.search("tea drunk at four")
    lengths = [len(hit.passages[0].text) for hit in result.hits]
    assert lengths == sorted(lengths)
    assert [hit.rerank_score for hit in result.hits] == [-length for length in lengths]
    assert result.degraded == ()


async def test_only_the_first_hits_are_asked_about_and_the_others_follow(open_nur: OpenNur) -> None:
    nur = await open_nur(Contrary(), rerank_top=2)
    await nur.remember(*TEA, "Bridges")
    result = await nur.search("tea drunk at four")
    assert [hit.rerank_score is None for hit in result.hits] == [False, False, True, True]


async def test_more_hits_are_reranked_than_are_shown(open_nur: OpenNur) -> None:
    nur = await open_nur(Contrary())
    await nur.remember(*TEA)
    assert [hit.passages[0].text for hit in (await nur.search("tea is green, black or white", limit=1)).hits] == [
        min(TEA, key=len)
    ]


async def test_one_that_hangs_or_fails_leaves_the_order_as_it_was_and_that_is_said(open_nur: OpenNur) -> None:
    for broken in (Contrary(hangs=True), Contrary(fails=True)):
        nur = await open_nur(broken, rerank_deadline=0.05)
        await nur.remember(*TEA)
        result = await nur.search("tea drunk at four")
        assert result.degraded == ("rerank",)
        assert result.hits[0].passages[0].text == TEA[0]
        assert [hit.rerank_score for hit in result.hits] == [None] * 3
        trace = await nur.services.search_log.find(result.search_id, LOCAL_CALLER)
        assert trace is not None
        assert trace.outcome["degraded"] == ["rerank"]


async def test_nobody_is_asked_about_nothing(open_nur: OpenNur) -> None:
    reranker = Contrary(fails=True)
    assert (await (await open_nur(reranker)).search("tea")).degraded == ()


async def ingested(nur: Nur, text: str) -> None:
    await nur.services.ingest(
        text,
        NoteMetadata(type="doc", source_system="test"),
        Protection(),
        caller=LOCAL_CALLER,
        on_failure=OnEmbeddingFailure.REJECT,
    )


async def test_of_a_long_chunk_the_sentences_that_answer_are_read(open_nur: OpenNur) -> None:
    reranker = Contrary()
    nur = await open_nur(reranker)
    filler = " ".join(f"Ship number {number} is moored at the quay." for number in range(60))
    await ingested(nur, f"{filler} Tea is drunk at four by the crew. {filler}")
    await nur.search("when is tea drunk by the crew")
    assert "Tea is drunk at four" in reranker.seen[0]
    assert len(reranker.seen[0]) <= reranker.max_chars


async def test_a_short_chunk_is_read_between_its_neighbours(open_nur: OpenNur) -> None:
    reranker = Contrary(max_chars=10_000)
    nur = await open_nur(reranker, single_piece_max_tokens=40, chunk_target_tokens=40, chunk_overlap_tokens=10)
    sentences = [f"Keeper {number} of the lighthouse trims the lamp called {number}." for number in range(12)]
    text = " ".join(sentences)
    await ingested(nur, text)
    hit = (await nur.search("Keeper 6 lamp called 6")).hits[0]
    assert reranker.seen[0] in text  # stitched by offsets: no overlap is said twice
    assert hit.chunk.content in reranker.seen[0]
    assert len(reranker.seen[0]) > len(hit.chunk.content)


def test_a_chunk_is_read_with_as_much_around_it_as_the_model_takes() -> None:
    note = a_note("x", pieces=3)
    read = a_read("c" * 100, note, 1)
    read = replace(
        read,
        stored=replace(read.stored, chunk=Chunk(1, "c" * 100, 200, 300, 1)),
        before=Chunk(0, "b" * 200, 0, 200, 1),
        after=Chunk(2, "a" * 200, 300, 500, 1),
    )
    any_port = cast("Any", None)

    def text(max_chars: int) -> str:
        rerank = Rerank(Contrary(max_chars=max_chars), any_port, any_port, 1.0, 10)
        return rerank._text(cast("Any", None), read, cast("Any", None))

    assert text(300) == "b" * 100 + "c" * 100 + "a" * 100
    assert text(101) == "c" * 100 + "a"
    assert text(100) == "c" * 100
    assert text(900) == "b" * 200 + "c" * 100 + "a" * 200
    alone = a_read("Tea.")
    rerank = Rerank(Contrary(), any_port, any_port, 1.0, 10)
    assert rerank._text(cast("Any", None), alone, cast("Any", None)) == "Tea."
