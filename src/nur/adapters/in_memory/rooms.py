"""What the parts of InMemoryLedger share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.adapters.in_memory.chunks import InMemoryChunks
from nur.adapters.in_memory.notes import InMemoryNotes
from nur.adapters.in_memory.outbox import InMemoryOutbox
from nur.observability.events import current_trace_id

if TYPE_CHECKING:
    from uuid import UUID

    from nur.domain.notes import Note, NoteId
    from nur.domain.traces import Trace
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats


@dataclass(frozen=True, slots=True)
class Audited:
    """A line of the audit log."""

    tenant: str
    principal: str
    action: str
    note_id: NoteId
    public_id: str | None
    revision: int
    trace_id: str | None


class InMemoryRooms:
    """Notes, chunks, outbox, audit log and facts. No method waits, so each is a transaction."""

    def __init__(self, clock: Clock) -> None:
        self.audit: list[Audited] = []
        self.own_vectors: dict[tuple[NoteId, str], Floats] = {}  #: by note and embedding version
        self._clock = clock
        self._facts: dict[str, str] = {}
        self._notes = InMemoryNotes()
        self._chunks = InMemoryChunks()
        self._outbox = InMemoryOutbox()
        self._traces: dict[UUID, Trace] = {}

    def _drop_chunks(self, note_id: NoteId) -> None:
        self._chunks.drop(note_id)
        self.own_vectors = {key: vector for key, vector in self.own_vectors.items() if key[0] != note_id}

    def _conclude(self, note: Note, action: str, principal: str, *, indexed: bool) -> None:
        if not indexed:
            self._outbox.enqueue(note.note_id, note.revision, self._clock.now())
        line = Audited(note.tenant, principal, action, note.note_id, note.public_id, note.revision, current_trace_id())
        self.audit.append(line)
