"""Read and check data sets: folders with `corpus.jsonl.gz`, `queries.jsonl.gz` and `meta.json`."""

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

#: `stored` has no files: its questions are drawn from an existing store.
LoadAs = Literal["turns", "documents", "memories", "mixed", "stored"]

#: Kind of a row; in a mixed data set each row has its own `kind`.
RowKind = Literal["turn", "document", "memory"]
_KIND_OF: Mapping[str, RowKind] = {"turns": "turn", "documents": "document", "memories": "memory"}

META, CORPUS, QUERIES = "meta.json", "corpus.jsonl.gz", "queries.jsonl.gz"
#: Categories of questions that the corpus cannot answer; other questions without gold merely lack labels.
UNANSWERABLE = ("abstention", "negative", "never_stored")


@dataclass(frozen=True, slots=True)
class Row:
    """A text of the corpus."""

    id: str
    text: str
    meta: Mapping[str, Any]
    kind: RowKind = "document"

    @property
    def scope(self) -> str | None:
        """Conversation or meeting that the row belongs to."""
        scope = self.meta.get("scope")
        return None if scope is None else str(scope)


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question, and the place of its answer."""

    id: str
    text: str
    scope: str | None
    category: str
    units: Mapping[str, float]  #: gold as rows: their ids and grades
    spans: tuple[RowSpan, ...]  #: gold as character ranges
    evidence: tuple[RowSpan, ...] = ()  #: position of the answer in its rows, if the gold is rows
    stale: tuple[str, ...] = ()  #: rows whose answer is outdated
    answer: str = ""  #: in words, if the data set has it
    asked_at: datetime | None = None  #: if the data set has it

    @property
    def has_gold(self) -> bool:
        """Whether the place of the answer is known; other questions only test abstention."""
        return bool(self.units or self.spans)

    @property
    def is_unanswerable(self) -> bool:
        """Whether the corpus is known to lack the answer."""
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
        """Whether the gold is character ranges, not rows."""
        return any(question.spans for question in self.questions)

    @property
    def scopes(self) -> tuple[str, ...]:
        """Conversations or meetings that questions are about, in corpus order."""
        used = {question.scope for question in self.questions}
        return tuple(dict.fromkeys(row.scope for row in self.rows if row.scope is not None and row.scope in used))


def find(paths: Iterable[Path]) -> list[Path]:
    """Find data sets: each path is one, or a folder of several. Raises BadRequest if a path has none."""
    folders: list[Path] = []
    for path in paths:
        found = [path] if (path / META).is_file() else sorted(file.parent for file in path.glob(f"*/{META}"))
        if not found:
            raise BadRequest(
                f"{path} is neither a data set nor a folder of data sets. A data set is a folder with {META}, "
                f"{CORPUS} and {QUERIES}."
            )
        folders += found
    return folders


def load(folder: Path) -> DataSet:
    """Read a data set and check that its questions match its corpus. Raises BadRequest with file and line."""
    meta = _meta(folder / META)
    rows = tuple(_rows(folder / CORPUS, _KIND_OF.get(meta["load_as"])))
    questions = tuple(_questions(folder / QUERIES))
    data = DataSet(folder.resolve().name, meta["load_as"], str(meta.get("artifact_type", "doc")), rows, questions)
    _check(data, folder)
    return data


def by_scope(data: DataSet) -> list[DataSet]:
    """Split a mixed data set by scope, since each is one person's store; other data sets are one part."""
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
    """The data set with a sample of at most `limit` questions: the same ones every time, in their order."""
    if limit is None or limit >= len(data.questions):
        return data
    chosen = sorted(random.Random(0).sample(range(len(data.questions)), limit))  # noqa: S311 - a sample, not a secret
    return replace(data, questions=tuple(data.questions[index] for index in chosen))


def _meta(path: Path) -> Mapping[str, Any]:
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadRequest(f"{path.parent} is not a data set: {path.name}: {_reason(error)}") from error
    kinds = [kind for kind in get_args(LoadAs) if kind != "stored"]
    if not isinstance(meta, dict) or meta.get("load_as") not in kinds:
        raise BadRequest(f'{path}: "load_as" must be one of {", ".join(kinds)}.')
    return meta


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each line's location, for error messages, and its object."""
    location = str(path)
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                location = f"{path}, line {number}"
                row = json.loads(line)
                yield location, row if isinstance(row, dict) else {}
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise BadRequest(f"{path.parent} is not a data set: {location}: {_reason(error)}") from error


def _rows(path: Path, common_kind: RowKind | None) -> Iterator[Row]:
    """Read the rows; without a common kind, each has its own."""
    for location, row in _lines(path):
        if not isinstance(row.get("id"), str) or not isinstance(row.get("text"), str) or not row["text"].strip():
            raise BadRequest(f'{location}: a row needs "id" and "text".')
        kind: RowKind | None = common_kind or row.get("kind")
        if kind is None or kind not in get_args(RowKind):
            raise BadRequest(f'{location}: a row of a mixed set needs a "kind": {", ".join(get_args(RowKind))}.')
        yield Row(row["id"], row["text"], row.get("meta") or {}, kind)


def _questions(path: Path) -> Iterator[LabelledQuestion]:
    for location, row in _lines(path):
        meta, gold = row.get("meta") or {}, row.get("relevant", [])
        scope = meta.get("scope")
        try:
            yield LabelledQuestion(
                id=str(row["id"]),
                text=str(row["text"]),
                scope=None if scope is None else str(scope),
                category=str(meta.get("category", "")),
                units={item["id"]: float(item.get("grade", 1)) for item in gold if "id" in item},
                spans=tuple(_span(item) for item in gold if "doc" in item),
                evidence=tuple(_span(item) for item in row.get("spans") or ()),
                stale=tuple(row.get("stale") or ()),
                answer=str(meta.get("answer", "")),
                asked_at=_time(row.get("asked_at")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadRequest(
                f'{location}: a question needs "id", "text" and "relevant", a list of {{"id"}} or of '
                '{"doc", "start", "end"}; "asked_at", if it is there, is a time in ISO 8601.'
            ) from error


def _time(value: object) -> datetime | None:
    """Parse an ISO 8601 time, in UTC unless it has a zone; None stays None. Raises ValueError."""
    if value is None:
        return None
    time = datetime.fromisoformat(str(value))
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _span(item: Mapping[str, Any]) -> RowSpan:
    return RowSpan(item["doc"], int(item["start"]), int(item["end"]))


def _check(data: DataSet, folder: Path) -> None:
    """Raise BadRequest if the gold is not in the corpus: it would count as a miss of the search."""
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


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
