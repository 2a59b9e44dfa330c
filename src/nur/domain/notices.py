"""What a search answer lacks, in a sentence that every door shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.notes import Kind
from nur.domain.search import Mode, Silence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.search import SearchRequest
    from nur.domain.selection import Selection

CLOSE = "Nothing stored is close enough to the question."
_NAMES = {
    Kind.MEMORY: "memories",
    Kind.TURN: "conversations",
    Kind.ARTIFACT: "documents",
    Kind.NOTE: "notes",
    Kind.EVENT: "events",
}
_NO_VECTORS = "the embedding provider or the vector index does not answer"
_RERANK = "Not reranked: the reranker does not answer, so better hits may stand further down."


_ONE_BY_ONE = "The vector index does not answer; stored vectors were compared one by one, and nothing is missing."


def search_notice(
    request: SearchRequest, degraded: Sequence[str], reason: Silence | None, *, compared: bool
) -> str | None:
    """What is missing from this answer and why; None when nothing is. `compared`: by meaning, index or not."""
    if reason is Silence.NOTHING_STORED:
        return nothing_stored(request.selection)
    if reason is Silence.BELOW_FLOOR:
        return CLOSE
    without = _ONE_BY_ONE if compared else _without_vectors(request.mode)
    sentences = {"dense": without, "rerank": _RERANK}
    return " ".join(sentences[ranker] for ranker in degraded) or None


def nothing_stored(selection: Selection) -> str:
    """Why a selection is empty: nothing of these kinds is stored, or the filters leave nothing."""
    names = [name for kind, name in _NAMES.items() if kind in selection.kinds]
    every = len(names) == len(_NAMES)
    if _has_filters(selection):
        return f"No stored {'notes' if every else _listed(names)} match the filters."
    return "Nothing is stored yet." if every else f"No {_listed(names)} are stored yet."


def _without_vectors(mode: Mode) -> str:
    if mode is Mode.DENSE:
        return f"Not searched: {_NO_VECTORS}."
    return f"Searched by words only: {_NO_VECTORS}, so notes that use other words are missing."


def _has_filters(selection: Selection) -> bool:
    asked = (
        *(selection.type, selection.min_confidence, selection.conversation_id, selection.source_system),
        *(selection.sensitivity, selection.visibility, selection.occurred_from, selection.occurred_to),
        *(selection.project, selection.agent, selection.scope),
    )
    return any(asked)


def _listed(names: Sequence[str]) -> str:
    *first, last = names or ["notes"]
    return f"{', '.join(first)} or {last}" if first else last
