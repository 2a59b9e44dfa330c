"""Cut a text into pieces, and analyse them.

A piece is a run of adjacent atoms, up to about 300 characters. Its terms and vector are stored for scoring, its atoms
for passages.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.retrieval.pieces.atoms import Atom, AtomKind, find_atoms
from nur.retrieval.pieces.stored import AtomRecord, PieceRecord, encode_atoms, encode_pieces
from nur.retrieval.pieces.vectors import add_context, mean_vectors, quantised
from nur.retrieval.ranking.term_vectors import TermVector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.ports.embedder import Floats, TokenTable
    from nur.retrieval.text.analysis import Analyzer


TARGET = 300
"""Characters of a piece at most, unless a single atom is longer. 200 to 500: within .01 on every set."""

MIN_CHARACTERS = 80
"""Characters from which a piece ends at a blank line or heading; a shorter one continues past it."""

MAX_HEADING_CHARACTERS = 60
MAX_HEADING_WORDS = 8
"""Limits of a heading without a `#`: a short line right above a paragraph."""

_ENDS_SENTENCE = (".", "!", "?", ",")

_DIGEST_BYTES = 8


class Piece(NamedTuple):
    """A part of a text that is ranked on its own."""

    atoms: Sequence[Atom]
    context: str  #: the nearest heading above it and its table's header, unless it contains them

    @property
    def start(self) -> int:
        """Offset of its first character in the text."""
        return self.atoms[0].start

    @property
    def end(self) -> int:
        """Offset after its last character."""
        return self.atoms[-1].end


def cut(text: str, *, has_headings: bool = True) -> list[Piece]:
    """The pieces of a text, in order; together they are the text. Set `has_headings` to False for chat turns."""
    atoms = find_atoms(text)
    headings = _headings(text, atoms) if has_headings else [""] * len(atoms)
    pieces: list[Piece] = []
    first = 0
    while first < len(atoms):
        end = _piece_end(atoms, first)
        pieces.append(_piece(text, atoms[first:end], headings[first]))
        first = end
    return pieces


def _piece_end(atoms: Sequence[Atom], first: int) -> int:
    """Index after the last atom of the piece that starts with atom `first`. A table row is a piece of its own."""
    end = first + 1
    if atoms[first].header is not None:
        return end
    size = atoms[first].end - atoms[first].start
    while end < len(atoms) and not _ends_before(atoms[end - 1], atoms[end], size):
        size += atoms[end].end - atoms[end].start
        end += 1
    return end


def _ends_before(last: Atom, following: Atom, size: int) -> bool:
    """Whether a piece of `size` characters ends between these atoms."""
    if following.header is not None or size + following.end - following.start > TARGET:
        return True
    return following.block != last.block and size >= MIN_CHARACTERS and last.kind is not AtomKind.HEADING


def _piece(text: str, atoms: Sequence[Atom], heading: str) -> Piece:
    content = text[atoms[0].start : atoms[-1].end]
    header = atoms[0].header
    above = [heading, text[header.start : header.end] if header else ""]
    context = [line for line in dict.fromkeys(above) if line.strip() and line.strip() not in content]
    return Piece(atoms, "\n".join(context))


def _headings(text: str, atoms: Sequence[Atom]) -> list[str]:
    """The nearest heading above each atom; a heading is its own."""
    headings: list[str] = []
    nearest = ""
    for at, atom in enumerate(atoms):
        if atom.kind is AtomKind.HEADING or _is_short_heading(text, atoms, at):
            nearest = text[atom.start : atom.end].strip().lstrip("# ")
        headings.append(nearest)
    return headings


def _is_short_heading(text: str, atoms: Sequence[Atom], at: int) -> bool:
    """Whether an atom is a short line that begins a block and does not end it."""
    atom = atoms[at]
    begins_block = at == 0 or atoms[at - 1].block != atom.block
    has_more = at + 1 < len(atoms) and atoms[at + 1].block == atom.block
    if (
        atom.kind is not AtomKind.TEXT
        or not begins_block
        or not has_more
        or atom.end - atom.start > 2 * MAX_HEADING_CHARACTERS
    ):
        return False
    line = text[atom.start : atom.end]
    stripped = line.strip()
    return (
        "\n" in line
        and len(stripped) <= MAX_HEADING_CHARACTERS
        and not stripped.endswith(_ENDS_SENTENCE)
        and len(stripped.split()) <= MAX_HEADING_WORDS
    )


@dataclass(frozen=True, slots=True)
class AnalysedPieces:
    """The pieces of one chunk as they are stored."""

    texts: tuple[str, ...]
    terms: tuple[str, ...]  #: the lexical row of each piece
    term_count: int  #: words of all pieces
    pieces: bytes  #: what scoring reads
    atoms: bytes  #: what passages read
    vectors: bytes  #: one per piece
    digest: bytes  #: equal for chunks with the same terms
    words: Mapping[int, str]  #: an example word of each main term, by its id


@dataclass(frozen=True, slots=True)
class _Analysed:
    record: PieceRecord
    atoms: Sequence[AtomRecord]
    words: Mapping[int, str]


def analyse(text: str, pieces: Sequence[Piece], context: str, vectors: Floats, analyzer: Analyzer) -> AnalysedPieces:
    """Analyse the pieces of one chunk of a text; `context` is the whole chunk's title and headings."""
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
    """The vector of each piece, with a share of its context's vector added."""
    vectors = mean_vectors([text[piece.start : piece.end] for piece in pieces], table)
    contexts = list(dict.fromkeys(piece.context for piece in pieces if piece.context))
    if not contexts:
        return vectors
    vector_of = dict(zip(contexts, mean_vectors(contexts, table), strict=True))
    zero = np.zeros(vectors.shape[1], np.float32)
    context_vectors = np.stack([vector_of.get(piece.context, zero) for piece in pieces])
    return add_context(vectors, context_vectors)


def _analysed(text: str, piece: Piece, context: str, analyzer: Analyzer) -> _Analysed:
    counts: Counter[int] = Counter()
    atom_words: list[int] = []
    atom_terms: list[list[int]] = []
    words: dict[int, str] = {}
    for atom in piece.atoms:
        atom_ids: list[int] = []
        length = 0
        for token in analyzer.tokens(text[atom.start : atom.end]):
            ids = analyzer.ids(token)
            length += len(ids.main)
            atom_ids += ids.main
            atom_ids += ids.extra
            words.update(zip(ids.main, ids.words, strict=True))
        counts.update(atom_ids)
        atom_terms.append(atom_ids)
        atom_words.append(length)
    term_vector = TermVector.of(counts, sum(atom_words))
    position = {term: at for at, term in enumerate(term_vector.ids.tolist())}
    atoms = [
        AtomRecord(atom.end - atom.start, length, [position[term] for term in atom_ids])
        for atom, length, atom_ids in zip(piece.atoms, atom_words, atom_terms, strict=True)
    ]
    record = PieceRecord(piece.start, piece.end, term_vector, _context_ids(piece.context, context, analyzer))
    return _Analysed(record, atoms, words)


def _context_ids(piece_context: str, chunk_context: str, analyzer: Analyzer) -> list[int]:
    if not piece_context and not chunk_context:
        return []
    distinct: set[int] = set()
    for token in analyzer.tokens(f"{piece_context}\n{chunk_context}"):
        ids = analyzer.ids(token)
        distinct.update(ids.main, ids.extra)
    return sorted(distinct)


def _digest(records: Sequence[PieceRecord]) -> bytes:
    """A hash of all pieces' terms together, so that it does not depend on where pieces end."""
    all_ids = np.concatenate([np.zeros(0, np.uint32), *(record.terms.ids for record in records)])
    counts = np.concatenate([np.zeros(0, np.uint8), *(record.terms.counts for record in records)])
    ids, index_of = np.unique(all_ids, return_inverse=True)
    totals = np.bincount(index_of, weights=counts, minlength=ids.size).astype(np.uint32)
    return blake2b(ids.tobytes() + totals.tobytes(), digest_size=_DIGEST_BYTES).digest()
