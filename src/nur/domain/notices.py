"""What a search answer lacks, in one sentence, the same for MCP, REST and the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.kinds import KINDS
from nur.domain.search import EmptyReason, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nur.domain.filters import NoteFilter
    from nur.domain.search import SearchRequest

CLOSE = "Nothing stored is close enough to the question"
LEFT_OUT = "Weaker matches are left out."
_NO_VECTORS = "the embedding provider or the vector index does not answer"
_RERANK = "Not reranked: the reranker does not answer, so better hits may stand further down."


_ONE_BY_ONE = "The vector index does not answer; stored vectors were compared one by one, and nothing is missing."


#: Below this confidence the first hit answers in about one case of eight.
WEAK_CONFIDENCE = 0.2
WEAK = "Weak match: the first hit may not answer the question."
#: Beside a weak match, where hits show the confidence that they were stored with.
NOT_THE_MATCH = "A memory's confidence is its own, not the match's."


@dataclass(frozen=True, slots=True)
class Closeness:
    """How close the hits are to the question, and what was left out."""

    confidence: float | None = None  #: that the first hit answers; None where that is not known
    shows_stored: bool = False  #: hits show the confidence that they were stored with
    leaves_out: bool = False  #: notes below the floor would have been shown
    best_match: str | None = None  #: the id of the best note below the floor, where all are
    best_relevance: float = 0.0  #: its own


UNKNOWN_CLOSENESS = Closeness()


def search_notice(
    request: SearchRequest,
    degraded: Sequence[str],
    reason: EmptyReason | None,
    *,
    compared: bool,
    closeness: Closeness = UNKNOWN_CLOSENESS,
) -> str | None:
    """What is missing from this answer and why; None when nothing is. `compared`: by meaning, index or not."""
    if reason is EmptyReason.NOTHING_STORED:
        return nothing_stored(request.where)
    if reason is EmptyReason.BELOW_FLOOR:
        return _nothing_close(closeness, request.as_of)
    without = _ONE_BY_ONE if compared else _without_vectors(request.mode)
    sentences = {"dense": without, "rerank": _RERANK}
    return " ".join([*_close_sentences(closeness), *(sentences[ranker] for ranker in degraded)]) or None


def nothing_stored(where: NoteFilter) -> str:
    """Why a selection is empty: nothing of these kinds is stored, or the filters leave nothing."""
    names = [spec.label for kind, spec in KINDS.items() if kind in where.kinds]
    every = len(names) == len(KINDS)
    if _has_filters(where):
        return f"No stored {'notes' if every else _listed(names)} match the filters."
    return "Nothing is stored yet." if every else f"No {_listed(names)} are stored yet."


def _nothing_close(closeness: Closeness, as_of: datetime | None) -> str:
    close = CLOSE if as_of is None else f"Nothing stored by {as_of:%Y-%m-%dT%H:%MZ} is close enough to the question"
    if closeness.best_match is None:
        return f"{close}."
    return f"{close} (best match: {closeness.best_match}, likely to answer: {closeness.best_relevance:.0%})."


def _close_sentences(closeness: Closeness) -> list[str]:
    found = [LEFT_OUT] if closeness.leaves_out else []
    if closeness.confidence is not None and closeness.confidence < WEAK_CONFIDENCE:
        found += [WEAK, *([NOT_THE_MATCH] if closeness.shows_stored else [])]
    return found


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
