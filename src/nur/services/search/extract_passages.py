"""Extract the passages of each hit that answer, with their offsets in the note's text."""

from __future__ import annotations

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
#: What is shown of a hit that has no passage: its first sentences, about so many characters.
EXCERPT = 160


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
        # With neighbours, two thirds of the budget are for what surrounds the passages.
        budget = request.max_chars // 3 if request.expand_neighbors else request.max_chars
        passages = _within(best, _passages(terms, with_passages, read, best_lexical, budget), budget)
        hits = [
            _hit(
                group,
                read[key],
                passages.get(group.shown.note_id, ()),
                rerank_score=rerank_scores.get(group.shown.note_id),
            )
            for group in best
            if (key := group.shown.candidate.chunk_key) in read
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
    start, end = best_range(((p.start_char, p.end_char) for p in hit.passages), hit.chunk)
    whole = expanded(read)
    return None if whole is None else whole.around(start, end, room)


def _characters(hit: Hit) -> int:
    """What is shown of a hit without neighbours: all its passages, or the longest one of a chunked note."""
    lengths = [len(passage.text) for passage in hit.passages]
    return max(lengths) if hit.note.is_chunked else sum(lengths)


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


def _within(
    best: Sequence[HitGroup], passages: Mapping[NoteId, Sequence[Passage]], max_chars: int
) -> Mapping[NoteId, Sequence[Passage]]:
    """The passages that fit into the budget, in the order of the hits; each hit keeps its best one.

    Short notes, which are shown whole, spend it too.
    """
    left = max_chars
    kept: dict[NoteId, Sequence[Passage]] = {}
    for group in best:
        one = group.shown
        own: list[Passage] = []
        for passage in passages.get(one.note_id, ()):
            fitting = _first_sentences(passage, left)
            if fitting.text or not own:
                own.append(fitting if fitting.text else passage)
                left -= len(own[-1].text)
        kept[one.note_id] = own
        left -= one.candidate.characters if _is_short(one) else 0
    return kept


def _first_sentences(passage: Passage, characters: int) -> Passage:
    """The passage, or its first whole sentences, rows or lines that fit; that may be none."""
    if len(passage.text) <= characters:
        return passage
    end = max((atom.end for atom in find_atoms(passage.text) if atom.end <= characters), default=0)
    text = passage.text[:end].rstrip()
    return replace(passage, text=text, end_char=passage.start_char + len(text))


def _excerpt(text: str) -> int:
    """Where the first sentences of a text end, of about EXCERPT characters; at least one."""
    ends = [atom.end for atom in find_atoms(text[: 2 * EXCERPT + LONGEST_ATOM])]
    return max((end for end in ends if end <= EXCERPT), default=ends[0] if ends else 0)


def _hit(
    group: HitGroup,
    read: ChunkWithNote,
    passages: Sequence[Passage],
    *,
    rerank_score: float | None,
) -> Hit:
    one, chunk = group.shown, read.stored.chunk
    if not passages:
        end = len(chunk.content) if _is_short(one) else _excerpt(chunk.content)
        passages = (Passage(chunk.content[:end], chunk.start_char, chunk.start_char + end, one.score),)
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
