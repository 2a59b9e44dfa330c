"""Conversation routes: list conversations, list and append turns."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from nur.domain import conversations
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.fields import SOMETHING, Body, Name, Said, as_utc
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.schemas import PREVIEW, Cursor, Limit, NextCursor, NoteOut
from nur.entrypoints.rest.writes import CREATED, CurrentWrite, Receipt

router = APIRouter(prefix="/v2/conversations", tags=["conversations"])

ConversationId = Annotated[
    str, Path(min_length=1, max_length=100, pattern=SOMETHING, description="your id of the conversation")
]


class ConversationOut(BaseModel):
    """A summary of a conversation's turns."""

    conversation_id: str
    turns: int = Field(description="number of turns")
    last_turn_index: int
    first_at: datetime = Field(description="time of the earliest turn")
    last_at: datetime = Field(description="time of the latest turn")
    preview: str = Field(description="the first characters of its first turn")

    @classmethod
    def of(cls, one: conversations.Conversation) -> "ConversationOut":
        """Build it from the domain object."""
        return cls(
            conversation_id=one.conversation_id,
            turns=one.turns,
            last_turn_index=one.last_turn_index,
            first_at=one.first_at,
            last_at=one.last_at,
            preview=one.opening,
        )


class Conversations(BaseModel):
    """A page of conversations, most recent turn first."""

    conversations: list[ConversationOut]
    next_cursor: NextCursor


@router.get("", response_model=Conversations, responses=documented())
async def list_conversations(
    services: OpenServices, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """List conversations, most recent turn first."""
    page = await services.list_conversations(caller, limit=limit, cursor=cursor, characters=PREVIEW)
    shown = [ConversationOut.of(one) for one in page.conversations]
    return answered(Conversations(conversations=shown, next_cursor=page.next_cursor))


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
    """List the last turns of a conversation, oldest first, with their texts. The next page has earlier turns."""
    page = await services.list_conversations.turns(conversation_id, caller, limit=limit, cursor=cursor)
    turns = [NoteOut.of(note, text=text) for note, text in page.notes]
    return answered(TurnPage(turns=turns, next_cursor=page.next_cursor))


class TurnIn(Body):
    """A turn to store, as the tool `history_append` does."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"turn_index": 0, "role": "user", "text": "Which port has staging?"}]}
    )

    turn_index: Annotated[int, Field(ge=0, le=2**53, description="position in the conversation, from 0")]
    role: Literal["user", "assistant", "system"]
    text: str = Field(min_length=1, max_length=50_000, pattern=SOMETHING)
    ts: Said | None = None
    project: Name = ""


@router.post("/{conversation_id:any}/turns", response_model=Receipt, responses={**CREATED, **documented(409)})
async def append_turn(
    conversation_id: ConversationId, body: TurnIn, services: OpenServices, write: CurrentWrite
) -> Response:
    """Store one turn. The same text at the same index changes nothing; another text replaces it."""
    return await write(
        lambda: services.append_turn(
            conversation_id,
            body.turn_index,
            role=body.role,
            content=body.text,
            said_at=as_utc(body.ts, services.zone),
            project=body.project,
            caller=write.caller,
            on_failure=services.on_failure.for_others,
        )
    )
