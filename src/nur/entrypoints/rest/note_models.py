"""What the note routes are sent."""

from typing import Any, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from nur.domain.notes import NoteMetadata, Retention, Sensitivity, Visibility
from nur.domain.writes import Protection
from nur.entrypoints.rest.fields import (
    Body,
    Days,
    Flag,
    Key,
    Metadata,
    Moment,
    Name,
    Share,
    Source,
    Text,
    Title,
)

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
    occurred_at: Moment | None = Field(default=None, description="when it happened; else now")
    source: Source = Field(default_factory=Source)
    sensitivity: Sensitivity | None = Field(default=None, description=f"{_KEPT} normal, or highly_sensitive {_SOURCES}")
    visibility_scope: Visibility | None = Field(default=None, description=f"{_KEPT} me")
    retention_policy: Retention | None = Field(default=None, description=f"{_KEPT} forever")
    metadata: Metadata = Field(default_factory=dict)

    def description(self) -> NoteMetadata:
        """As the services speak of it."""
        return NoteMetadata(
            type=self.type,
            key=self.key,
            title=self.title,
            project=self.project,
            agent=self.agent,
            scope=self.scope,
            importance=self.importance,
            confidence=self.confidence,
            occurred_at=self.occurred_at,
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


class NotePatch(Body):
    """What is to change; what is left out stays, null clears."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Staging port", "resolved": True}]})

    text: Text | None = Field(default=None, description="notes, events and memories alone; null: stays")
    type: Name | None = None
    key: Key | None = Field(default=None, description="notes and events alone")
    title: Title | None = None
    importance: Share | None = None
    confidence: Share | None = None
    ttl_days: Days | None = None
    expires_at: Moment | None = None
    source: Source | None = Field(default=None, description="replaced as a whole")
    sensitivity: Sensitivity | None = Field(default=None, description="null: normal")
    visibility_scope: Visibility | None = Field(default=None, description="null: me")
    retention_policy: Retention | None = Field(default=None, description="null: forever")
    metadata: Metadata | None = Field(default=None, description="replaced as a whole")
    resolved: Flag | None = Field(
        default=None, description="a note with until_resolved goes to the trash when it is resolved"
    )

    def fields(self) -> dict[str, Any]:
        """The fields of the description that were sent; null is what a new note has."""
        plain = self.model_fields_set & {"type", "key", "title", "importance", "confidence", "expires_at"}
        found = {name: getattr(self, name) for name in plain}
        source = self.source or Source()
        full: dict[str, dict[str, Any]] = {
            "source": {"source_system": source.system, "source_id": source.id, "source_url": source.url},
            "sensitivity": {"sensitivity": self.sensitivity or Sensitivity.NORMAL},
            "visibility_scope": {"visibility": self.visibility_scope or Visibility.ME},
            "retention_policy": {"retention": self.retention_policy or Retention.FOREVER},
            "metadata": {"metadata": self.metadata or {}},
        }
        for name in self.model_fields_set & full.keys():
            found |= full[name]
        return found
