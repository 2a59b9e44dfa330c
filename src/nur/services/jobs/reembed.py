"""Embed everything with another model while the current one serves, compare, and switch in one step."""

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
#: Questions asked of both models, and chunks compared with them: enough to see a model that does not fit.
QUESTIONS = 20
#: Rounds over all notes: in a store that is written to meanwhile, each finds fewer that came after it. What comes after
#: the last one is embedded by the worker once the store is switched.
ROUNDS = 5
COMPARED = 2000
TOP = 10
_QUESTION_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Comparison:
    """How alike two models answer."""

    questions: int
    same_top: float  #: share of the old model's ten best that the new one has among its ten best, on average
    found_itself: float  #: share of questions whose own chunk the new model has among its ten best


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What a re-embedding did."""

    from_version: str
    to_version: str
    embedded: int  #: chunks that had no vector of the new model
    failed: int = 0  #: notes that could not be embedded: then nothing is switched
    switched: bool = False
    comparison: Comparison | None = None
    error: str | None = None  #: None: everything is there


@dataclass(frozen=True, slots=True)
class Reembed:
    """Keeps the vectors of both models; the store's fact `embedding_version` names the one in use."""

    stores: Stores
    old: Embedder | None  #: None: it cannot be asked any more, so nothing is compared
    new: Embedder
    clock: Clock

    async def __call__(self, from_version: str, progress: Callable[[int, int], None]) -> Reembedded:
        """Embed what is missing, then switch. A model that fails for a note leaves the store as it was."""
        result = await self.prepare(from_version, progress)
        if result.error is not None:
            return result
        await self.stores.vectors.switch(result.to_version, self.clock.now())
        log.info("embedding_switched", from_version=from_version, to_version=result.to_version)
        return replace(result, switched=True)

    async def prepare(self, from_version: str, progress: Callable[[int, int], None]) -> Reembedded:
        """Embed what is missing and compare; stopped half-way, the next call goes on where this one was.

        `progress` is called with how many of how many chunks have a vector of the new model.
        """
        version = self.new.model.version
        with traced():
            missing = left = await self.stores.vectors.count_missing(version)
            failed: dict[NoteId, NurError] = {}
            for _ in range(ROUNDS):
                failed = await self._embed(progress)
                left = await self._report(progress)
                if failed or not left:
                    break
            if failed:
                error = str(next(iter(failed.values())))
                return Reembedded(from_version, version, missing - left, len(failed), error=error)
            return Reembedded(from_version, version, missing - left, comparison=await self._compare())

    async def _report(self, progress: Callable[[int, int], None]) -> int:
        """Report progress. Returns how many chunks have no vector of the new model yet."""
        total = (await self.stores.chunks.statistics()).chunks
        left = await self.stores.vectors.count_missing(self.new.model.version)
        progress(max(0, total - left), total)
        return left

    async def _embed(self, progress: Callable[[int, int], None]) -> dict[NoteId, NurError]:
        """Page through all notes; a provider that is down ends it, a text that it refuses does not."""
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
        """Ask both models the beginnings of some chunks, and compare what each finds among some chunks."""
        if self.old is None:
            return None
        page = await self.stores.vectors.page(self.new.model.version, ChunkKey(0), COMPARED, self.clock.now())
        chunks = [chunk for chunk, _ in page]
        keys = [chunk.stored.chunk_key for chunk in chunks]
        picked = np.linspace(0, len(chunks) - 1, min(QUESTIONS, len(chunks))).round().astype(int).tolist()
        if not picked:
            return None
        try:
            before = await self._best(self.old, keys, [chunks[place] for place in picked])
            after = await self._best(self.new, keys, [chunks[place] for place in picked])
        except NurError as error:
            log.warning("comparison_failed", error=error.code)
            return None
        shared = [len(old & new) / len(old) for old, new in zip(before, after, strict=True)]
        itself = [keys[place] in new for place, new in zip(picked, after, strict=True)]
        return Comparison(len(picked), round(float(np.mean(shared)), 4), round(float(np.mean(itself)), 4))

    async def _best(
        self, embedder: Embedder, keys: Sequence[ChunkKey], questions: Sequence[ChunkWithNote]
    ) -> list[set[ChunkKey]]:
        """The nearest chunks of each question, by one model."""
        existing = await self.stores.vectors.of_chunks(keys, embedder.model.version)
        present = [key for key in keys if key in existing]
        matrix = np.stack([existing[key] for key in present])
        best = []
        for question in questions:
            vector = await embedder.embed_query(question.stored.chunk.content[:_QUESTION_CHARACTERS])
            order = np.argsort(-(matrix @ vector), kind="stable")[:TOP]
            best.append({present[place] for place in order})
        return best
