"""Questions and answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind, Principal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from nur.domain.embedding import EmbeddingModel
    from nur.domain.notes import ChunkKey, Note

#: The first specification's collections, each with a kind of note that it holds.
COLLECTIONS = (
    ("artifacts", Kind.ARTIFACT),
    ("artifact_chunks", Kind.ARTIFACT),
    ("memory", Kind.MEMORY),
    ("notes", Kind.NOTE),
    ("history", Kind.TURN),
)

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


class EmptyReason(StrEnum):
    """Why an answer is empty."""

    NOTHING_STORED = "nothing_stored"  #: nothing is stored that could match: the selection is empty
    BELOW_FLOOR = "below_floor"  #: there are notes, but none that answers
    DEGRADED = "degraded"  #: there are notes, and what would have compared them did not answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A question about the notes in a selection."""

    query: str
    principal: Principal = field(default_factory=Principal)
    where: NoteFilter = field(default_factory=NoteFilter)
    limit: int = 5
    mode: Mode = Mode.HYBRID
    max_chars: int = DEFAULT_MAX_CHARS
    expand_neighbors: bool = False
    tool: str = "search"  #: who asks, for logs and metrics


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a note: `text == note_text[start_char:end_char]`."""

    text: str
    start_char: int
    end_char: int
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One note that answers, by its best chunk."""

    note: Note
    chunk_key: ChunkKey
    chunk_id: str  #: public id of the chunk; of the note itself when it is whole
    chunk_index: int
    score: float  #: what hits are ordered by; comparable between questions
    rrf_score: float  #: Σ w / (60 + rank)
    ranks: Mapping[str, int]  #: by ranker, from 1
    passages: tuple[Passage, ...]  #: best first
    item_id: UUID  #: names this hit in the search's trace
    rerank_score: float | None = None  #: the reranker's own, where one was asked
    duplicates: tuple[str, ...] = ()  #: public ids of notes that say the same, which this hit stands for
    expanded: tuple[str, ...] | None = None  #: the chunk between its neighbours, where asked for

    @property
    def collections(self) -> tuple[str, ...]:
        """Where the specification keeps such a note."""
        return (collection_of(self.note),)

    @property
    def type(self) -> str:
        """memory, history, artifact, artifact_chunk, note or event."""
        names = {Kind.MEMORY: "memory", Kind.TURN: "history", Kind.NOTE: "note", Kind.EVENT: "event"}
        return names.get(self.note.kind) or ("artifact_chunk" if self.note.is_chunked else "artifact")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Best hits first; `degraded` names each ranker that did not answer: `dense`, `rerank`."""

    hits: tuple[Hit, ...]
    search_id: UUID
    trace_id: UUID  #: of the trace that says how this came about
    model: EmbeddingModel  #: whose vectors were compared
    degraded: tuple[str, ...] = ()
    reason: EmptyReason | None = None  #: set when there are no hits
    notice: str | None = None  #: what the answer lacks and why, in words
    confidence: float | None = None  #: how sure it is that the best hit answers, 0 to 1; None unless both rankers spoke


def collection_of(note: Note) -> str:
    """The collection of the first specification that a note's vectors belong to."""
    if note.kind is Kind.ARTIFACT:
        return "artifact_chunks" if note.is_chunked else "artifacts"
    return {Kind.MEMORY: "memory", Kind.TURN: "history"}.get(note.kind, "notes")
