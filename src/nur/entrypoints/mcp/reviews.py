"""Formats pairs of memories as text and as structured content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nur.domain.decisions import Relation
from nur.domain.times import day_of
from nur.entrypoints.mcp.tool import one_line, shortened, utc

if TYPE_CHECKING:
    from nur.domain.notes import Note
    from nur.domain.times import Zone
    from nur.domain.writes import SimilarMemory
    from nur.services.notes.reviews import ReviewWithTexts

#: Characters of each quote.
QUOTE = 120
_RELATIONS = {
    Relation.SAME: "Nearly the same",
    Relation.OTHER: "May say something else about the same thing",
    Relation.CONFLICT: "May disagree",
}


def similar_line(one: SimilarMemory, zone: Zone) -> str:
    """One line about a memory that may repeat or contradict a new one."""
    said = day_of(one.said_at, zone)
    return f'{_RELATIONS[one.relation]}: [{one.public_id}] "{shortened(one.text, QUOTE)}" said {said} ({one.review_id})'


def similar(one: SimilarMemory) -> dict[str, Any]:
    """The same as structured content."""
    return {
        "memory_id": one.public_id,
        "relation": one.relation,
        "quote": shortened(one.text, QUOTE),
        "ts": utc(one.said_at),
        "review_id": one.review_id,
    }


def review_lines(found: ReviewWithTexts, zone: Zone) -> str:
    """A pair with both quotes, and what was decided."""
    review = found.review
    relation = _RELATIONS[review.relation] if review.relation is not None else "Replaced"
    return "\n".join(
        [
            f"[{review.review_id}] {relation} ({review.state})",
            f"  newer: {_quoted(review.newer, found.newer_text, zone)}",
            f"  older: {_quoted(review.older, found.older_text, zone)}",
        ]
    )


def review(found: ReviewWithTexts) -> dict[str, Any]:
    """The same as structured content."""
    one = found.review
    return {
        "review_id": one.review_id,
        "relation": one.relation,
        "state": one.state,
        "newer": _note(one.newer, found.newer_text),
        "older": _note(one.older, found.older_text),
        "decided_at": utc(one.decision.decided_at) if one.decision else None,
        "decided_by": one.decision.decided_by if one.decision else None,
    }


def _quoted(note: Note, text: str, zone: Zone) -> str:
    return f'[{one_line(note.public_id)}] "{shortened(text, QUOTE)}" said {day_of(note.said_at, zone)}'


def _note(note: Note, text: str) -> dict[str, Any]:
    return {"id": note.public_id, "quote": shortened(text, QUOTE), "ts": utc(note.said_at)}
