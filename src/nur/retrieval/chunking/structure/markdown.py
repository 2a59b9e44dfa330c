"""Find the headings of Markdown: one section per heading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nur.retrieval.chunking.structure.sections import Heading, Line, Section, clip, lines, outline, sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HASHES = re.compile(r" {0,3}(#{1,6})(?=\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:={3,}|-{3,})\s*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NOT_A_TITLE = re.compile(r"\s*(?:$|[-*+>|#=]|\d{1,9}[.)]\s)")


def _prose(all_lines: Iterable[Line]) -> Iterator[Line]:
    """The lines outside fenced code."""
    fence = ""
    for line in all_lines:
        match = _FENCE.match(line.text)
        if not fence and match is None:
            yield line
        elif not fence and match is not None:
            fence = match.group(1)
        elif match is not None and match.group(1).startswith(fence):
            fence = ""


def _headings(all_lines: Iterable[Line]) -> list[Heading]:
    """The headings, marked with hashes or underlined."""
    headings: list[Heading] = []
    previous: Line | None = None
    for line in _prose(all_lines):
        hashes = _HASHES.match(line.text)
        if hashes is not None:
            title = clip(line.text[hashes.end() :].strip().rstrip("#"))
            headings.append(Heading(line.start, line.end, len(hashes.group(1)), title))
        elif previous is not None and previous.end == line.start and _UNDERLINE.match(line.text):
            level = 1 if "=" in line.text else 2
            headings.append(Heading(previous.start, line.end, level, clip(previous.text)))
        previous = line if hashes is None and not _NOT_A_TITLE.match(line.text) else None
    return headings


def sections(text: str) -> list[Section]:
    """One section per heading, with the path of headings above it."""
    return outline(text, _headings(lines(text)))


def looks_like(text: str) -> bool:
    """Whether there are at least two headings."""
    return len(_headings(sample(text))) >= 2
