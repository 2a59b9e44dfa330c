"""Read a client's transcript: the turns of user and assistant, without tool calls, thoughts and recalled memory."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

MAX_TURN_CHARACTERS = 50_000
#: A hook reads at most this much; the rest follows with the next event.
MAX_BYTES = 8 * 1024 * 1024
_RECALLED = re.compile(r"<nur-memory\b.*?(?:</nur-memory>|\Z)", re.DOTALL)
#: Beginnings of texts that clients insert into user turns.
_INSERTED = (
    "<command-",
    "<local-command",
    "<environment_context",
    "<user_instructions",
    "<system-reminder",
    "# AGENTS.md",
)


@dataclass(frozen=True, slots=True)
class HookTurn:
    """A turn of the conversation."""

    role: str  #: user or assistant
    text: str
    said_at: str  #: ISO 8601, from the transcript; "" if it has none


def make_turn(role: str, content: Any, said_at: Any) -> HookTurn | None:
    """Make a turn of a message's content, a string or a list of blocks; None if it has no text of its own."""
    if isinstance(content, str):
        texts = [content]
    else:
        blocks = content if isinstance(content, list) else []
        texts = [
            str(block.get("text") or "")
            for block in blocks
            if isinstance(block, dict) and block.get("type", "text") in ("text", "input_text", "output_text")
        ]
    text = _RECALLED.sub("", "\n".join(texts)).strip()[:MAX_TURN_CHARACTERS]
    if not text or text.startswith(_INSERTED):
        return None
    return HookTurn(role, text, said_at if isinstance(said_at, str) else "")


def _claude(entry: dict[str, Any]) -> HookTurn | None:
    if entry.get("isMeta") or entry.get("isSidechain") or entry.get("isCompactSummary"):
        return None
    message, role = entry.get("message"), entry.get("type")
    if role not in ("user", "assistant") or not isinstance(message, dict):
        return None
    return make_turn(role, message.get("content"), entry.get("timestamp"))


def _codex(entry: dict[str, Any]) -> HookTurn | None:
    payload = entry.get("payload")
    if entry.get("type") != "response_item" or not isinstance(payload, dict) or payload.get("type") != "message":
        return None
    role = payload.get("role")
    return make_turn(role, payload.get("content"), entry.get("timestamp")) if role in ("user", "assistant") else None


def _gemini(entry: dict[str, Any]) -> HookTurn | None:
    role = {"user": "user", "gemini": "assistant"}.get(str(entry.get("type")))
    return None if role is None else make_turn(role, entry.get("content"), entry.get("timestamp"))


_FORMATS: dict[str, Callable[[dict[str, Any]], HookTurn | None]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
}


def new_turns(path: Path, format_name: str, offset: int) -> tuple[list[HookTurn], int]:
    """The turns after `offset`, and the next offset. Raises OSError, ValueError."""
    size = path.stat().st_size
    if format_name == "gemini":  # one JSON document, written again with every message: read whole
        if size > MAX_BYTES:
            raise ValueError(f"{size} bytes are too many for a hook")
        entries = json.loads(path.read_bytes()).get("messages", [])
        turns = [turn for turn in _read(entries, format_name) if turn is not None]
        return turns[offset:], len(turns)
    if offset > size:  # a new file of the same name
        offset = 0
    with path.open("rb") as file:
        file.seek(offset)
        content = file.read(MAX_BYTES)
    whole = content.rfind(b"\n") + 1  # the last line may still be being written
    turns = [turn for turn in _read(_lines(content[:whole]), format_name) if turn is not None]
    return turns, offset + whole


def _lines(content: bytes) -> Iterator[Any]:
    for line in content.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _read(entries: Iterable[Any], format_name: str) -> Iterator[HookTurn | None]:
    return (_FORMATS[format_name](entry) for entry in entries if isinstance(entry, dict))
