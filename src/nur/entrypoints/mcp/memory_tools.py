"""memory_store, memory_search, memory_list, memory_delete."""

# Signatures are read at run time, so annotations are not postponed here.
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from nur.domain.access import Caller
from nur.domain.errors import BadRequest
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind, MemoryType
from nur.domain.notices import nothing_stored
from nur.domain.search import EmptyReason, SearchRequest
from nur.entrypoints.mcp import hits, reviews
from nur.entrypoints.mcp.arguments import checked_said, checked_text
from nur.entrypoints.mcp.parameters import DETAILED, READS, AsOf, Confidence, Project, Query, ResponseFormat, Said, When
from nur.entrypoints.mcp.structured_hits import structured
from nur.entrypoints.mcp.tool import ToolSpec, answer, one_line, prefixed, search_failed, shortened, utc_seconds

if TYPE_CHECKING:
    from nur.bootstrap import Services
    from nur.domain.notes import Note
    from nur.domain.search import SearchResult
    from nur.domain.times import Zone

MEMORIES = frozenset({Kind.MEMORY})
NOTHING = "No memories found."
LISTED = 120  #: characters of a text that a list shows


async def memory_store(
    services: "Services",
    caller: Caller,
    content: Annotated[str, Field(min_length=1, max_length=10_000, description="What to remember")],
    type: Annotated[MemoryType, Field(description="Category")],  # noqa: A002
    confidence: Annotated[float, Field(ge=0.0, le=1.0, description="How sure you are")] = 1.0,
    conversation_id: Annotated[str | None, Field(max_length=100, description="Where it came up")] = None,
    ts: Said = None,
    replaces: Annotated[str | None, Field(max_length=100, description="Id of the memory that this supersedes")] = None,
    project: Annotated[str | None, Field(max_length=200, description="What it belongs to")] = None,
) -> CallToolResult:
    """Remember one durable fact, preference, project or decision, in a full sentence, when the user states it."""
    checked_text("content", content)
    stored = await services.remember(
        content,
        type=type,
        confidence=confidence,
        conversation_id=conversation_id,
        said_at=checked_said("ts", ts, services.zone),
        project=project or "",
        replaces=replaces,
        caller=caller,
        on_failure=services.on_failure.for_tools,
    )
    note = stored.note
    lines = [f"Stored memory [{note.public_id}]: {shortened(content)}"]
    lines += [f"Replaced [{replaces}]; it stays as history."] if replaces else []
    lines += [reviews.similar_line(one, services.zone) for one in stored.similar]
    fields: dict[str, Any] = {"memory_id": note.public_id, "outcome": stored.outcome, "index_state": stored.index_state}
    if replaces:
        fields["replaced"] = replaces
    if stored.similar:
        fields["similar"] = [reviews.similar(one) for one in stored.similar]
    return answer("\n".join(lines), fields)


async def memory_search(
    services: "Services",
    caller: Caller,
    query: Query,
    limit: Annotated[int, Field(ge=1, le=20, description="Max results")] = 5,
    min_confidence: Confidence = 0.0,
    when: When = None,
    response_format: ResponseFormat = "concise",
    as_of: AsOf = None,
    project: Project = None,
) -> CallToolResult:
    """Find memories only: facts, preferences, decisions. search_everything also searches documents and chats."""
    where = NoteFilter(tenant=caller.tenant, kinds=MEMORIES, min_confidence=min_confidence, project=project or None)
    result = await services.search(
        SearchRequest(
            query=checked_text("query", query),
            caller=caller,
            where=where,
            when=when,
            as_of=checked_said("as_of", as_of, services.zone),
            limit=limit,
            tool="memory_search",
        )
    )
    detailed = response_format == DETAILED
    text = _found(result, services.zone, detailed=detailed)
    return answer(text, structured(result, detailed=detailed, memories_only=True))


async def memory_list(
    services: "Services",
    caller: Caller,
    type: Annotated[MemoryType | None, Field(description="Only this category")] = None,  # noqa: A002
    limit: Annotated[int, Field(ge=1, le=100, description="Max results")] = 20,
    kind: Annotated[Literal["memory", "conversation", "artifact"], Field(description="What to list")] = "memory",
) -> CallToolResult:
    """List stored memories, newest first; or conversations or artifacts, to get their ids."""
    if kind == "conversation":
        return await _conversations(services, caller, limit)
    if kind == "artifact":
        return await _artifacts(services, caller, limit)
    where = NoteFilter(tenant=caller.tenant, kinds=MEMORIES, type=type)
    found = await services.list_notes(where, caller, limit=limit)
    if not found.notes:
        empty = {"memories": [], "reason": EmptyReason.NOTHING_STORED}
        return answer(f"{NOTHING} {nothing_stored(where)}", empty)
    count = "1 memory" if len(found.notes) == 1 else f"{len(found.notes)} memories"
    newer = found.replaced_by
    lines = [_line(note, text) + _replaced(newer.get(note.note_id)) for note, text in found.notes]
    memories = [_memory(note, text) | _newer(newer.get(note.note_id)) for note, text in found.notes]
    return answer("\n".join([f"Found {count}:", *lines]), {"memories": memories})


async def memory_delete(
    services: "Services",
    caller: Caller,
    memory_id: Annotated[str, Field(max_length=100, description="Starts with mem_")],
) -> CallToolResult:
    """Delete a memory by its id."""
    if not memory_id.startswith("mem_"):
        raise BadRequest("Invalid memory_id: must start with 'mem_'")
    await services.forget(memory_id, Kind.MEMORY, caller)
    return answer(f"Deleted memory: {memory_id}", {"memory_id": memory_id, "deleted": True})


TOOLS = [
    ToolSpec(
        memory_store,
        ToolAnnotations(destructive_hint=False, idempotent_hint=True),
        prefixed("Failed to store memory"),
        has_default_project=True,
    ),
    ToolSpec(memory_search, READS, search_failed),
    ToolSpec(memory_list, READS),
    ToolSpec(
        memory_delete, ToolAnnotations(destructive_hint=True, idempotent_hint=True), prefixed("Failed to delete memory")
    ),
]


async def _conversations(services: "Services", caller: Caller, limit: int) -> CallToolResult:
    page = await services.list_conversations(caller, limit=limit, characters=LISTED)
    lines = [
        f"[{one_line(one.conversation_id)}] {one.turns} turns, last {one.last_at:%Y-%m-%d}: {shortened(one.opening)}"
        for one in page.conversations
    ]
    listed = [
        {"conversation_id": one.conversation_id, "turns": one.turns, "last_at": utc_seconds(one.last_at)}
        for one in page.conversations
    ]
    return answer("\n".join(lines) or "No conversations found.", {"conversations": listed})


async def _artifacts(services: "Services", caller: Caller, limit: int) -> CallToolResult:
    where = NoteFilter(tenant=caller.tenant, kinds=frozenset({Kind.ARTIFACT}))
    found = (await services.list_notes.page(where, caller, limit=limit, characters=LISTED)).notes
    lines = [
        f"[{note.public_id}] ({note.meta.type}, {one_line(note.meta.source_system or '')}, "
        f"{note.said_at:%Y-%m-%d}): {shortened(note.meta.title or text)}"
        for note, text in found
    ]
    listed = [
        {"artifact_id": note.public_id, "title": note.meta.title, "ts": utc_seconds(note.meta.occurred_at)}
        for note, _ in found
    ]
    return answer("\n".join(lines) or "No artifacts found.", {"artifacts": listed})


def _found(result: "SearchResult", zone: "Zone", *, detailed: bool) -> str:
    """The answer of memory_search, in the form of the specification's section 4.1.2: one line per memory."""
    if not result.hits:
        return hits.noticed(NOTHING, result, " ")
    lines = []
    for hit in result.hits:
        times = "; ".join([hits.when(hit, zone), *hits.older(hit)])
        parts = [_line(hit.note, hit.passages[0].text), f"[{times}]", *hits.near_identical(hit)]
        lines += [" ".join(parts), *(hits.details(hit, result.model) if detailed else ())]
    lines += hits.search_line(result) if detailed else ()
    return hits.noticed("\n".join(lines), result, "\n")


def _line(note: "Note", text: str) -> str:
    return f"[{note.public_id}] ({note.meta.type}, conf={note.meta.confidence}): {one_line(text)}"


def _replaced(newer: str | None) -> str:
    return f" [Replaced by: {newer}]" if newer else ""


def _newer(newer: str | None) -> dict[str, Any]:
    return {"replaced_by": newer} if newer else {}


def _memory(note: "Note", text: str) -> dict[str, Any]:
    """One memory as structured content; `conversation_id` only if it has one."""
    conversation = {"conversation_id": note.meta.conversation_id} if note.meta.conversation_id else {}
    return {
        "memory_id": note.public_id,
        "content": text,
        "type": note.meta.type,
        "confidence": note.meta.confidence,
        **conversation,
        "ts": utc_seconds(note.meta.occurred_at),
    }
