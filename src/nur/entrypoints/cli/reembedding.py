"""Open the store and both models for `nur reembed`, without a server."""

from __future__ import annotations

import contextlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from nur.bootstrap import make_stores
from nur.bootstrap.embedders import named_model, open_embedder, refuse_bad_key
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import BadConfiguration
from nur.ports.clock import SystemClock
from nur.services.jobs.reembed import Reembed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.settings import Settings


@asynccontextmanager
async def reembedding(settings: Settings, to: str, clock: Clock | None = None) -> AsyncIterator[tuple[Reembed, str]]:
    """Lock the store and open the old and the new model; yields the job and the store's embedding version.

    Raises the NurError that `nur reembed` exits with.
    """
    clock = clock or SystemClock()
    target = named_model(settings, to)
    stores = make_stores(settings)
    await stores.open(clock.now())
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(stores.close)
        existing = await stores.facts.get("embedding_version")
        if existing is None:
            raise BadConfiguration("The store is empty: set EMBEDDINGS instead. The first start chooses the model.")
        new = open_embedder(settings, target)
        stack.push_async_callback(new.close)
        await refuse_bad_key(new)
        old: Embedder | None = None
        with contextlib.suppress(BadConfiguration):  # its key may be gone; then the comparison is skipped
            old = open_embedder(settings, EmbeddingModel.parse(existing))
            stack.push_async_callback(old.close)
        yield Reembed(stores, old, new, clock), existing
