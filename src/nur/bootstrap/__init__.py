"""Bootstrap: chooses adapters by the settings, wires the services, and starts the background jobs.

No other package chooses an adapter. Adapters are imported only when chosen: importing chromadb takes seconds, and the
default profile never needs it.
"""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.bootstrap.chunking import tokenisers
from nur.bootstrap.embedders import FIRST_EMBEDDING_VERSION, store_embedder
from nur.bootstrap.indexes import chosen_index, make_index
from nur.bootstrap.rerankers import make_reranker
from nur.bootstrap.services import Services, assemble
from nur.domain.errors import BadConfiguration
from nur.observability.events import EventLog
from nur.ports.clock import Clock, SystemClock
from nur.ports.embedder import Watched
from nur.ports.store_facts import NEXT_EMBEDDING_VERSION
from nur.retrieval.text.analysis import ANALYZER_VERSION
from nur.services.indexing.rebuild import ANALYZER_FACT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from nur.adapters.sql.postgres.stores import PostgresStores
    from nur.ports.stores import Stores
    from nur.settings import Settings

__all__ = ["Services", "assemble", "chosen_index", "finish_upgrade", "is_new", "make_stores", "running"]

log = EventLog("Bootstrap")

NO_POSTGRES = "PostgreSQL needs an extra: pip install 'nur-memory[postgres]'"


@asynccontextmanager
async def running(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Services]:
    """Open everything and start the background jobs; close it all at the end.

    Raises BadConfiguration, DataFolderInUse and StoreUnusable, which decide the exit code of `nur serve`.
    """
    clock = clock or SystemClock()
    await asyncio.to_thread(tokenisers, settings)  # may download, slowly or in vain: do it before opening anything
    stores = make_stores(settings)
    await stores.open(clock.now())
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(stores.close)
        store_id = await stores.facts.set_if_absent("store_id", uuid4().hex)
        switched = await _switch(stores, clock)
        embedder = await store_embedder(settings, stores, clock)
        stack.push_async_callback(embedder.close)
        first_version = await stores.facts.get(FIRST_EMBEDDING_VERSION) or embedder.model.version
        index = make_index(settings, stores, embedder.model, store_id, first_version, clock)
        stack.push_async_callback(index.close)
        reranker = make_reranker(settings)
        if reranker is not None:
            stack.push_async_callback(reranker.close)
        services = assemble(settings, stores, index, embedder, reranker, clock)
        stack.push_async_callback(services.search_log.close)
        stack.push_async_callback(services.ingest_file.reader.close)
        await services.watch_index.open()
        if switched and index.follows_commits:  # opening it has loaded every vector
            await stores.index_marks.mark_all(embedder.model.version, clock.now())
        if stores.is_shared and (queued := await stores.vectors.queue_missing(embedder.model.version, clock.now())):
            log.info("vectors_missing", notes=queued)  # written by a process that still used the previous model
        if queued := await services.derive.queue_outdated():
            log.info("derivations_outdated", notes=queued)
        stack.push_async_callback(services.rebuild.stop)
        stack.push_async_callback(services.reembed.stop)
        if isinstance(embedder, Watched):
            stack.push_async_callback(_stop, asyncio.create_task(embedder.watch()))
        for job in (
            services.watch_index.forever(),
            services.index_worker.forever(),
            services.housekeeping.forever(),
            services.search_log.forever(),
            services.search_log.purge_forever(),
            services.watch_model.forever(),
            *([services.nightly_backup.forever()] if services.nightly_backup else []),
        ):
            stack.push_async_callback(_stop, asyncio.create_task(job))
        if await stores.facts.set_if_absent(ANALYZER_FACT, str(ANALYZER_VERSION)) != str(ANALYZER_VERSION):
            log.warning("analyzer_changed", hint="Every note is analysed again; until then words may be missed.")
            await services.rebuild.start(rechunk=True)
        log.info("store_opened", index=index.name, model=embedder.model.name, dimensions=embedder.model.dimensions)
        yield services


def make_stores(settings: Settings) -> Stores:
    """Return the configured stores, not yet open. Raises BadConfiguration."""
    if settings.database_url is not None:
        return _postgres(settings, settings.database_url.get_secret_value())
    from nur.adapters.sql.sqlite.stores import SqliteStores

    return SqliteStores(settings.nur_data_dir)


def finish_upgrade(settings: Settings) -> bool:
    """Apply the schema changes that servers do not apply at start. Returns whether there were any.

    Raises BadConfiguration for SQLite, where a server applies everything itself, and DataFolderInUse.
    """
    if settings.database_url is None:
        raise BadConfiguration("nur upgrade needs DATABASE_URL: a SQLite store is upgraded when its server starts.")
    return _postgres(settings, settings.database_url.get_secret_value()).finish_upgrade()


def is_new(settings: Settings) -> bool:
    """Whether there is no store yet, so that opening it would create one and choose its embedding model."""
    if settings.database_url is not None:
        return False  # a PostgreSQL database is created on purpose
    from nur.adapters.sql.sqlite.files import StoreFiles

    return StoreFiles(settings.nur_data_dir).is_new


def _postgres(settings: Settings, address: str) -> PostgresStores:
    try:
        from nur.adapters.sql.postgres.stores import PostgresStores
    except ImportError as error:
        raise BadConfiguration(NO_POSTGRES) from error
    return PostgresStores(
        address,
        settings.nur_data_dir,
        pool_size=settings.database_pool_size,
        allow_unsynced=settings.database_allow_unsynced,
    )


async def _switch(stores: Stores, clock: Clock) -> bool:
    """Apply a pending model switch. Returns whether there was one."""
    version = await stores.facts.get(NEXT_EMBEDDING_VERSION)
    if version is None:
        return False
    await stores.vectors.switch(version, clock.now())
    log.info("embedding_switched", to_version=version)
    return True


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
