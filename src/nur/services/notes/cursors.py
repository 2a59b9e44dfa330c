"""Cursors: where a page of a listing ended, as a text that callers send back unread."""

from __future__ import annotations

import base64
import json
from datetime import datetime

from nur.domain.errors import BadRequest


def encode(at: datetime, name: str) -> str:
    """A cursor behind the entry with this time and name."""
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), name]).encode()).decode()


def decode(cursor: str) -> tuple[datetime, str]:
    """The time and name of a cursor. Raises BadRequest for what is none."""
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
    """What is said of a cursor that no page gave out."""
    return BadRequest("cursor: send the next_cursor of a page, as it came")
