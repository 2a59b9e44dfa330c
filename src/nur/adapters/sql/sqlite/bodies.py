"""Running transaction bodies on the threads of a SQLite file; the parts of SqliteLedger share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from nur.adapters.sql import notes
from nur.adapters.sql.sqlite.lexical_index import Fts5LexicalIndex
from nur.observability.events import current_trace_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Engine

    from nur.adapters.sql.sqlite.threads import ReaderThreads, WriterThread
    from nur.ports.clock import Clock

T = TypeVar("T")


class Bodies:
    """A clock, a lexicon, a writer and readers."""

    _readers: ReaderThreads
    _writer: WriterThread

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lexical_index = Fts5LexicalIndex()
        self._engines: list[Engine] = []  #: the writing one, then the reading one

    async def _read(self, body: Callable[..., T], *arguments: Any) -> T:
        return await self._readers.run(lambda connection: body(connection, *arguments))

    async def _write(self, body: Callable[..., T], *arguments: Any, **named: Any) -> T:
        return await self._writer.run(lambda connection: body(connection, *arguments, **named))

    def _context(self) -> notes.WriteContext:
        return notes.WriteContext(self._clock.now(), current_trace_id())
