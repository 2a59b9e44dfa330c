"""artifact_ingest, artifact_get, artifact_delete, artifact_reembed."""

# Signatures are read at run time, so annotations are not postponed here.
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from nur.domain.access import Caller
from nur.domain.chunks import chunk_public_id
from nur.domain.errors import BadRequest, EmbedderDown, KeyRefused, NurError
from nur.domain.notes import ArtifactType, Kind, NoteMetadata, Retention, Sensitivity, Visibility
from nur.domain.writes import Outcome, Protection
from nur.entrypoints.mcp.arguments import checked_moment, checked_said, checked_text, checked_url
from nur.entrypoints.mcp.parameters import (
    DETAILED,
    READS,
    Format,
    RetentionName,
    SensitivityName,
    VisibilityName,
)
from nur.entrypoints.mcp.progress import reported
from nur.entrypoints.mcp.tool import ToolSpec, answer, as_json, prefixed, utc

if TYPE_CHECKING:
    from nur.bootstrap import Services
    from nur.domain.chunks import StoredChunk
    from nur.domain.embedding import EmbeddingModel
    from nur.domain.notes import Note
    from nur.domain.writes import Stored

Short = Annotated[str | None, Field(min_length=1, max_length=500)]
ArtifactId = Annotated[str, Field(max_length=100, description="Starts with art_")]
Participant = Annotated[str, Field(max_length=500)]
#: Most ids that a detailed answer lists; `artifact_get` with `include_chunks` lists all.
MAX_IDS = 50
#: With more ids than this, a concise answer lists only the artifact's own: a book has hundreds.
USUAL_IDS = 10


async def artifact_ingest(  # the specification's parameters
    services: "Services",
    caller: Caller,
    context: Context[Any, Any],
    artifact_type: ArtifactType,
    source_system: Annotated[str, Field(min_length=1, max_length=100, description="Where it is from: gmail, drive")],
    content: Annotated[str, Field(min_length=1, max_length=10_000_000, description="Full text")],
    source_id: Annotated[Short, Field(description="Its id there; the same id again updates it")] = None,
    source_url: Annotated[str | None, Field(max_length=2000)] = None,
    title: Short = None,
    author: Annotated[str | None, Field(min_length=1, max_length=200)] = None,
    participants: Annotated[list[Participant] | None, Field(max_length=100)] = None,
    ts: Annotated[str | None, Field(description="When it happened, ISO 8601")] = None,
    sensitivity: SensitivityName | None = None,
    visibility_scope: VisibilityName | None = None,
    retention_policy: RetentionName | None = None,
    expires_at: Annotated[str | None, Field(description="For retention_policy custom, ISO 8601")] = None,
    response_format: Annotated[Format, Field(description="detailed: ids of up to 50 chunks")] = "concise",
) -> CallToolResult:
    """Store a document, e-mail, chat or transcript so that its passages can be found. Long texts are chunked."""
    meta = NoteMetadata(
        type=artifact_type,
        source_system=checked_text("source_system", source_system),
        source_id=source_id,
        source_url=checked_url("source_url", source_url),
        title=title,
        author=author,
        participants=tuple(participants or ()),
        occurred_at=checked_said("ts", ts, services.zone),
    )
    stated = Protection(
        sensitivity=Sensitivity(sensitivity) if sensitivity else None,
        visibility=Visibility(visibility_scope) if visibility_scope else None,
        retention=Retention(retention_policy) if retention_policy else None,
        expires_at=checked_moment("expires_at", expires_at),
    )
    async with reported(context) as progress:
        stored = await services.ingest(
            checked_text("content", content),
            meta,
            stated,
            caller=caller,
            on_failure=services.on_failure.for_tools,
            progress=progress,
        )
    return _receipt(stored, detailed=response_format == DETAILED)


async def artifact_get(
    services: "Services",
    caller: Caller,
    artifact_id: ArtifactId,
    include_content: bool = False,
    include_chunks: bool = False,
) -> CallToolResult:
    """Read an artifact's metadata and, if requested, its full text or its list of chunks."""
    artifact = await services.get_artifact(
        _checked_id(artifact_id), caller, content=include_content, chunks=include_chunks
    )
    found: dict[str, Any] = {
        "artifact_id": artifact.note.public_id,
        "metadata": metadata(artifact.note, artifact.model),
    }
    if artifact.text is not None:
        found["content"] = artifact.text
    if artifact.chunks is not None and artifact.note.is_chunked:
        found["chunks"] = [_chunk(artifact.note, stored) for stored in artifact.chunks]
    return as_json(found)


async def artifact_delete(services: "Services", caller: Caller, artifact_id: ArtifactId) -> CallToolResult:
    """Delete an artifact with all its chunks."""
    note = await services.forget(_checked_id(artifact_id), Kind.ARTIFACT, caller)
    chunks = note.chunk_count if note.is_chunked else 0
    return answer(
        f"Deleted artifact {artifact_id} and {chunks} chunks",
        {"artifact_id": artifact_id, "deleted": True, "chunks_deleted": chunks},
    )


async def artifact_reembed(services: "Services", caller: Caller, artifact_id: ArtifactId) -> CallToolResult:
    """Embed an artifact again with the store's current model."""
    done = await services.reembed_artifact(_checked_id(artifact_id), caller)
    stored, model = done.stored, done.model
    return as_json(
        {
            "artifact_id": stored.note.public_id,
            "num_chunks": len(stored.chunk_ids),
            "embedding_model": model.name,
            "embedding_dimensions": model.dimensions,
            "index_state": stored.index_state,
        }
    )


def _ingest_failed(error: NurError) -> str:
    if isinstance(error, EmbedderDown | KeyRefused):
        return (
            f"Failed to ingest artifact: embedding generation failed for {error.failed} chunks. "
            f"No data was written. Error: {error}"
        )
    return _store_failed(error)


def _reembed_failed(error: NurError) -> str:
    if isinstance(error, EmbedderDown | KeyRefused):
        return f"Failed to generate embeddings: {error}"
    return _store_failed(error)


_store_failed = prefixed("Failed to store artifact")

TOOLS = [
    ToolSpec(artifact_ingest, ToolAnnotations(destructive_hint=False, idempotent_hint=True), _ingest_failed),
    ToolSpec(artifact_get, READS),
    ToolSpec(
        artifact_delete,
        ToolAnnotations(destructive_hint=True, idempotent_hint=True),
        prefixed("Failed to delete chunks"),
    ),
    ToolSpec(artifact_reembed, ToolAnnotations(destructive_hint=False, idempotent_hint=True), _reembed_failed),
]


def _checked_id(artifact_id: str) -> str:
    if not artifact_id.startswith("art_"):
        raise BadRequest("Invalid artifact_id: must start with 'art_'")
    return artifact_id


def _receipt(stored: "Stored", *, detailed: bool) -> CallToolResult:
    ids = stored.stored_ids
    listed = ids[:MAX_IDS] if detailed or len(ids) <= USUAL_IDS else ids[:1]
    structured = {
        "artifact_id": stored.note.public_id,
        "is_chunked": stored.note.is_chunked,
        "num_chunks": len(stored.chunk_ids),
        "stored_ids": listed,
        "stored_ids_total": len(ids),
        "outcome": stored.outcome,
        "version": stored.note.version,
        "index_state": stored.index_state,
    }
    if stored.outcome is Outcome.REPLACED:
        return answer(f"Updated existing artifact {stored.note.public_id}", structured)
    return as_json(structured)


def metadata(note: "Note", model: "EmbeddingModel | None") -> dict[str, Any]:
    """An artifact's metadata: every field of the specification's section 12.3, empty ones left out.

    `model` is that of its vectors; None while they are pending, which the text then states.
    """
    meta = note.meta
    fields = {
        "artifact_type": meta.type,
        "source_system": meta.source_system,
        "source_id": meta.source_id,
        "source_url": meta.source_url,
        "ts": utc(meta.occurred_at),
        "title": meta.title,
        "author": meta.author,
        "participants": list(meta.participants) or None,
        "content_hash": note.content_hash,
        "token_count": note.token_count,
        "is_chunked": note.is_chunked,
        "num_chunks": note.chunk_count if note.is_chunked else 0,
        "sensitivity": meta.sensitivity,
        "visibility_scope": meta.visibility,
        "retention_policy": meta.retention,
        "expires_at": utc(meta.expires_at),
        "ingested_at": utc(note.ingested_at),
        "version": note.version,
    }
    present = {name: value for name, value in fields.items() if value is not None}
    return present | _embedding(model)


def _embedding(model: "EmbeddingModel | None") -> dict[str, Any]:
    return {
        "embedding_provider": model.provider if model else None,
        "embedding_model": model.name if model else None,
        "embedding_dimensions": model.dimensions if model else None,
    }


def _chunk(note: "Note", stored: "StoredChunk") -> dict[str, Any]:
    chunk = stored.chunk
    return {
        "chunk_id": chunk_public_id(note.public_id, chunk.index, stored.content_hash),
        "chunk_index": chunk.index,
        "start_char": chunk.start_char,
        "end_char": chunk.end_char,
        "token_count": chunk.token_count,
        "content_hash": stored.content_hash,
    }
