"""Storage format of pieces: all pieces of a chunk in one blob, so that a search reads one row per chunk.

Scoring reads this blob of each chunk:

    pieces u32
    per piece   start, end u32 (characters of the note) · words u32 · terms u32 · context terms u32
    term ids u32, ascending in each piece · context ids u32 · counts u8

Passages read this blob of the few chunks that they are taken from:

    pieces u32 · atoms u32 · characters of each atom u32
    atoms of each piece u16 · words of each atom u16 · terms of each atom u16
    per term    u16, its index among the ids of its piece

A piece of 300 characters takes about 500 bytes, without its vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.retrieval.ranking.term_vectors import TermVector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_WORD = 4  #: bytes of a u32
_FIELDS = 5  #: per piece


class PieceRecord(NamedTuple):
    """A piece as scoring stores it."""

    start: int
    end: int
    terms: TermVector
    context_ids: Sequence[int]  #: terms of its headings, ascending


class AtomRecord(NamedTuple):
    """An atom as passages store it."""

    characters: int
    words: int
    terms: Sequence[int]  #: indices among the ids of its piece, one per occurrence


@dataclass(frozen=True, slots=True)
class PieceTable:
    """The pieces of several chunks, concatenated in chunk order."""

    chunks: NDArray[np.int64]  #: index of the chunk that each piece belongs to
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    words: NDArray[np.float64]
    term_counts: NDArray[np.int64]  #: distinct terms of each piece
    context_counts: NDArray[np.int64]
    ids: NDArray[np.uint32]  #: of all pieces' terms, concatenated
    counts: NDArray[np.uint8]  #: occurrences of each of `ids`
    context_ids: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def characters(self) -> NDArray[np.float32]:
        """Length of each piece in characters."""
        return (self.ends - self.starts).astype(np.float32)


@dataclass(frozen=True, slots=True)
class AtomTable:
    """The atoms of one chunk, in order."""

    per_piece: NDArray[np.int64]  #: atoms of each piece
    characters: NDArray[np.int64]
    words: NDArray[np.float64]
    term_counts: NDArray[np.int64]
    terms: NDArray[np.int64]  #: indices among the ids of the atom's piece


def encode_pieces(records: Sequence[PieceRecord]) -> bytes:
    """Encode the pieces of one chunk."""
    fields = [(one.start, one.end, one.terms.length, one.terms.ids.size, len(one.context_ids)) for one in records]
    parts = [np.array([len(records)], "<u4"), np.array(fields, "<u4").reshape(-1)]
    parts += [one.terms.ids.astype("<u4") for one in records]
    parts += [np.array(one.context_ids, "<u4") for one in records]
    return b"".join(part.tobytes() for part in parts) + b"".join(one.terms.counts.tobytes() for one in records)


def decode_pieces(blobs: Sequence[bytes]) -> PieceTable:
    """Decode the pieces of several chunks; an empty blob has none."""
    sizes = [int.from_bytes(blob[:_WORD], "little") for blob in blobs]
    fields = np.concatenate(
        [np.zeros(0, "<u4")]
        + [np.frombuffer(blob, "<u4", _FIELDS * size, _WORD) for blob, size in zip(blobs, sizes, strict=True) if size]
    )
    starts, ends, words, terms, contexts = fields.reshape(-1, _FIELDS).T.astype(np.int64)
    chunks = np.repeat(np.arange(len(blobs)), sizes)
    return PieceTable(
        chunks, starts, ends, words.astype(np.float64), terms, contexts, *_terms(blobs, sizes, terms, contexts)
    )


def piece_texts(blob: bytes, text: str) -> list[str]:
    """The texts of one chunk's pieces; `text` is their note's."""
    table = decode_pieces([blob])
    return [text[start:end] for start, end in zip(table.starts.tolist(), table.ends.tolist(), strict=True)]


def lexical_rows(blob: bytes) -> list[str]:
    """The lexical row of each piece of one chunk."""
    table = decode_pieces([blob])
    edges = np.cumsum(table.term_counts)[:-1]
    pieces = zip(np.split(table.ids, edges), np.split(table.counts, edges), strict=True)
    return [TermVector(ids, counts, 0).lexical_row() for ids, counts in pieces] if len(table) else []


def _terms(
    blobs: Sequence[bytes], sizes: Sequence[int], terms: NDArray[np.int64], contexts: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint8], NDArray[np.uint32]]:
    """Decode ids, counts and context ids of all pieces."""
    edges = np.cumsum([0, *sizes])
    terms_per_chunk = np.diff(np.concatenate([[0], np.cumsum(terms)])[edges]).tolist()
    contexts_per_chunk = np.diff(np.concatenate([[0], np.cumsum(contexts)])[edges]).tolist()
    ids, counts, context_ids = [], [], []
    for blob, size, term_count, context_count in zip(blobs, sizes, terms_per_chunk, contexts_per_chunk, strict=True):
        ids_start = _WORD + _WORD * _FIELDS * size
        contexts_start = ids_start + _WORD * term_count
        counts_start = contexts_start + _WORD * context_count
        ids.append(blob[ids_start:contexts_start])
        context_ids.append(blob[contexts_start:counts_start])
        counts.append(blob[counts_start:])
    return (
        np.frombuffer(b"".join(ids), "<u4"),
        np.frombuffer(b"".join(counts), np.uint8),
        np.frombuffer(b"".join(context_ids), "<u4"),
    )


def encode_atoms(pieces: Sequence[Sequence[AtomRecord]]) -> bytes:
    """Encode the atoms of one chunk's pieces."""
    atoms = [atom for piece in pieces for atom in piece]
    head = [len(pieces), len(atoms), *(atom.characters for atom in atoms)]
    fields = [*map(len, pieces), *(atom.words for atom in atoms), *(len(atom.terms) for atom in atoms)]
    fields += [term for atom in atoms for term in atom.terms]
    return np.array(head, "<u4").tobytes() + np.array(fields, "<u2").tobytes()


def decode_atoms(blob: bytes) -> AtomTable:
    """Decode the atoms of one chunk."""
    pieces, atoms = np.frombuffer(blob, "<u4", 2).tolist()
    characters = np.frombuffer(blob, "<u4", atoms, 2 * _WORD).astype(np.int64)
    fields = np.frombuffer(blob, "<u2", -1, (2 + atoms) * _WORD).astype(np.int64)
    per_piece, words, term_counts, terms = np.split(fields, np.cumsum([pieces, atoms, atoms]))
    return AtomTable(per_piece, characters, words.astype(np.float64), term_counts, terms)
