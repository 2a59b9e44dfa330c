"""Collect the atoms that passages are made of: those of the best pieces and of the pieces around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.pieces.stored import decode_atoms, decode_pieces
from nur.retrieval.ranking.scores import find_ids

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nur.retrieval.pieces.stored import AtomTable, PieceTable
    from nur.retrieval.ranking.queries import WeightedTerms

BEST_PIECES = 60
"""Pieces that passages grow around; more take longer and change nothing."""

BESIDE = 3
"""Pieces on either side of a best piece whose atoms are collected, too."""


@dataclass(frozen=True, slots=True)
class PassageChunk:
    """A chunk that passages may be taken from."""

    start: int  #: offset of its text in the note, in characters
    text: str
    pieces: bytes
    atoms: bytes
    piece_scores: NDArray[np.float64]

    @property
    def end(self) -> int:
        """Offset after its last character in the note."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class PassageNote:
    """A note that passages may be taken from."""

    name: str
    score: float
    chunks: Sequence[PassageChunk]  #: in the order of the text

    def read(self, start: int, end: int) -> str:
        """The note's text from `start` to `end`, up to the first gap between chunks."""
        text = ""
        for chunk in self.chunks:
            at = start + len(text)
            if chunk.start <= at < min(chunk.end, end):
                text += chunk.text[at - chunk.start : end - chunk.start]
        return text


@dataclass(frozen=True, slots=True)
class Atoms:
    """Atoms of several notes, in note order, then text order; each once."""

    notes: NDArray[np.int64]  #: index of each atom's note
    starts: NDArray[np.int64]  #: offsets in the note, in characters
    ends: NDArray[np.int64]
    runs: NDArray[np.int64]  #: run number; atoms of one run are adjacent in the text
    piece_scores: NDArray[np.float64]  #: score of each atom's piece
    words: NDArray[np.float64]
    counts: NDArray[np.float64]  #: one row per atom, one column per term of the question

    def __len__(self) -> int:
        return len(self.notes)


@dataclass(frozen=True, slots=True)
class _ReadChunk:
    """A chunk with its pieces and atoms decoded."""

    note: int
    chunk: PassageChunk
    pieces: PieceTable
    atoms: AtomTable
    reach: int  #: offset up to which the note can be read from here without a gap


def gather(notes: Sequence[PassageNote], terms: WeightedTerms) -> Atoms:
    """The atoms of the best pieces of all notes and of the pieces around them."""
    chunks = list(_decoded(notes))
    chosen = _chosen_pieces(chunks)
    parts = [_atoms_of(chunk, is_chosen, terms) for chunk, is_chosen in zip(chunks, chosen, strict=True)]
    empty = np.zeros(0, np.int64)
    note_indices = np.concatenate([empty, *(part.notes for part in parts)])
    starts = np.concatenate([empty, *(part.starts for part in parts)])
    ends = np.concatenate([empty, *(part.ends for part in parts)])
    return Atoms(
        notes=note_indices,
        starts=starts,
        ends=ends,
        runs=_runs(note_indices, starts, ends),
        piece_scores=np.concatenate([np.zeros(0), *(part.piece_scores for part in parts)]),
        words=np.concatenate([np.zeros(0), *(part.words for part in parts)]),
        counts=np.concatenate([np.zeros((0, terms.ids.size)), *(part.counts for part in parts)]),
    )


def _decoded(notes: Sequence[PassageNote]) -> Iterator[_ReadChunk]:
    for number, note in enumerate(notes):
        reach = 0
        readable: list[int] = []
        for chunk in reversed(note.chunks):
            reach = max(reach, chunk.end) if readable and note.chunks[-len(readable)].start <= chunk.end else chunk.end
            readable.append(reach)
        for chunk, end in zip(note.chunks, reversed(readable), strict=True):
            if chunk.piece_scores.size:  # else no piece begins in it, or it waits to be analysed
                yield _ReadChunk(number, chunk, decode_pieces([chunk.pieces]), decode_atoms(chunk.atoms), end)


def _chosen_pieces(chunks: Sequence[_ReadChunk]) -> list[NDArray[np.bool_]]:
    """For each chunk, which of its pieces are among the best of all chunks, or near one of them."""
    sizes = [len(one.pieces) for one in chunks]
    notes = np.repeat([one.note for one in chunks], sizes)
    scores = np.concatenate([np.zeros(0), *(one.chunk.piece_scores for one in chunks)])
    best = np.argsort(-scores, kind="stable")[:BEST_PIECES]
    chosen = np.zeros(len(scores), bool)
    for step in range(-BESIDE, BESIDE + 1):
        at = best + step
        exists = (at >= 0) & (at < len(scores))
        at, centre = at[exists], best[exists]
        chosen[at[notes[at] == notes[centre]]] = True
    return np.split(chosen, np.cumsum(sizes)[:-1])


def _atoms_of(chunk: _ReadChunk, chosen: NDArray[np.bool_], terms: WeightedTerms) -> Atoms:
    """The atoms of one chunk's chosen pieces, without those that end in a gap between chunks."""
    atoms, pieces = chunk.atoms, chunk.pieces
    piece_of = np.repeat(np.arange(len(pieces)), atoms.per_piece)
    ends = pieces.starts[0] + np.cumsum(atoms.characters)
    kept = np.flatnonzero(chosen[piece_of] & (ends <= chunk.reach))
    return Atoms(
        notes=np.full(kept.size, chunk.note),
        starts=(ends - atoms.characters)[kept],
        ends=ends[kept],
        runs=np.zeros(kept.size, np.int64),
        piece_scores=chunk.chunk.piece_scores[piece_of[kept]],
        words=atoms.words[kept],
        counts=_counts(atoms, pieces, piece_of, terms)[kept],
    )


def _counts(
    atoms: AtomTable, pieces: PieceTable, piece_of: NDArray[np.int64], terms: WeightedTerms
) -> NDArray[np.float64]:
    """Occurrences of each of the question's terms (column) in each atom (row)."""
    column_of_id = np.full(pieces.ids.size, -1)
    entries, columns = find_ids(pieces.ids, terms.ids)
    column_of_id[entries] = columns
    first_id = np.cumsum(pieces.term_counts) - pieces.term_counts
    atom_of = np.repeat(np.arange(piece_of.size), atoms.term_counts)  # of each occurrence of a term
    columns = column_of_id[first_id[piece_of[atom_of]] + atoms.terms]
    in_question = columns >= 0
    shape = (piece_of.size, terms.ids.size)
    flat = np.bincount(atom_of[in_question] * terms.ids.size + columns[in_question], minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64)


def _runs(notes: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Run number of each atom: a new run starts at a gap and at a new note."""
    starts_run = np.ones(len(notes), bool)
    starts_run[1:] = (starts[1:] != ends[:-1]) | (notes[1:] != notes[:-1])
    runs: NDArray[np.int64] = np.cumsum(starts_run)
    return runs
