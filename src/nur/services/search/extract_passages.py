"""Build the hits of an answer: read their chunks again, and extract the passages that answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.chunks import chunk_public_id
from nur.domain.search import Hit, Passage, Payload
from nur.retrieval.passages.atoms import PassageChunk, PassageNote
from nur.retrieval.passages.extract import extract, piece_weight
from nur.retrieval.passages.neighbours import best_range, expand_chunk, room_for_context, touches
from nur.retrieval.pieces.atoms import MAX_ATOM_CHARACTERS, find_atoms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, NoteId
    from nur.domain.search import ExpandedChunk, SearchRequest
    from nur.ports.chunks import ChunkStore, ChunkWithNote
    from nur.ports.clock import Clock
    from nur.retrieval.ranking.grouping import HitGroup
    from nur.retrieval.ranking.queries import WeightedTerms
    from nur.retrieval.ranking.rank import Ranked

#: Hits that passages are taken from; with twenty, more sentences resemble the question by chance.
PASSAGE_NOTES = 10
#: Chunks of these hits that passages are taken from, best first.
PASSAGE_CHUNKS = 60
#: Characters up to which a note is shown whole: cutting it saves little and loses context.
SHORT_NOTE = 600
#: With neighbours: characters reserved for each hit's own passage before neighbours are added.
SHORT_SENTENCE = 60
#: Characters that a hit leaves for each of the hits after it; at most a quarter of the rest for all of them.
FEW_WORDS = 40
#: Characters shown of a hit without passages: its first sentences.
EXCERPT = 160
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class ExtractPassages:
    """Turns the best candidates into hits with passages."""

    chunks: ChunkStore
    clock: Clock
    cosine_weight: float = 0.0  #: of the store's own model in the candidates' scores

    async def read(
        self, request: SearchRequest, ranked: Sequence[Ranked], groups: Sequence[HitGroup], compared: int
    ) -> Mapping[ChunkKey, ChunkWithNote]:
        """Read the chunks of hits, of passages and of the first `compared` groups, in one snapshot.

        A note that was deleted since it was ranked is left out.
        """
        shown = (group.shown for group in groups[: max(request.limit, compared)])
        chosen = (*shown, *_passage_chunks(ranked, groups[: request.limit]))
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
        terms: WeightedTerms,
        ranked: Sequence[Ranked],
        best: Sequence[HitGroup],
        rerank_scores: Mapping[NoteId, float],
        read: Mapping[ChunkKey, ChunkWithNote],
    ) -> list[Hit]:
        """The hits in the order of `best`, with passages of about `max_chars` characters in all."""
        candidates = _passage_chunks(ranked, best)
        best_lexical = max((one.lexical for one in ranked), default=0.0)
        shown = [group for group in best if group.shown.candidate.chunk_key in read]
        budget = _passage_budget(request, len(shown))
        by_note = _passages(terms, candidates, read, piece_weight(best_lexical, self.cosine_weight), budget)
        passages = _within(
            [(group.shown, by_note.get(group.shown.note_id) or [_opening(group.shown, read)]) for group in shown],
            budget,
            strictly=request.expand_neighbors,
        )
        hits = [
            _hit(group, read[group.shown.candidate.chunk_key], of_hit, rerank_scores.get(group.shown.note_id))
            for group, of_hit in zip(shown, passages, strict=True)
        ]
        return with_neighbours(hits, read, request.max_chars) if request.expand_neighbors else hits


def _passage_chunks(ranked: Sequence[Ranked], best: Sequence[HitGroup]) -> list[Ranked]:
    """The best chunks of the best hits, which passages are taken from; short notes are shown whole instead."""
    shown = {group.shown.note_id for group in best[:PASSAGE_NOTES]}
    return [one for one in ranked if one.note_id in shown and not _is_short(one)][:PASSAGE_CHUNKS]


def passage_note(candidates: Sequence[tuple[Ranked, ChunkWithNote]]) -> PassageNote:
    """A note to take passages from, given its chunks among the candidates, best first."""
    chunks = [
        PassageChunk(
            read.stored.chunk.start_char, read.stored.chunk.content, read.pieces, read.atoms, ranked.piece_scores
        )
        for ranked, read in candidates
    ]
    in_order = sorted(chunks, key=lambda chunk: chunk.start)
    return PassageNote(str(candidates[0][0].note_id), candidates[0][0].score, in_order)


def expanded(read: ChunkWithNote) -> ExpandedChunk | None:
    """A chunk between its neighbours; None if the note has only one chunk."""
    return expand_chunk(read.stored.chunk, read.before, read.after) if read.note.is_chunked else None


def chunk_id_of(read: ChunkWithNote) -> str:
    """The chunk's public id; the note's own id if it has only one chunk."""
    note, stored = read.note, read.stored
    if not note.is_chunked:
        return note.public_id
    return chunk_public_id(note.public_id, stored.chunk.index, stored.content_hash)


def _is_short(ranked: Ranked) -> bool:
    return not ranked.candidate.is_chunked and ranked.candidate.characters <= SHORT_NOTE


def with_neighbours(hits: Sequence[Hit], read: Mapping[ChunkKey, ChunkWithNote], max_chars: int) -> list[Hit]:
    """The hits with the text around their best passages, within `max_chars` in all."""
    used = sum(_characters(hit) for hit in hits)
    room = room_for_context(max_chars, used, sum(hit.note.is_chunked for hit in hits))
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
    """The passages, those of the hit's own chunk first: neighbours are shown around the first."""
    return tuple(sorted(hit.passages, key=lambda one: not touches(one.start_char, one.end_char, hit.chunk)))


def _surroundings(hit: Hit, read: ChunkWithNote, room: int) -> ExpandedChunk | None:
    whole = expanded(read)
    return None if whole is None else whole.around(*_surrounded(hit), room)


def _surrounded(hit: Hit) -> tuple[int, int]:
    """Range of the passage that neighbours are shown around."""
    return best_range(((one.start_char, one.end_char) for one in hit.passages), hit.chunk)


def _characters(hit: Hit) -> int:
    """Characters shown of a hit, without neighbours: all passages, or the surrounded one of a chunked note."""
    if hit.note.is_chunked:
        start, end = _surrounded(hit)
        return end - start
    return sum(len(passage.text) for passage in hit.passages)


def _passages(
    terms: WeightedTerms,
    chunks: Sequence[Ranked],
    read: Mapping[ChunkKey, ChunkWithNote],
    by_piece: float,
    max_chars: int,
) -> Mapping[NoteId, Sequence[Passage]]:
    """The best passages of all chunks, by note."""
    by_note: dict[NoteId, list[tuple[Ranked, ChunkWithNote]]] = {}
    for one in chunks:
        chunk = read.get(one.candidate.chunk_key)
        if chunk is not None and chunk.stored.chunk_key == one.candidate.chunk_key:  # else replaced, and not scored
            by_note.setdefault(one.note_id, []).append((one, chunk))
    notes = {str(note_id): passage_note(chunks_of_note) for note_id, chunks_of_note in by_note.items()}
    extracted = extract(list(notes.values()), terms, by_piece=by_piece, max_chars=max_chars) if notes else {}
    return {
        note_id: [Passage(one.text, one.start, one.end, one.score) for one in extracted.get(str(note_id), ())]
        for note_id in by_note
    }


def _passage_budget(request: SearchRequest, hits: int) -> int:
    """Characters for passages: all; with neighbours a third, or more if the hits need it for a short sentence each."""
    if not request.expand_neighbors:
        return request.max_chars
    return min(request.max_chars, max(request.max_chars // 3, SHORT_SENTENCE * hits))


def _within(
    hits: Sequence[tuple[Ranked, Sequence[Passage]]], max_chars: int, *, strictly: bool
) -> list[Sequence[Passage]]:
    """The passages of each hit that fit into the budget, which the first hits use first.

    If nothing is left, a hit still gets its best passage; if `strictly`, only the words that the hits before it left
    room for. Short notes are shown whole and use the budget, too.
    """
    kept: list[Sequence[Passage]] = []
    left = max_chars
    for at, (one, passages) in enumerate(hits):
        waiting = sum(not _is_short(other) for other, _ in hits[at + 1 : PASSAGE_NOTES]) if strictly else 0
        reserve = min(FEW_WORDS, max(0, left) // (4 * waiting)) if waiting else 0
        fitting = passages if _is_short(one) else _fitting(passages, left - waiting * reserve, strictly=strictly)
        kept.append(fitting)
        left -= sum(len(passage.text) for passage in fitting)
    return kept


def _fitting(passages: Sequence[Passage], characters: int, *, strictly: bool) -> list[Passage]:
    """The whole sentences of a hit's passages that fit; at least the best passage or, if `strictly`, a word of it."""
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
    """The passage, cut to the whole sentences, rows or lines that fit; possibly empty."""
    if len(passage.text) <= characters:
        return passage
    end = max((atom.end for atom in find_atoms(passage.text) if atom.end <= characters), default=0)
    text = passage.text[:end].rstrip()
    return replace(passage, text=text, end_char=passage.start_char + len(text))


def _first_words(passage: Passage, characters: int) -> Passage:
    """The passage, cut to the whole words that fit, at least one; text without spaces ends at MAX_ATOM_CHARACTERS."""
    ends = [word.end() for word in _WORD.finditer(passage.text[: max(characters, MAX_ATOM_CHARACTERS) + 1])]
    end = max((end for end in ends if end <= characters), default=min(ends, default=0))
    return replace(passage, text=passage.text[:end], end_char=passage.start_char + end)


def _opening(ranked: Ranked, read: Mapping[ChunkKey, ChunkWithNote]) -> Passage:
    """What to show of a hit without passages: a short note whole, else the chunk's first sentences, at least one."""
    chunk = read[ranked.candidate.chunk_key].stored.chunk
    end = len(chunk.content)
    if not _is_short(ranked):
        ends = [atom.end for atom in find_atoms(chunk.content[: 2 * EXCERPT + MAX_ATOM_CHARACTERS])]
        end = max((end for end in ends if end <= EXCERPT), default=ends[0] if ends else 0)
    return Passage(chunk.content[:end], chunk.start_char, chunk.start_char + end, ranked.score)


def _hit(
    group: HitGroup,
    read: ChunkWithNote,
    passages: Sequence[Passage],
    rerank_score: float | None,
) -> Hit:
    shown, chunk = group.shown, read.stored.chunk
    return Hit(
        note=read.note,
        chunk_key=read.stored.chunk_key,
        chunk_id=chunk_id_of(read),
        chunk=chunk,
        score=shown.score,
        rrf_score=shown.rrf_score,
        ranks=shown.ranks,
        passages=tuple(passages),
        item_id=uuid4(),
        rerank_score=rerank_score,
        duplicates=tuple(other.candidate.public_id for other in group.duplicates),
        text=read.text,
    )
