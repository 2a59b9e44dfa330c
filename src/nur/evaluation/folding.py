"""Measure deduplication: how many true duplicates, and how many false ones, are folded into one hit.

Each row of a data set is compared with the other rows, with edited copies that differ in meaning (another number, name
or weekday, a negation, a question, a missing word), and with copies that differ only in form. Only texts are compared:
the search never folds notes that differ in kind, title, author or project.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import regex

from nur.retrieval.ranking.grouping import normalised

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.evaluation.dataset import DataSet

_NUMBER = regex.compile(r"\d+")
_NAME = regex.compile(r"(?<=\p{Ll} )\p{Lu}\p{Ll}{2,}")
_VERB = regex.compile(r"\b(?:is|are|was|were|has|have|can|will|est|sont|er|har|jest|hai)\b")
_LAST_WORD = regex.compile(r"\s\S*\w\S*[^\w]*$")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class Folding:
    """How many texts were compared, and how many were folded."""

    rows: int
    folded_rows: int  #: rows folded with another row of the same scope
    edits: int
    folded_edits: int
    repeats: int
    folded_repeats: int

    def __str__(self) -> str:
        return (
            f"folded into one hit: {self.folded_rows} of {self.rows} rows, {self.folded_edits} of {self.edits} edited "
            f"copies with another meaning, {self.folded_repeats} of {self.repeats} copies with the same meaning"
        )


def measure_folding(data: DataSet) -> Folding:
    """Compare the rows of a data set with each other and with copies of them."""
    counts = Counter((row.scope, row.kind, normalised(row.text)) for row in data.rows)
    edits = [(row.text, other) for row in data.rows for other in edited(row.text)]
    repeats = [(row.text, other) for row in data.rows for other in repeated(row.text)]
    return Folding(
        rows=len(data.rows),
        folded_rows=sum(count for count in counts.values() if count > 1),
        edits=len(edits),
        folded_edits=_folded(edits),
        repeats=len(repeats),
        folded_repeats=_folded(repeats),
    )


def edited(text: str) -> list[str]:
    """Copies with another meaning."""
    words = text.split()
    copies = [
        _NUMBER.sub(lambda match: str(int(match.group()) + 1), text, count=1),
        _NAME.sub("Wilhelmina", text, count=1),
        _VERB.sub(lambda match: f"{match.group()} not", text, count=1),
        _LAST_WORD.sub("", text),
        text.rstrip(".!? ") + "?",
        *(text.replace(day, _DAYS[(at + 1) % len(_DAYS)]) for at, day in enumerate(_DAYS)),
    ]
    return [other for other in dict.fromkeys(copies) if other and other.split() != words]


def repeated(text: str) -> list[str]:
    """Copies with the same meaning."""
    copies = [
        text.replace(" ", "  "),
        f"“{text}”",
        text.rstrip(".") + "!" if text.endswith(".") else f"{text} ",
        text[:1].lower() + text[1:] if text[1:2].islower() else text,
        unicodedata.normalize("NFD", text),
        f"{text}\n",
    ]
    return [other for other in dict.fromkeys(copies) if other != text]


def _folded(pairs: Iterable[tuple[str, str]]) -> int:
    return sum(normalised(one) == normalised(other) for one, other in pairs)
