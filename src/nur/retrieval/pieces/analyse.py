"""Cut a text into pieces, and analyse them.

A piece is made of atoms that follow each other, up to about 300 characters. Of each, its terms are stored for scoring,
its atoms for passages, its vector for meaning.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.retrieval.pieces.atoms import Atom, AtomKind, find_atoms
from nur.retrieval.pieces.stored import AtomRecord, PieceRecord, encode_atoms, encode_pieces
from nur.retrieval.pieces.vectors import mean_vectors, quantised, with_context
from nur.retrieval.ranking.term_vectors import TermVector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.ports.embedder import Floats, TokenTable
    from nur.retrieval.text.analysis import Analyzer


TARGET = 300
"""Characters of a piece, unless a single atom is longer. 200 to 500 are within a point on every set."""

LEAST = 80
"""A piece with this many characters ends at a blank line or heading; a shorter one goes on, so that none is a stump."""

LONGEST_HEADING = 60
MOST_HEADING_WORDS = 8
"""A short line above a paragraph counts as its heading, even without a `#`."""

_ENDS_SENTENCE = (".", "!", "?", ",")

_DIGEST_BYTES = 8


class Piece(NamedTuple):
    """A stretch of a text that is ranked."""

    atoms: Sequence[Atom]
    context: str  #: the nearest heading above it and its table's header, as far as it does not contain them

    @property
    def start(self) -> int:
        """Where it begins, in characters of the text."""
        return self.atoms[0].start

    @property
    def end(self) -> int:
        """Where it ends, not included."""
        return self.atoms[-1].end


def cut(text: str, *, has_headings: bool = True) -> list[Piece]:
    """The pieces of a text, in order; together they are the text. What is said in a chat has no headings."""
    atoms = find_atoms(text)
    headings = _headings(text, atoms) if has_headings else [""] * len(atoms)
    found: list[Piece] = []
    first = 0
    while first < len(atoms):
        end = _piece_end(atoms, first)
        found.append(_piece(text, atoms[first:end], headings[first]))
        first = end
    return found


def _piece_end(atoms: Sequence[Atom], first: int) -> int:
    """The atom after the last one of the piece that begins with this atom. A table row is a piece of its own."""
    end = first + 1
    if atoms[first].header is not None:
        return end
    size = atoms[first].end - atoms[first].start
    while end < len(atoms) and not _ends_before(atoms[end - 1], atoms[end], size):
        size += atoms[end].end - atoms[end].start
        end += 1
    return end


def _ends_before(last: Atom, following: Atom, size: int) -> bool:
    """Whether a piece of so many characters ends between these atoms."""
    if following.header is not None or size + following.end - following.start > TARGET:
        return True
    return following.block != last.block and size >= LEAST and last.kind is not AtomKind.HEADING


def _piece(text: str, atoms: Sequence[Atom], heading: str) -> Piece:
    own = text[atoms[0].start : atoms[-1].end]
    header = atoms[0].header
    named = [heading, text[header.start : header.end] if header else ""]
    return Piece(atoms, "\n".join(line for line in dict.fromkeys(named) if line.strip() and line.strip() not in own))


def _headings(text: str, atoms: Sequence[Atom]) -> list[str]:
    """The nearest heading above each atom, or the atom itself where it is one."""
    found: list[str] = []
    nearest = ""
    for at, atom in enumerate(atoms):
        if atom.kind is AtomKind.HEADING or _is_short_heading(text, atoms, at):
            nearest = text[atom.start : atom.end].strip().lstrip("# ")
        found.append(nearest)
    return found


def _is_short_heading(text: str, atoms: Sequence[Atom], at: int) -> bool:
    """Whether an atom is a short line that begins a block and is followed by more of it."""
    atom = atoms[at]
    begins_block = at == 0 or atoms[at - 1].block != atom.block
    goes_on = at + 1 < len(atoms) and atoms[at + 1].block == atom.block
    if atom.kind is not AtomKind.TEXT or not begins_block or not goes_on or atom.end - atom.start > 2 * LONGEST_HEADING:
        return False
    line = text[atom.start : atom.end]
    stripped = line.strip()
    return (
        "\n" in line
        and len(stripped) <= LONGEST_HEADING
        and not stripped.endswith(_ENDS_SENTENCE)
        and len(stripped.split()) <= MOST_HEADING_WORDS
    )


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
