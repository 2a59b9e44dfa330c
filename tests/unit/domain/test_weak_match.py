"""When the text of an answer says that its first hit is a weak match."""

from __future__ import annotations

import pytest

from nur.domain.access import LOCAL
from nur.domain.filters import NoteFilter
from nur.domain.notices import WEAK, search_notice
from nur.domain.search import SearchRequest
from tests.callers import LOCAL_CALLER

REQUEST = SearchRequest(query="tea?", caller=LOCAL_CALLER, where=NoteFilter(tenant=LOCAL.tenant))


@pytest.mark.parametrize(
    ("confidence", "notice"),
    [
        (0.19, WEAK),
        (0.2, None),  # likely enough
        (None, None),  # nobody compared by words and by meaning
    ],
)
def test_an_unlikely_answer_says_so(confidence: float | None, notice: str | None) -> None:
    assert search_notice(REQUEST, (), None, compared=True, confidence=confidence) == notice


def test_a_weak_match_stands_before_what_is_missing() -> None:
    told = search_notice(REQUEST, ("rerank",), None, compared=True, confidence=0.1)
    assert told is not None
    assert told.startswith(WEAK + " Not reranked")
