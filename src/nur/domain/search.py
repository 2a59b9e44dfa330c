"""Questions and answers."""

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

#: The line between chunks that are shown together.
BOUNDARY = "[CHUNK BOUNDARY]"
#: Characters of passages in a whole answer.
DEFAULT_MAX_CHARS = 2000


class Mode(StrEnum):
    """Which rankers are asked."""

    HYBRID = "hybrid"
    DENSE = "dense"
    LEXICAL = "lexical"


class Fusion(StrEnum):
    """What decides the order of candidates."""

    SCORE = "score"  #: the absolute score
    RRF = "rrf"  #: weighted reciprocal ranks


class Payload(StrEnum):
    """How much of each note an answer carries."""

    IDS = "l0"  #: ids and titles
    PASSAGES = "l1"
    TEXTS = "l2"  #: full texts


class EmptyReason(StrEnum):
    """Why an answer is empty."""

    NOTHING_STORED = "nothing_stored"  #: nothing is stored that could match: the selection is empty
    BELOW_FLOOR = "below_floor"  #: there are notes, but none that answers
    DEGRADED = "degraded"  #: there are notes, and what would have compared them did not answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A question about the notes in a selection."""

    query: str
    caller: Caller
    where: NoteFilter
    when: str | None = None  #: a stretch of time to prefer, in words or ISO 8601; None: what the question says
    asked_at: datetime | None = None  #: what "last week" in the question is counted from; None: now
    as_of: datetime | None = None  #: answer from what was stored by then; None: from everything
    limit: int = 5
    mode: Mode = Mode.HYBRID
    max_chars: int = DEFAULT_MAX_CHARS
    expand_neighbors: bool = False
    payload: Payload = Payload.PASSAGES  #: kept with the search, so that it can be repeated as it was shown
    tool: str = "search"  #: who asks, for logs and metrics


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a note: `text == note_text[start_char:end_char]`."""

    text: str
    start_char: int
    end_char: int
    score: float = 0.0
    times: tuple[TimeMention, ...] = ()  #: that it names, by offsets in the note

    def quote(self, mention: TimeMention) -> str:
        """The words of one of its times."""
        return self.text[mention.start_char - self.start_char : mention.end_char - self.start_char]


@dataclass(frozen=True, slots=True)
class ExpandedChunk:
    """A chunk's text and what its neighbours add before and after it; empty where there is none."""

    before: str
    target: str
    after: str
    start_char: int  #: where `before` begins
    end_char: int  #: where `after` ends, not included

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are there, in order."""
        return tuple(part for part in (self.before, self.target, self.after) if part)

    @property
    def text(self) -> str:
        """The parts with a boundary line between them."""
        return f"\n{BOUNDARY}\n".join(self.parts)

    def around(self, start: int, end: int, room: int) -> ExpandedChunk:
        """The characters from `start` to `end`, and at most `room` more before and after them."""
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
    """The note that is current, for a hit that is outdated."""

    public_id: str
    rule: str  #: decided, value, update


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a hit: `text == note_text[start_char:end_char]`."""

    public_id: str
    text: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One note that answers, by its best chunk."""

    note: Note
    chunk_key: ChunkKey
    chunk_id: str  #: public id of the chunk; of the note itself when it is whole
    chunk: Chunk
    score: float  #: what hits are ordered by; comparable between questions
    rrf_score: float  #: Σ w / (60 + rank)
    ranks: Mapping[str, int]  #: by ranker, from 1
    passages: tuple[Passage, ...]  #: best first
    item_id: UUID  #: names this hit in the search's trace
    rerank_score: float | None = None  #: the reranker's own, where one was asked
    duplicates: tuple[str, ...] = ()  #: public ids of notes that say the same, which this hit stands for
    expanded: ExpandedChunk | None = None  #: the chunk between its neighbours, where asked for
    text: str | None = None  #: the note's full text, where asked for
    newer: Newer | None = None  #: another hit, which is current where this one is outdated

    @property
    def collections(self) -> tuple[str, ...]:
        """The specification's collections that contain it."""
        return (collection_of(self.note),)

    @property
    def type(self) -> str:
        """memory, history, artifact, artifact_chunk, note or event."""
        spec = KINDS[self.note.kind]
        return spec.chunk_hit_type if self.note.is_chunked else spec.hit_type


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Best hits first; `degraded` names each ranker that did not answer: `dense`, `rerank`."""

    hits: tuple[Hit, ...]
    search_id: UUID
    trace_id: UUID  #: of the trace that explains this result
    model: EmbeddingModel  #: whose vectors were compared
    degraded: tuple[str, ...] = ()
    reason: EmptyReason | None = None  #: set when there are no hits
    notice: str | None = None  #: what the answer lacks and why, in words
    confidence: float | None = (
        None  #: how sure it is that the best hit answers, 0 to 1; None unless both rankers answered
    )
    relevance: float | None = None  #: how likely it is that the store answers at all; a floor is compared with it
    conflicts: tuple[tuple[Quote, Quote], ...] = ()  #: words of hits that disagree about what was asked


def _cut(part: str, offset: int, first: int, last: int) -> str:
    return part[max(0, first - offset) : max(0, last - offset)]
