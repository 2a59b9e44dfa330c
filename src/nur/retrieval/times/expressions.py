"""What rules find in a text before it is read as a time, and the patterns of many literals that they use."""

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
    """When a text was said, and which way the sentence looks."""

    day: date
    looks_ahead: Callable[[], bool]

    @property
    def ahead(self) -> bool:
        """Whether the sentence speaks of what is to come; it is read when a rule asks, and most rules do not."""
        return self.looks_ahead()


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A stretch of a text that may name a time."""

    start: int
    end: int
    read: Callable[[Said], TimeWindow | None]  #: None, or ValueError and OverflowError: it names no time after all
    is_relative: bool = True


def is_likely_year(number: int, said: date) -> bool:
    """Whether people speak of such a year; other numbers are amounts, models or ports."""
    return FIRST_YEAR <= number <= said.year + YEARS_AHEAD


def any_of(literals: Iterable[str], **places: str) -> str:
    """A pattern that matches the longest of the literals; `places` says what single characters stand for."""
    tree: Tree = {}
    for literal in literals:
        branch = tree
        for letter in literal:
            branch = branch.setdefault(letter, {})
        branch[END] = {}
    return _pattern(tree, places)


def _pattern(tree: Tree, places: dict[str, str]) -> str:
    ends = END in tree
    parts = [
        places.get(letter, re.escape(letter)) + _pattern(branch, places)
        for letter, branch in tree.items()
        if letter != END
    ]
    if not parts:
        return ""
    joined = parts[0] if len(parts) == 1 and not ends else f"(?:{'|'.join(parts)})"
    return f"{joined}?" if ends else joined
