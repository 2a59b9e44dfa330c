"""Turn ranked chunks into hits: one per note, nothing below the floor, duplicate notes folded into one hit.

Two notes are duplicates if they have the same words in the same order. Case, spaces, quotes, brackets and closing
punctuation make no difference; any word, number, unit, negation or question mark does. So do the title, the author,
the speaker and the project. Notes of several chunks must have exactly the same text: documents that share a page are
still two documents.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import regex

from nur.domain.kinds import KINDS, TURNS
from nur.domain.traces import CandidateOutcome, TracedCandidate

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence
    from datetime import datetime

    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.chunks import ChunkWithNote, ScoringView
    from nur.retrieval.ranking.rank import Ranked

_QUOTES = "\"'“”„‟‘’‚‛«»‹›「」『』"
_OPENING = regex.compile(rf"^[{_QUOTES}(\[{{（《]+")
#: A quote after a digit may be a unit (5' is five feet). A question mark stays: a question is not a statement.
_CLOSING = regex.compile(rf"(?:(?<!\d)[{_QUOTES}]|[.,;:!…)\]}}。、，；：！）》])+$")
#: Where case matters: getUserName is not GETUSERNAME, 5MB is not 5Mb.
_CASE_COUNTS = regex.compile(r"\p{Ll}\p{Lu}|\d\p{L}")
_NUMBER = regex.compile(r"\P{L}*\d")
_MAX_UNIT_CHARACTERS = 3


NO_NEWER: Mapping[str, Sequence[str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class BestNotes:
    """Candidates that may be shown, best first, one per note, before the cut to the limit."""

    notes: Sequence[Ranked]
    reached_floor: bool  #: some candidate was below the floor, so fetching more would only find worse ones


def best_notes(
    ranked: Sequence[Ranked],
    floor: float | None,
    superseded: Mapping[str, Sequence[str]] = NO_NEWER,
    updated_by: Mapping[str, Sequence[str]] = NO_NEWER,
) -> BestNotes:
    """The best chunk of each note that reaches the floor.

    Both mappings are from public ids to those of newer notes. A note that supersedes a shown one is shown, too, and so
    is one that may update the best one.
    """
    best = best_per_note(ranked)
    shown = {one.candidate.public_id for one in best if not is_below(one, floor)}
    shown |= {newer for older, newer_ids in superseded.items() if older in shown for newer in newer_ids}
    first = next((one.candidate.public_id for one in best if one.candidate.public_id in shown), "")
    shown |= set(updated_by.get(first, ()))
    notes = [one for one in best if one.candidate.public_id in shown]
    return BestNotes(notes, len(notes) < len(best))


def is_below(one: Ranked, floor: float | None) -> bool:
    """Whether a candidate is below the floor; never, if it was not compared by meaning."""
    return floor is not None and one.cosine is not None and one.relevance < floor


def best_per_note(ranked: Iterable[Ranked]) -> list[Ranked]:
    """The best chunk of each note, in order."""
    best: dict[str, Ranked] = {}
    for one in ranked:
        best.setdefault(one.candidate.public_id, one)
    return list(best.values())


@dataclass(frozen=True, slots=True)
class HitGroup:
    """A hit and the duplicates that it stands for."""

    shown: Ranked
    duplicates: tuple[Ranked, ...]


def lookalikes(views: Sequence[ScoringView]) -> list[ChunkKey]:
    """Chunks that share all their terms with another: only their texts must be compared to find duplicates."""
    by_terms: defaultdict[tuple[int, bytes], list[ChunkKey]] = defaultdict(list)
    for view in views:
        by_terms[view.chunk_count, view.digest].append(view.chunk_key)
    return [key for keys in by_terms.values() if len(keys) > 1 for key in keys]


def fold_duplicates(ranked: Sequence[Ranked], texts: Mapping[ChunkKey, ChunkWithNote]) -> list[HitGroup]:
    """One hit per group of duplicates, in the order of the shown notes.

    `ranked` has one candidate per note, best first; `texts` holds the lookalikes among them. Each group shows its
    newest note; of turns the best one, because the words around a turn matter.
    """
    groups: defaultdict[Hashable, list[Ranked]] = defaultdict(list)
    for one in ranked:
        chunk = texts.get(one.candidate.chunk_key)
        groups[one.candidate.public_id if chunk is None else _identity(chunk)].append(one)
    hits = {}
    for group in groups.values():
        newest = _shows_newest(group)
        shown = max(group, key=lambda one: _recency(texts[one.candidate.chunk_key].note)) if newest else group[0]
        hits[shown.candidate.public_id] = HitGroup(shown, tuple(one for one in group if one is not shown))
    return [hits[name] for one in ranked if (name := one.candidate.public_id) in hits]


def normalised(text: str) -> str:
    """The text without differences that never change its meaning: case, spaces, outer punctuation."""
    words: list[str] = []
    follows_number = False
    for token in unicodedata.normalize("NFC", text).split():
        word = _CLOSING.sub("", _OPENING.sub("", token))
        is_unit = follows_number and len(word) <= _MAX_UNIT_CHARACTERS  # MB and Mb, MW and mW
        words += [word if is_unit or _CASE_COUNTS.search(word) else word.lower()] if word else []
        follows_number = bool(_NUMBER.fullmatch(word))
    return " ".join(words) or text


def _shows_newest(group: Sequence[Ranked]) -> bool:
    return len(group) > 1 and group[0].candidate.kind not in TURNS


def _recency(note: Note) -> tuple[datetime, datetime, str]:
    return note.meta.occurred_at or note.ingested_at, note.ingested_at, note.public_id


def _identity(chunk: ChunkWithNote) -> Hashable:
    """Equal for duplicates."""
    note, meta = chunk.note, chunk.note.meta
    content = ("hash", note.content_hash) if note.is_chunked else ("text", normalised(chunk.stored.chunk.content))
    when = meta.occurred_at if KINDS[note.kind].is_repeatable else None  # the same text at two times is two events
    return (
        note.kind,
        *(meta.title, meta.author, meta.role),
        *(meta.project, meta.agent, meta.scope),
        when,
        content,
    )


def trace_candidates(
    ranked: Sequence[Ranked],
    hits: Sequence[HitGroup],
    *,
    limit: int,
    floor: float | None,
    rerank_scores: Mapping[NoteId, float],
    dropped: Sequence[ChunkKey],
) -> tuple[TracedCandidate, ...]:
    """Every candidate with its outcome: ranked ones in their order, then those dropped when re-read.

    `hits` are all that could be shown, in the order of the answer; the first `limit` of them were.
    """
    # Keyed by public id: hashing a UUID takes ten times as long, and each candidate is looked up five times.
    positions = {hit.shown.candidate.public_id: position for position, hit in enumerate(hits, 1)}
    folded = {other.candidate.public_id: hit.shown for hit in hits for other in hit.duplicates}
    seen: set[str] = set()
    traced: list[TracedCandidate] = []
    for one in ranked:
        note = one.candidate.public_id
        shown_instead, position = folded.get(note), positions.get(note)
        if note in seen:
            outcome = CandidateOutcome.SAME_NOTE
        elif is_below(one, floor):
            outcome = CandidateOutcome.BELOW_FLOOR
        elif shown_instead is not None:
            outcome = CandidateOutcome.COLLAPSED
        elif position is None:  # deleted or hidden since it was ranked
            outcome = CandidateOutcome.NOT_VISIBLE
        else:
            outcome = CandidateOutcome.RETURNED if position <= limit else CandidateOutcome.BEYOND_LIMIT
        seen.add(note)
        traced.append(
            TracedCandidate(
                one.candidate.chunk_key,
                outcome,
                note,
                one.candidate.chunk_index,
                position,
                None if shown_instead is None else shown_instead.candidate.public_id,
                one.score,
                one.lexical,
                one.cosine,
                one.bonus,
                one.rrf_score,
                rerank_scores.get(one.note_id) if rerank_scores else None,
                one.ranks,
            )
        )
    traced += [TracedCandidate(chunk_key=key, outcome=CandidateOutcome.NOT_VISIBLE) for key in dropped]
    return tuple(traced)
