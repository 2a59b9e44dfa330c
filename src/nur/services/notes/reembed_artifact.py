"""Embed one artifact again with the store's current model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.embedding import EmbeddingModel
    from nur.domain.writes import Stored
    from nur.services.notes.get_artifact import GetArtifact
    from nur.services.notes.store_note import StoreNote


@dataclass(frozen=True, slots=True)
class ReembeddedArtifact:
    """An artifact with new vectors, and the model that made them."""

    stored: Stored
    model: EmbeddingModel


@dataclass(frozen=True, slots=True)
class ReembedArtifact:
    """Replaces an artifact's vectors; its text, version and id stay."""

    store: StoreNote
    get: GetArtifact
    model: EmbeddingModel

    async def __call__(self, artifact_id: str, caller: Caller) -> ReembeddedArtifact:
        """Embed and write. Raises NotFound, EmbedderDown, Conflict; then the old vectors stay."""
        artifact = await self.get(artifact_id, caller)
        return ReembeddedArtifact(await self.store.reembed(artifact.note, caller), self.model)
