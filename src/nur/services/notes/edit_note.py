"""Edit a note: its text, its description, or whether it is resolved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nur.domain.drafting import expiry, requested_expiry, with_checked_retention
from nur.domain.errors import BadRequest, Conflict, StaleRevision
from nur.domain.kinds import KINDS
from nur.domain.notes import Kind, Retention
from nur.domain.writes import Protection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from nur.domain.access import Caller
    from nur.domain.notes import Note, NoteMetadata
    from nur.domain.writes import OnEmbeddingFailure, Stored
    from nur.ports.clock import Clock
    from nur.services.notes.get_note import GetNote
    from nur.services.notes.store_note import StoreNote

#: Maximum optimistic-lock retries.
ROUNDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The changes to a note; fields that are not named stay."""

    fields: Mapping[str, Any]  #: of NoteMetadata, by name
    text: str | None = None  #: None: stays
    ttl_days: float | None = None
    resolved: bool | None = None  #: None: stays


@dataclass(frozen=True, slots=True)
class EditNote:
    """Changes one note, by its id."""

    store: StoreNote
    get: GetNote
    clock: Clock
    on_failure: OnEmbeddingFailure

    async def __call__(self, public_id: str, edit: Edit, caller: Caller, *, revision: int | None = None) -> Stored:
        """Change the note; `revision` is the one that the caller read.

        Raises NotFound, BadRequest, StaleRevision, EmbedderDown, KeyRefused.
        """
        return await self.apply(public_id, lambda note: (self._wanted(note, edit), edit.text), caller, revision)

    async def apply(
        self, public_id: str, change: Callable[[Note], tuple[Note, str | None]], caller: Caller, revision: int | None
    ) -> Stored:
        """Apply `change` to the note's metadata, and replace its text unless it is None.

        Raises NotFound, StaleRevision, Conflict, EmbedderDown, KeyRefused.
        """
        for _ in range(ROUNDS):
            note = await self.get(public_id, caller)
            if revision is not None and note.revision != revision:
                raise StaleRevision(f"The note is at revision {note.revision}. Read it again, then edit.")
            wanted, text = change(note)
            try:
                return await self.store.edit(note, wanted, text, caller, self.on_failure)
            except Conflict:
                if await self._moved_on(note, public_id, caller):
                    continue
                raise Conflict("Another note has this key, source or text already; nothing was written.") from None
        raise Conflict("Too many writers of the same note at once; nothing was written. Try again.")

    async def _moved_on(self, note: Note, public_id: str, caller: Caller) -> bool:
        return (await self.get(public_id, caller)).revision != note.revision

    def _wanted(self, note: Note, edit: Edit) -> Note:
        _check(note, edit)
        meta, now = replace(note.meta, **edit.fields), self.clock.now()
        if "source_system" in edit.fields:
            stated = Protection(sensitivity=edit.fields.get("sensitivity"), visibility=edit.fields.get("visibility"))
            meta = self.store.protection.with_privacy(meta, stated, note.meta)
        if edit.ttl_days is not None or edit.fields.keys() & {"expires_at", "retention"}:
            meta = with_checked_retention(_ending(meta, edit, now), now)
            meta = replace(meta, expires_at=expiry(meta, note.ingested_at))
        wanted = replace(note, meta=meta)
        return wanted if edit.resolved is None else _resolved(wanted, edit.resolved, now)


def _check(note: Note, edit: Edit) -> None:
    """Refuse fields that the note's kind does not have."""
    spec = KINDS[note.kind]
    if edit.text is not None and not spec.has_editable_text:
        raise BadRequest(f"text: that of {_article(note.kind)} changes by storing it again")
    if "key" in edit.fields and not spec.has_key:
        raise BadRequest(f"key: {_article(note.kind)} has none")
    if spec.types and "type" in edit.fields and edit.fields["type"] not in spec.types:
        raise BadRequest(f"type: must be one of: {', '.join(spec.types)}")
    source = {"source_system", "source_id"} & edit.fields.keys()
    if source and spec.has_fixed_source:
        raise BadRequest(f"source: {_article(note.kind)} is known by it; ingest it again instead")


def _ending(meta: NoteMetadata, edit: Edit, now: datetime) -> NoteMetadata:
    """The metadata with the edit's expiry; only `custom` retention has an explicit one."""
    if edit.ttl_days is not None or "expires_at" in edit.fields:
        meta = replace(meta, expires_at=requested_expiry(edit.fields.get("expires_at"), edit.ttl_days, now))
    elif meta.retention is not Retention.CUSTOM:
        meta = replace(meta, expires_at=None)
    if meta.expires_at is None and meta.retention is Retention.CUSTOM and "retention" not in edit.fields:
        meta = replace(meta, retention=Retention.FOREVER)
    return meta


def _resolved(note: Note, resolved: bool, now: datetime) -> Note:
    """Mark a note as resolved or open; with `until_resolved` retention, a resolved one expires now."""
    if resolved == (note.resolved_at is not None):
        return note
    meta = note.meta
    if meta.retention is Retention.UNTIL_RESOLVED:
        meta = replace(meta, expires_at=now if resolved else None)
    return replace(note, meta=meta, resolved_at=now if resolved else None)


def _article(kind: Kind) -> str:
    return f"an {kind}" if kind.value[0] in "ae" else f"a {kind}"
