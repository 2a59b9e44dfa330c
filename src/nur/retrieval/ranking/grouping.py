"""From ranked chunks to hits: each note by its best chunk, nothing below the floor, notes that say the same as one hit.

Two notes say the same when their words are the same, in the same order. Case, spaces, quotes, brackets and the marks
that end a sentence make no difference; a word, a number, a unit, a negation or a question mark does. So do the title,
the author, the speaker and the project. Notes that were cut into chunks must have exactly the same text: documents
that share a page are still two documents.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass
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
#: A quote behind a digit may be a unit: 5' are feet. A question mark stays: a question is not a statement.
_CLOSING = regex.compile(rf"(?:(?<!\d)[{_QUOTES}]|[.,;:!…)\]}}。、，；：！）》])+$")
#: Case tells getUserName from GETUSERNAME, and 5MB from 5Mb.
_CASE_COUNTS = regex.compile(r"\p{Ll}\p{Lu}|\d\p{L}")
_NUMBER = regex.compile(r"\P{L}*\d")
_LONGEST_UNIT = 3


@dataclass(frozen=True, slots=True)
class BestNotes:
    """What may be shown, best first, one candidate per note, before the cut to a limit."""

    notes: Sequence[Ranked]
    reached_floor: bool  #: something was below it: looking further would only find more of that


def best_notes(
    ranked: Sequence[Ranked], floor: float | None, superseded: Mapping[str, Sequence[str]] | None = None
) -> BestNotes:
    """The best chunk of each note, without what does not answer.

    What supersedes an answer is one, whatever its words: `superseded` names it by the public id of the older note.
    """
    best = best_per_note(ranked)
    fit = {one.candidate.public_id for one in best if not is_below(one, floor)}
    fit |= {newer for older, names in (superseded or {}).items() if older in fit for newer in names}
    notes = [one for one in best if one.candidate.public_id in fit]
    return BestNotes(notes, len(notes) < len(best))


def is_below(one: Ranked, floor: float | None) -> bool:
    """Whether a candidate is no answer; one that was not compared by meaning is let through."""
    return floor is not None and one.cosine is not None and one.relevance < floor


def best_per_note(ranked: Iterable[Ranked]) -> list[Ranked]:
    """The best chunk of each note, in order."""
    best: dict[str, Ranked] = {}
    for one in ranked:
        best.setdefault(one.candidate.public_id, one)
    return list(best.values())


@dataclass(frozen=True, slots=True)
class HitGroup:
    """A hit that stands for others that say the same."""

    shown: Ranked
    duplicates: tuple[Ranked, ...]


def lookalikes(views: Sequence[ScoringView]) -> list[ChunkKey]:
    """The chunks whose terms are also those of another one: only their texts have to be read and compared."""
    by_terms: defaultdict[tuple[int, bytes], list[ChunkKey]] = defaultdict(list)
    for view in views:
        by_terms[view.chunk_count, view.digest].append(view.chunk_key)
    return [key for keys in by_terms.values() if len(keys) > 1 for key in keys]


def fold_duplicates(ranked: Sequence[Ranked], read: Mapping[ChunkKey, ChunkWithNote]) -> list[HitGroup]:
    """One hit for all notes that say the same, in the order of those that are shown.

    `ranked` has one candidate per note, best first; `read` holds the lookalikes among them. The newest note is shown,
    but of turns the best: there the words around it are what answers.
    """
    groups: defaultdict[Hashable, list[Ranked]] = defaultdict(list)
    for one in ranked:
        candidate = read.get(one.candidate.chunk_key)
        groups[one.candidate.public_id if candidate is None else _says(candidate)].append(one)
    hits = {}
    for group in groups.values():
        shown = max(group, key=lambda one: _age(read[one.candidate.chunk_key].note)) if _by_age(group) else group[0]
        hits[shown.candidate.public_id] = HitGroup(shown, tuple(one for one in group if one is not shown))
    return [hits[name] for one in ranked if (name := one.candidate.public_id) in hits]


def normalised(text: str) -> str:
    """The text without what never changes its meaning."""
    words: list[str] = []
    follows_number = False
    for token in unicodedata.normalize("NFC", text).split():
        word = _CLOSING.sub("", _OPENING.sub("", token))
        is_unit = follows_number and len(word) <= _LONGEST_UNIT  # MB and Mb, MW and mW
        words += [word if is_unit or _CASE_COUNTS.search(word) else word.lower()] if word else []
        follows_number = bool(_NUMBER.fullmatch(word))
    return " ".join(words) or text


def _by_age(group: Sequence[Ranked]) -> bool:
    return len(group) > 1 and group[0].candidate.kind not in TURNS


def _age(note: Note) -> tuple[datetime, datetime, str]:
    return note.meta.occurred_at or note.ingested_at, note.ingested_at, note.public_id


def _says(candidate: ChunkWithNote) -> Hashable:
    """Equal for notes that say the same."""
    note, meta = candidate.note, candidate.note.meta
    content = ("hash", note.content_hash) if note.is_chunked else ("text", normalised(candidate.stored.chunk.content))
    when = meta.occurred_at if KINDS[note.kind].is_repeatable else None  # what happens twice is two events
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
    """Every candidate with its outcome: ranked ones in their order, then what was dropped on reading.

    `hits` are all that could be shown, in the order of the answer; the first `limit` of them were.
    """
    # By public ids: hashing a UUID takes ten times as long, and each candidate is looked up five times.
    places = {hit.shown.candidate.public_id: place for place, hit in enumerate(hits, 1)}
    folded = {other.candidate.public_id: hit.shown for hit in hits for other in hit.duplicates}
    seen: set[str] = set()
    traced: list[TracedCandidate] = []
    for one in ranked:
        note = one.candidate.public_id
        instead, place = folded.get(note), places.get(note)
        if note in seen:
            outcome = CandidateOutcome.SAME_NOTE
        elif is_below(one, floor):
            outcome = CandidateOutcome.BELOW_FLOOR
        elif instead is not None:
            outcome = CandidateOutcome.COLLAPSED
        elif place is None:  # gone since it was ranked
            outcome = CandidateOutcome.NOT_VISIBLE
        else:
            outcome = CandidateOutcome.RETURNED if place <= limit else CandidateOutcome.BEYOND_LIMIT
        seen.add(note)
        traced.append(
            TracedCandidate(
                one.candidate.chunk_key,
                outcome,
                note,
                one.candidate.chunk_index,
                place,
                None if instead is None else instead.candidate.public_id,
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
