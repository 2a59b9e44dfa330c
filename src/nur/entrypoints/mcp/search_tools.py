"""artifact_search and hybrid_search."""

# Signatures are read at run time, so annotations are not postponed here.
from typing import TYPE_CHECKING, Annotated, Any

from mcp_types import CallToolResult
from pydantic import Field

from nur.domain.access import Caller
from nur.domain.errors import BadRequest
from nur.domain.filters import NoteFilter
from nur.domain.kinds import TURNS
from nur.domain.notes import ArtifactType, Kind
from nur.domain.search import DEFAULT_MAX_CHARS, SearchRequest
from nur.entrypoints.mcp import hits
from nur.entrypoints.mcp.arguments import Arguments, check, checked_range, checked_said, checked_text
from nur.entrypoints.mcp.parameters import (
    DETAILED,
    READS,
    AsOf,
    Limit,
    MaxChars,
    Neighbours,
    Query,
    ResponseFormat,
    SensitivityName,
    VisibilityName,
    When,
)
from nur.entrypoints.mcp.structured_hits import structured
from nur.entrypoints.mcp.tool import ToolSpec, answer, search_failed, shortened

if TYPE_CHECKING:
    from nur.bootstrap import Services

ARTIFACTS = frozenset({Kind.ARTIFACT})
MEMORIES = frozenset({Kind.MEMORY, Kind.NOTE, Kind.EVENT})
Time = Annotated[str | None, Field(description="ISO 8601")]


class SearchFilters(Arguments):
    """The fields of `filters` in hybrid_search."""

    artifact_type: ArtifactType | None = None
    source_system: str | None = None
    sensitivity: SensitivityName | None = None
    visibility_scope: VisibilityName | None = None
    time_range_start: str | None = None
    time_range_end: str | None = None
    type: str | None = None
    min_confidence: Annotated[float | None, Field(ge=0.0, le=1.0)] = None


async def artifact_search(  # the specification's parameters
    services: "Services",
    caller: Caller,
    query: Query,
    limit: Limit = 5,
    artifact_type: ArtifactType | None = None,
    source_system: str | None = None,
    sensitivity: SensitivityName | None = None,
    visibility_scope: VisibilityName | None = None,
    time_range_start: Time = None,
    time_range_end: Time = None,
    expand_neighbors: Neighbours = False,
    max_chars: MaxChars = DEFAULT_MAX_CHARS,
    response_format: ResponseFormat = "concise",
    when: When = None,
    as_of: AsOf = None,
) -> CallToolResult:
    """Find passages in stored documents, e-mails, chats and transcripts, with their sources."""
    occurred_from, occurred_to = checked_range(time_range_start, time_range_end)
    where = NoteFilter(
        tenant=caller.tenant,
        kinds=ARTIFACTS,
        type=artifact_type,
        source_system=source_system,
        sensitivity=sensitivity,
        visibility=visibility_scope,
        occurred_from=occurred_from,
        occurred_to=occurred_to,
    )
    result = await services.search(
        SearchRequest(
            caller=caller,
            query=checked_text("query", query),
            where=where,
            when=when,
            as_of=checked_said("as_of", as_of, services.zone),
            limit=limit,
            max_chars=max_chars,
            expand_neighbors=expand_neighbors,
            tool="artifact_search",
        )
    )
    detailed = response_format == DETAILED
    text = hits.artifact_text(result, services.zone, detailed=detailed)
    return answer(text, structured(result, detailed=detailed))


async def hybrid_search(  # the specification's parameters
    services: "Services",
    caller: Caller,
    query: Query,
    limit: Limit = 5,
    include_memory: Annotated[bool, Field(description="Search memories and notes, too")] = False,
    expand_neighbors: Neighbours = False,
    filters: Annotated[
        dict[str, Any] | None,
        Field(description="Those of artifact_search, and type, min_confidence"),
    ] = None,
    include_history: Annotated[bool, Field(description="Search conversations, too")] = False,
    conversation_id: Annotated[
        str | None, Field(min_length=1, max_length=100, description="Search this conversation, too")
    ] = None,
    max_chars: MaxChars = DEFAULT_MAX_CHARS,
    response_format: ResponseFormat = "concise",
    when: When = None,
    as_of: AsOf = None,
) -> CallToolResult:
    """Find passages in documents with filters; memories and conversations only if requested. See search_everything."""
    kinds = ARTIFACTS | (MEMORIES if include_memory else frozenset())
    if include_history or conversation_id is not None:
        kinds |= TURNS
    result = await services.search(
        SearchRequest(
            caller=caller,
            query=checked_text("query", query),
            where=_filter(caller, kinds, conversation_id, filters or {}),
            when=when,
            as_of=checked_said("as_of", as_of, services.zone),
            limit=limit,
            max_chars=max_chars,
            expand_neighbors=expand_neighbors,
            tool="hybrid_search",
        )
    )
    detailed = response_format == DETAILED
    text = hits.hybrid_text(result, kinds, services.zone, detailed=detailed)
    return answer(text, structured(result, detailed=detailed))


TOOLS = [ToolSpec(artifact_search, READS, search_failed), ToolSpec(hybrid_search, READS, search_failed)]


def _filter(caller: Caller, kinds: frozenset[Kind], conversation_id: str | None, filters: dict[str, Any]) -> NoteFilter:
    unknown = next((name for name in filters if name not in SearchFilters.model_fields), None)
    if unknown is not None:
        raise BadRequest(f"Invalid filter: {shortened(unknown, 60)}")
    found = check(SearchFilters, filters)
    occurred_from, occurred_to = checked_range(found["time_range_start"], found["time_range_end"])
    return NoteFilter(
        tenant=caller.tenant,
        kinds=kinds & ARTIFACTS if found["artifact_type"] else kinds,
        conversation_id=conversation_id,
        type=found["artifact_type"] or found["type"],
        source_system=found["source_system"],
        sensitivity=found["sensitivity"],
        visibility=found["visibility_scope"],
        occurred_from=occurred_from,
        occurred_to=occurred_to,
        min_confidence=found["min_confidence"],
    )
