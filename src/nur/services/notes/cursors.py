"""Cursors: the end of a page, as an opaque string that callers send back."""

from __future__ import annotations

import base64
import json
from datetime import datetime

from nur.domain.errors import BadRequest


def encode(at: datetime, name: str) -> str:
    """The cursor after the entry with this time and name."""
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), name]).encode()).decode()


def decode(cursor: str) -> tuple[datetime, str]:
    """Parse a cursor into time and name. Raises BadRequest if it is not one."""
    try:
        moment, name = json.loads(base64.urlsafe_b64decode(cursor))
        at = datetime.fromisoformat(moment)
        at.astimezone()
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise bad_cursor() from None
    if at.tzinfo is None or not isinstance(name, str):
        raise bad_cursor()
    return at, name


def bad_cursor() -> BadRequest:
    """The error for an invalid cursor."""
    return BadRequest("cursor: send the next_cursor of a page, as it came")
