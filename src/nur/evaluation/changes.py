"""Metrics for questions about changes: the newer statement must come first, contradictions must be reported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.evaluation.dataset import LabelledQuestion, Row
    from nur.evaluation.measures import Scores
    from nur.services.search.timeline import TimelineEntry

#: BEAM's categories that these metrics apply to.
UPDATE, CONTRADICTION = "knowledge_update", "contradiction_resolution"
LISTED = ("event_ordering", "multi_session_reasoning")
TIMELINE = "timeline_recall@2000c"
CHANGE_METRICS = ("newer_first", "stale_first", "conflict_flagged", "false_alarm", TIMELINE)
#: Lines requested; about this many fit into 2,000 characters.
TIMELINE_LINES = 15
TIMELINE_CHARACTERS = 2_000
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


class Pair(NamedTuple):
    """Two rows with different statements about the same thing."""

    newer: str
    older: str


def pair_of(question: LabelledQuestion, rows: Mapping[str, Row]) -> Pair | None:
    """The question's first row as the older, and its last row with a number of the answer as the newer.

    None if they are the same row, or the question is not about an update. `rows` are in the order they were said.
    """
    if question.category != UPDATE or question.stale:
        return None
    gold = [row for row in rows if row in question.units]
    numbers = _NUMBER.findall(question.answer)
    right = [row for row in gold if any(number in rows[row].text for number in numbers)] or gold
    return Pair(right[-1], gold[0]) if gold and right[-1] != gold[0] else None


def change_scores(
    question: LabelledQuestion, ids: Sequence[str], rows: Mapping[str, Row], *, flagged: bool, has_conflicts: bool
) -> Scores:
    """Whether the newer row of a pair ranks before the older, and whether a conflict was flagged.

    `has_conflicts`: the data set has questions about contradictions, so a flag on any other question is a false alarm.
    """
    scores: Scores = {}
    pair = pair_of(question, rows)
    if pair is not None:
        rank = {row: position for position, row in enumerate(ids)}
        missing = len(ids)
        scores["newer_first"] = float(rank.get(pair.newer, missing) < rank.get(pair.older, missing))
        scores["stale_first"] = float(rank.get(pair.older) == 0)
    if has_conflicts:
        name = "conflict_flagged" if question.category == CONTRADICTION else "false_alarm"
        scores[name] = float(flagged)
    return scores


def timeline_recall(question: LabelledQuestion, entries: Sequence[TimelineEntry], row_of: Mapping[str, str]) -> float:
    """Share of a question's rows in the first 2,000 characters of a timeline."""
    found: set[str] = set()
    left = TIMELINE_CHARACTERS
    for entry in entries:
        left -= len(f"{entry.window} [{entry.note.public_id}] {entry.quote}\n")
        if left < 0:
            break
        found.add(row_of.get(entry.note.public_id, entry.note.public_id))
    return len(found & question.units.keys()) / len(question.units)
