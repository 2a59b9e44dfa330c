"""Stores: the stores of one database, opened and closed together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.errors import NurError
    from nur.ports.archive import Archive
    from nur.ports.briefs import BriefStore
    from nur.ports.chunks import ChunkStore
    from nur.ports.decisions import DecisionStore
    from nur.ports.derivations import DerivationStore, FingerprintStore
    from nur.ports.idempotency import IdempotencyStore
    from nur.ports.notes import ChangeLog, ConversationStore, NoteStore
    from nur.ports.outbox import Outbox
    from nur.ports.search_log import SearchLogStore
    from nur.ports.store_facts import StoreFacts
    from nur.ports.vector_index import IndexMarks
    from nur.ports.vectors import VectorStore


class Stores(Protocol):
    """One database. Use cases take the single stores they need; only bootstrap and health know the whole."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes may have it open and write at the same time."""
        ...

    @property
    def notes(self) -> NoteStore:
        """Notes, their texts and versions."""
        ...

    @property
    def archive(self) -> Archive:
        """Whole notes, for export and import."""
        ...

    @property
    def conversations(self) -> ConversationStore:
        """The conversations that turns belong to."""
        ...

    @property
    def chunks(self) -> ChunkStore:
        """What search and indexing read of chunks."""
        ...

    @property
    def vectors(self) -> VectorStore:
        """Vectors of chunks and notes."""
        ...

    @property
    def index_marks(self) -> IndexMarks:
        """Which chunks the vector index holds."""
        ...

    @property
    def derivations(self) -> DerivationStore:
        """Rows derived from notes."""
        ...

    @property
    def fingerprints(self) -> FingerprintStore:
        """Which notes have nearly the same words."""
        ...

    @property
    def briefs(self) -> BriefStore:
        """What a brief is made of."""
        ...

    @property
    def decisions(self) -> DecisionStore:
        """What was decided about pairs of notes, and what waits for it."""
        ...

    @property
    def changes(self) -> ChangeLog:
        """What happened to notes, in order."""
        ...

    @property
    def outbox(self) -> Outbox:
        """Work that follows a write."""
        ...

    @property
    def search_log(self) -> SearchLogStore:
        """Traces of searches."""
        ...

    @property
    def idempotency(self) -> IdempotencyStore:
        """Responses under the callers' keys."""
        ...

    @property
    def facts(self) -> StoreFacts:
        """The store's own facts."""
        ...

    @property
    def problem(self) -> NurError | None:
        """Why the database could not be written the last time; None: nothing is known to be wrong."""
        ...

    async def open(self, now: datetime) -> None:
        """Open or create the database. Raises DataFolderInUse, StoreNewer, StoreForeign, StoreDamaged."""
        ...

    async def close(self) -> None:
        """Finish queued writes and close."""
        ...

    async def ping(self) -> None:
        """Read something. Raises StoreDown."""
        ...

    async def scrub(self) -> None:
        """Leave no bytes of purged notes in the files."""
        ...
