"""What goes over the pipe between a server and its parser: a length, then JSON. Nothing of it is ever executed."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nur.domain.documents import Document, Place

if TYPE_CHECKING:
    from typing import BinaryIO

LENGTH_BYTES = 8


def packed(body: bytes) -> bytes:
    """A frame."""
    return len(body).to_bytes(LENGTH_BYTES) + body


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame's body; None where the stream has ended."""
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
    """The document of parsed JSON. Raises ValueError, TypeError or KeyError for anything else."""
    moment = fields["occurred_at"]
    return Document(
        **{
            **fields,
            "participants": tuple(fields["participants"]),
            "occurred_at": None if moment is None else datetime.fromisoformat(moment),
            "places": tuple(Place(**place) for place in fields["places"]),
        }
    )
