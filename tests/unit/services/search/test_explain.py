from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from nur.domain.errors import NotFound
from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, Kind
from nur.domain.traces import CandidateOutcome, Trace, TracedCandidate
from nur.services.search.explain import _sentence, weakest_shown
from tests.callers import LOCAL_CALLER
from tests.store_notes import START

if TYPE_CHECKING:
    from nur.services.search.explain import NoteExplained
    from tests.unit.services.conftest import Nur, OpenNur

TENANT = LOCAL_CALLER.tenant
MEMORIES = NoteFilter(tenant=TENANT, kinds=frozenset({Kind.MEMORY}))


async def told(nur: Nur, public_id: str, query: str = "when is tea drunk", **changes: object) -> NoteExplained:
    result = await nur.search(query, **{"limit": 1, "where": MEMORIES, **changes})
    explained = await nur.services.explain(result.search_id, LOCAL_CALLER, public_id)
    assert explained.note is not None
    return explained.note


@pytest.fixture
async def ids(nur: Nur) -> list[str]:
    return await nur.remember("Tea is drunk at four.", "Tea is tea", "The bridge is closed.")


async def test_a_hit_is_explained_by_the_parts_of_its_score(nur: Nur, ids: list[str]) -> None:
    note = await told(nur, ids[0])
    assert note.outcome == "returned"
    assert note.why.startswith("Returned at place 1: score ")
    assert "words" in note.why
    assert "cosine" in note.why


async def test_one_beyond_the_limit_is_compared_with_the_weakest_hit(nur: Nur, ids: list[str]) -> None:
    note = await told(nur, ids[1])
    assert note.outcome == "beyond_limit"
    assert "but 1 were asked for" in note.why
    assert "the weakest hit shown had" in note.why


async def test_a_duplicate_names_the_note_that_is_shown(nur: Nur, ids: list[str]) -> None:
    [other] = await nur.remember("Tea is drunk at four!")
    shown, folded = (ids[0], other)
    notes = [await told(nur, each) for each in (shown, folded)]
    assert {note.outcome for note in notes} == {"returned", "collapsed"}
    hidden = next(note for note in notes if note.outcome == "collapsed")
    assert f"the same as {({shown, folded} - {hidden.public_id}).pop()}" in hidden.why


async def test_one_that_no_ranker_found_is_scored_now(nur: Nur, ids: list[str]) -> None:
    nur.with_few_candidates()
    note = await told(nur, ids[2])
    assert note.outcome == "not_a_candidate"
    assert note.now is not None
    assert "no ranker had it among its best 1. Scored now it has" in note.why


async def test_without_the_question_nothing_is_scored_now(open_nur: OpenNur) -> None:
    nur = await open_nur(trace_queries=False)
    nur.with_few_candidates()
    _, other = await nur.remember("Tea is drunk at four.", "The bridge is closed.")
    note = await told(nur, other)
    assert (note.outcome, note.now) == ("not_a_candidate", None)
    assert "kept out of the trace" in note.why


async def test_what_was_not_searched_is_said(nur: Nur, ids: list[str]) -> None:
    note = await told(nur, ids[0], where=NoteFilter(tenant=TENANT, kinds=frozenset({Kind.TURN})))
    assert (note.outcome, note.why) == ("not_searched", "The note is a memory; the search looked at turn only.")
    filtered = await told(nur, ids[0], where=NoteFilter(tenant=TENANT, type="decision"))
    assert filtered.outcome == "not_searched"


async def test_a_note_that_came_later_is_told_so(nur: Nur, ids: list[str]) -> None:
    result = await nur.search("when is tea drunk", where=MEMORIES)
    nur.clock.advance(60)
    [late] = await nur.remember("Tea is drunk late.")
    explained = await nur.services.explain(result.search_id, LOCAL_CALLER, late)
    assert explained.note is not None
    assert "stored or changed after the search" in explained.note.why


async def test_deleted_and_unknown_notes_are_told_apart(nur: Nur, ids: list[str]) -> None:
    await nur.services.forget(ids[2], Kind.MEMORY, LOCAL_CALLER)
    assert (await told(nur, ids[2])).outcome == "deleted"
    assert (await told(nur, "mem_000000000000")).outcome == "unknown"


async def test_an_unknown_search_is_not_found(nur: Nur) -> None:
    with pytest.raises(NotFound, match="TRACE_RETENTION_DAYS"):
        await nur.services.explain(uuid4(), LOCAL_CALLER)


async def test_an_unknown_trace_or_item_is_not_found(nur: Nur) -> None:
    for call in (nur.services.explain.trace, nur.services.explain.item):
        with pytest.raises(NotFound, match=r"^Trace .*not found$"):
            await call(uuid4(), LOCAL_CALLER)


async def test_an_item_of_a_result_is_explained_as_its_note_is(nur: Nur, ids: list[str]) -> None:
    result = await nur.search("when is tea drunk", limit=1)
    [hit] = result.hits
    explained = await nur.services.explain.item(hit.item_id, LOCAL_CALLER)
    assert (explained.item.public_id, explained.item.rank) == (ids[0], 1)
    assert explained.note == (await nur.services.explain(result.search_id, LOCAL_CALLER, ids[0])).note
    assert explained.note is not None
    trace = await nur.services.explain.trace(explained.item.trace_id, LOCAL_CALLER)
    assert trace.items == (explained.item,)


async def test_a_trace_is_found_by_its_own_id_too(nur: Nur, ids: list[str]) -> None:
    result = await nur.search("tea")
    by_trace = await nur.services.explain(result.trace_id, LOCAL_CALLER)
    assert by_trace == await nur.services.explain(result.search_id, LOCAL_CALLER)


def a_trace(*candidates: TracedCandidate, newer: tuple[tuple[str, str, str], ...] = ()) -> Trace:
    return Trace(
        trace_id=uuid4(),
        search_id=uuid4(),
        tenant=TENANT,
        principal="local",
        query="tea",
        request={"limit": 2, "mode": "hybrid", "selection": {"kinds": ["memory"]}},
        outcome={"floor": 0.25, "wanted": 200, "newer": newer},
        timings={},
        candidates=candidates,
        items=(),
        created_at=START,
    )


def a_traced(
    outcome: CandidateOutcome, public_id: str = "mem_1", score: float | None = 0.5, **fields: Any
) -> TracedCandidate:
    return TracedCandidate(ChunkKey(1), outcome, public_id, score=score, lexical=0.25, cosine=0.125, **fields)


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (
            a_traced(CandidateOutcome.RETURNED, place=1),
            "Returned at place 1: score 0.5000 (words 0.2500, cosine 0.1250).",
        ),
        (
            a_traced(CandidateOutcome.RETURNED, place=2, bonus=0.1, rerank_score=-3.5),
            "Returned at place 2: score 0.5000 (words 0.2500, cosine 0.1250, context +0.1000, reranker -3.5000).",
        ),
        (
            a_traced(CandidateOutcome.BELOW_FLOOR),
            "Below the relevance floor of 0.25: score 0.5000 (words 0.2500, cosine 0.1250).",
        ),
        (
            a_traced(CandidateOutcome.COLLAPSED, instead="mem_2"),
            "Says the same as mem_2, which is shown instead: score 0.5000 (words 0.2500, cosine 0.1250).",
        ),
        (
            a_traced(CandidateOutcome.BEYOND_LIMIT, place=3),
            "Found at place 3, but 2 were asked for: score 0.5000 (words 0.2500, cosine 0.1250).",
        ),
        (
            TracedCandidate(ChunkKey(1), CandidateOutcome.BELOW_FLOOR, "mem_1"),
            "Below the relevance floor of 0.25: score 0.0000 (words 0.0000).",
        ),
    ],
)
def test_every_outcome_has_its_sentence(candidate: TracedCandidate, expected: str) -> None:
    assert _sentence(a_trace(), candidate) == expected


def test_a_hit_names_the_notes_that_it_stands_before_or_behind() -> None:
    newer = (("mem_1", "mem_2", "value"), ("mem_3", "mem_1", "decided"), ("mem_3", "mem_2", "update"))
    hit = a_traced(CandidateOutcome.RETURNED, place=1)
    sentence = _sentence(a_trace(hit, newer=newer), hit)
    assert sentence.endswith(". Before mem_2: a newer value. Behind mem_3: somebody decided so.")
    other = a_traced(CandidateOutcome.RETURNED, "mem_2", place=2)
    assert _sentence(a_trace(other, newer=newer), other).endswith(
        ". Behind mem_1: a newer value. Behind mem_3: it reports a change."
    )


def test_the_weakest_hit_is_the_lowest_score_that_was_shown() -> None:
    shown = [a_traced(CandidateOutcome.RETURNED, score=score, place=1) for score in (0.5, 0.375, None)]
    others = [a_traced(CandidateOutcome.BELOW_FLOOR, score=0.1), a_traced(CandidateOutcome.BEYOND_LIMIT, score=0.2)]
    assert weakest_shown(a_trace(*shown, *others)) == 0.375
    assert weakest_shown(a_trace(*others)) is None
    beyond = a_traced(CandidateOutcome.BEYOND_LIMIT, place=3)
    assert _sentence(a_trace(*shown), beyond).endswith("; the weakest hit shown had 0.3750.")
