"""Time expressions before they are read, and a builder of patterns with many literals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date

    from nur.domain.times import TimeWindow


FIRST_YEAR = 1900
YEARS_AHEAD = 20

Tree: TypeAlias = "dict[str, Tree]"
END = ""


@dataclass(frozen=True, slots=True)
class Said:
    """When a text was said, and whether the sentence is about the future."""

    day: date
    looks_ahead: Callable[[], bool]

    @property
    def ahead(self) -> bool:
        """Whether the sentence is about the future; computed on demand, because most rules do not need it."""
        return self.looks_ahead()


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A part of a text that may name a time."""

    start: int
    end: int
    read: Callable[[Said], TimeWindow | None]  #: None, ValueError or OverflowError: it is not a time
    is_relative: bool = True


def is_likely_year(number: int, said: date) -> bool:
    """Whether a number is likely to be a year; others are amounts, model names or ports."""
    return FIRST_YEAR <= number <= said.year + YEARS_AHEAD


def any_of(literals: Iterable[str], **placeholders: str) -> str:
    """A pattern that matches the longest of the literals; `placeholders` maps single characters to patterns."""
    tree: Tree = {}
    for literal in literals:
        branch = tree
        for letter in literal:
            branch = branch.setdefault(letter, {})
        branch[END] = {}
    return _pattern(tree, placeholders)


def _pattern(tree: Tree, placeholders: dict[str, str]) -> str:
    ends = END in tree
    parts = [
        placeholders.get(letter, re.escape(letter)) + _pattern(branch, placeholders)
        for letter, branch in tree.items()
        if letter != END
    ]
    if not parts:
        return ""
    joined = parts[0] if len(parts) == 1 and not ends else f"(?:{'|'.join(parts)})"
    return f"{joined}?" if ends else joined
