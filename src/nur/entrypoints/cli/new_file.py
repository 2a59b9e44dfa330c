"""Write a file atomically, readable by its owner alone."""

from __future__ import annotations

import contextlib
import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from nur.domain.errors import BadConfiguration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Write to a `.part` file and rename it at the end; after an error the old file stays. Raises BadConfiguration."""
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise BadConfiguration(f"Cannot write {path} ({error.strerror}).") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
