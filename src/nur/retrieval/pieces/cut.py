"""Cut a text into pieces: atoms that follow each other, up to about 300 characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.pieces.atoms import Atom, AtomKind, find_atoms

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET = 300
"""Characters of a piece, unless a single atom is longer. 200 to 500 are within a point on every set."""

LEAST = 80
"""A piece with this many characters ends at a blank line or heading; a shorter one goes on, so that none is a stump."""

LONGEST_HEADING = 60
MOST_HEADING_WORDS = 8
"""A short line above a paragraph counts as its heading, even without a `#`."""

_ENDS_SENTENCE = (".", "!", "?", ",")


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
