"""What is stored of a chunk's pieces: their terms for scoring, their atoms for passages, their vectors for meaning."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.pieces.stored import AtomRecord, PieceRecord, encode_atoms, encode_pieces
from nur.retrieval.pieces.vectors import mean_vectors, quantised, with_context
from nur.retrieval.ranking.term_vectors import TermVector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.ports.embedder import Floats, TokenTable
    from nur.retrieval.pieces.cut import Piece
    from nur.retrieval.text.analysis import Analyzer

_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class AnalysedPieces:
    """The pieces of one chunk as they are stored."""

    texts: tuple[str, ...]
    terms: tuple[str, ...]  #: the lexical row of each
    term_count: int  #: words of all of them
    pieces: bytes  #: what scoring reads
    atoms: bytes  #: what passages read
    vectors: bytes  #: one per piece
    digest: bytes  #: equal for chunks with the same terms
    words: Mapping[int, str]  #: a word of each main term


@dataclass(frozen=True, slots=True)
class _Analysed:
    record: PieceRecord
    atoms: Sequence[AtomRecord]
    words: Mapping[int, str]


def analyse(text: str, pieces: Sequence[Piece], context: str, vectors: Floats, analyzer: Analyzer) -> AnalysedPieces:
    """Analyse the pieces of one chunk of a text; `context` is what the whole chunk stands under."""
    analysed = [_analysed(text, piece, context, analyzer) for piece in pieces]
    records = [one.record for one in analysed]
    return AnalysedPieces(
        texts=tuple(text[piece.start : piece.end] for piece in pieces),
        terms=tuple(record.terms.lexical_row() for record in records),
        term_count=sum(record.terms.length for record in records),
        pieces=encode_pieces(records),
        atoms=encode_atoms([one.atoms for one in analysed]),
        vectors=quantised(vectors).tobytes(),
        digest=_digest(records),
        words={term: word for one in analysed for term, word in one.words.items()},
    )


def piece_vectors(text: str, pieces: Sequence[Piece], table: TokenTable) -> Floats:
    """The vector of each piece, with a share of its context's."""
    own = mean_vectors([text[piece.start : piece.end] for piece in pieces], table)
    contexts = list(dict.fromkeys(piece.context for piece in pieces if piece.context))
    if not contexts:
        return own
    of_context = dict(zip(contexts, mean_vectors(contexts, table), strict=True))
    nothing = np.zeros(own.shape[1], np.float32)
    beside = np.stack([of_context.get(piece.context, nothing) for piece in pieces])
    return with_context(own, beside)


def _analysed(text: str, piece: Piece, context: str, analyzer: Analyzer) -> _Analysed:
    counts: Counter[int] = Counter()
    words: list[int] = []
    terms: list[list[int]] = []
    named: dict[int, str] = {}
    for atom in piece.atoms:
        found: list[int] = []
        length = 0
        for token in analyzer.tokens(text[atom.start : atom.end]):
            ids = analyzer.ids(token)
            length += len(ids.main)
            found += ids.main
            found += ids.extra
            named.update(zip(ids.main, ids.words, strict=True))
        counts.update(found)
        terms.append(found)
        words.append(length)
    own = TermVector.of(counts, sum(words))
    place = {term: at for at, term in enumerate(own.ids.tolist())}
    atoms = [
        AtomRecord(atom.end - atom.start, length, [place[term] for term in found])
        for atom, length, found in zip(piece.atoms, words, terms, strict=True)
    ]
    record = PieceRecord(piece.start, piece.end, own, _context_ids(piece.context, context, analyzer))
    return _Analysed(record, atoms, named)


def _context_ids(nearest: str, of_chunk: str, analyzer: Analyzer) -> list[int]:
    if not nearest and not of_chunk:
        return []
    found: set[int] = set()
    for token in analyzer.tokens(f"{nearest}\n{of_chunk}"):
        ids = analyzer.ids(token)
        found.update(ids.main, ids.extra)
    return sorted(found)


def _digest(records: Sequence[PieceRecord]) -> bytes:
    """A hash of the terms of all pieces together: line breaks, which decide where pieces end, do not change it."""
    every = np.concatenate([np.zeros(0, np.uint32), *(record.terms.ids for record in records)])
    counts = np.concatenate([np.zeros(0, np.uint8), *(record.terms.counts for record in records)])
    ids, places = np.unique(every, return_inverse=True)
    totals = np.bincount(places, weights=counts, minlength=ids.size).astype(np.uint32)
    return blake2b(ids.tobytes() + totals.tobytes(), digest_size=_DIGEST_BYTES).digest()
