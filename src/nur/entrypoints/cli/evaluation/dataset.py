"""Data sets: a folder with `corpus.jsonl.gz`, `queries.jsonl.gz` and `meta.json`."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nur.domain.errors import BadRequest
from nur.entrypoints.cli.evaluation.measures import Span

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LoadAs = Literal["turns", "documents", "memories"]


@dataclass(frozen=True, slots=True)
class Row:
    """Something to store."""

    id: str
    text: str
    meta: Mapping[str, Any]

    @property
    def scope(self) -> str | None:
        """The conversation or meeting that it belongs to."""
        scope = self.meta.get("scope")
        return None if scope is None else str(scope)


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask, and where the answer is."""

    id: str
    text: str
    scope: str | None
    category: str
    units: Mapping[str, float]  #: ids of rows that hold the answer, with their grades
    spans: tuple[Span, ...]  #: or the very characters

    @property
    def has_gold(self) -> bool:
        """Whether the answer is known; questions without one are asked for abstention alone."""
        return bool(self.units or self.spans)

    @property
    def is_unanswerable(self) -> bool:
        """Whether the corpus truly lacks the answer."""
        return not self.has_gold and self.category in ("abstention", "negative")


@dataclass(frozen=True, slots=True)
class DataSet:
    """A corpus and questions about it."""

    name: str
    load_as: LoadAs
    artifact_type: str
    rows: tuple[Row, ...]
    questions: tuple[Question, ...]

    @property
    def has_spans(self) -> bool:
        """Whether gold is characters and not rows."""
        return any(question.spans for question in self.questions)


def load(folder: Path) -> DataSet:
    """Read a data set. Raises BadRequest when the folder is none."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        rows = tuple(Row(row["id"], row["text"], row.get("meta", {})) for row in _lines(folder / "corpus.jsonl.gz"))
        questions = tuple(map(_question, _lines(folder / "queries.jsonl.gz")))
    except (OSError, ValueError, KeyError) as error:
        raise BadRequest(
            f"{folder} is not a data set ({error}). It needs meta.json, corpus.jsonl.gz and queries.jsonl.gz."
        ) from error
    return DataSet(folder.name, meta["load_as"], meta.get("artifact_type", "doc"), rows, questions)


def _question(row: Mapping[str, Any]) -> Question:
    meta, gold = row.get("meta", {}), row.get("relevant", [])
    scope = meta.get("scope")
    return Question(
        id=row["id"],
        text=row["text"],
        scope=None if scope is None else str(scope),
        category=str(meta.get("category", "")),
        units={found["id"]: float(found.get("grade", 1)) for found in gold if "id" in found},
        spans=tuple(Span(found["doc"], found["start"], found["end"]) for found in gold if "doc" in found),
    )


def _lines(path: Path) -> list[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
