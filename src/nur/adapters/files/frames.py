"""Messages between the server and its parser process: a length, then JSON. Never pickled code."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nur.domain.documents import Document, Place

if TYPE_CHECKING:
    from typing import BinaryIO

LENGTH_BYTES = 8


def frame(body: bytes) -> bytes:
    """A frame: the body's length, then the body."""
    return len(body).to_bytes(LENGTH_BYTES) + body


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame's body; None at the end of the stream."""
    length = stream.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    return stream.read(int.from_bytes(length))


def encode(document: Document) -> bytes:
    """A document as JSON."""
    fields = asdict(document)
    moment = document.occurred_at
    fields["occurred_at"] = None if moment is None else moment.isoformat()
    return json.dumps(fields, ensure_ascii=True).encode()


def decode(fields: dict[str, Any]) -> Document:
    """A document from parsed JSON. Raises ValueError, TypeError or KeyError if it is invalid."""
    moment = fields["occurred_at"]
    return Document(
        **{
            **fields,
            "participants": tuple(fields["participants"]),
            "occurred_at": None if moment is None else datetime.fromisoformat(moment),
            "places": tuple(Place(**place) for place in fields["places"]),
        }
    )
