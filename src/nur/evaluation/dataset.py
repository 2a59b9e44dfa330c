"""Data sets: a folder with `corpus.jsonl.gz`, `queries.jsonl.gz` and `meta.json`."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from nur.domain.errors import BadRequest
from nur.evaluation.measures import RowSpan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

#: `stored` has no file: its questions are drawn from what a store holds already.
LoadAs = Literal["turns", "documents", "memories", "mixed", "stored"]

#: What a row is stored as; in a mixed set each row has a `kind`.
RowKind = Literal["turn", "document", "memory"]
_KIND_OF: Mapping[str, RowKind] = {"turns": "turn", "documents": "document", "memories": "memory"}

META, CORPUS, QUERIES = "meta.json", "corpus.jsonl.gz", "queries.jsonl.gz"
#: Categories of questions that the corpus truly cannot answer; others without gold merely lack labels.
UNANSWERABLE = ("abstention", "negative", "never_stored")


@dataclass(frozen=True, slots=True)
class Row:
    """Something to store."""

    id: str
    text: str
    meta: Mapping[str, Any]
    kind: RowKind = "document"

    @property
    def scope(self) -> str | None:
        """The conversation or meeting that it belongs to."""
        scope = self.meta.get("scope")
        return None if scope is None else str(scope)


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """Something to ask, and where the answer is."""

    id: str
    text: str
    scope: str | None
    category: str
    units: Mapping[str, float]  #: ids of rows that have the answer, with their grades
    spans: tuple[RowSpan, ...]  #: or the very characters
    evidence: tuple[RowSpan, ...] = ()  #: where in its rows the answer is, of a question whose gold is rows
    stale: tuple[str, ...] = ()  #: rows that were right once
    answer: str = ""  #: in words, where the data set has it
    asked_at: datetime | None = None  #: where the data set has it

    @property
    def has_gold(self) -> bool:
        """Whether the answer is known; questions without one are asked for abstention alone."""
        return bool(self.units or self.spans)

    @property
    def is_unanswerable(self) -> bool:
        """Whether the corpus truly lacks the answer."""
        return not self.has_gold and self.category in UNANSWERABLE


@dataclass(frozen=True, slots=True)
class DataSet:
    """A corpus and questions about it."""

    name: str
    load_as: LoadAs
    artifact_type: str
    rows: tuple[Row, ...]
    questions: tuple[LabelledQuestion, ...]

    @property
    def has_spans(self) -> bool:
        """Whether gold is characters and not rows."""
        return any(question.spans for question in self.questions)

    @property
    def scopes(self) -> tuple[str, ...]:
        """The conversations or meetings that questions are about, in the order of the corpus."""
        asked = {question.scope for question in self.questions}
        return tuple(dict.fromkeys(row.scope for row in self.rows if row.scope is not None and row.scope in asked))


def find(paths: Iterable[Path]) -> list[Path]:
    """The data sets at these paths: each is one, or a folder of some. Raises BadRequest where there is none."""
    found: list[Path] = []
    for path in paths:
        inside = [path] if (path / META).is_file() else sorted(file.parent for file in path.glob(f"*/{META}"))
        if not inside:
            raise BadRequest(
                f"{path} is neither a data set nor a folder of data sets. A data set is a folder with {META}, "
                f"{CORPUS} and {QUERIES}."
            )
        found += inside
    return found


def load(folder: Path) -> DataSet:
    """Read a data set and check that its questions fit its corpus. Raises BadRequest, naming file and line."""
    meta = _meta(folder / META)
    rows = tuple(_rows(folder / CORPUS, _KIND_OF.get(meta["load_as"])))
    questions = tuple(_questions(folder / QUERIES))
    data = DataSet(folder.resolve().name, meta["load_as"], str(meta.get("artifact_type", "doc")), rows, questions)
    _check(data, folder)
    return data


def by_scope(data: DataSet) -> list[DataSet]:
    """A mixed set in parts that belong in stores of their own: what one person has. Other sets are one part."""
    if data.load_as != "mixed" or not data.scopes:
        return [data]
    return [
        replace(
            data,
            rows=tuple(row for row in data.rows if row.scope == scope),
            questions=tuple(question for question in data.questions if question.scope == scope),
        )
        for scope in data.scopes
    ]


def sampled(data: DataSet, limit: int | None) -> DataSet:
    """The data set with at most this many of its questions: always the same ones, in their order."""
    if limit is None or limit >= len(data.questions):
        return data
    kept = sorted(random.Random(0).sample(range(len(data.questions)), limit))  # noqa: S311 - a sample, not a secret
    return replace(data, questions=tuple(data.questions[place] for place in kept))


def _meta(path: Path) -> Mapping[str, Any]:
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadRequest(f"{path.parent} is not a data set: {path.name}: {_why(error)}") from error
    kinds = [kind for kind in get_args(LoadAs) if kind != "stored"]
    if not isinstance(meta, dict) or meta.get("load_as") not in kinds:
        raise BadRequest(f'{path}: "load_as" must be one of {", ".join(kinds)}.')
    return meta


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's place, for messages, and what it holds."""
    place = str(path)
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                place = f"{path}, line {number}"
                row = json.loads(line)
                yield place, row if isinstance(row, dict) else {}
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise BadRequest(f"{path.parent} is not a data set: {place}: {_why(error)}") from error


def _rows(path: Path, kind_of_all: RowKind | None) -> Iterator[Row]:
    """The rows of a set, all of one kind, or each of its own."""
    for place, row in _lines(path):
        if not isinstance(row.get("id"), str) or not isinstance(row.get("text"), str) or not row["text"].strip():
            raise BadRequest(f'{place}: a row needs "id" and "text".')
        kind: RowKind | None = kind_of_all or row.get("kind")
        if kind is None or kind not in get_args(RowKind):
            raise BadRequest(f'{place}: a row of a mixed set needs a "kind": {", ".join(get_args(RowKind))}.')
        yield Row(row["id"], row["text"], row.get("meta") or {}, kind)


def _questions(path: Path) -> Iterator[LabelledQuestion]:
    for place, row in _lines(path):
        meta, gold = row.get("meta") or {}, row.get("relevant", [])
        scope = meta.get("scope")
        try:
            yield LabelledQuestion(
                id=str(row["id"]),
                text=str(row["text"]),
                scope=None if scope is None else str(scope),
                category=str(meta.get("category", "")),
                units={found["id"]: float(found.get("grade", 1)) for found in gold if "id" in found},
                spans=tuple(_span(found) for found in gold if "doc" in found),
                evidence=tuple(_span(found) for found in row.get("spans") or ()),
                stale=tuple(row.get("stale") or ()),
                answer=str(meta.get("answer", "")),
                asked_at=_moment(row.get("asked_at")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadRequest(
                f'{place}: a question needs "id", "text" and "relevant", a list of {{"id"}} or of '
                '{"doc", "start", "end"}; "asked_at", if it is there, is a time in ISO 8601.'
            ) from error


def _moment(value: object) -> datetime | None:
    """An ISO 8601 time, in UTC unless it names another zone. Raises ValueError if it is none."""
    if value is None:
        return None
    moment = datetime.fromisoformat(str(value))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _span(found: Mapping[str, Any]) -> RowSpan:
    return RowSpan(found["doc"], int(found["start"]), int(found["end"]))


def _check(data: DataSet, folder: Path) -> None:
    """Questions must fit the corpus: gold that is nowhere would count as a miss of the search."""
    if not data.rows or not data.questions:
        raise BadRequest(f"{folder}: the {'corpus' if not data.rows else 'list of questions'} is empty.")
    lengths = {row.id: len(row.text) for row in data.rows}
    scopes = {row.scope for row in data.rows}
    for question in data.questions:
        unknown = [unit for unit in (*question.units, *question.stale) if unit not in lengths]
        spans = (*question.spans, *question.evidence)
        outside = [span for span in spans if not 0 <= span.start < span.end <= lengths.get(span.doc, 0)]
        if unknown or outside:
            raise BadRequest(f"{folder}: question {question.id}: the corpus does not have {[*unknown, *outside][0]}.")
        if question.scope is not None and question.scope not in scopes:
            raise BadRequest(f"{folder}: question {question.id}: no row has the scope {question.scope}.")
    if len({question.id for question in data.questions}) < len(data.questions):
        raise BadRequest(f"{folder}: two questions have the same id.")
    if data.has_spans and any(question.units for question in data.questions):
        raise BadRequest(f"{folder}: some gold is rows and some is spans; a data set has one kind.")


def _why(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
