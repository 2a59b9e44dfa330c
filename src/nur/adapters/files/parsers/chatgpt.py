"""ChatGPT's data export: `conversations.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nur.adapters.files.chats import Message, conversation
from nur.adapters.files.source import epoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.domain.documents import Document

_SPEAKERS = {"user": "User", "assistant": "ChatGPT"}


def looks_like(value: Any) -> bool:
    """Whether it is a list of conversations whose messages form a tree (`mapping`)."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "mapping" in one for one in value)


def conversations(value: Any, _name: str) -> Iterator[Document]:
    """One document per conversation: the current branch, without messages replaced by edits."""
    for one in value:
        identity = str(one.get("conversation_id") or one.get("id") or one.get("create_time"))
        yield conversation(
            list(_messages(one)),
            system="chatgpt",
            source_id=identity,
            title=one.get("title"),
            url=f"https://chatgpt.com/c/{identity}",
        )


def _messages(one: dict[str, Any]) -> Iterator[Message]:
    for node in _branch(one):
        message = node.get("message") or {}
        speaker = _SPEAKERS.get((message.get("author") or {}).get("role", ""))
        text = _text(message.get("content") or {})
        if speaker and text.strip():
            yield Message(speaker, text, epoch(message.get("create_time")), message.get("id"))


def _branch(one: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes from the first message to the current one. Stops at a cycle."""
    mapping = one["mapping"]
    current, branch, seen = one.get("current_node") or _last(mapping), [], set()
    while current in mapping and current not in seen:
        seen.add(current)
        branch.append(mapping[current])
        current = mapping[current].get("parent")
    return branch[::-1]


def _last(mapping: dict[str, Any]) -> str | None:
    """The last node without children; None if there is none."""
    leaves = [name for name, node in mapping.items() if not node.get("children")]
    return leaves[-1] if leaves else None


def _text(content: dict[str, Any]) -> str:
    parts = content.get("parts") or [content.get("text") or ""]
    return "\n".join(part for part in parts if isinstance(part, str))
