"""Claude's data export: `conversations.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nur.adapters.files.chats import Message, conversation
from nur.adapters.files.source import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.domain.documents import Document

_SPEAKERS = {"human": "User", "assistant": "Claude"}


def looks_like(value: Any) -> bool:
    """Whether it is a list of conversations with `chat_messages`."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and isinstance(one.get("chat_messages"), list) for one in value)
    )


def conversations(value: Any, _name: str) -> Iterator[Document]:
    """One document per conversation."""
    for one in value:
        yield conversation(
            [message for found in one["chat_messages"] if (message := _message(found)).text.strip()],
            system="claude",
            source_id=str(one.get("uuid")),
            title=one.get("name"),
            url=f"https://claude.ai/chat/{one.get('uuid')}",
        )


def _message(found: dict[str, Any]) -> Message:
    speaker = _SPEAKERS.get(found.get("sender", ""), str(found.get("sender")))
    return Message(speaker, _text(found), iso_time(found.get("created_at")), found.get("uuid"))


def _text(found: dict[str, Any]) -> str:
    """The message's text, and the text that Claude extracted from attached files."""
    blocks = [block.get("text") or "" for block in found.get("content") or () if block.get("type") == "text"]
    attached = [
        f"(attached file {one.get('file_name')})\n{one.get('extracted_content') or ''}"
        for one in found.get("attachments") or ()
    ]
    return "\n".join([found.get("text") or "\n".join(blocks), *attached])
