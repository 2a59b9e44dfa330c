"""Notices: sentences that say what a search answer lacks, shared by MCP, REST and the command line."""

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
_EXACT_SCAN = "The vector index does not answer; stored vectors were compared one by one, and nothing is missing."
#: Below this confidence the first hit answers in about one case of eight.
WEAK_CONFIDENCE = 0.2
WEAK = "Weak match: the first hit may not answer the question."
#: Added to a weak match when hits show their stored confidence.
NOT_THE_MATCH = "A memory's confidence is its own, not the match's."


@dataclass(frozen=True, slots=True)
class Closeness:
    """How close the hits are to the question, and what was left out."""

    confidence: float | None = None  #: confidence that the first hit answers; None if unknown
    shows_stored: bool = False  #: hits show their stored confidence
    leaves_out: bool = False  #: the floor removed notes that would have been shown
    best_match: str | None = None  #: id of the best note, if all are below the floor
    best_relevance: float = 0.0  #: relevance of that note


UNKNOWN_CLOSENESS = Closeness()


def search_notice(
    request: SearchRequest,
    degraded: Sequence[str],
    reason: EmptyReason | None,
    *,
    compared: bool,
    closeness: Closeness = UNKNOWN_CLOSENESS,
) -> str | None:
    """Return what is missing from an answer and why; None if nothing is.

    `compared`: vectors were compared, through the index or by an exact scan.
    """
    if reason is EmptyReason.NOTHING_STORED:
        return nothing_stored(request.where)
    if reason is EmptyReason.BELOW_FLOOR:
        return _nothing_close(closeness, request.as_of)
    sentences = {"dense": _EXACT_SCAN if compared else _without_vectors(request.mode), "rerank": _RERANK}
    return " ".join([*_close_sentences(closeness), *(sentences[ranker] for ranker in degraded)]) or None


def nothing_stored(where: NoteFilter) -> str:
    """Return why a filter matches nothing: no notes of its kinds are stored, or none match its conditions."""
    labels = [spec.label for kind, spec in KINDS.items() if kind in where.kinds]
    all_kinds = len(labels) == len(KINDS)
    if _has_conditions(where):
        return f"No stored {'notes' if all_kinds else _listed(labels)} match the filters."
    return "Nothing is stored yet." if all_kinds else f"No {_listed(labels)} are stored yet."


def _nothing_close(closeness: Closeness, as_of: datetime | None) -> str:
    close = CLOSE if as_of is None else f"Nothing stored by {as_of:%Y-%m-%dT%H:%MZ} is close enough to the question"
    if closeness.best_match is None:
        return f"{close}."
    return f"{close} (best match: {closeness.best_match}, likely to answer: {closeness.best_relevance:.0%})."


def _close_sentences(closeness: Closeness) -> list[str]:
    sentences = [LEFT_OUT] if closeness.leaves_out else []
    if closeness.confidence is not None and closeness.confidence < WEAK_CONFIDENCE:
        sentences += [WEAK, *([NOT_THE_MATCH] if closeness.shows_stored else [])]
    return sentences


def _without_vectors(mode: Mode) -> str:
    if mode is Mode.DENSE:
        return f"Not searched: {_NO_VECTORS}."
    return f"Searched by words only: {_NO_VECTORS}, so notes that use other words are missing."


def _has_conditions(where: NoteFilter) -> bool:
    """Whether the filter restricts anything besides tenant, kind and visibility to the caller."""
    conditions = (
        *(where.type, where.min_confidence, where.conversation_id, where.source_system),
        *(where.sensitivity, where.visibility, where.occurred_from, where.occurred_to),
        *(where.project, where.agent, where.scope),
    )
    return any(conditions)


def _listed(names: Sequence[str]) -> str:
    *first, last = names or ["notes"]
    return f"{', '.join(first)} or {last}" if first else last
