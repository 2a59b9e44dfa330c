"""Pages and cursors: the end of a page, as an opaque string that callers send back."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from nur.domain.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


def cut_page(read: Sequence[T], limit: int) -> tuple[list[T], T | None]:
    """The page, and its last entry if another page follows; `read` was read with `limit + 1`."""
    page = list(read[:limit])
    return page, page[-1] if len(read) > limit else None


def encode(at: datetime, name: str) -> str:
    """The cursor after the entry with this time and name."""
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), name]).encode()).decode()


def decode(cursor: str, field: str = "cursor") -> tuple[datetime, str]:
    """Parse a cursor into time and name. Raises BadRequest if it is not one."""
    try:
        moment, name = json.loads(base64.urlsafe_b64decode(cursor))
        at = datetime.fromisoformat(moment)
        at.astimezone()
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise bad_cursor(field) from None
    if at.tzinfo is None or not isinstance(name, str):
        raise bad_cursor(field)
    return at, name


def bad_cursor(field: str = "cursor") -> BadRequest:
    """The error for an invalid cursor in this field."""
    return BadRequest(f"{field}: send the next_{field} of a page, as it came")
