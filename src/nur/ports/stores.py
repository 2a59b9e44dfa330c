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
    """One database. Use cases take only the stores they need; bootstrap and health use the whole."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes may write to it at the same time."""
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
        """Chunks, for search and indexing."""
        ...

    @property
    def vectors(self) -> VectorStore:
        """Vectors of chunks and notes."""
        ...

    @property
    def index_marks(self) -> IndexMarks:
        """Which chunks are in the vector index."""
        ...

    @property
    def derivations(self) -> DerivationStore:
        """Rows derived from notes."""
        ...

    @property
    def fingerprints(self) -> FingerprintStore:
        """Fingerprints, which find notes with nearly the same words."""
        ...

    @property
    def briefs(self) -> BriefStore:
        """Material of briefs."""
        ...

    @property
    def decisions(self) -> DecisionStore:
        """Decisions and suggestions about pairs of notes."""
        ...

    @property
    def changes(self) -> ChangeLog:
        """Changes of notes, in commit order."""
        ...

    @property
    def outbox(self) -> Outbox:
        """Jobs queued by writes."""
        ...

    @property
    def search_log(self) -> SearchLogStore:
        """Traces of searches."""
        ...

    @property
    def idempotency(self) -> IdempotencyStore:
        """Responses by idempotency key."""
        ...

    @property
    def facts(self) -> StoreFacts:
        """Named values about the store itself."""
        ...

    @property
    def problem(self) -> NurError | None:
        """The last storage error, until a write succeeds again; None: no known problem."""
        ...

    async def open(self, now: datetime) -> None:
        """Open or create the database. Raises DataFolderInUse, StoreNewer, StoreForeign, StoreDamaged."""
        ...

    async def close(self) -> None:
        """Finish queued writes and close."""
        ...

    async def ping(self) -> None:
        """Check that the database can be read. Raises StoreDown."""
        ...

    async def scrub(self) -> None:
        """Overwrite the bytes of purged notes in the database files."""
        ...
