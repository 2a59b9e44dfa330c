"""Get an artifact: its metadata and, where asked for, its text and its chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.chunks import sha256
from nur.domain.errors import NotFound, StoreDamaged
from nur.domain.filters import is_alive
from nur.domain.notes import Kind, Note

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.chunks import StoredChunk
    from nur.domain.embedding import EmbeddingModel
    from nur.ports.chunks import ChunkStore
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.notes import NoteStore
    from nur.ports.vectors import VectorStore
    from nur.services.privacy import PrivacyFilter


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact, as much of it as was asked for."""

    note: Note
    text: str | None
    chunks: list[StoredChunk] | None
    model: EmbeddingModel | None  #: of its vectors; None as long as a chunk has none


@dataclass(frozen=True, slots=True)
class GetArtifact:
    """Reads an artifact by its id."""

    notes: NoteStore
    chunks: ChunkStore
    vectors: VectorStore
    embedder: Embedder
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(
        self, artifact_id: str, caller: Caller, *, content: bool = False, chunks: bool = False
    ) -> Artifact:
        """The artifact; its text equals the one that came in, or StoreDamaged is raised. Raises NotFound."""
        note = await self.notes.get(caller.tenant, artifact_id)
        if note is None or note.kind is not Kind.ARTIFACT or not is_alive(note, self.clock.now()):
            raise NotFound(f"Artifact {artifact_id} not found")
        if not self.privacy.can_access(note, caller.principal):
            raise NotFound(f"Artifact {artifact_id} not found")
        return Artifact(
            note,
            await self._text(note) if content else None,
            await self.chunks.of_note(note.note_id) if chunks else None,
            await self._model(note),
        )

    async def _model(self, note: Note) -> EmbeddingModel | None:
        """The store's model if it has embedded the note: searches compare no other vectors."""
        model = self.embedder.model
        return model if await self.vectors.of_notes([note.note_id], model.version) else None

    async def _text(self, note: Note) -> str:
        text = (await self.notes.texts([note.note_id]))[note.note_id]
        if sha256(text) != note.content_hash:
            raise StoreDamaged(f"The text of {note.public_id} does not match its hash. Restore a backup.")
        return text
