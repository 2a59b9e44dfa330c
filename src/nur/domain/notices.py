"""What a search answer lacks, in one sentence, the same for MCP, REST and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.kinds import KINDS
from nur.domain.search import EmptyReason, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.filters import NoteFilter
    from nur.domain.search import SearchRequest

CLOSE = "Nothing stored is close enough to the question."
_NO_VECTORS = "the embedding provider or the vector index does not answer"
_RERANK = "Not reranked: the reranker does not answer, so better hits may stand further down."


_ONE_BY_ONE = "The vector index does not answer; stored vectors were compared one by one, and nothing is missing."


#: Below this confidence the first hit answers in about one case of eight.
WEAK_CONFIDENCE = 0.2
WEAK = "Weak match: the first hit may not answer the question."


def search_notice(
    request: SearchRequest,
    degraded: Sequence[str],
    reason: EmptyReason | None,
    *,
    compared: bool,
    confidence: float | None = None,
) -> str | None:
    """What is missing from this answer and why; None when nothing is. `compared`: by meaning, index or not."""
    if reason is EmptyReason.NOTHING_STORED:
        return nothing_stored(request.where)
    if reason is EmptyReason.BELOW_FLOOR:
        return CLOSE
    without = _ONE_BY_ONE if compared else _without_vectors(request.mode)
    sentences = {"dense": without, "rerank": _RERANK}
    weak = [WEAK] if confidence is not None and confidence < WEAK_CONFIDENCE else []
    return " ".join([*weak, *(sentences[ranker] for ranker in degraded)]) or None


def nothing_stored(where: NoteFilter) -> str:
    """Why a selection is empty: nothing of these kinds is stored, or the filters leave nothing."""
    names = [spec.label for kind, spec in KINDS.items() if kind in where.kinds]
    every = len(names) == len(KINDS)
    if _has_filters(where):
        return f"No stored {'notes' if every else _listed(names)} match the filters."
    return "Nothing is stored yet." if every else f"No {_listed(names)} are stored yet."


def _without_vectors(mode: Mode) -> str:
    if mode is Mode.DENSE:
        return f"Not searched: {_NO_VECTORS}."
    return f"Searched by words only: {_NO_VECTORS}, so notes that use other words are missing."


def _has_filters(where: NoteFilter) -> bool:
    asked = (
        *(where.type, where.min_confidence, where.conversation_id, where.source_system),
        *(where.sensitivity, where.visibility, where.occurred_from, where.occurred_to),
        *(where.project, where.agent, where.scope),
    )
    return any(asked)


def _listed(names: Sequence[str]) -> str:
    *first, last = names or ["notes"]
    return f"{', '.join(first)} or {last}" if first else last
