"""Embed everything with another model while the current one serves, compare the two, and switch atomically."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.errors import Conflict, EmbedderRefused, NurError
from nur.domain.notes import ChunkKey
from nur.observability.events import EventLog, traced
from nur.services.indexing.embed_missing import EmbedMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.domain.notes import NoteId
    from nur.ports.chunks import ChunkWithNote
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.stores import Stores

log = EventLog("Reembed")

PAGE = 64
#: Queries and chunks used to compare the models: enough to notice one that does not fit.
QUERIES = 20
COMPARED = 2000
TOP = 10
#: Passes over all notes. Each finds fewer notes written since the one before; the worker embeds what is left after
#: the switch.
ROUNDS = 5
_QUERY_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Comparison:
    """How similar the results of two models are."""

    questions: int  #: number of queries
    same_top: float  #: mean share of the old model's top ten that is in the new model's top ten
    found_itself: float  #: share of queries whose source chunk is in the new model's top ten


@dataclass(frozen=True, slots=True)
class Reembedded:
    """Result of a re-embedding."""

    from_version: str
    to_version: str
    embedded: int  #: chunks that had no vector of the new model
    failed: int = 0  #: notes that could not be embedded; if any, the store is not switched
    switched: bool = False
    comparison: Comparison | None = None
    error: str | None = None  #: None: everything is embedded


@dataclass(frozen=True, slots=True)
class Reembed:
    """Stores the new model's vectors next to the old ones; the fact `embedding_version` names the active model."""

    stores: Stores
    old: Embedder | None  #: None: no longer available, so nothing is compared
    new: Embedder
    clock: Clock

    async def __call__(self, from_version: str, progress: Callable[[int, int], None]) -> Reembedded:
        """Embed missing chunks, then switch. If the model fails for any note, the store is not switched."""
        result = await self.prepare(from_version, progress)
        if result.error is not None:
            return result
        await self.stores.vectors.switch(result.to_version, self.clock.now())
        log.info("embedding_switched", from_version=from_version, to_version=result.to_version)
        return replace(result, switched=True)

    async def prepare(self, from_version: str, progress: Callable[[int, int], None]) -> Reembedded:
        """Embed missing chunks and compare the models. Resumable: the next call continues after an interruption.

        `progress` is called with the number of chunks that have a new vector, and the total.
        """
        version = self.new.model.version
        with traced():
            missing = remaining = await self.stores.vectors.count_missing(version)
            failed: dict[NoteId, NurError] = {}
            for _ in range(ROUNDS):
                failed = await self._embed(progress)
                remaining = await self._report(progress)
                if failed or not remaining:
                    break
            if failed:
                error = str(next(iter(failed.values())))
                return Reembedded(from_version, version, missing - remaining, len(failed), error=error)
            return Reembedded(from_version, version, missing - remaining, comparison=await self._compare())

    async def _report(self, progress: Callable[[int, int], None]) -> int:
        """Report progress. Returns how many chunks still have no vector of the new model."""
        total = (await self.stores.chunks.statistics()).chunks
        remaining = await self.stores.vectors.count_missing(self.new.model.version)
        progress(max(0, total - remaining), total)
        return remaining

    async def _embed(self, progress: Callable[[int, int], None]) -> dict[NoteId, NurError]:
        """Embed all notes, page by page. Returns the failures; stops if the provider is down, not at a refused text."""
        embed = EmbedMissing(self.stores.chunks, self.stores.vectors, self.clock, self.new)
        failed: dict[NoteId, NurError] = {}
        after: NoteId | None = None
        while page := await self.stores.notes.all(after, PAGE):
            errors = await embed(page)
            failed |= {note: error for note, error in errors.items() if not isinstance(error, Conflict)}
            if any(not isinstance(error, EmbedderRefused) for error in failed.values()):
                return failed
            await self._report(progress)
            after = page[-1].note_id
        return failed

    async def _compare(self) -> Comparison | None:
        """Query both models with the first characters of some chunks, and compare their top results."""
        if self.old is None:
            return None
        page = await self.stores.vectors.page(self.new.model.version, ChunkKey(0), COMPARED, self.clock.now())
        chunks = [chunk for chunk, _ in page]
        keys = [chunk.stored.chunk_key for chunk in chunks]
        picked = np.linspace(0, len(chunks) - 1, min(QUERIES, len(chunks))).round().astype(int).tolist()
        if not picked:
            return None
        try:
            before = await self._nearest(self.old, keys, [chunks[i] for i in picked])
            after = await self._nearest(self.new, keys, [chunks[i] for i in picked])
        except NurError as error:
            log.warning("comparison_failed", error=error.code)
            return None
        shared = [len(old & new) / len(old) for old, new in zip(before, after, strict=True)]
        itself = [keys[i] in new for i, new in zip(picked, after, strict=True)]
        return Comparison(len(picked), round(float(np.mean(shared)), 4), round(float(np.mean(itself)), 4))

    async def _nearest(
        self, embedder: Embedder, keys: Sequence[ChunkKey], queries: Sequence[ChunkWithNote]
    ) -> list[set[ChunkKey]]:
        """Return the chunks nearest to each query by one model."""
        vectors = await self.stores.vectors.of_chunks(keys, embedder.model.version)
        embedded = [key for key in keys if key in vectors]
        matrix = np.stack([vectors[key] for key in embedded])
        nearest = []
        for query in queries:
            vector = await embedder.embed_query(query.stored.chunk.content[:_QUERY_CHARACTERS])
            order = np.argsort(-(matrix @ vector), kind="stable")[:TOP]
            nearest.append({embedded[i] for i in order})
        return nearest
