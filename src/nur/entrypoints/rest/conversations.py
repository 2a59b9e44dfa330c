"""Conversations and their turns."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from nur.domain import conversations
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.fields import SOMETHING, Body, Name, Said, located
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.schemas import PREVIEW, Cursor, Limit, NextCursor, NoteOut
from nur.entrypoints.rest.writes import CREATED, CurrentWrite, Receipt

router = APIRouter(prefix="/v2/conversations", tags=["conversations"])

ConversationId = Annotated[str, Path(min_length=1, max_length=100, pattern=SOMETHING, description="your name for it")]


class ConversationOut(BaseModel):
    """A conversation, by what its turns say together."""

    conversation_id: str
    turns: int = Field(description="how many there are")
    last_turn_index: int
    first_at: datetime = Field(description="when its earliest turn happened")
    last_at: datetime = Field(description="when its latest turn happened")
    preview: str = Field(description="the beginning of its first turn")

    @classmethod
    def of(cls, one: conversations.Conversation) -> "ConversationOut":
        """From the domain's."""
        return cls(
            conversation_id=one.conversation_id,
            turns=one.turns,
            last_turn_index=one.last_turn_index,
            first_at=one.first_at,
            last_at=one.last_at,
            preview=one.opening,
        )


class Conversations(BaseModel):
    """A page of conversations, the one with the latest turn first."""

    conversations: list[ConversationOut]
    next_cursor: NextCursor


@router.get("", response_model=Conversations, responses=documented())
async def list_conversations(
    services: OpenServices, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """List conversations, the one with the latest turn first."""
    page = await services.list_conversations(caller, limit=limit, cursor=cursor, characters=PREVIEW)
    found = [ConversationOut.of(one) for one in page.conversations]
    return answered(Conversations(conversations=found, next_cursor=page.next_cursor))


class TurnPage(BaseModel):
    """Turns of a conversation, oldest first."""

    turns: list[NoteOut]
    next_cursor: NextCursor


@router.get("/{conversation_id:any}/turns", response_model=TurnPage, responses=documented())
async def list_turns(
    conversation_id: ConversationId,
    services: OpenServices,
    caller: CurrentCaller,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The last turns of a conversation, oldest first, with their texts; the next page has the turns before them."""
    page = await services.list_conversations.turns(conversation_id, caller, limit=limit, cursor=cursor)
    turns = [NoteOut.of(note, text=text) for note, text in page.notes]
    return answered(TurnPage(turns=turns, next_cursor=page.next_cursor))


class TurnIn(Body):
    """A turn to store, as `history_append` does."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"turn_index": 0, "role": "user", "text": "Which port has staging?"}]}
    )

    turn_index: Annotated[int, Field(ge=0, le=2**53, description="place in the conversation, from 0")]
    role: Literal["user", "assistant", "system"]
    text: str = Field(min_length=1, max_length=50_000, pattern=SOMETHING)
    ts: Said | None = None
    project: Name = ""


@router.post("/{conversation_id:any}/turns", response_model=Receipt, responses={**CREATED, **documented(409)})
async def append_turn(
    conversation_id: ConversationId, body: TurnIn, services: OpenServices, write: CurrentWrite
) -> Response:
    """Store one turn at its place. The same text there again changes nothing, another text replaces it."""
    return await write(
        lambda: services.append_turn(
            conversation_id,
            body.turn_index,
            role=body.role,
            content=body.text,
            said_at=located(body.ts, services.zone),
            project=body.project,
            caller=write.caller,
            on_failure=services.on_failure.for_others,
        )
    )
