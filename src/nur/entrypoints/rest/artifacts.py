"""Artifact routes: documents, e-mails, chats and transcripts, sent as text."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from nur.domain.notes import ArtifactType, NoteMetadata
from nur.domain.times import Zone
from nur.domain.writes import IndexState
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.fields import NO_NUL, SOMETHING, Body, NoteFields, Text, Url
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.writes import CREATED, CurrentWrite, Receipt
from nur.services.notes.artifacts import ReembeddedArtifact

router = APIRouter(prefix="/v2/artifacts", tags=["artifacts"])

Person = Annotated[str, Field(max_length=500, pattern=NO_NUL)]


class ArtifactSource(Body):
    """Where an artifact comes from. With an id, storing it again replaces it."""

    system: str = Field(min_length=1, max_length=100, pattern=SOMETHING, examples=["gmail"])
    id: Annotated[str, Field(min_length=1, max_length=500, pattern=NO_NUL)] | None = Field(
        default=None, description="the artifact's id in that system", examples=["18c2f"]
    )
    url: Url | None = Field(default=None, examples=["https://example.com/mail/18c2f"])


class ArtifactIn(NoteFields):
    """An artifact to store, as the tool `artifact_ingest` does. Long texts are chunked."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "text": "Hello Ben,\nthe staging database moves on Monday.\nAda",
                    "type": "email",
                    "title": "Staging database",
                    "author": "Ada",
                    "participants": ["Ada", "Ben"],
                    "source": {"system": "gmail", "id": "18c2f"},
                }
            ]
        }
    )

    text: Text
    type: ArtifactType
    source: ArtifactSource
    author: Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)] | None = None
    participants: list[Person] = Field(default_factory=list, max_length=100)

    def note_metadata(self, zone: Zone) -> NoteMetadata:
        """Return the note's metadata; a time without an offset is in `zone`."""
        return NoteMetadata(
            type=self.type,
            title=self.title,
            author=self.author,
            participants=tuple(self.participants),
            project=self.project,
            agent=self.agent,
            scope=self.scope,
            importance=self.importance,
            occurred_at=self.occurred(zone),
            source_system=self.source.system,
            source_id=self.source.id,
            source_url=self.source.url,
            metadata=self.metadata,
        )


@router.post("", response_model=Receipt, responses={**CREATED, **documented(409)})
async def add_artifact(body: ArtifactIn, services: OpenServices, write: CurrentWrite) -> Response:
    """Store a document, e-mail, chat or transcript so that its passages can be found."""
    return await write(
        lambda: services.ingest(
            body.text,
            body.note_metadata(services.zone),
            body.protection(),
            caller=write.caller,
            on_failure=services.on_failure.for_others,
        )
    )


class ReembeddedArtifactOut(BaseModel):
    """An artifact that was embedded again."""

    note_id: str
    chunk_count: int
    embedding_version: str = Field(description="the model that embedded it")
    index_state: IndexState

    @classmethod
    def of(cls, done: ReembeddedArtifact) -> "ReembeddedArtifactOut":
        """Build it from the service's result."""
        note = done.stored.note
        return cls(
            note_id=note.public_id,
            chunk_count=note.chunk_count,
            embedding_version=done.model.version,
            index_state=done.stored.index_state,
        )


@router.post("/{artifact_id}/reembed", response_model=ReembeddedArtifactOut, responses=documented(404, 409))
async def reembed_artifact(
    artifact_id: Annotated[str, Path(min_length=1, max_length=100)], services: OpenServices, caller: CurrentCaller
) -> Response:
    """Embed an artifact again with the store's model. Returns when that is done."""
    return answered(ReembeddedArtifactOut.of(await services.reembed_artifact(artifact_id, caller)))
