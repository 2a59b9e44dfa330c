"""SqlArchive: whole notes, with their previous texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, select

from nur.adapters.sql.mapping import NOTE_COLUMNS, to_note
from nur.adapters.sql.note_writes import write_note
from nur.adapters.sql.tables import memory_notes, note_versions
from nur.domain.archive import ArchivedNote, NoteVersion
from nur.ports.archive import VersionSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.adapters.sql.runner import Runner
    from nur.domain.access import WriteContext
    from nur.domain.notes import NoteId
    from nur.ports.notes import NoteWrite

_notes = memory_notes.c
_versions = note_versions.c

_ALL_VERSIONS = (
    select(_versions.version, _versions.content_hash, _versions.title, _versions.replaced_at, _versions.text)
    .where(_versions.note_id == bindparam("asked"))
    .order_by(_versions.version)
)


@dataclass(frozen=True, slots=True)
class SqlArchive:
    """Reads notes by internal id, and writes imported notes unchanged."""

    run: Runner
    lexical_index: LexicalIndex

    async def page(self, tenant: str, after: NoteId | None, *, limit: int, characters: int) -> list[ArchivedNote]:
        """A page of a tenant's notes by internal id, with expired and deleted ones; each is read in one snapshot."""
        return await self.run.read(_page, tenant, after, limit, characters)

    async def put(self, write: NoteWrite, versions: Sequence[NoteVersion], context: WriteContext) -> None:
        """Commit one note with exactly these previous texts. Raises Conflict."""
        await self.run.write(_put, self.lexical_index, write, versions, context)

    async def versions(self, note_id: NoteId) -> list[VersionSummary]:
        """The previous texts still stored, newest first."""
        return await self.run.read(_summaries, note_id)

    async def version(self, note_id: NoteId, version: int) -> NoteVersion | None:
        """One previous text."""
        return await self.run.read(_version, note_id, version)


def _page(connection: Connection, tenant: str, after: NoteId | None, limit: int, characters: int) -> list[ArchivedNote]:
    query = select(*NOTE_COLUMNS, _notes.text).where(_notes.tenant_id == tenant).order_by(_notes.note_id).limit(limit)
    if after is not None:
        query = query.where(_notes.note_id > after)
    found: list[ArchivedNote] = []
    # Row by row, so that a page of long texts can end before all of them are in memory.
    with connection.execute(query, execution_options={"stream_results": True, "max_row_buffer": 1}) as rows:
        for row in rows.mappings():
            archived = _with_versions(connection, dict(row))
            found.append(archived)
            characters -= len(archived.text) + sum(len(version.text) for version in archived.versions)
            if characters <= 0:
                break
    return found


def _with_versions(connection: Connection, row: dict[str, Any]) -> ArchivedNote:
    note = to_note(row)
    versions = connection.execute(_ALL_VERSIONS, {"asked": note.note_id}).mappings()
    return ArchivedNote(note, row["text"], tuple(NoteVersion(**version) for version in versions))


def _put(
    connection: Connection,
    lexical_index: LexicalIndex,
    write: NoteWrite,
    versions: Sequence[NoteVersion],
    context: WriteContext,
) -> None:
    note_id = write.note.note_id
    write_note(connection, lexical_index, write, context)
    connection.execute(delete(note_versions).where(_versions.note_id == note_id))
    if versions:
        rows = [{"note_id": note_id, **_values(version)} for version in versions]
        connection.execute(insert(note_versions), rows)


def _values(version: NoteVersion) -> dict[str, Any]:
    return {name: getattr(version, name) for name in ("version", "content_hash", "title", "replaced_at", "text")}


def _summaries(connection: Connection, note_id: NoteId) -> list[VersionSummary]:
    size = func.length(_versions.text).label("characters")
    query = select(_versions.version, _versions.content_hash, _versions.title, _versions.replaced_at, size)
    own = query.where(_versions.note_id == note_id).order_by(_versions.version.desc())
    return [VersionSummary(**row) for row in connection.execute(own).mappings()]


def _version(connection: Connection, note_id: NoteId, version: int) -> NoteVersion | None:
    query = _ALL_VERSIONS.where(_versions.version == version)
    row = connection.execute(query, {"asked": note_id}).mappings().first()
    return None if row is None else NoteVersion(**row)
