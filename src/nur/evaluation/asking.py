"""Store a data set and search with its questions, through the services that users call."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nur.domain.access import LOCAL, Caller
from nur.domain.briefs import BriefRequest
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind, NoteMetadata
from nur.domain.search import SearchRequest
from nur.domain.writes import OnEmbeddingFailure
from nur.evaluation.changes import TIMELINE_LINES, timeline_recall
from nur.evaluation.dates import last_said, row_moment, shown_window
from nur.evaluation.measures import RowSpan
from nur.retrieval.times.find import asked_time
from nur.services.search.timeline import TimelineRequest

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from nur.bootstrap import Services
    from nur.domain.notes import Note
    from nur.domain.search import Hit, Mode, SearchResult
    from nur.domain.times import TimeWindow
    from nur.evaluation.dataset import DataSet, LabelledQuestion, Row

LIMIT = 50
MAX_TURN_CHARACTERS = 50_000
CONCURRENCY = 32
BRIEF_TOKENS = 600
CALLER = Caller(LOCAL, "evaluation")


@dataclass(frozen=True, slots=True)
class Answer:
    """A system's result for one question."""

    ids: list[str]  #: rows, best first, each once
    spans: list[RowSpan]  #: passages in the order shown
    score: float  #: confidence that the best hit answers; 0 without hits
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    relevance: float = 0.0  #: of the best hit; a floor is compared with it
    hits: int = 0  #: number of hits
    names_time: bool = False  #: whether the question names a time
    flags_conflict: bool = False  #: whether hits are reported as contradicting
    dates: list[TimeWindow] = field(default_factory=list)  #: date shown with each hit, best hit first
    briefed: frozenset[str] | None = None  #: rows that the brief of the question's conversation quotes


@dataclass(slots=True)
class LoadedDataset:
    """A data set, and the store that holds it."""

    services: Services
    data: DataSet
    everywhere: bool = False  #: search everything stored, not only the question's own conversation or kind
    row_of: dict[str, str] = field(default_factory=dict)  #: public id -> row id
    _first_speaker: dict[str | None, object] = field(default_factory=dict)
    _last_said: dict[str | None, datetime | None] = field(default_factory=dict)
    _briefed: dict[str | None, frozenset[str]] = field(default_factory=dict)

    async def store(self, progress: Callable[[int], None]) -> None:
        """Store every row, in concurrent batches; an embedding failure is raised, as for a tool."""
        last_index: dict[str | None, int] = {}
        jobs = []
        for row in self.data.rows:
            if row.kind == "turn":
                last_index[row.scope] = last_index.get(row.scope, -1) + 1
            jobs.append((row, int(row.meta.get("turn_index", last_index.get(row.scope, 0)))))
        for start in range(0, len(jobs), CONCURRENCY):
            await asyncio.gather(*(self._store(row, index) for row, index in jobs[start : start + CONCURRENCY]))
            progress(min(len(jobs), start + CONCURRENCY))

    async def ask(self, question: LabelledQuestion, mode: Mode, max_chars: int, *, scope: str | None = None) -> Answer:
        """Search with one question as a client would; `scope` replaces the question's own conversation."""
        asked_at = question.asked_at or self.asked_at(scope or question.scope)
        started, cpu_started = time.perf_counter(), time.process_time()
        result = await self.services.search(
            SearchRequest(
                query=question.text[:500],
                caller=CALLER,
                where=self.where(scope or question.scope),
                asked_at=asked_at,
                limit=LIMIT,
                mode=mode,
                max_chars=max_chars,
                tool="eval",
            )
        )
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
        return Answer(
            ids=list(dict.fromkeys(row for hit in result.hits for row in self._rows(hit))),
            spans=[span for hit in result.hits for span in self._spans(hit)],
            score=_confidence(result),
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            relevance=result.relevance or 0.0,
            hits=len(result.hits),
            names_time=bool(asked_time(question.text, None, (asked_at or self.services.clock.now()).date()).windows),
            flags_conflict=bool(result.conflicts),
            dates=[_shown_date(hit) for hit in result.hits],
            briefed=await self._brief(scope or question.scope),
        )

    async def _brief(self, scope: str | None) -> frozenset[str] | None:
        """Rows that a brief of the conversation quotes; None for data sets that are not conversations."""
        if self.data.load_as != "turns" or self.everywhere:
            return None
        if scope not in self._briefed:
            conversation = self._conversation(scope) if scope else None
            brief = await self.services.make_brief(
                BriefRequest(caller=CALLER, conversation_id=conversation, max_tokens=BRIEF_TOKENS)
            )
            lines = (line for section in brief.sections for line in section.lines)
            self._briefed[scope] = frozenset(self.row_of.get(line.public_id, line.public_id) for line in lines)
        return self._briefed[scope]

    async def timeline(self, question: LabelledQuestion) -> float:
        """Share of the question's rows that a timeline of 2,000 characters lists."""
        request = TimelineRequest(
            caller=CALLER,
            query=question.text[:500],
            conversation_id=self.where(question.scope).conversation_id,
            limit=TIMELINE_LINES,
        )
        return timeline_recall(question, await self.services.timeline(request), self.row_of)

    def asked_at(self, scope: str | None) -> datetime | None:
        """Default time of the scope's questions: when its last row was said."""
        if scope not in self._last_said:
            self._last_said[scope] = last_said(self.data.rows, scope)
        return self._last_said[scope]

    def row(self, note: Note) -> str:
        """Row id of a note; for notes of the user's own store, their public id."""
        return self.row_of.get(note.public_id, note.public_id)

    def _rows(self, hit: Hit) -> list[str]:
        """The hit's row, then those of its duplicates; each takes its own rank."""
        return [self.row(hit.note), *(self.row_of.get(name, name) for name in hit.duplicates)]

    def where(self, scope: str | None) -> NoteFilter:
        """Filter of a search in this scope."""
        if self.everywhere or self.data.load_as in ("stored", "mixed"):
            return NoteFilter(tenant=LOCAL.tenant)
        if self.data.load_as == "turns":
            conversation = self._conversation(scope) if scope else None
            return NoteFilter(tenant=LOCAL.tenant, kinds=frozenset({Kind.TURN}), conversation_id=conversation)
        if self.data.load_as == "memories":
            return NoteFilter(tenant=LOCAL.tenant, kinds=frozenset({Kind.MEMORY}))
        return NoteFilter(
            tenant=LOCAL.tenant, kinds=frozenset({Kind.ARTIFACT}), source_system=self._source(scope) if scope else None
        )

    async def _store(self, row: Row, turn_index: int) -> None:
        kind, meta = self._kind_and_metadata(row, turn_index)
        text = row.text[:MAX_TURN_CHARACTERS] if kind is Kind.TURN else row.text
        stored = await self.services.remember.store(kind, text, meta, CALLER, OnEmbeddingFailure.REJECT)
        self.row_of[stored.note.public_id] = row.id

    def _kind_and_metadata(self, row: Row, turn_index: int) -> tuple[Kind, NoteMetadata]:
        """Kind and metadata under which a row is stored."""
        date = row_moment(row.meta.get("date"))
        if row.kind == "turn":
            conversation = self._conversation(row.meta.get("conversation") or row.scope)
            role = self._role(row)
            return Kind.TURN, NoteMetadata(
                conversation_id=conversation, turn_index=turn_index, role=role, occurred_at=date
            )
        if row.kind == "memory":
            return Kind.MEMORY, NoteMetadata(type=row.meta.get("type", "fact"), confidence=1.0, occurred_at=date)
        return Kind.ARTIFACT, NoteMetadata(
            type=self.data.artifact_type,
            source_system=self._source(row.scope),
            source_id=row.id,
            title=row.meta.get("title"),
            occurred_at=date,
        )

    def _role(self, row: Row) -> str:
        """The row's role; without one, the first speaker of a conversation is the user."""
        role, speaker = row.meta.get("role"), row.meta.get("speaker")
        if role:
            return str(role)
        return "user" if speaker == self._first_speaker.setdefault(row.scope, speaker) else "assistant"

    def _conversation(self, name: str | None) -> str:
        """Conversation id, unique among the data sets of a store."""
        return f"{self.data.name}/{name}" if name else self.data.name

    def _source(self, scope: str | None) -> str:
        return (f"{self.data.name}/{scope}" if scope else self.data.name)[:100]

    def _spans(self, hit: Hit) -> list[RowSpan]:
        row = self.row(hit.note)
        return [RowSpan(row, passage.start_char, passage.end_char) for passage in hit.passages]


def _shown_date(hit: Hit) -> TimeWindow:
    return shown_window("\n".join(passage.text for passage in hit.passages), hit.note.said_at.date())


def _confidence(result: SearchResult) -> float:
    """The result's confidence; without one (a single ranker), the best hit's score."""
    if result.confidence is not None:
        return result.confidence
    return result.hits[0].score if result.hits else 0.0
