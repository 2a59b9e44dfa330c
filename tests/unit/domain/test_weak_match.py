"""What the text of an answer says about how close its hits are."""

from __future__ import annotations

import pytest

from nur.domain.access import LOCAL
from nur.domain.filters import NoteFilter
from nur.domain.notices import LEFT_OUT, NOT_THE_MATCH, WEAK, Closeness, search_notice
from nur.domain.search import EmptyReason, SearchRequest
from tests.callers import LOCAL_CALLER

REQUEST = SearchRequest(query="tea?", caller=LOCAL_CALLER, where=NoteFilter(tenant=LOCAL.tenant))


@pytest.mark.parametrize(
    ("closeness", "notice"),
    [
        (Closeness(confidence=0.19), WEAK),
        (Closeness(confidence=0.2), None),  # likely enough
        (Closeness(confidence=None), None),  # nobody compared by words and by meaning
        (Closeness(confidence=0.1, shows_stored=True), f"{WEAK} {NOT_THE_MATCH}"),  # conf=1.0 would look like certainty
        (Closeness(confidence=0.9, shows_stored=True), None),
        (Closeness(confidence=0.9, leaves_out=True), LEFT_OUT),
        (Closeness(confidence=0.1, leaves_out=True), f"{LEFT_OUT} {WEAK}"),
    ],
)
def test_an_unlikely_answer_says_so(closeness: Closeness, notice: str | None) -> None:
    assert search_notice(REQUEST, (), None, compared=True, closeness=closeness) == notice


def test_a_weak_match_stands_before_what_is_missing() -> None:
    told = search_notice(REQUEST, ("rerank",), None, compared=True, closeness=Closeness(confidence=0.1))
    assert told is not None
    assert told.startswith(WEAK + " Not reranked")


@pytest.mark.parametrize(
    ("closeness", "notice"),
    [
        (Closeness(), "Nothing stored is close enough to the question."),
        (
            Closeness(best_match="mem_1", best_relevance=0.042),
            "Nothing stored is close enough to the question (best match: mem_1, likely to answer: 4%).",
        ),
    ],
)
def test_an_empty_answer_names_the_best_match(closeness: Closeness, notice: str) -> None:
    assert search_notice(REQUEST, (), EmptyReason.BELOW_FLOOR, compared=True, closeness=closeness) == notice
