"""Whether notes that say different things are ever folded into one hit, and how many true repeats are.

Every row of a data set is compared with the other rows, with copies that say something else (another number, name or
weekday, a negation, a question, a word less), and with copies that say the same in other letters. Texts decide; notes
of another kind, title, author or project are never folded, whatever they say.
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
    """What was compared, and how much of it became one."""

    rows: int
    folded_rows: int  #: rows that say what another row of the same scope says, though both are rows of their own
    edits: int
    folded_edits: int
    repeats: int
    folded_repeats: int

    def __str__(self) -> str:
        return (
            f"folded into one hit: {self.folded_rows} of {self.rows} rows, {self.folded_edits} of {self.edits} edited "
            f"copies that say something else, {self.folded_repeats} of {self.repeats} copies that say the same"
        )


def measure_folding(data: DataSet) -> Folding:
    """Compare the rows of a data set with each other and with copies of them."""
    said = Counter((row.scope, row.kind, normalised(row.text)) for row in data.rows)
    edits = [(row.text, other) for row in data.rows for other in edited(row.text)]
    repeats = [(row.text, other) for row in data.rows for other in repeated(row.text)]
    return Folding(
        rows=len(data.rows),
        folded_rows=sum(times for times in said.values() if times > 1),
        edits=len(edits),
        folded_edits=_folded(edits),
        repeats=len(repeats),
        folded_repeats=_folded(repeats),
    )


def edited(text: str) -> list[str]:
    """Copies that say something else."""
    words = text.split()
    found = [
        _NUMBER.sub(lambda match: str(int(match.group()) + 1), text, count=1),
        _NAME.sub("Wilhelmina", text, count=1),
        _VERB.sub(lambda match: f"{match.group()} not", text, count=1),
        _LAST_WORD.sub("", text),
        text.rstrip(".!? ") + "?",
        *(text.replace(day, _DAYS[(at + 1) % len(_DAYS)]) for at, day in enumerate(_DAYS)),
    ]
    return [other for other in dict.fromkeys(found) if other and other.split() != words]


def repeated(text: str) -> list[str]:
    """Copies that say the same."""
    found = [
        text.replace(" ", "  "),
        f"“{text}”",
        text.rstrip(".") + "!" if text.endswith(".") else f"{text} ",
        text[:1].lower() + text[1:] if text[1:2].islower() else text,
        unicodedata.normalize("NFD", text),
        f"{text}\n",
    ]
    return [other for other in dict.fromkeys(found) if other != text]


def _folded(pairs: Iterable[tuple[str, str]]) -> int:
    return sum(normalised(one) == normalised(other) for one, other in pairs)
