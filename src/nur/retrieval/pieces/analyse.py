"""Cut a text into pieces, and analyse them.

A piece is a run of adjacent atoms, up to about 300 characters. Its terms and vector are stored for scoring, its atoms
for passages.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.retrieval.pieces.atoms import Atom, AtomKind, find_atoms
from nur.retrieval.pieces.stored import ChunkTerms, encode_atoms, encode_pieces, rows_of_terms
from nur.retrieval.pieces.vectors import add_context, mean_vectors, quantised

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


def analyse(text: str, pieces: Sequence[Piece], context: str, vectors: Floats, analyzer: Analyzer) -> AnalysedPieces:
    """Analyse the pieces of one chunk of a text; `context` is the whole chunk's title and headings."""
    atoms = [atom for piece in pieces for atom in piece.atoms]
    atoms_per_piece = [len(piece.atoms) for piece in pieces]
    tokens = [[*map(analyzer.ids, analyzer.tokens(text[atom.start : atom.end]))] for atom in atoms]
    main = [[term for ids in of_atom for term in ids.main] for of_atom in tokens]
    terms = [[term for ids in of_atom for term in (*ids.main, *ids.extra)] for of_atom in tokens]
    words_per_atom, terms_per_atom = [*map(len, main)], [*map(len, terms)]
    words_per_piece = _sums(words_per_atom, atoms_per_piece)
    chunk_terms = ChunkTerms.of([*chain.from_iterable(terms)], _sums(terms_per_atom, atoms_per_piece))
    words = (word for of_atom in tokens for ids in of_atom for word in ids.words)
    return AnalysedPieces(
        texts=tuple(text[piece.start : piece.end] for piece in pieces),
        terms=tuple(rows_of_terms(chunk_terms.per_piece, chunk_terms.ids, chunk_terms.counts)),
        term_count=sum(words_per_piece),
        pieces=encode_pieces(
            [(piece.start, piece.end) for piece in pieces],
            words_per_piece,
            chunk_terms,
            _context_ids(pieces, context, analyzer),
        ),
        atoms=encode_atoms(
            atoms_per_piece,
            [atom.end - atom.start for atom in atoms],
            words_per_atom,
            terms_per_atom,
            chunk_terms.positions,
        ),
        vectors=quantised(vectors).tobytes(),
        digest=_digest(chunk_terms),
        words=dict(zip(chain.from_iterable(main), words, strict=True)),
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


def _sums(values: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """The sum of each group of values."""
    following = iter(values)
    return [sum(islice(following, size)) for size in sizes]


def _context_ids(pieces: Sequence[Piece], chunk_context: str, analyzer: Analyzer) -> list[list[int]]:
    """The terms of each piece's headings, ascending; neighbours mostly have the same ones."""
    lines = {piece.context: f"{piece.context}\n{chunk_context}" for piece in pieces}
    ids_of: dict[str, list[int]] = {}
    for context, text in lines.items():
        found = map(analyzer.ids, analyzer.tokens(text))
        ids_of[context] = sorted({term for ids in found for term in (*ids.main, *ids.extra)})
    return [ids_of[piece.context] for piece in pieces]


def _digest(terms: ChunkTerms) -> bytes:
    """A hash of all pieces' terms together, so that it does not depend on where pieces end."""
    ids, index_of = np.unique(terms.ids, return_inverse=True)
    totals = np.bincount(index_of, weights=terms.counts, minlength=ids.size).astype(np.uint32)
    return blake2b(ids.tobytes() + totals.tobytes(), digest_size=_DIGEST_BYTES).digest()
