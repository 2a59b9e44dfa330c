"""SqlStores: all stores over one runner, for any database."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import text

from nur.adapters.sql.archive import SqlArchive
from nur.adapters.sql.briefs import SqlBriefStore
from nur.adapters.sql.changes import SqlChangeLog
from nur.adapters.sql.chunks import SqlChunkStore
from nur.adapters.sql.conversations import SqlConversationStore
from nur.adapters.sql.decisions import SqlDecisionStore
from nur.adapters.sql.derivations import SqlDerivationStore, SqlFingerprintStore
from nur.adapters.sql.idempotency import SqlIdempotencyStore
from nur.adapters.sql.index_marks import SqlIndexMarks
from nur.adapters.sql.notes import SqlNoteStore
from nur.adapters.sql.outbox import SqlOutbox
from nur.adapters.sql.search_log import SqlSearchLog
from nur.adapters.sql.store_facts import SqlStoreFacts
from nur.adapters.sql.vectors import SqlVectorStore

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.adapters.sql.runner import Runner
    from nur.domain.errors import NurError

#: A fact that `ping` writes to find out whether the store can be written again.
WRITE_PROBE = "write_probe"


class SqlStores:
    """The stores that every database has. Subclasses open and close the database."""

    is_shared = False

    def __init__(self, run: Runner, lexical_index: LexicalIndex) -> None:
        self.run = run
        self.lexical_index = lexical_index
        self.notes = SqlNoteStore(run, lexical_index)
        self.archive = SqlArchive(run, lexical_index)
        self.conversations = SqlConversationStore(run)
        self.chunks = SqlChunkStore(run, lexical_index)
        self.vectors = SqlVectorStore(run)
        self.index_marks = SqlIndexMarks(run)
        self.derivations = SqlDerivationStore(run)
        self.fingerprints = SqlFingerprintStore(run)
        self.briefs = SqlBriefStore(run)
        self.decisions = SqlDecisionStore(run, lexical_index)
        self.changes = SqlChangeLog(run)
        self.outbox = SqlOutbox(run)
        self.search_log = SqlSearchLog(run)
        self.idempotency = SqlIdempotencyStore(run)
        self.facts = SqlStoreFacts(run)

    @property
    def problem(self) -> NurError | None:
        """Why the last read or write failed; None: no failure is known."""
        return self.run.condition.problem

    async def ping(self) -> None:
        """Try a read, and a write if the last one failed. Raises the reason if the store cannot be used."""
        await self.run.read(_ping)
        if self.problem is not None:
            await self.facts.set(WRITE_PROBE, uuid4().hex)
        if self.problem is not None:
            raise self.problem

    async def scrub(self) -> None:
        """Remove the last traces of deleted texts from the lexical rows."""
        await self.run.write(self.lexical_index.optimize)


def _ping(connection: Connection) -> None:
    connection.execute(text("SELECT 1"))
