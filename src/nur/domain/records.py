"""Records: the lines of an export. One JSON object a line, in UTF-8, each with its `type`.

    {"type": "header", "format": "nur-export", "format_version": 1}
    {"type": "note", "public_id": "mem_…", …, "text": "…", "versions": […]}
    {"type": "decision", "newer": "…", "older": "…", "kind": "supersedes", …}
    {"type": "end", "notes": 1}

What follows from a text (chunks, tokens, vectors) is not part of a record, and neither is the tenant: the store that
reads it adds both. A `note` without `note_id` is new: another program wrote it.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from nur.domain.archive import ArchivedNote, NewNote, NoteVersion
from nur.domain.chunks import sha256
from nur.domain.decisions import Decision, NotePair
from nur.domain.errors import BadRequest
from nur.domain.json_values import check_values
from nur.domain.kinds import KINDS, TURNS
from nur.domain.notes import Note, NoteId, NoteMetadata, Status
from nur.domain.record_fields import DECISION, METADATA, NOTE, VERSION, read_fields, refuse_unstorable
from nur.domain.writes import Protection

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "nur-export"
FORMAT_VERSION = 1

_PROTECTION = tuple(field.name for field in fields(Protection))
_ALWAYS = ("note_id", "public_id", "owner", "kind", "status", "version", "revision", "ingested_at", "updated_at")
_DECISION = tuple(field.name for field in fields(Decision) if field.name != "pair")
_DEFAULTS = {
    field.name: field.default if field.default_factory is MISSING else field.default_factory()
    for field in fields(NoteMetadata)
}


@dataclass(frozen=True, slots=True)
class Header:
    """The first line."""


@dataclass(frozen=True, slots=True)
class End:
    """The last line: without it the file was cut."""

    notes: int


Record: TypeAlias = Header | End | ArchivedNote | NewNote | Decision


def header() -> bytes:
    """The first line."""
    return _line({"type": "header", "format": FORMAT, "format_version": FORMAT_VERSION})


def end(notes: int) -> bytes:
    """The last line, with the number of notes before it."""
    return _line({"type": "end", "notes": notes})


def encode(archived: ArchivedNote) -> bytes:
    """A note as one line; the same note always gives the same bytes."""
    return _line({"type": "note", **note_values(archived)})


def encode_new(new: NewNote) -> bytes:
    """A new note as one line."""
    stated = {name: getattr(new.stated, name) for name in _PROTECTION}
    meta = {**_described(new.meta), **{name: _plain(value) for name, value in stated.items() if value is not None}}
    return _line({"type": "note", "kind": new.kind.value, "meta": meta, "text": new.text})


def encode_decision(decision: Decision) -> bytes:
    """A decision about two notes as one line; both are named by their internal ids."""
    pair = {"newer": decision.pair.newer, "older": decision.pair.older}
    values = {name: getattr(decision, name) for name in _DECISION}
    return _line({"type": "decision", **{name: _plain(value) for name, value in (pair | values).items()}})


def _decode_decision(values: Mapping[str, Any]) -> Decision:
    found = read_fields(values, DECISION)
    missing = [name for name in DECISION if name not in found]
    if missing:
        raise BadRequest(f"{missing[0]}: is missing")
    pair = NotePair(NoteId(found.pop("newer")), NoteId(found.pop("older")))
    return Decision(pair=pair, **found)


def note_values(archived: ArchivedNote) -> dict[str, Any]:
    """A note as JSON has it, in a fixed order; what is empty is left out."""
    note = archived.note
    given = {name: _plain(getattr(note, name)) for name in NOTE if name not in ("meta", "text", "versions")}
    values = {name: value for name, value in given.items() if value is not None}
    versions = [_version_values(version) for version in archived.versions]
    return (
        values | {"meta": _described(note.meta), "text": archived.text} | ({"versions": versions} if versions else {})
    )


def decode(line: bytes | str) -> Record:
    """Read one line. Raises BadRequest, which names the field and never quotes a text."""
    check_values(line if isinstance(line, bytes) else line.encode(errors="surrogatepass"))
    try:
        values = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise BadRequest("not valid JSON") from None
    if not isinstance(values, dict) or not isinstance(values.get("type"), str):
        raise BadRequest("must be a JSON object with a type")
    kind = values.pop("type")
    if kind == "note":
        return decode_note(values)
    if kind == "decision":
        return _decode_decision(values)
    if kind == "header":
        return _header(values)
    if kind == "end" and type(values.get("notes")) is int:
        return End(values["notes"])
    raise BadRequest(f"type: {kind[:40]!r} is not one that this program knows")


def decode_note(values: Mapping[str, Any]) -> ArchivedNote | NewNote:
    """Read a note. Raises BadRequest."""
    refuse_unstorable(values)
    found = read_fields(values, NOTE)
    if "kind" not in found or "text" not in found:
        raise BadRequest("kind and text: a note needs both")
    meta = read_fields(found.pop("meta", {}), METADATA, "meta.")
    if found["kind"] in TURNS and not {"conversation_id", "turn_index"} <= meta.keys():
        raise BadRequest("meta: a turn needs conversation_id and turn_index")
    return _new(found, meta) if "note_id" not in found else _archived(found, meta)


def _header(values: Mapping[str, Any]) -> Header:
    if values.get("format") != FORMAT:
        raise BadRequest(f"format: must be {FORMAT}")
    if values.get("format_version") != FORMAT_VERSION:
        raise BadRequest(f"format_version: this program reads {FORMAT_VERSION}. Update nur-memory to read a newer one.")
    return Header()


def _new(found: dict[str, Any], meta: dict[str, Any]) -> NewNote:
    beyond = found.keys() - {"kind", "text"}
    if beyond:
        raise BadRequest(f"{min(beyond)}: only a note with a note_id has it")
    types = KINDS[found["kind"]].types
    if types and meta.get("type") not in types:
        raise BadRequest(f"meta.type: must be one of: {', '.join(types)}")
    stated = Protection(**{name: meta[name] for name in _PROTECTION if name in meta})
    return NewNote(kind=found["kind"], text=found["text"], meta=NoteMetadata(**meta), stated=stated)


def _archived(found: dict[str, Any], meta: dict[str, Any]) -> ArchivedNote:
    missing = [name for name in _ALWAYS if name not in found]
    if missing:
        raise BadRequest(f"{missing[0]}: is missing")
    if found["version"] > found["revision"]:
        raise BadRequest("version: must not be higher than revision")
    if (found["status"] is Status.DELETED) != ("deleted_at" in found):
        raise BadRequest("deleted_at: a note in the trash has it, and no other")
    text, versions = found.pop("text"), tuple(map(_version, found.pop("versions", ())))
    numbers = [version.version for version in versions]
    if numbers != sorted(set(numbers)) or (numbers and numbers[-1] >= found["version"]):
        raise BadRequest("versions: must be in order, each once, and older than the note's version")
    found["content_hash"] = _checked_hash(text, found.get("content_hash"), "")
    derived: dict[str, Any] = {"token_count": 0, "chunk_count": 0, "chunking_version": ""}
    return ArchivedNote(Note(tenant="", meta=NoteMetadata(**meta), **derived, **found), text, versions)


def _version(values: Any) -> NoteVersion:
    if not isinstance(values, dict):
        raise BadRequest("versions: each must be an object")
    found = {"title": None, **read_fields(values, VERSION, "versions.")}
    missing = [name for name in ("version", "replaced_at", "text") if name not in found]
    if missing:
        raise BadRequest(f"versions.{missing[0]}: is missing")
    content_hash = _checked_hash(found["text"], found.pop("content_hash", None), "versions.")
    return NoteVersion(content_hash=content_hash, **found)


def _checked_hash(text: str, stated: str | None, place: str) -> str:
    found = sha256(text)
    if stated is not None and stated != found:
        raise BadRequest(
            f"{place}content_hash: the text is not the one that was exported. Leave the hash out to take it."
        )
    return found


def _version_values(version: NoteVersion) -> dict[str, Any]:
    given = {name: _plain(getattr(version, name)) for name in VERSION}
    return {name: value for name, value in given.items() if value is not None}


def _described(meta: NoteMetadata) -> dict[str, Any]:
    """What differs from an empty description."""
    given = {name: getattr(meta, name) for name in METADATA}
    return {name: _plain(value) for name, value in given.items() if value != _DEFAULTS[name]}


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, UUID) else value


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
