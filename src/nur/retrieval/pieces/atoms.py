"""Split a text into atoms: sentences, table rows, list items, headings. Pieces and passages never cut one."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.text.sentences import pieces as sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_DELIMITERS = (",", ";", "\t", "|")
#: Followed by a space in prose, but not between cells.
_USED_IN_PROSE = (",", ";")
MIN_DELIMITERS = 3
MIN_ROWS = 3
#: Delimiters that a row may have more or fewer than its header: a cell may contain one.
SLACK = 1

MAX_ATOM_CHARACTERS = 600
"""Characters of an atom at most; longer text without sentence ends (minified code, Thai) is cut at the best place."""

_HEADING = re.compile(r"#{1,6}\s+\S")


def find_tables(lines: Sequence[str]) -> dict[int, int]:
    """Maps each line that is a row of a table to its table's first line, the header (both by line number)."""
    header_of: dict[int, int] = {}
    line = 0
    while line < len(lines):
        rows = max(_rows_from(lines, line, delimiter) for delimiter in _DELIMITERS)
        header_of |= dict.fromkeys(range(line, line + rows), line)
        line += rows or 1
    return header_of


def _rows_from(lines: Sequence[str], first: int, delimiter: str) -> int:
    """Number of rows of the table that begins with line `first`; 0 if none does."""
    expected = _delimiters(lines[first], delimiter)
    if expected < MIN_DELIMITERS:
        return 0
    end = first + 1
    while end < len(lines) and _is_row(lines[end], delimiter, expected):
        end += 1
    return end - first if end - first >= MIN_ROWS else 0


def _is_row(line: str, delimiter: str, expected: int) -> bool:
    delimiters = _delimiters(line, delimiter)
    return delimiters >= MIN_DELIMITERS and abs(delimiters - expected) <= SLACK


def _delimiters(line: str, delimiter: str) -> int:
    """Number of delimiters in a line that are not used as in prose."""
    in_prose = line.count(delimiter + " ") if delimiter in _USED_IN_PROSE else 0
    return line.count(delimiter) - in_prose


class AtomKind(Enum):
    """Kinds of atoms that matter for where a piece ends."""

    TEXT = auto()
    HEADING = auto()
    ROW = auto()


class Span(NamedTuple):
    """A range of characters: `text[start:end]`."""

    start: int
    end: int


class Atom(NamedTuple):
    """A part of a text that is never cut."""

    start: int
    end: int
    block: int  #: changes at blank lines and headings, and around tables
    kind: AtomKind
    header: Span | None = None  #: of a table row: its table's header line


def find_atoms(text: str) -> list[Atom]:
    """The atoms of a text, in order; together they are the text."""
    lines = _lines(text)
    tables = find_tables([text[start:end] for start, end in lines])
    atoms: list[Atom] = []
    block = at = 0
    while at < len(lines):
        end = _block_end(text, lines, tables, at)
        span = Span(lines[at].start, lines[end - 1].end)
        if at in tables:
            atoms += _row(text, span, block, None if tables[at] == at else lines[tables[at]])
            block += end not in tables
        elif text[span.start : span.end].isspace():
            _add_space(atoms, span, block)
            block += 1
        else:
            is_heading = _is_heading(text, span)
            block += is_heading
            atoms += _sentences(text, span, block, AtomKind.HEADING if is_heading else AtomKind.TEXT)
        at = end
    return atoms


def _lines(text: str) -> list[Span]:
    spans: list[Span] = []
    start = 0
    for line in text.splitlines(keepends=True):
        spans.append(Span(start, start + len(line)))
        start += len(line)
    return spans


def _block_end(text: str, lines: Sequence[Span], tables: dict[int, int], first: int) -> int:
    """Line number after the block that starts at `first`: one row, blank line or heading, or prose up to the next."""
    end = first + 1
    if first in tables or _stands_alone(text, lines[first]):
        return end
    while end < len(lines) and end not in tables and not _stands_alone(text, lines[end]):
        end += 1
    return end


def _stands_alone(text: str, line: Span) -> bool:
    return text[line.start : line.end].isspace() or _is_heading(text, line)


def _is_heading(text: str, line: Span) -> bool:
    return _HEADING.match(text, line.start, line.end) is not None


def _row(text: str, line: Span, block: int, header: Span | None) -> Iterator[Atom]:
    for atom in _sentences(text, line, block, AtomKind.ROW):
        yield atom._replace(header=header)


def _add_space(atoms: list[Atom], line: Span, block: int) -> None:
    """Add a blank line to the atom before it."""
    if atoms:
        atoms[-1] = atoms[-1]._replace(end=line.end)
    else:
        atoms.append(Atom(line.start, line.end, block, AtomKind.TEXT))


def _sentences(text: str, span: Span, block: int, kind: AtomKind) -> Iterator[Atom]:
    part = text[span.start : span.end]
    is_whole = kind is AtomKind.HEADING and len(part) <= MAX_ATOM_CHARACTERS
    for start, end in [(0, len(part))] if is_whole else sentences(part, MAX_ATOM_CHARACTERS):
        yield Atom(span.start + start, span.start + end, block, kind)
