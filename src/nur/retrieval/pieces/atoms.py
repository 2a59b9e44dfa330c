"""Atoms: the sentences, table rows, list items and headings of a text. No piece and no passage cuts one."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.text.sentences import pieces as sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_DELIMITERS = (",", ";", "\t", "|")
#: In prose, these are followed by a space; between cells they are not.
_USED_IN_PROSE = (",", ";")
LEAST_DELIMITERS = 3
LEAST_ROWS = 3
#: How many delimiters rows may differ by: a cell may contain one.
SLACK = 1

LONGEST_ATOM = 600
"""Characters after which text without an end (minified code, Thai) is cut at the best place before."""

_HEADING = re.compile(r"#{1,6}\s+\S")


def find_tables(lines: Sequence[str]) -> dict[int, int]:
    """The lines that are rows of a table, each with the number of its table's first line, the header."""
    header_of: dict[int, int] = {}
    line = 0
    while line < len(lines):
        rows = max(_rows_from(lines, line, delimiter) for delimiter in _DELIMITERS)
        header_of |= dict.fromkeys(range(line, line + rows), line)
        line += rows or 1
    return header_of


def _rows_from(lines: Sequence[str], first: int, delimiter: str) -> int:
    """How many rows the table has that begins with this line; 0 when there is none."""
    cells = _delimiters(lines[first], delimiter)
    if cells < LEAST_DELIMITERS:
        return 0
    end = first + 1
    while end < len(lines) and _is_row(lines[end], delimiter, cells):
        end += 1
    return end - first if end - first >= LEAST_ROWS else 0


def _is_row(line: str, delimiter: str, cells: int) -> bool:
    here = _delimiters(line, delimiter)
    return here >= LEAST_DELIMITERS and abs(here - cells) <= SLACK


def _delimiters(line: str, delimiter: str) -> int:
    in_prose = line.count(delimiter + " ") if delimiter in _USED_IN_PROSE else 0
    return line.count(delimiter) - in_prose


class AtomKind(Enum):
    """What an atom is, as far as it decides where a piece ends."""

    TEXT = auto()
    HEADING = auto()
    ROW = auto()


class Span(NamedTuple):
    """Characters of a text: `text[start:end]`."""

    start: int
    end: int


class Atom(NamedTuple):
    """A stretch of text that is never cut."""

    start: int
    end: int
    block: int  #: changes at blank lines and headings, and around tables
    kind: AtomKind
    header: Span | None = None  #: of a table row: the line that names its columns


def find_atoms(text: str) -> list[Atom]:
    """The atoms of a text, in order; together they are the text."""
    lines = _lines(text)
    tables = find_tables([text[start:end] for start, end in lines])
    found: list[Atom] = []
    block = at = 0
    while at < len(lines):
        end = _block_end(text, lines, tables, at)
        span = Span(lines[at].start, lines[end - 1].end)
        if at in tables:
            found += _row(text, span, block, None if tables[at] == at else lines[tables[at]])
            block += end not in tables
        elif text[span.start : span.end].isspace():
            _add_space(found, span, block)
            block += 1
        else:
            is_heading = _is_heading(text, span)
            block += is_heading
            found += _sentences(text, span, block, AtomKind.HEADING if is_heading else AtomKind.TEXT)
        at = end
    return found


def _lines(text: str) -> list[Span]:
    found: list[Span] = []
    start = 0
    for line in text.splitlines(keepends=True):
        found.append(Span(start, start + len(line)))
        start += len(line)
    return found


def _block_end(text: str, lines: Sequence[Span], tables: dict[int, int], first: int) -> int:
    """The line after those that are read together: a row, a blank line or a heading alone, prose up to the next."""
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


def _add_space(found: list[Atom], line: Span, block: int) -> None:
    """A blank line belongs to the atom before it."""
    if found:
        found[-1] = found[-1]._replace(end=line.end)
    else:
        found.append(Atom(line.start, line.end, block, AtomKind.TEXT))


def _sentences(text: str, span: Span, block: int, kind: AtomKind) -> Iterator[Atom]:
    stretch = text[span.start : span.end]
    whole = kind is AtomKind.HEADING and len(stretch) <= LONGEST_ATOM
    for start, end in [(0, len(stretch))] if whole else sentences(stretch, LONGEST_ATOM):
        yield Atom(span.start + start, span.start + end, block, kind)
