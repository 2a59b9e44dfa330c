"""history_append and history_get."""

# Signatures are read at run time, so annotations are not postponed here.
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from nur.domain.access import Caller
from nur.domain.search import EmptyReason
from nur.entrypoints.mcp.arguments import checked_said, checked_text
from nur.entrypoints.mcp.parameters import READS, Said
from nur.entrypoints.mcp.tool import ToolSpec, answer, one_line, prefixed, utc_seconds

if TYPE_CHECKING:
    from nur.bootstrap import Services
    from nur.domain.notes import Note

Role = Literal["user", "assistant", "system"]
Conversation = Annotated[str, Field(min_length=1, max_length=100, description="Conversation id")]


async def history_append(
    services: "Services",
    caller: Caller,
    conversation_id: Conversation,
    role: Annotated[Role, Field(description="Who speaks")],
    content: Annotated[str, Field(min_length=1, max_length=50_000, description="What was said")],
    turn_index: Annotated[int, Field(ge=0, le=2**53, description="Position in the conversation, from 0")],
    ts: Said = None,
) -> CallToolResult:
    """Store one turn of a conversation. Repeating a turn is harmless; a different text replaces it."""
    checked_text("conversation_id", conversation_id)
    stored = await services.append_turn(
        conversation_id,
        turn_index,
        role=role,
        content=checked_text("content", content),
        said_at=checked_said("ts", ts, services.zone),
        caller=caller,
        on_failure=services.on_failure.for_tools,
    )
    return answer(
        f"Appended turn {turn_index} to {one_line(conversation_id)}",
        {"turn_id": stored.note.public_id, "outcome": stored.outcome, "index_state": stored.index_state},
    )


async def history_get(
    services: "Services",
    caller: Caller,
    conversation_id: Conversation,
    limit: Annotated[int, Field(ge=1, le=50, description="How many of the last turns")] = 16,
) -> CallToolResult:
    """Read the last turns of a conversation, oldest first."""
    named = checked_text("conversation_id", conversation_id)
    turns = (await services.list_conversations.turns(named, caller, limit=limit)).notes
    structured = {"conversation_id": conversation_id, "turns": [_turn(note, text) for note, text in turns]}
    if not turns:
        empty = structured | {"reason": EmptyReason.NOTHING_STORED}
        return answer(f"No history for {one_line(conversation_id)}.", empty)
    lines = [f"{note.meta.role}: {one_line(text)}" for note, text in turns]
    return answer("\n".join(lines), structured)


TOOLS = [
    ToolSpec(
        history_append, ToolAnnotations(destructive_hint=False, idempotent_hint=True), prefixed("Failed to append turn")
    ),
    ToolSpec(history_get, READS),
]


def _turn(note: "Note", text: str) -> dict[str, Any]:
    return {
        "turn_id": note.public_id,
        "turn_index": note.meta.turn_index,
        "role": note.meta.role,
        "content": text,
        "ts": utc_seconds(note.meta.occurred_at),
    }
