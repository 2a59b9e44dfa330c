"""The import formats, and how to detect them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nur.adapters.importers import chroma, markdown_folder, mcp_memory_service, mem0, memory_server
from nur.domain.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from nur.adapters.importers.items import Item, UnreadableItem

NUR = "nur"
FORMATS: Mapping[str, Callable[[Path], Iterator[Item | UnreadableItem]]] = {
    "markdown": markdown_folder.read,
    "memory-server": memory_server.read,
    "mem0": mem0.read,
    "mcp-memory-service": mcp_memory_service.read,
    "basic-memory": markdown_folder.read,
    "chroma": chroma.read,
}
_START_BYTES = 1024 * 1024


def read(path: Path, name: str) -> Iterator[Item | UnreadableItem]:
    """The notes of a file or folder in this format. Raises BadRequest if it has another format."""
    try:
        yield from FORMATS[name](path)
    except (ValueError, KeyError, TypeError, RecursionError, OSError) as error:
        raise BadRequest(
            f"{path} cannot be read as {name} ({type(error).__name__}). Give its format with --from."
        ) from error


def guess(path: Path) -> str:
    """The format of a file or folder. Raises BadRequest."""
    if path.is_dir():
        return "chroma" if (path / "chroma.sqlite3").exists() else "markdown"
    with path.open("rb") as file:
        start = file.read(_START_BYTES)
    name = _of_line(start) or _of_document(path, start)
    if name is None:
        raise BadRequest(f"The format of {path} is not known. Give it with --from {'|'.join((NUR, *FORMATS))}")
    return name


def _of_line(start: bytes) -> str | None:
    """The format by the first line, if that is JSON."""
    first = next((line for line in start.splitlines() if line.strip()), b"")
    try:
        values = json.loads(first)
    except (ValueError, RecursionError):
        return None
    kind = values.get("type") if isinstance(values, dict) else None
    if kind in ("entity", "relation"):
        return "memory-server"
    return NUR if kind in ("header", "note", "end") else None


def _of_document(path: Path, start: bytes) -> str | None:
    if start.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] not in (b"{", b"["):
        return None
    try:
        content: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    if isinstance(content, dict) and isinstance(content.get("memories"), list):
        return "mcp-memory-service"
    entries = content.get("results") if isinstance(content, dict) else content
    is_mem0 = isinstance(entries, list) and all(isinstance(entry, dict) and "memory" in entry for entry in entries)
    return "mem0" if is_mem0 else None
