"""Candidates for ranking tests: a text, its real pieces, and a cosine chosen by the test."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from nur.domain.chunks import Chunk, StoredChunk, sha256
from nur.domain.notes import ChunkKey, Kind, Note
from nur.ports.chunks import OPENING, ChunkWithNote, ScoringView
from nur.retrieval.pieces.analyse import analyse, cut, piece_vectors
from nur.retrieval.ranking.rank import Ranked
from nur.retrieval.text.analysis import ANALYZER
from tests.doubles.token_table import HashedTokens
from tests.store_notes import a_note

TOKENS = HashedTokens()
_keys = count(1)


def a_candidate(text: str, note: Note | None = None, index: int = 0, **changes: Any) -> ScoringView:
    """A chunk as ranking sees it, of a new note unless one is given."""
    return view_of(a_read(text, note, index, **changes))


def view_of(read: ChunkWithNote) -> ScoringView:
    """The ranking view of a chunk that was read from the store."""
    stored, note = read.stored, read.note
    text = stored.chunk.content
    pieces = cut(text, has_headings=note.kind is not Kind.TURN)
    analysed = analyse(text, pieces, "", piece_vectors(text, pieces, TOKENS), ANALYZER)
    return ScoringView(
        chunk_key=stored.chunk_key,
        chunk_index=stored.chunk.index,
        content_hash=stored.content_hash,
        characters=len(stored.chunk.content),
        opening=stored.chunk.content[:OPENING],
        note_id=note.note_id,
        public_id=note.public_id,
        kind=note.kind,
        chunk_count=note.chunk_count,
        heading=note.heading,
        role=note.meta.role,
        conversation_id=note.meta.conversation_id,
        turn_index=note.meta.turn_index,
        digest=analysed.digest,
        pieces=analysed.pieces,
        piece_vectors=analysed.vectors,
    )


def a_read(text: str, note: Note | None = None, index: int = 0, **changes: Any) -> ChunkWithNote:
    """The same chunk as read from the store, with its text."""
    note = note or a_note(text, **changes)
    stored = StoredChunk(
        chunk_key=ChunkKey(next(_keys)),
        note_id=note.note_id,
        chunk=Chunk(index, text, 0, len(text), len(text.split())),
        content_hash=sha256(text),
        has_vector=True,
    )
    return ChunkWithNote(stored=stored, note=note)


def a_ranked(
    text: str = "Tea is drunk at four.",
    score: float = 0.5,
    *,
    bonus: float = 0.0,
    cosine: float | None = 0.4,
    note: Note | None = None,
    index: int = 0,
    **changes: Any,
) -> Ranked:
    """A candidate with the given score."""
    return ranked_as(a_candidate(text, note, index, **changes), score, bonus=bonus, cosine=cosine)


def ranked_as(candidate: ScoringView, score: float = 0.5, *, bonus: float = 0.0, cosine: float | None = 0.4) -> Ranked:
    """This candidate with the given score."""
    return Ranked(
        candidate=candidate,
        score=score,
        lexical=score - bonus,
        cosine=cosine,
        bonus=bonus,
        rrf_score=1 / 61,
        ranks={"dense": 1},
        piece_scores=np.array([score]),
        matched_words=score,
        relevance=score - bonus,
    )
