"""Check that the embedding model works, with a small test embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nur.domain.embedding import EmbeddingModel, Probe
    from nur.ports.embedder import Embedder


@dataclass(frozen=True, slots=True)
class EmbeddingReport:
    """What the test embedding showed."""

    model: EmbeddingModel
    probe: Probe
    key_configured: bool


@dataclass(frozen=True, slots=True)
class EmbeddingHealth:
    """Asks the provider now; `Health` is for monitors, which ask often."""

    embedder: Embedder
    key_configured: bool

    async def __call__(self) -> EmbeddingReport:
        """Embed a small text and report what came of it."""
        return EmbeddingReport(self.embedder.model, await self.embedder.probe(), self.key_configured)
