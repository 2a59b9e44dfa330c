"""`nur worker`: do the background work of a shared store, without serving requests."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

from nur import bootstrap
from nur.domain.errors import BadConfiguration
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.settings import Settings

log = EventLog("Worker")

NEEDS_POSTGRES = "nur worker needs DATABASE_URL: a SQLite store has one process, and its server does this work itself."
NEEDS_INDEX_SERVER = (
    "nur worker cannot reach an index inside another process: set QDRANT_URL or CHROMA_HOST, or INDEX=pgvector."
)


async def work(settings: Settings, announce: Callable[[str], None] | None = None) -> None:
    """Work until SIGTERM or Ctrl-C. Raises BadConfiguration, or the NurError that keeps the store from opening."""
    _require_shared(settings)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopped.set))
    while not stopped.is_set():
        await _until_reopened(settings, stopped, announce)
    log.info("worker_stopped")


def _require_shared(settings: Settings) -> None:
    """Raise BadConfiguration unless both store and index can be used by several processes."""
    if settings.database_url is None:
        raise BadConfiguration(NEEDS_POSTGRES)
    index = bootstrap.chosen_index(settings)
    if (index == "qdrant" and not settings.qdrant_url) or (index == "chroma" and not settings.chroma_host):
        raise BadConfiguration(NEEDS_INDEX_SERVER)


async def _until_reopened(settings: Settings, stopped: asyncio.Event, announce: Callable[[str], None] | None) -> None:
    """Work until stopped, or until another process has switched the store to another model."""
    changed = asyncio.Event()
    async with bootstrap.running(settings) as services:
        services.reembed.reopen = services.watch_model.reopen = changed.set
        if announce:
            announce(f"Nur worker {services.index_worker.name} is running. Stop it with Ctrl-C.")
        log.info("worker_started", name=services.index_worker.name, pid=os.getpid())
        waits = [asyncio.create_task(event.wait()) for event in (stopped, changed)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
