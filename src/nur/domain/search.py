"""Search requests and results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from nur.domain.kinds import KINDS, collection_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from nur.domain.access import Caller
    from nur.domain.chunks import Chunk
    from nur.domain.embedding import EmbeddingModel
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, Note
    from nur.domain.times import TimeMention

#: The line between adjacent chunks in one text.
BOUNDARY = "[CHUNK BOUNDARY]"
#: Total characters of passages in an answer.
DEFAULT_MAX_CHARS = 2000


class Mode(StrEnum):
    """Which rankers a search uses."""

    HYBRID = "hybrid"
    DENSE = "dense"
    LEXICAL = "lexical"


class Fusion(StrEnum):
    """How candidates are ordered."""

    SCORE = "score"  #: by absolute score
    RRF = "rrf"  #: by weighted reciprocal rank fusion


class Payload(StrEnum):
    """How much of each note an answer carries."""

    IDS = "l0"  #: ids and titles
    PASSAGES = "l1"
    TEXTS = "l2"  #: full texts


class EmptyReason(StrEnum):
    """Why an answer is empty."""

    NOTHING_STORED = "nothing_stored"  #: no stored note matches the filter
    BELOW_FLOOR = "below_floor"  #: notes match the filter, but none scores above the floor
    DEGRADED = "degraded"  #: notes match the filter, but the ranker needed did not answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A query over the notes that match a filter."""

    query: str
    caller: Caller
    where: NoteFilter
    when: str | None = None  #: period to prefer, in words or ISO 8601; None: the one that the query names
    asked_at: datetime | None = None  #: reference time for "last week" in the query; None: now
    as_of: datetime | None = None  #: search only what was stored by then; None: everything
    limit: int = 5
    mode: Mode = Mode.HYBRID
    max_chars: int = DEFAULT_MAX_CHARS
    expand_neighbors: bool = False
    payload: Payload = Payload.PASSAGES  #: stored with the search, so that it can be shown again in the same form
    tool: str = "search"  #: name in logs and metrics


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a note: `text == note_text[start_char:end_char]`."""

    text: str
    start_char: int
    end_char: int
    score: float = 0.0
    times: tuple[TimeMention, ...] = ()  #: times that it names, with offsets in the note

    def quote(self, mention: TimeMention) -> str:
        """Return the words of one of its time mentions."""
        return self.text[mention.start_char - self.start_char : mention.end_char - self.start_char]


@dataclass(frozen=True, slots=True)
class ExpandedChunk:
    """A chunk's text with the text of its neighbours; "" where there is no neighbour."""

    before: str
    target: str
    after: str
    start_char: int  #: where `before` begins
    end_char: int  #: where `after` ends, exclusive

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are not empty, in order."""
        return tuple(part for part in (self.before, self.target, self.after) if part)

    @property
    def text(self) -> str:
        """The parts with a boundary line between them."""
        return f"\n{BOUNDARY}\n".join(self.parts)

    def around(self, start: int, end: int, room: int) -> ExpandedChunk:
        """Cut to the characters from `start` to `end` and at most `room` more around them."""
        first = max(self.start_char, start - room // 2)
        last = min(self.end_char, end + room - (start - first))
        first = max(self.start_char, start - (room - (last - end)))
        middle = self.start_char + len(self.before)
        return ExpandedChunk(
            _cut(self.before, self.start_char, first, last),
            _cut(self.target, middle, first, last),
            _cut(self.after, middle + len(self.target), first, last),
            first,
            last,
        )


@dataclass(frozen=True, slots=True)
class Newer:
    """The current note that replaces an outdated hit."""

    public_id: str
    rule: str  #: how that is known: decided, value or update


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote from a hit: `text == note_text[start_char:end_char]`."""

    public_id: str
    text: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One note in the answer, with its best chunk."""

    note: Note
    chunk_key: ChunkKey
    chunk_id: str  #: public id of the chunk; the note's own id if it has only one chunk
    chunk: Chunk
    score: float  #: hits are ordered by it; comparable between queries
    rrf_score: float  #: Σ w / (60 + rank)
    ranks: Mapping[str, int]  #: by ranker, from 1
    passages: tuple[Passage, ...]  #: best first
    item_id: UUID  #: names this hit in the search's trace
    rerank_score: float | None = None  #: the reranker's score, if one was used
    duplicates: tuple[str, ...] = ()  #: public ids of notes with the same content, represented by this hit
    expanded: ExpandedChunk | None = None  #: the chunk with its neighbours, if requested
    text: str | None = None  #: the note's full text, if requested
    newer: Newer | None = None  #: the hit that replaces this one, if this one is outdated

    @property
    def collections(self) -> tuple[str, ...]:
        """The specification's collections that hold the note."""
        return (collection_of(self.note),)

    @property
    def type(self) -> str:
        """memory, history, artifact, artifact_chunk, note or event."""
        spec = KINDS[self.note.kind]
        return spec.chunk_hit_type if self.note.is_chunked else spec.hit_type


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first. `degraded` names each ranker that did not answer: `dense`, `rerank`."""

    hits: tuple[Hit, ...]
    search_id: UUID
    trace_id: UUID  #: the trace that explains this result
    model: EmbeddingModel  #: the model whose vectors were compared
    degraded: tuple[str, ...] = ()
    reason: EmptyReason | None = None  #: set if there are no hits
    notice: str | None = None  #: sentence that says what the answer lacks and why
    confidence: float | None = None  #: probability that the best hit answers; None unless both rankers answered
    relevance: float | None = None  #: probability that any stored note answers; compared with the floor
    conflicts: tuple[tuple[Quote, Quote], ...] = ()  #: pairs of quotes that contradict each other on the query


def _cut(part: str, offset: int, first: int, last: int) -> str:
    return part[max(0, first - offset) : max(0, last - offset)]
