"""Routes that create notes, events and memories."""

from fastapi import APIRouter, Response
from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from nur.bootstrap import Services
from nur.domain.notes import MemoryType, NoteMetadata
from nur.domain.times import Zone
from nur.entrypoints.rest.deps import OpenServices
from nur.entrypoints.rest.fields import Body, Days, Key, Name, NoteFields, Said, Share, Source, Text, as_utc
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.writes import CREATED, CurrentWrite, Receipt, Write
from nur.services.notes.add_note import AddNote

router = APIRouter(prefix="/v2", tags=["notes"])

_EXAMPLE: JsonDict = {
    "text": "The staging database moves to port 5433 on Monday.",
    "type": "fact",
    "key": "staging-port",
    "project": "infra",
    "importance": 0.7,
    "source": {"system": "slack", "id": "C042/1718", "url": "https://example.com/C042/1718"},
    "ttl_days": 90,
}


class NoteIn(NoteFields):
    """A note to store."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    text: Text
    type: Name | None = Field(default=None, description="any type name of your own")
    key: Key | None = Field(
        default=None,
        description="unique name within project, agent and scope; storing another text under it replaces the note",
    )
    confidence: Share | None = None
    ttl_days: Days | None = Field(
        default=None, description="expires this many days from now; not together with expires_at"
    )
    source: Source = Field(default_factory=Source)

    def note_metadata(self, zone: Zone) -> NoteMetadata:
        """Return the note's metadata; a time without an offset is in `zone`."""
        return NoteMetadata(
            type=self.type,
            key=self.key,
            title=self.title,
            project=self.project,
            agent=self.agent,
            scope=self.scope,
            importance=self.importance,
            confidence=self.confidence,
            occurred_at=self.occurred(zone),
            source_system=self.source.system,
            source_id=self.source.id,
            source_url=self.source.url,
            metadata=self.metadata,
        )


class EventIn(NoteIn):
    """Something that happened. The same text at another time is another event."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "Deployed build 812 to production.", "type": "deploy", "agent": "ci", "importance": 0.4}
            ]
        }
    )


class MemoryIn(Body):
    """A memory to store, as the tool `memory_store` does."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "Prefers tea to coffee.", "type": "preference", "confidence": 0.9}]}
    )

    text: Text
    type: MemoryType = "fact"
    confidence: Share = 1.0
    conversation_id: Key | None = None
    ts: Said | None = None
    replaces: Key | None = Field(
        default=None, description="id of the memory that this one supersedes; it stays as history and ranks lower"
    )


async def _add(add: AddNote, body: NoteIn, services: Services, write: Write) -> Response:
    return await write(
        lambda: add(
            body.text,
            body.note_metadata(services.zone),
            body.protection(),
            caller=write.caller,
            on_failure=services.on_failure.for_others,
            ttl_days=body.ttl_days,
        )
    )


@router.post("/notes", response_model=Receipt, responses={**CREATED, **documented(409)})
async def add_note(body: NoteIn, services: OpenServices, write: CurrentWrite) -> Response:
    """Store a note. When this returns, it is committed and found by its words.

    It is embedded in the background. With ON_EMBEDDING_FAILURE=reject it is embedded first, or not stored at all.
    """
    return await _add(services.add_note, body, services, write)


@router.post("/events", response_model=Receipt, responses={**CREATED, **documented(409)})
async def add_event(body: EventIn, services: OpenServices, write: CurrentWrite) -> Response:
    """Store an event: a note of something that happened at a time."""
    return await _add(services.add_event, body, services, write)


@router.post("/memories", response_model=Receipt, responses={**CREATED, **documented(404, 409)})
async def add_memory(body: MemoryIn, services: OpenServices, write: CurrentWrite) -> Response:
    """Store a memory, as the tool `memory_store` does.

    It is embedded in the background. With ON_EMBEDDING_FAILURE=reject it is embedded first, or not stored at all.
    """
    return await write(
        lambda: services.remember(
            body.text,
            type=body.type,
            confidence=body.confidence,
            conversation_id=body.conversation_id,
            said_at=as_utc(body.ts, services.zone),
            replaces=body.replaces,
            caller=write.caller,
            on_failure=services.on_failure.for_others,
        )
    )
