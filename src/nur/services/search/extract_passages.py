"""Extract the passages of each hit that answer, with their offsets in the note's text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.chunks import chunk_public_id
from nur.domain.search import Hit, Passage, Payload
from nur.retrieval.passages.atoms import PassageChunk, PassageNote
from nur.retrieval.passages.extract import extract
from nur.retrieval.passages.neighbours import best_range, expand_chunk, room_for_context, touches
from nur.retrieval.pieces.atoms import LONGEST_ATOM, find_atoms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, NoteId
    from nur.domain.search import ExpandedChunk, SearchRequest
    from nur.ports.chunks import ChunkStore, ChunkWithNote
    from nur.ports.clock import Clock
    from nur.retrieval.ranking.grouping import HitGroup
    from nur.retrieval.ranking.queries import WeighedTerms
    from nur.retrieval.ranking.rank import Ranked

#: Hits whose passages are compared: of twenty, more sentences resemble the question by chance.
PASSAGE_NOTES = 10
#: Chunks that passages are taken from, the best of these hits.
PASSAGE_CHUNKS = 60
#: A note up to this long is shown whole: cutting it saves nothing and loses its context.
SHORT_NOTE = 600
#: With neighbours, each hit has room for about so many characters of its own before they are added.
SHORT_SENTENCE = 60
#: Characters that a hit leaves for each of the first hits after it, at most a quarter of what is there.
FEW_WORDS = 40
#: What is shown of a hit that has no passage: its first sentences, about so many characters.
EXCERPT = 160
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class ExtractPassages:
    """Turns the best candidates into hits that can be read."""

    chunks: ChunkStore
    clock: Clock

    async def read(
        self, request: SearchRequest, ranked: Sequence[Ranked], groups: Sequence[HitGroup], compared: int
    ) -> Mapping[ChunkKey, ChunkWithNote]:
        """The chunks that hits and passages are made of, in one snapshot, and those of the first `compared` groups.

        Chunks are read again: a note that was deleted since it was ranked is left out.
        """
        shown = (group.shown for group in groups[: max(request.limit, compared)])
        chosen = (*shown, *_with_passages(ranked, groups[: request.limit]))
        return await self.chunks.show(
            {one.candidate.chunk_key: one.note_id for one in chosen},
            request.where,
            self.clock.now(),
            with_neighbours=request.expand_neighbors,
            with_texts=request.payload is Payload.TEXTS,
        )

    def extract(
        self,
        request: SearchRequest,
        terms: WeighedTerms,
        ranked: Sequence[Ranked],
        best: Sequence[HitGroup],
        rerank_scores: Mapping[NoteId, float],
        read: Mapping[ChunkKey, ChunkWithNote],
    ) -> list[Hit]:
        """The hits in the order of `best`, with passages of about `max_chars` characters together."""
        with_passages = _with_passages(ranked, best)
        best_lexical = max((one.lexical for one in ranked), default=0.0)
        shown = [group for group in best if group.shown.candidate.chunk_key in read]
        budget = _for_passages(request, len(shown))
        found = _passages(terms, with_passages, read, best_lexical, budget)
        passages = _within(
            [(group.shown, found.get(group.shown.note_id) or [_opening(group.shown, read)]) for group in shown],
            budget,
            strictly=request.expand_neighbors,
        )
        hits = [
            _hit(group, read[group.shown.candidate.chunk_key], own, rerank_scores.get(group.shown.note_id))
            for group, own in zip(shown, passages, strict=True)
        ]
        return with_neighbours(hits, read, request.max_chars) if request.expand_neighbors else hits


def _with_passages(ranked: Sequence[Ranked], best: Sequence[HitGroup]) -> list[Ranked]:
    """The chunks of the best hits that passages are taken from."""
    shown = {group.shown.note_id for group in best[:PASSAGE_NOTES]}
    return [one for one in ranked if one.note_id in shown and not _is_short(one)][:PASSAGE_CHUNKS]


def passage_note(found: Sequence[tuple[Ranked, ChunkWithNote]]) -> PassageNote:
    """A note that passages are taken from: its chunks that were found, best first."""
    chunks = [
        PassageChunk(
            read.stored.chunk.start_char, read.stored.chunk.content, read.pieces, read.atoms, ranked.piece_scores
        )
        for ranked, read in found
    ]
    in_order = sorted(chunks, key=lambda chunk: chunk.start)
    return PassageNote(str(found[0][0].note_id), found[0][0].score, in_order)


def expanded(read: ChunkWithNote) -> ExpandedChunk | None:
    """A chunk between its neighbours; None for a note that is one chunk."""
    return expand_chunk(read.stored.chunk, read.before, read.after) if read.note.is_chunked else None


def chunk_id_of(read: ChunkWithNote) -> str:
    """The chunk's public id; the note's own when it is one chunk."""
    note, stored = read.note, read.stored
    if not note.is_chunked:
        return note.public_id
    return chunk_public_id(note.public_id, stored.chunk.index, stored.content_hash)


def _is_short(one: Ranked) -> bool:
    return not one.candidate.is_chunked and one.candidate.characters <= SHORT_NOTE


def with_neighbours(hits: Sequence[Hit], read: Mapping[ChunkKey, ChunkWithNote], max_chars: int) -> list[Hit]:
    """The hits with the surroundings of their best passages, all within the budget."""
    shown = sum(_characters(hit) for hit in hits)
    room = room_for_context(max_chars, shown, sum(hit.note.is_chunked for hit in hits))
    by_chunk = {one.stored.chunk_key: one for one in read.values()}
    return [
        replace(
            hit,
            passages=_own_first(hit),
            expanded=_surroundings(hit, by_chunk[hit.chunk_key], room),
        )
        for hit in hits
    ]


def _own_first(hit: Hit) -> tuple[Passage, ...]:
    """Passages of the hit's own chunk first: they are what its neighbours surround."""
    return tuple(sorted(hit.passages, key=lambda one: not touches(one.start_char, one.end_char, hit.chunk)))


def _surroundings(hit: Hit, read: ChunkWithNote, room: int) -> ExpandedChunk | None:
    whole = expanded(read)
    return None if whole is None else whole.around(*_surrounded(hit), room)


def _surrounded(hit: Hit) -> tuple[int, int]:
    """Start and end of the passage that neighbours are shown around."""
    return best_range(((one.start_char, one.end_char) for one in hit.passages), hit.chunk)


def _characters(hit: Hit) -> int:
    """What is shown of a hit without neighbours: all its passages, or of a chunked note the surrounded one."""
    if hit.note.is_chunked:
        start, end = _surrounded(hit)
        return end - start
    return sum(len(passage.text) for passage in hit.passages)


def _passages(
    terms: WeighedTerms,
    chunks: Sequence[Ranked],
    read: Mapping[ChunkKey, ChunkWithNote],
    best_lexical: float,
    max_chars: int,
) -> Mapping[NoteId, Sequence[Passage]]:
    """The sentences that answer, the best of all chunks, by note."""
    by_note: dict[NoteId, list[tuple[Ranked, ChunkWithNote]]] = {}
    for one in chunks:
        found = read.get(one.candidate.chunk_key)
        if found is not None and found.stored.chunk_key == one.candidate.chunk_key:  # replaced ones were not scored
            by_note.setdefault(one.note_id, []).append((one, found))
    notes = {str(note_id): passage_note(found) for note_id, found in by_note.items()}
    extracted = extract(list(notes.values()), terms, best_lexical=best_lexical, max_chars=max_chars) if notes else {}
    return {
        note_id: [Passage(one.text, one.start, one.end, one.score) for one in extracted.get(str(note_id), ())]
        for note_id in by_note
    }


def _for_passages(request: SearchRequest, hits: int) -> int:
    """Characters for passages: with neighbours a third of all, but first a short sentence for each hit."""
    if not request.expand_neighbors:
        return request.max_chars
    return min(request.max_chars, max(request.max_chars // 3, SHORT_SENTENCE * hits))


def _within(
    hits: Sequence[tuple[Ranked, Sequence[Passage]]], max_chars: int, *, strictly: bool
) -> list[Sequence[Passage]]:
    """The passages of each hit that fit into the budget, the first hit's first.

    Where nothing is left, a hit has its best passage all the same, or `strictly` the words that those before it left
    for it. Short notes are shown whole and spend the budget too.
    """
    kept: list[Sequence[Passage]] = []
    left = max_chars
    for at, (one, passages) in enumerate(hits):
        after = sum(not _is_short(other) for other, _ in hits[at + 1 : PASSAGE_NOTES]) if strictly else 0
        reserve = min(FEW_WORDS, max(0, left) // (4 * after)) if after else 0
        fitting = passages if _is_short(one) else _fitting(passages, left - after * reserve, strictly=strictly)
        kept.append(fitting)
        left -= sum(len(passage.text) for passage in fitting)
    return kept


def _fitting(passages: Sequence[Passage], characters: int, *, strictly: bool) -> list[Passage]:
    """What fits of a hit's passages in whole sentences; of the best one at least that passage, or `strictly` a word."""
    best = _first_sentences(passages[0], characters)
    if not best.text:
        best = _first_words(passages[0], characters) if strictly else passages[0]
    kept = [best]
    for passage in passages[1:]:
        fitting = _first_sentences(passage, characters - sum(len(one.text) for one in kept))
        if fitting.text:
            kept.append(fitting)
    return kept


def _first_sentences(passage: Passage, characters: int) -> Passage:
    """The passage, or its first whole sentences, rows or lines that fit; that may be none."""
    if len(passage.text) <= characters:
        return passage
    end = max((atom.end for atom in find_atoms(passage.text) if atom.end <= characters), default=0)
    text = passage.text[:end].rstrip()
    return replace(passage, text=text, end_char=passage.start_char + len(text))


def _first_words(passage: Passage, characters: int) -> Passage:
    """The passage's first whole words that fit, at least one; the longest atom bounds text without spaces."""
    ends = [word.end() for word in _WORD.finditer(passage.text[: max(characters, LONGEST_ATOM) + 1])]
    end = max((end for end in ends if end <= characters), default=min(ends, default=0))
    return replace(passage, text=passage.text[:end], end_char=passage.start_char + end)


def _opening(one: Ranked, read: Mapping[ChunkKey, ChunkWithNote]) -> Passage:
    """What is shown of a hit without a passage: a short note whole, or the chunk's first sentences, at least one."""
    chunk = read[one.candidate.chunk_key].stored.chunk
    end = len(chunk.content)
    if not _is_short(one):
        ends = [atom.end for atom in find_atoms(chunk.content[: 2 * EXCERPT + LONGEST_ATOM])]
        end = max((end for end in ends if end <= EXCERPT), default=ends[0] if ends else 0)
    return Passage(chunk.content[:end], chunk.start_char, chunk.start_char + end, one.score)


def _hit(
    group: HitGroup,
    read: ChunkWithNote,
    passages: Sequence[Passage],
    rerank_score: float | None,
) -> Hit:
    one, chunk = group.shown, read.stored.chunk
    return Hit(
        note=read.note,
        chunk_key=read.stored.chunk_key,
        chunk_id=chunk_id_of(read),
        chunk=chunk,
        score=one.score,
        rrf_score=one.rrf_score,
        ranks=one.ranks,
        passages=tuple(passages),
        item_id=uuid4(),
        rerank_score=rerank_score,
        duplicates=tuple(other.candidate.public_id for other in group.duplicates),
        text=read.text,
    )
