from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from nur.adapters.sql.chunks import SqlChunkStore
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.domain.search import EmptyReason, Fusion, Mode
from nur.retrieval.calibration import MIN_CANDIDATES
from tests.callers import LOCAL_CALLER
from tests.unit.services.conftest import a_request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import datetime

    from nur.domain.notes import ChunkKey, NoteId
    from nur.domain.search import SearchResult
    from nur.ports.chunks import CandidateQuery, CandidateSet, ChunkWithNote
    from nur.services.search.search import Search
    from tests.unit.services.conftest import Nur, OpenWorld

MEMO = "The memo about the harbour crane, its crew and the test in spring, sent to everybody who was at the meeting"


def ids(result: SearchResult) -> list[str]:
    return [hit.note.public_id for hit in result.hits]


async def test_an_empty_selection_is_nothing_stored_even_when_degraded(nur: Nur) -> None:
    await nur.remember("Tea is drunk at four.")
    artifacts = NoteFilter(tenant=LOCAL_CALLER.tenant, kinds=frozenset({Kind.ARTIFACT}))
    assert (await nur.search("tea", where=artifacts)).reason is EmptyReason.NOTHING_STORED
    nur.embedder.down = True
    assert (await nur.search("tea", where=artifacts)).reason is EmptyReason.NOTHING_STORED


async def test_what_does_not_answer_is_below_the_floor(nur: Nur) -> None:
    await nur.remember("Tea is drunk at four.", "Bridges are closed at night.")
    search = replace(nur.services.search, calibration=replace(nur.services.search.calibration, floor=0.3))
    result = await search(a_request("xylophone lessons"))
    assert (result.hits, result.reason) == ((), EmptyReason.BELOW_FLOOR)
    assert [hit.note.meta.type for hit in (await search(a_request("when is tea drunk"))).hits] == ["fact"]


async def test_silence_while_vectors_are_missing_says_degraded(nur: Nur) -> None:
    await nur.remember("Tea is drunk at four.")
    nur.embedder.down = True
    result = await nur.search("xylophone lessons")
    assert (result.hits, result.reason, result.degraded) == ((), EmptyReason.DEGRADED, ("dense",))


@pytest.mark.parametrize("mode", [Mode.LEXICAL, Mode.DENSE])
async def test_the_floor_is_not_held_against_one_ranker_alone(nur: Nur, mode: Mode) -> None:
    await nur.remember("Tea is drunk at four.")
    search = replace(nur.services.search, calibration=replace(nur.services.search.calibration, floor=9.0))
    assert (await search(replace(a_request("tea"), mode=mode))).hits
    assert not (await search(a_request("tea"))).hits
    nur.embedder.down = True
    assert (await search(a_request("tea"))).hits


async def test_near_duplicates_are_one_hit_that_names_the_others(nur: Nur) -> None:
    first, *others = await nur.remember(MEMO, MEMO + ".", MEMO + "!", "Tea is drunk at four.")
    result = await nur.search("harbour crane memo", limit=2)
    stood_for = {result.hits[0].note.public_id, *result.hits[0].duplicates}
    assert stood_for == {first, *others[:2]}
    assert len(result.hits) == 2


async def test_more_candidates_are_asked_for_until_the_limit_is_filled(nur: Nur) -> None:
    nur.with_few_candidates()
    await nur.remember(*(f"{MEMO}{mark}" for mark in (".", "!", ",", "…", ";", ")")))
    tea, salt = await nur.remember("A short memo on tea for the harbour.", "Salt and a memo, at the harbour.")
    result = await nur.search("memo about the harbour", limit=3)
    assert {tea, salt} < set(ids(result))
    assert len(result.hits) == 3


async def test_asking_for_more_ends_when_there_is_no_more(nur: Nur) -> None:
    nur.with_few_candidates()
    await nur.remember(MEMO, MEMO + "!")
    assert len((await nur.search("memo", limit=3)).hits) == 1


async def test_fusion_by_ranks_orders_by_the_sum_of_reciprocals(nur: Nur) -> None:
    await nur.remember("Tea is drunk at four.", "Tea and milk", "Four ships", "A bridge")
    search = replace(nur.services.search, fusion=Fusion.RRF)
    scores = [hit.rrf_score for hit in (await search(a_request("tea at four"))).hits]
    assert scores == sorted(scores, reverse=True)


async def test_by_meaning_alone_words_count_for_nothing(nur: Nur) -> None:
    await nur.remember("Tea is drunk at four.", "Bridges are closed at night.")
    request = replace(a_request("tea at four"), mode=Mode.DENSE)
    weight = nur.services.search.calibration.cosine_weight
    for one in nur.services.search.ranked(request, await nur.services.search.retrieve(request)):
        assert one.cosine is not None
        assert one.lexical == 0.0
        assert one.score == pytest.approx(weight * one.cosine + one.bonus, abs=1e-6)


@dataclass(frozen=True)
class MovingChunks(SqlChunkStore):
    """A store in which something happens just before chunks are read, once."""

    meanwhile: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def candidates(self, query: CandidateQuery) -> CandidateSet:
        await self._happen()
        return await super().candidates(query)

    async def show(
        self, chunks: Mapping[ChunkKey, NoteId], where: NoteFilter, now: datetime, **wanted: bool
    ) -> dict[ChunkKey, ChunkWithNote]:
        await self._happen()
        return await super().show(chunks, where, now, **wanted)

    async def _happen(self) -> None:
        while self.meanwhile:
            await self.meanwhile.pop()()


@pytest.mark.parametrize("stage", ["retrieve", "extract_passages"])
async def test_a_note_that_is_replaced_while_it_is_searched_is_found_as_it_is_now(nur: Nur, stage: str) -> None:
    turn = ("a conversation", 0)
    await nur.say(*turn, "The tea is in the tin by the door.")

    async def replaced() -> None:
        await nur.say(*turn, "The tea is in the tin by the window.")

    chunks = MovingChunks(nur.stores.chunks.run, nur.stores.chunks.lexical_index, [replaced])
    search: Search = nur.services.search
    search = replace(search, **{stage: replace(getattr(search, stage), chunks=chunks)})
    [hit] = (await search(a_request("where is the tea"))).hits
    assert hit.passages[0].text == "The tea is in the tin by the window."


async def test_a_note_that_is_indexed_while_it_is_searched_is_found_by_its_meaning(open_world: OpenWorld) -> None:
    """Stored before the search; the index answered without it, and holds it when the store is read."""
    world = await open_world(follows=False)
    for number in range(4 * MIN_CANDIDATES):  # an index that returns fewer than asked is not relied on
        await world.add(f"Railway timetable {number}")
    await world.settle()
    tea = await world.add("The tea is in the tin by the door.")
    chunks = MovingChunks(world.stores.chunks.run, world.stores.chunks.lexical_index, [world.drain])
    search = replace(world.services.search, retrieve=replace(world.services.search.retrieve, chunks=chunks))

    found = await search(a_request("The tea is in the tin by the door.", mode=Mode.DENSE))

    assert ids(found)[0] == tea.note.public_id
