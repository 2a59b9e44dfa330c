"""Re-embed in the background while the store is in use, report progress, and switch when done."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from nur.domain.errors import BadConfiguration, BadRequest, Conflict, NurError
from nur.observability.events import EventLog
from nur.ports.store_facts import NEXT_EMBEDDING_VERSION
from nur.services.jobs.reembed import Reembed
from nur.services.jobs.stored_report import StoredReport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.stores import Stores

log = EventLog("Reembed")

REPORT = "reembed_report"  #: store fact: the current report
REPORT_SECONDS = 2.0
STOPPED = "The process that re-embedded the store has stopped. Start it again: it continues where it stopped."
LAST = "last_reembedding"  #: store fact: the last result, to be read after the switch


class ReembedState(StrEnum):
    """State of a re-embedding."""

    IDLE = "idle"
    EMBEDDING = "embedding"
    SWITCHING = "switching"  #: everything is embedded; the store is about to be reopened with the new model
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """Progress of a re-embedding, in chunks."""

    state: ReembedState = ReembedState.IDLE
    to_version: str | None = None
    done: int = 0
    total: int = 0
    error: str | None = None

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self.state in (ReembedState.EMBEDDING, ReembedState.SWITCHING)


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """The store's model, and the progress of a switch to another one."""

    version: str
    stored_versions: dict[str, int]  #: chunk vectors by embedding version
    report: ReembedReport
    last: dict[str, Any] | None  #: fields of `Reembedded` for the last one that finished


@dataclass(slots=True)
class ReembedOnline:
    """Runs one re-embedding at a time, then calls `reopen`; the store switches when it is reopened.

    Switching at that point, before anything reads or writes, makes it atomic: no call ever sees two models.
    """

    stores: Stores
    embedder: Embedder  #: embedder of the current model
    open_model: Callable[[str], Awaitable[Embedder]]  #: opens a model by name; raises BadConfiguration, KeyRefused
    clock: Clock
    reopen: Callable[[], None] = lambda: None  #: set by the owner of the open store
    report: ReembedReport = field(default_factory=ReembedReport)
    _stored: StoredReport = field(init=False)
    _task: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._stored = StoredReport(self.stores.facts, REPORT, self.clock)

    async def start(self, to: str) -> EmbeddingStatus:
        """Start, unless it is already running or `to` is the store's model. Raises BadRequest, Conflict."""
        await self._start(to)
        return await self.status()

    async def _start(self, to: str) -> None:
        try:
            new = await self.open_model(to)
        except BadConfiguration as error:
            raise BadRequest(str(error)) from error
        version = new.model.version
        current = await self._current()
        if current.is_running or version == self.embedder.model.version:
            await new.close()
            if current.is_running and version != current.to_version:
                raise Conflict(f"Everything is being embedded with {current.to_version}. Wait for that.")
            return
        self.report = ReembedReport(ReembedState.EMBEDDING, version)
        self._task = asyncio.create_task(self._run(new))

    async def stop(self) -> None:
        """Stop. Finished vectors stay, and the next run continues from there."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def status(self) -> EmbeddingStatus:
        """Return the store's model, the current progress and the last result."""
        fact = await self.stores.facts.get(LAST)
        last = None if fact is None else dict(json.loads(fact))
        versions = await self.stores.vectors.versions()
        return EmbeddingStatus(self.embedder.model.version, versions, await self._current(), last)

    async def purge(self) -> dict[str, int]:
        """Delete the vectors of all models but the store's own. Returns how many per model. Raises Conflict."""
        if (await self._current()).is_running:
            raise Conflict("Everything is being embedded with another model. Wait for that.")
        others = [version for version in await self.stores.vectors.versions() if version != self.embedder.model.version]
        return {version: await self.stores.vectors.drop(version) for version in others}

    async def _current(self) -> ReembedReport:
        """Return the current report, whichever process of this store runs the job."""
        if self._task is not None:
            return self.report
        stored = await self._stored.read()
        if stored is None:
            return self.report
        fields, is_recent = stored
        report = ReembedReport(**fields | {"state": ReembedState(fields["state"])})
        if report.state is ReembedState.SWITCHING:  # this process has reopened the store, or is about to
            return ReembedReport()
        if report.is_running and not is_recent:
            return replace(report, state=ReembedState.FAILED, error=STOPPED)
        return report

    async def _run(self, new: Embedder) -> None:
        try:
            async with self._reporting():
                result = await Reembed(self.stores, self.embedder, new, self.clock).prepare(
                    self.embedder.model.version, self._progress
                )
            if result.error is not None:
                self.report = replace(self.report, state=ReembedState.FAILED, error=result.error)
                return
            await self.stores.facts.set(NEXT_EMBEDDING_VERSION, result.to_version)
            await self.stores.facts.set(LAST, json.dumps(asdict(replace(result, switched=True))))
            self.report = replace(self.report, state=ReembedState.SWITCHING)
            self.reopen()
        except NurError as error:
            self.report = replace(self.report, state=ReembedState.FAILED, error=str(error))
            log.warning("reembedding_failed", error=error.code)
        finally:
            await new.close()
            with contextlib.suppress(NurError):  # if the store cannot be written, only this process has the report
                await self._stored.write(self.report, at_once=True)

    @contextlib.asynccontextmanager
    async def _reporting(self) -> AsyncIterator[None]:
        """Save the report to the store regularly during the block."""

        async def report() -> None:
            while True:
                with contextlib.suppress(NurError):
                    await self._stored.write(self.report)
                await asyncio.sleep(REPORT_SECONDS)  # not `clock.sleep`: with a test's clock this loop would never wait

        reporting = asyncio.create_task(report())
        try:
            yield
        finally:
            reporting.cancel()

    def _progress(self, done: int, total: int) -> None:
        self.report = replace(self.report, done=done, total=total)
