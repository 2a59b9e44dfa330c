"""What a search answer lacks, in one sentence."""

from __future__ import annotations

import pytest

from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.domain.notices import (
    LEFT_OUT,
    NOT_THE_MATCH,
    UNKNOWN_CLOSENESS,
    WEAK,
    WEAK_CONFIDENCE,
    Closeness,
    nothing_stored,
    search_notice,
)
from nur.domain.search import EmptyReason, Mode, SearchRequest
from tests.callers import LOCAL_CALLER

WHERE = NoteFilter(tenant="default")
MEMORIES = frozenset({Kind.MEMORY})


def notice(
    mode: Mode = Mode.HYBRID,
    degraded: tuple[str, ...] = (),
    reason: EmptyReason | None = None,
    compared: bool = False,
    closeness: Closeness = UNKNOWN_CLOSENESS,
) -> str | None:
    request = SearchRequest(query="tea", caller=LOCAL_CALLER, where=WHERE, mode=mode)
    return search_notice(request, degraded, reason, compared=compared, closeness=closeness)


@pytest.mark.parametrize(
    ("mode", "degraded", "compared", "beginnings"),
    [
        (Mode.HYBRID, (), False, []),  # nothing is missing
        (Mode.HYBRID, ("dense",), False, ["Searched by words only"]),
        (Mode.DENSE, ("dense",), False, ["Not searched"]),  # there is no other ranker
        (Mode.HYBRID, ("dense",), True, ["The vector index does not answer; stored vectors were compared"]),
        (Mode.HYBRID, ("rerank",), False, ["Not reranked"]),
        (Mode.HYBRID, ("dense", "rerank"), False, ["Searched by words only", "Not reranked"]),
    ],
)
def test_each_ranker_that_did_not_answer_is_named_with_what_that_costs(
    mode: Mode, degraded: tuple[str, ...], compared: bool, beginnings: list[str]
) -> None:
    found = notice(mode, degraded, compared=compared)
    assert (found is None) == (not beginnings)
    assert all(beginning in (found or "") for beginning in beginnings)


@pytest.mark.parametrize(
    ("closeness", "expected"),
    [
        (Closeness(confidence=WEAK_CONFIDENCE), None),
        (Closeness(confidence=WEAK_CONFIDENCE - 0.01), WEAK),
        (Closeness(confidence=0.0), WEAK),
        (Closeness(confidence=0.1, shows_stored=True), f"{WEAK} {NOT_THE_MATCH}"),
        (Closeness(confidence=0.9, shows_stored=True), None),  # nothing to confuse
        (Closeness(leaves_out=True), LEFT_OUT),
        (Closeness(confidence=0.1, leaves_out=True), f"{LEFT_OUT} {WEAK}"),
    ],
)
def test_a_weak_match_and_what_was_left_out_are_said(closeness: Closeness, expected: str | None) -> None:
    assert notice(closeness=closeness) == expected


def test_an_empty_answer_names_the_best_note_that_was_not_close_enough() -> None:
    below = EmptyReason.BELOW_FLOOR
    assert notice(reason=below) == "Nothing stored is close enough to the question."
    best = Closeness(best_match="mem_1", best_relevance=0.07)
    assert "(best match: mem_1, likely to answer: 7%)" in str(notice(reason=below, closeness=best))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (WHERE, "Nothing is stored yet."),
        (NoteFilter(tenant="default", kinds=MEMORIES), "No memories are stored yet."),
        (NoteFilter(tenant="default", project="garden"), "No stored notes match the filters."),
        (NoteFilter(tenant="default", kinds=MEMORIES, min_confidence=0.5), "No stored memories match the filters."),
        (
            NoteFilter(tenant="default", kinds=frozenset({Kind.MEMORY, Kind.ARTIFACT})),
            "No documents or memories are stored yet.",
        ),
    ],
)
def test_an_empty_store_and_filters_that_leave_nothing_are_told_apart(where: NoteFilter, expected: str) -> None:
    assert nothing_stored(where) == expected
    request = SearchRequest(query="tea", caller=LOCAL_CALLER, where=where)
    assert search_notice(request, (), EmptyReason.NOTHING_STORED, compared=False) == expected
