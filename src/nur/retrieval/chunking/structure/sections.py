"""Lines, headings and sections, which all formats share, and how headings nest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_TITLE_CHARACTERS = 80
_DEEPEST = 6
_SAMPLE_CHARACTERS = 100_000
_SAMPLE_LINES = 1_000


class Line(NamedTuple):
    """A line with its line break, and its offset in the text."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """Offset of the next line."""
        return self.start + len(self.text)


class Section(NamedTuple):
    """A range of the text, and the path of headings above it, outermost first."""

    start: int
    end: int
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; its section ends at the next heading of the same level or a lower number."""

    start: int  #: offset of its section: of its line, or of the comments above it
    body: int  #: offset of the text below it
    level: int
    title: str


def lines(text: str) -> Iterator[Line]:
    """The lines; joined they are the text."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield Line(start, line)
        start += len(line)


def sample(text: str) -> list[Line]:
    """The first lines that are not blank, enough to recognise a format."""
    first_lines = lines(text[:_SAMPLE_CHARACTERS])
    return list(islice((line for line in first_lines if not line.text.isspace()), _SAMPLE_LINES))


def clip(title: str) -> str:
    """A title as part of a path: one short line."""
    title = " ".join(title[: 2 * _MAX_TITLE_CHARACTERS].split())
    return title if len(title) <= _MAX_TITLE_CHARACTERS else title[: _MAX_TITLE_CHARACTERS - 1] + "…"


def partition(starts: Sequence[tuple[int, tuple[str, ...]]], length: int) -> list[Section]:
    """Sections from the start and path of each; text before the first has no path."""
    if not starts or starts[0][0] > 0:
        starts = [(0, ()), *starts]
    ends = [*(start for start, _ in starts[1:]), length]
    return [Section(start, end, path) for (start, path), end in zip(starts, ends, strict=True) if start < end]


def outline(text: str, headings: Sequence[Heading]) -> list[Section]:
    """One section per heading; its path is the headings above it and its own.

    A heading without text before its first child shares the child's section: alone it would be a chunk without content.
    """
    starts: list[tuple[int, tuple[str, ...]]] = []
    above: list[Heading] = []
    pending: int | None = None
    for heading, following in zip(headings, [*headings[1:], None], strict=False):  # [] and [None] if there are none
        while above and above[-1].level >= heading.level:
            above.pop()
        if len(above) >= _DEEPEST:
            continue
        above.append(heading)
        start = heading.start if pending is None else pending
        pending = start if following is not None and _is_bare(text, heading, following) else None
        if pending is None:
            starts.append((start, tuple(one.title for one in above)))
    if pending is not None:
        starts.append((pending, tuple(one.title for one in above)))
    return partition(starts, len(text))


def _is_bare(text: str, heading: Heading, following: Heading) -> bool:
    return following.level > heading.level and not text[heading.body : following.start].strip()
