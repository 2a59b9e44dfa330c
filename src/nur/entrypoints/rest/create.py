"""POST of notes, events and memories."""

from datetime import datetime
from typing import Literal, Self

from fastapi import APIRouter, Response
from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from nur.domain.moments import Zone, in_utc
from nur.domain.notes import NoteMetadata, Retention, Sensitivity, Visibility
from nur.domain.writes import Protection
from nur.entrypoints.rest.deps import OpenServices
from nur.entrypoints.rest.fields import Body, Days, Key, Metadata, Moment, Name, Said, Share, Source, Text, Title
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.writes import CREATED, CurrentWrite, Receipt

router = APIRouter(prefix="/v2", tags=["notes"])

_KEPT = "left out: as it is when the note is stored again, else"
_SOURCES = "for a source of SENSITIVE_SOURCES"
_EXAMPLE: JsonDict = {
    "text": "The staging database moves to port 5433 on Monday.",
    "type": "fact",
    "key": "staging-port",
    "project": "infra",
    "importance": 0.7,
    "source": {"system": "slack", "id": "C042/1718", "url": "https://example.com/C042/1718"},
    "ttl_days": 90,
}


def _located(stated: datetime | None, zone: Zone) -> datetime | None:
    """A time that was sent, as UTC."""
    return None if stated is None else in_utc(stated, zone)


class NoteIn(Body):
    """A note to store."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    text: Text
    type: Name | None = Field(default=None, description="your own word for what it is")
    key: Key | None = Field(
        default=None, description="its name within project, agent and scope: stored again, replaced"
    )
    title: Title | None = None
    project: Name = ""
    agent: Name = ""
    scope: Name = ""
    importance: Share | None = None
    confidence: Share | None = None
    ttl_days: Days | None = None
    expires_at: Moment | None = Field(default=None, description="not together with ttl_days")
    ts: Said | None = None
    occurred_at: Said | None = Field(default=None, description="another name of ts; not together with it")
    source: Source = Field(default_factory=Source)
    sensitivity: Sensitivity | None = Field(default=None, description=f"{_KEPT} normal, or highly_sensitive {_SOURCES}")
    visibility_scope: Visibility | None = Field(default=None, description=f"{_KEPT} me")
    retention_policy: Retention | None = Field(default=None, description=f"{_KEPT} forever")
    metadata: Metadata = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if self.ts is not None and self.occurred_at is not None:
            raise ValueError("ts and occurred_at are the same: send one of them")
        return self

    def description(self, zone: Zone) -> NoteMetadata:
        """As the services speak of it; a time without an offset is in `zone`."""
        return NoteMetadata(
            type=self.type,
            key=self.key,
            title=self.title,
            project=self.project,
            agent=self.agent,
            scope=self.scope,
            importance=self.importance,
            confidence=self.confidence,
            occurred_at=_located(self.ts or self.occurred_at, zone),
            source_system=self.source.system,
            source_id=self.source.id,
            source_url=self.source.url,
            metadata=self.metadata,
        )

    def protection(self) -> Protection:
        """What is stated about who may see it and how long it is kept."""
        return Protection(
            sensitivity=self.sensitivity,
            visibility=self.visibility_scope,
            retention=self.retention_policy,
            expires_at=self.expires_at,
        )


class EventIn(NoteIn):
    """Something that happened; the same text at another time is another event."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "Deployed build 812 to production.", "type": "deploy", "agent": "ci", "importance": 0.4}
            ]
        }
    )


class MemoryIn(Body):
    """A memory to store, as `memory_store` does."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "Prefers tea to coffee.", "type": "preference", "confidence": 0.9}]}
    )

    content: Text
    type: Literal["preference", "fact", "project", "decision"] = "fact"
    confidence: Share = 1.0
    conversation_id: Key | None = None
    ts: Said | None = None


@router.post("/notes", response_model=Receipt, responses={**CREATED, **documented(409)})
async def add_note(body: NoteIn, services: OpenServices, write: CurrentWrite) -> Response:
    """Store a note. It is committed and found by its words when this returns.

    Its vectors follow, unless ON_EMBEDDING_FAILURE is reject: then they are there, or nothing is written.
    """
    return await write(
        lambda: services.add_note(
            body.text,
            body.description(services.zone),
            body.protection(),
            caller=write.caller,
            on_failure=services.on_failure.for_others,
            ttl_days=body.ttl_days,
        )
    )


@router.post("/events", response_model=Receipt, responses={**CREATED, **documented(409)})
async def add_event(body: EventIn, services: OpenServices, write: CurrentWrite) -> Response:
    """Store an event: a note of something that happened at a time."""
    return await write(
        lambda: services.add_event(
            body.text,
            body.description(services.zone),
            body.protection(),
            caller=write.caller,
            on_failure=services.on_failure.for_others,
            ttl_days=body.ttl_days,
        )
    )


@router.post("/memories", response_model=Receipt, responses={**CREATED, **documented(409)})
async def add_memory(body: MemoryIn, services: OpenServices, write: CurrentWrite) -> Response:
    """Store a memory, as the tool `memory_store` does; its vectors follow unless ON_EMBEDDING_FAILURE is reject."""
    return await write(
        lambda: services.remember(
            body.content,
            type=body.type,
            confidence=body.confidence,
            conversation_id=body.conversation_id,
            said_at=_located(body.ts, services.zone),
            caller=write.caller,
            on_failure=services.on_failure.for_others,
        )
    )
