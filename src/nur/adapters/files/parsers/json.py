"""JSON and JSON Lines: one line of names and values per record. Chat exports are recognised by their structure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nur.adapters.files.parsers import chatgpt, claude, slack
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile

_CHATS = (chatgpt, claude, slack)


def parse(file: SourceFile) -> Iterator[Document]:
    """A chat export's conversations, or one document. Invalid JSON, such as JSON with comments, is read as text."""
    text = file.text()
    try:
        value = json.loads(text)
    except ValueError:
        yield Document(text=_lines(text) or text)
        return
    for chat in _CHATS:
        if chat.looks_like(value):
            yield from chat.conversations(value, file.name)
            return
    yield Document(text="\n".join(_blocks(value)))


def _lines(text: str) -> str | None:
    """JSON Lines as text, one record per line; None if any line is not JSON."""
    records = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    try:
        return "\n".join(f"- line {number}: {_record(json.loads(line))}" for number, line in records)
    except ValueError:
        return None


def _blocks(value: Any) -> Iterator[str]:
    """The document's lines: its scalars, then each list and object under a heading with its name."""
    if isinstance(value, list):
        yield from _items(value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if not isinstance(inner, dict | list):
                yield f"{name}: {_scalar(inner)}"
        for name, inner in value.items():
            if isinstance(inner, dict | list) and inner:
                yield f"\n## {name}\n"
                yield from _items(inner) if isinstance(inner, list) else _named(inner)
    else:
        yield _scalar(value)


def _items(values: list[Any]) -> Iterator[str]:
    for number, value in enumerate(values, start=1):
        yield f"- item {number}: {_record(value)}"


def _named(value: dict[str, Any]) -> Iterator[str]:
    for name, inner in value.items():
        yield f"- {name}: {_record(inner)}"


def _record(value: Any) -> str:
    """A value on one line: every scalar after its path."""
    if not isinstance(value, dict | list):
        return _scalar(value)
    return "; ".join(f"{path}: {scalar}" if path else scalar for path, scalar in _flat(value, ""))


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for number, inner in enumerate(value, start=1):
            yield from _flat(inner, f"{path}[{number}]")
    elif isinstance(value, list):
        yield path, ", ".join(map(_scalar, value))
    else:
        yield path, _scalar(value)


def _scalar(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value)
