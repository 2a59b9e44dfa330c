"""Records: the lines of an export. Each line is one JSON object in UTF-8 with a `type`.

    {"type": "header", "format": "nur-export", "format_version": 1}
    {"type": "note", "public_id": "mem_…", …, "text": "…", "versions": […]}
    {"type": "decision", "newer": "…", "older": "…", "kind": "supersedes", …}
    {"type": "end", "notes": 1}

A record has no chunks, token counts or vectors, and no tenant: the importing store adds them. A `note` without
`note_id` is new: another program wrote it.
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

_PROTECTION_FIELDS = tuple(field.name for field in fields(Protection))
_REQUIRED = ("note_id", "public_id", "owner", "kind", "status", "version", "revision", "ingested_at", "updated_at")
_DECISION_FIELDS = tuple(field.name for field in fields(Decision) if field.name != "pair")
_META_DEFAULTS = {
    field.name: field.default if field.default_factory is MISSING else field.default_factory()
    for field in fields(NoteMetadata)
}


@dataclass(frozen=True, slots=True)
class Header:
    """The first line."""


@dataclass(frozen=True, slots=True)
class End:
    """The last line. A file without it was truncated."""

    notes: int


Record: TypeAlias = Header | End | ArchivedNote | NewNote | Decision


def header() -> bytes:
    """Return the first line."""
    return _line({"type": "header", "format": FORMAT, "format_version": FORMAT_VERSION})


def end(notes: int) -> bytes:
    """Return the last line, with the number of notes before it."""
    return _line({"type": "end", "notes": notes})


def encode(archived: ArchivedNote) -> bytes:
    """Return a note as one line. Deterministic: the same note gives the same bytes."""
    return _line({"type": "note", **note_values(archived)})


def encode_new(new: NewNote) -> bytes:
    """Return a new note as one line."""
    stated = {name: getattr(new.stated, name) for name in _PROTECTION_FIELDS}
    meta = {**_meta_values(new.meta), **{name: _as_json(value) for name, value in stated.items() if value is not None}}
    return _line({"type": "note", "kind": new.kind.value, "meta": meta, "text": new.text})


def encode_decision(decision: Decision) -> bytes:
    """Return a decision as one line. Both notes are named by internal id."""
    pair = {"newer": decision.pair.newer, "older": decision.pair.older}
    values = {name: getattr(decision, name) for name in _DECISION_FIELDS}
    return _line({"type": "decision", **{name: _as_json(value) for name, value in (pair | values).items()}})


def _decode_decision(values: Mapping[str, Any]) -> Decision:
    decided = read_fields(values, DECISION)
    missing = [name for name in DECISION if name not in decided]
    if missing:
        raise BadRequest(f"{missing[0]}: is missing")
    pair = NotePair(NoteId(decided.pop("newer")), NoteId(decided.pop("older")))
    return Decision(pair=pair, **decided)


def note_values(archived: ArchivedNote) -> dict[str, Any]:
    """Return a note as JSON values, in a fixed order; empty fields are left out."""
    note = archived.note
    all_values = {name: _as_json(getattr(note, name)) for name in NOTE if name not in ("meta", "text", "versions")}
    values = {name: value for name, value in all_values.items() if value is not None}
    versions = [_version_values(version) for version in archived.versions]
    return (
        values | {"meta": _meta_values(note.meta), "text": archived.text} | ({"versions": versions} if versions else {})
    )


def decode(line: bytes | str) -> Record:
    """Parse one line. Raises BadRequest, which names the field and never quotes a note's text."""
    check_values(line if isinstance(line, bytes) else line.encode(errors="surrogatepass"))
    try:
        values = json.loads(line, parse_constant=_refuse_constant)
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
    """Parse a note; without a `note_id` it is a NewNote. Raises BadRequest."""
    refuse_unstorable(values)
    note = read_fields(values, NOTE)
    if "kind" not in note or "text" not in note:
        raise BadRequest("kind and text: a note needs both")
    meta = read_fields(note.pop("meta", {}), METADATA, "meta.")
    if note["kind"] in TURNS and not {"conversation_id", "turn_index"} <= meta.keys():
        raise BadRequest("meta: a turn needs conversation_id and turn_index")
    return _new(note, meta) if "note_id" not in note else _archived(note, meta)


def _header(values: Mapping[str, Any]) -> Header:
    if values.get("format") != FORMAT:
        raise BadRequest(f"format: must be {FORMAT}")
    if values.get("format_version") != FORMAT_VERSION:
        raise BadRequest(f"format_version: this program reads {FORMAT_VERSION}. Update nur-memory to read a newer one.")
    return Header()


def _new(note: dict[str, Any], meta: dict[str, Any]) -> NewNote:
    unexpected = note.keys() - {"kind", "text"}
    if unexpected:
        raise BadRequest(f"{min(unexpected)}: only a note with a note_id may have this field")
    types = KINDS[note["kind"]].types
    if types and meta.get("type") not in types:
        raise BadRequest(f"meta.type: must be one of: {', '.join(types)}")
    stated = Protection(**{name: meta[name] for name in _PROTECTION_FIELDS if name in meta})
    return NewNote(kind=note["kind"], text=note["text"], meta=NoteMetadata(**meta), stated=stated)


def _archived(note: dict[str, Any], meta: dict[str, Any]) -> ArchivedNote:
    missing = [name for name in _REQUIRED if name not in note]
    if missing:
        raise BadRequest(f"{missing[0]}: is missing")
    if note["version"] > note["revision"]:
        raise BadRequest("version: must not be higher than revision")
    if (note["status"] is Status.DELETED) != ("deleted_at" in note):
        raise BadRequest("deleted_at: must be set for a note in the trash, and only there")
    text, versions = note.pop("text"), tuple(map(_version, note.pop("versions", ())))
    numbers = [version.version for version in versions]
    if numbers != sorted(set(numbers)) or (numbers and numbers[-1] >= note["version"]):
        raise BadRequest("versions: must be in order, each once, and older than the note's version")
    note["content_hash"] = _checked_hash(text, note.get("content_hash"), "")
    derived: dict[str, Any] = {"token_count": 0, "chunk_count": 0, "chunking_version": ""}
    return ArchivedNote(Note(tenant="", meta=NoteMetadata(**meta), **derived, **note), text, versions)


def _version(values: Any) -> NoteVersion:
    if not isinstance(values, dict):
        raise BadRequest("versions: each must be an object")
    version = {"title": None, **read_fields(values, VERSION, "versions.")}
    missing = [name for name in ("version", "replaced_at", "text") if name not in version]
    if missing:
        raise BadRequest(f"versions.{missing[0]}: is missing")
    content_hash = _checked_hash(version["text"], version.pop("content_hash", None), "versions.")
    return NoteVersion(content_hash=content_hash, **version)


def _checked_hash(text: str, stated: str | None, prefix: str) -> str:
    computed = sha256(text)
    if stated is not None and stated != computed:
        raise BadRequest(
            f"{prefix}content_hash: the text is not the one that was exported. Remove the hash to import it anyway."
        )
    return computed


def _version_values(version: NoteVersion) -> dict[str, Any]:
    values = {name: _as_json(getattr(version, name)) for name in VERSION}
    return {name: value for name, value in values.items() if value is not None}


def _meta_values(meta: NoteMetadata) -> dict[str, Any]:
    """Return the metadata fields that differ from their defaults, as JSON values."""
    values = {name: getattr(meta, name) for name in METADATA}
    return {name: _as_json(value) for name, value in values.items() if value != _META_DEFAULTS[name]}


def _as_json(value: Any) -> Any:
    """Convert a field's value to its JSON value."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, UUID) else value


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
