"""Get an artifact, optionally with its text and chunks, and embed it again with the store's current model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import NotFound
from nur.domain.notes import Kind, Note

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.chunks import StoredChunk
    from nur.domain.embedding import EmbeddingModel
    from nur.domain.writes import Stored
    from nur.ports.chunks import ChunkStore
    from nur.ports.embedder import Embedder
    from nur.ports.notes import NoteStore
    from nur.ports.vectors import VectorStore
    from nur.services.notes.get_note import GetNote
    from nur.services.notes.store_note import StoreNote


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact, with the requested parts."""

    note: Note
    text: str | None
    chunks: list[StoredChunk] | None
    model: EmbeddingModel | None  #: model of its vectors; None while a chunk has none


@dataclass(frozen=True, slots=True)
class GetArtifact:
    """Reads an artifact by its id."""

    notes: NoteStore
    chunks: ChunkStore
    vectors: VectorStore
    embedder: Embedder
    get: GetNote

    async def __call__(
        self, artifact_id: str, caller: Caller, *, content: bool = False, chunks: bool = False
    ) -> Artifact:
        """The artifact. Raises NotFound, and StoreDamaged if its text is not the one that was stored."""
        note = await self.notes.get(caller.tenant, artifact_id)
        if note is None or note.kind is not Kind.ARTIFACT or not self.get.shows(note, caller):
            raise NotFound(f"Artifact {artifact_id} not found")
        text = None
        if content:
            note, text = await self.get.with_text(note, caller)
        return Artifact(
            note,
            text,
            await self.chunks.of_note(note.note_id) if chunks else None,
            await self._model(note),
        )

    async def _model(self, note: Note) -> EmbeddingModel | None:
        """The store's model if it has embedded the note; searches use no other vectors."""
        model = self.embedder.model
        return model if await self.vectors.of_notes([note.note_id], model.version) else None


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
