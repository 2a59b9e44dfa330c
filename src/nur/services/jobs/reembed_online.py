"""Re-embed while the store is in use: in the background, with a report, and a switch when everything is there."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from nur.domain.errors import BadConfiguration, BadRequest, Conflict, NurError
from nur.observability.events import EventLog
from nur.ports.store_facts import NEXT_EMBEDDING_VERSION
from nur.services.jobs.reembed import Reembed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.stores import Stores

log = EventLog("Reembed")

LAST = "last_reembedding"  #: the fact that keeps what the last one did, to be read after the switch


class ReembedState(StrEnum):
    """Where a re-embedding is."""

    IDLE = "idle"
    EMBEDDING = "embedding"
    SWITCHING = "switching"  #: everything is embedded; the store is about to be opened with the other model
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """How it stands, in chunks."""

    state: ReembedState = ReembedState.IDLE
    to_version: str | None = None
    done: int = 0
    total: int = 0
    error: str | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is still at work."""
        return self.state in (ReembedState.EMBEDDING, ReembedState.SWITCHING)


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """The store's model, and how a move to another one stands."""

    version: str
    stored_versions: dict[str, int]  #: chunk vectors by embedding version
    report: ReembedReport
    last: dict[str, Any] | None  #: the fields of `Reembedded`, of the last one that finished


@dataclass(slots=True)
class ReembedOnline:
    """One at a time. The store switches to the other model when it is next opened, which `reopen` asks for.

    Switching on opening, before anything reads or writes, is what makes it one step: no call ever sees two models.
    """

    stores: Stores
    embedder: Embedder  #: of the current model
    open_model: Callable[[str], Awaitable[Embedder]]  #: by name. Raises BadConfiguration, KeyRefused
    clock: Clock
    reopen: Callable[[], None] = lambda: None  #: set by the owner of the open store
    report: ReembedReport = field(default_factory=ReembedReport)
    _task: asyncio.Task[None] | None = None

    async def start(self, to: str) -> ReembedReport:
        """Start, unless one is running; the store's own model needs none. Raises BadRequest, Conflict."""
        try:
            new = await self.open_model(to)
        except BadConfiguration as error:
            raise BadRequest(str(error)) from error
        version = new.model.version
        if self.report.is_running or version == self.embedder.model.version:
            await new.close()
            if self.report.is_running and version != self.report.to_version:
                raise Conflict(f"Everything is being embedded with {self.report.to_version}. Wait for that.")
            return self.report
        self.report = ReembedReport(ReembedState.EMBEDDING, version)
        self._task = asyncio.create_task(self._run(new))
        return self.report

    async def stop(self) -> None:
        """What is embedded stays; the next one goes on from there."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def status(self) -> EmbeddingStatus:
        """The store's model now, and what became of a move to another one."""
        kept = await self.stores.facts.get(LAST)
        last = None if kept is None else dict(json.loads(kept))
        return EmbeddingStatus(self.embedder.model.version, await self.stores.vectors.versions(), self.report, last)

    async def purge(self) -> dict[str, int]:
        """Delete the vectors of all models but the store's own and return how many of each. Raises Conflict."""
        if self.report.is_running:
            raise Conflict("Everything is being embedded with another model. Wait for that.")
        others = [version for version in await self.stores.vectors.versions() if version != self.embedder.model.version]
        return {version: await self.stores.vectors.drop(version) for version in others}

    async def _run(self, new: Embedder) -> None:
        try:
            result = await Reembed(self.stores, self.embedder, new, self.clock).prepare(
                self.embedder.model.version, self._tell
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

    def _tell(self, done: int, total: int) -> None:
        self.report = replace(self.report, done=done, total=total)
