"""A client's configuration file: changed in one place, in one step, with a copy of what was there."""

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
    """A module that changes one entry of a text."""

    def parse(self, text: str) -> dict[str, Any]:
        """The parsed text. Raises ValueError."""
        ...

    def set_entry(self, text: str, path: Sequence[str], value: Any) -> str:
        """The text with an entry."""
        ...

    def remove_entry(self, text: str, path: Sequence[str]) -> str:
        """The text without an entry."""
        ...

    def show(self, path: Sequence[str], value: Any) -> str:
        """The entry alone."""
        ...


class ConfigFile:
    """A file as it was when it was read; a file that does not exist is empty."""

    def __init__(self, path: Path, format: Format) -> None:  # noqa: A002  # its name in the table
        """Read it. Raises BadConfiguration where it cannot be read or is not valid."""
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
        """The value at this path; None where there is none. Raises BadConfiguration where a part is no table."""
        found: Any = self._content
        for key in path:
            if not isinstance(found, dict):
                raise BadConfiguration(
                    f"{self.path}: what holds {key!r} is not a list of servers by name. Nothing was changed."
                )
            if key not in found:
                return None
            found = found[key]
        return found

    def set(self, path: Sequence[str], value: Any) -> Path | None:
        """Put an entry there; returns the copy of the file as it was. Raises BadConfiguration, Conflict."""
        expected = deepcopy(self._content)
        holder = expected
        for key in path[:-1]:
            holder = holder.setdefault(key, {})
        holder[path[-1]] = value
        return self._change(self._format.set_entry(self._text, path, value), expected)

    def remove(self, path: Sequence[str]) -> Path | None:
        """Take an entry out; returns the copy of the file as it was. Raises BadConfiguration, Conflict."""
        expected = deepcopy(self._content)
        holder = expected
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
        return self._change(self._format.remove_entry(self._text, path), expected)

    def _change(self, text: str, expected: dict[str, Any]) -> Path | None:
        """Write the text if it parses to exactly what is expected."""
        try:
            changed = self._format.parse(text)
        except ValueError:
            changed = None
        if changed is None or _filled(changed) != _filled(expected):
            raise BadConfiguration(
                f"{self.path} is written in a way that this command cannot change safely. "
                "Nothing was changed; --print shows what to add by hand."
            )
        try:
            return self._write((self._bom + text).encode())
        except OSError as error:
            raise BadConfiguration(f"{self.path} cannot be written ({error.strerror}).") from error

    def _write(self, content: bytes) -> Path | None:
        target = self.path.resolve()  # a link stays a link
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
        """Copy the file to its own folder. Raises Conflict if it changed since it was read."""
        if (target.read_bytes() if target.exists() else None) != self._bytes:
            raise Conflict(f"{self.path} was changed by another program. Nothing was written; try again.")
        if self._bytes is None:
            return None
        backup = target.with_name(f"{target.name}.{datetime.now().astimezone():%Y%m%d-%H%M%S-%f}.bak")
        shutil.copy2(target, backup)
        return backup


def _filled(content: Any) -> Any:
    """Without empty tables: TOML has no need to write a table that holds nothing."""
    if not isinstance(content, dict):
        return content
    filled = {key: _filled(value) for key, value in content.items()}
    return {key: value for key, value in filled.items() if value != {}}
