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
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.retrieval.ranking.term_vectors import ROW_WORD, row_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_WORD = 4  #: bytes of a u32
_FIELDS = 5  #: per piece
_ID_BITS = 32  #: of a term id

MAX_COUNT = 255
"""Highest stored count of a term: BM25 with k1 = 1.2 cannot tell 255 occurrences from more."""


class ChunkTerms(NamedTuple):
    """The terms of all pieces of one chunk, counted together: numpy takes as long for one piece as for ten."""

    per_piece: NDArray[np.int64]  #: distinct terms of each piece
    ids: NDArray[np.uint32]  #: piece by piece, ascending in each
    counts: NDArray[np.uint8]  #: occurrences of each of `ids`, capped at 255
    positions: NDArray[np.int64]  #: of each occurrence: its index among the ids of its piece

    @classmethod
    def of(cls, occurrences: Sequence[int], per_piece: Sequence[int]) -> ChunkTerms:
        """Count term ids, given in text order, with the number of them in each piece."""
        pieces = np.repeat(np.arange(len(per_piece), dtype=np.uint64), per_piece)
        keys = (pieces << np.uint64(_ID_BITS)) | np.array(occurrences, np.uint64)
        distinct, position, counts = np.unique(keys, return_inverse=True, return_counts=True)
        terms = np.bincount((distinct >> np.uint64(_ID_BITS)).astype(np.int64), minlength=len(per_piece))
        firsts = np.cumsum(terms) - terms
        return cls(
            terms,
            distinct.astype(np.uint32),  # the lower half: the id
            np.minimum(counts, MAX_COUNT).astype(np.uint8),
            position - np.repeat(firsts, per_piece),
        )


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


def encode_pieces(
    spans: Sequence[tuple[int, int]], words: Sequence[int], terms: ChunkTerms, contexts: Sequence[Sequence[int]]
) -> bytes:
    """Encode the pieces of one chunk; `contexts` are the ids of each piece's headings, ascending."""
    starts, ends = zip(*spans, strict=True) if spans else ((), ())
    fields = np.array([starts, ends, words, terms.per_piece, [len(ids) for ids in contexts]], "<u4")
    context_ids = np.array([term for ids in contexts for term in ids], "<u4")
    parts = [np.array([len(spans)], "<u4"), fields.T, terms.ids.astype("<u4"), context_ids, terms.counts]
    return b"".join(part.tobytes() for part in parts)


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


def rows_of_terms(per_piece: NDArray[np.int64], ids: NDArray[np.uint32], counts: NDArray[np.uint8]) -> list[str]:
    """The terms of each piece as words for a full-text table (FTS5, tsvector), repeated as counted.

    Any tokenizer keeps such words whole, whatever the text's script. Extra terms are included for their document
    frequencies; a search looks up main terms only.
    """
    words = row_words(np.repeat(ids, counts))
    words_until = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    edges = words_until[np.concatenate([[0], np.cumsum(per_piece)])] * ROW_WORD
    return [words[start:end].rstrip() for start, end in pairwise(edges.tolist())]


def lexical_rows(blob: bytes) -> list[str]:
    """The lexical row of each piece of one chunk."""
    table = decode_pieces([blob])
    return rows_of_terms(table.term_counts, table.ids, table.counts)


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


def encode_atoms(
    per_piece: Sequence[int],
    characters: Sequence[int],
    words: Sequence[int],
    term_counts: Sequence[int],
    terms: NDArray[np.int64],
) -> bytes:
    """Encode the atoms of one chunk; see `AtomTable`."""
    head = np.array([len(per_piece), len(characters), *characters], "<u4")
    fields = np.array([*per_piece, *words, *term_counts], "<u2")
    return head.tobytes() + fields.tobytes() + terms.astype("<u2").tobytes()


def decode_atoms(blob: bytes) -> AtomTable:
    """Decode the atoms of one chunk."""
    pieces, atoms = np.frombuffer(blob, "<u4", 2).tolist()
    characters = np.frombuffer(blob, "<u4", atoms, 2 * _WORD).astype(np.int64)
    fields = np.frombuffer(blob, "<u2", -1, (2 + atoms) * _WORD).astype(np.int64)
    per_piece, words, term_counts, terms = np.split(fields, np.cumsum([pieces, atoms, atoms]))
    return AtomTable(per_piece, characters, words.astype(np.float64), term_counts, terms)
