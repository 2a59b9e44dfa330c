"""Edit one entry of a client's configuration file, atomically and with a backup."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from nur.domain.errors import BadConfiguration, Conflict

if TYPE_CHECKING:
    from collections.abc import Sequence

_BOM = "\ufeff"


class Format(Protocol):
    """A file format: a module that edits one entry of a text."""

    def parse(self, text: str) -> dict[str, Any]:
        """Parse the text. Raises ValueError."""
        ...

    def set_entry(self, text: str, path: Sequence[str], value: Any) -> str:
        """Return the text with the entry added or replaced."""
        ...

    def remove_entry(self, text: str, path: Sequence[str]) -> str:
        """Return the text without the entry."""
        ...

    def show(self, path: Sequence[str], value: Any) -> str:
        """Return a text that holds only this entry."""
        ...


class ConfigFile:
    """A configuration file, read once; a missing file counts as empty."""

    def __init__(self, path: Path, format: Format) -> None:  # noqa: A002  # the field's name in `Client`
        """Read and parse the file. Raises BadConfiguration if that fails."""
        self.path = path
        self._format = format
        try:
            self._bytes = path.read_bytes() if path.exists() else None
            decoded = (self._bytes or b"").decode()
            self._bom = _BOM if decoded.startswith(_BOM) else ""
            self._text = decoded.removeprefix(_BOM)
            self._content = format.parse(self._text)
        except OSError as error:
            raise BadConfiguration(f"{path} cannot be read ({error.strerror}). Nothing was changed.") from error
        except (ValueError, RecursionError) as error:
            raise BadConfiguration(
                f"{path} is not valid ({error}). Correct it, then try again; nothing was changed."
            ) from error

    def entry(self, path: Sequence[str]) -> Any:
        """Value at this path, or None. Raises BadConfiguration if a parent is not an object."""
        value: Any = self._content
        for key in path:
            if not isinstance(value, dict):
                raise BadConfiguration(f"{self.path}: the parent of {key!r} is not an object. Nothing was changed.")
            if key not in value:
                return None
            value = value[key]
        return value

    def set(self, path: Sequence[str], value: Any) -> Path | None:
        """Set an entry; returns the path of the backup, if the file existed. Raises BadConfiguration, Conflict."""
        expected = deepcopy(self._content)
        parent = expected
        for key in path[:-1]:
            parent = parent.setdefault(key, {})
        parent[path[-1]] = value
        return self._change(self._format.set_entry(self._text, path, value), expected)

    def remove(self, path: Sequence[str]) -> Path | None:
        """Remove an entry; returns the path of the backup. Raises BadConfiguration, Conflict."""
        expected = deepcopy(self._content)
        parent = expected
        for key in path[:-1]:
            parent = parent[key]
        del parent[path[-1]]
        return self._change(self._format.remove_entry(self._text, path), expected)

    def _change(self, text: str, expected: dict[str, Any]) -> Path | None:
        """Write the text if it parses to the expected content. Raises BadConfiguration otherwise."""
        try:
            changed = self._format.parse(text)
        except ValueError:
            changed = None
        if changed is None or _without_empty(changed) != _without_empty(expected):
            raise BadConfiguration(
                f"{self.path} is written in a way that this command cannot change safely. "
                "Nothing was changed; --print shows what to add by hand."
            )
        try:
            return self._write((self._bom + text).encode())
        except OSError as error:
            raise BadConfiguration(f"{self.path} cannot be written ({error.strerror}).") from error

    def _write(self, content: bytes) -> Path | None:
        target = self.path.resolve()  # write through a symlink instead of replacing it
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if self._bytes is not None:
                shutil.copymode(target, name)
            backup = self._back_up(target)
            Path(name).replace(target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise
        return backup

    def _back_up(self, target: Path) -> Path | None:
        """Copy the file next to itself. Raises Conflict if it changed since it was read."""
        if (target.read_bytes() if target.exists() else None) != self._bytes:
            raise Conflict(f"{self.path} was changed by another program. Nothing was written; try again.")
        if self._bytes is None:
            return None
        backup = target.with_name(f"{target.name}.{datetime.now().astimezone():%Y%m%d-%H%M%S-%f}.bak")
        shutil.copy2(target, backup)
        return backup


def _without_empty(content: Any) -> Any:
    """Drop empty tables: removing the last entry of a TOML table removes the table, too."""
    if not isinstance(content, dict):
        return content
    pruned = {key: _without_empty(value) for key, value in content.items()}
    return {key: value for key, value in pruned.items() if value != {}}
