"""Ingest a file: read it, then store each of its documents as an artifact."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.filters import is_alive
from nur.domain.kinds import identity
from nur.domain.notes import Kind, NoteMetadata
from nur.domain.urls import is_source_url
from nur.domain.writes import Outcome

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.access import Caller
    from nur.domain.documents import Document
    from nur.domain.notes import Note
    from nur.domain.writes import OnEmbeddingFailure, Protection, Stored
    from nur.ports.clock import Clock
    from nur.ports.file_reader import FileReader
    from nur.ports.notes import NoteStore
    from nur.services.notes.ingest import Ingest

#: Documents of one file that are stored at once: their commits share one fsync.
AT_ONCE = 8
#: Metadata key of the file's digest: the same file need not be read again.
DIGEST = "file_digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingFile:
    """A file to ingest, with the caller's metadata; what is None comes from the file."""

    name: str  #: with folders, if they help to identify it
    data: bytes
    source_system: str = "file"
    source_id: str | None = None  #: None: the name
    source_url: str | None = None  #: for documents without their own URL
    type: str | None = None
    title: str | None = None
    project: str = ""
    modified_at: datetime | None = None  #: for documents without their own date


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """Result of a file: its stored documents. If it is `known`, it was not read again."""

    stored: tuple[Stored, ...]
    known: Note | None = None

    @property
    def outcome(self) -> Outcome:
        """The first of replaced, created, metadata updated and unchanged that applies to any document."""
        order = (Outcome.REPLACED, Outcome.CREATED, Outcome.METADATA_UPDATED)
        return next((outcome for outcome in order if self.count(outcome)), Outcome.UNCHANGED)

    def count(self, outcome: Outcome) -> int:
        """Number of documents with this outcome."""
        if self.known is not None:
            return int(outcome is Outcome.UNCHANGED)
        return sum(stored.outcome is outcome for stored in self.stored)


@dataclass(frozen=True, slots=True)
class IngestFile:
    """Stores the documents of a file; the same file again changes nothing."""

    reader: FileReader
    ingest: Ingest
    notes: NoteStore
    clock: Clock

    async def __call__(
        self, file: IncomingFile, stated: Protection, *, caller: Caller, on_failure: OnEmbeddingFailure
    ) -> IngestedFile:
        """Read and store. Raises FileRefused, and what `Ingest` raises.

        The file's own document, which carries the digest, is stored last: a run that ends in between reads the file
        again and finds the other documents unchanged.
        """
        digest = await asyncio.to_thread(_digest, file, stated, self.reader.version)
        known = await self._known(file, digest, caller)
        if known is not None:
            return IngestedFile((), known)
        documents = await self.reader.read(file.name, file.data)
        first, others = _description(file, documents[0]), documents[1:]
        if _is_file_itself(documents[0]):
            first = replace(first, metadata={**first.metadata, DIGEST: digest})
        slots = asyncio.Semaphore(AT_ONCE)

        async def store(document: Document) -> Stored:
            async with slots:
                described = _description(file, document)
                return await self.ingest(document.text, described, stated, caller=caller, on_failure=on_failure)

        stored = await asyncio.gather(*map(store, others), return_exceptions=True)
        for failure in stored:
            if isinstance(failure, BaseException):
                raise failure
        main = await self.ingest(documents[0].text, first, stated, caller=caller, on_failure=on_failure)
        return IngestedFile((main, *(one for one in stored if not isinstance(one, BaseException))))

    async def _known(self, file: IncomingFile, digest: str, caller: Caller) -> Note | None:
        """The note of exactly this file, if this version of the reader read it and it still exists."""
        described = NoteMetadata(source_system=file.source_system, source_id=file.source_id or file.name)
        note = await self.notes.by_identity(
            caller.tenant, identity(Kind.ARTIFACT, caller.principal.name, described, digest)
        )
        if note is None or not is_alive(note, self.clock.now()):
            return None
        return note if note.meta.metadata.get(DIGEST) == digest else None


def _is_file_itself(document: Document) -> bool:
    """Whether the document is identified by the file, not by an id of its own."""
    return not document.part and document.source_id is None


def _digest(file: IncomingFile, stated: Protection, reader_version: str) -> str:
    """Digest of everything that the stored note depends on, except the modification time."""
    said = [file.name, file.source_url, file.type, file.title, file.project, reader_version]
    rules = [stated.sensitivity, stated.visibility, stated.retention, stated.expires_at]
    described = json.dumps([*said, *(str(rule) for rule in rules)])
    return hashlib.sha256(described.encode() + b"\0" + file.data).hexdigest()


def _description(file: IncomingFile, document: Document) -> NoteMetadata:
    """The document's metadata; the caller's values override the file's."""
    own = file.source_id or file.name
    is_main = not document.part
    places = [[place.start_char, place.label] for place in document.places]
    url = document.url if document.url and is_source_url(document.url) else None
    return NoteMetadata(
        type=file.type or document.type,
        title=(file.title if is_main else None) or document.title,
        author=document.author,
        participants=document.participants,
        source_system=document.source_system or file.source_system,
        source_id=document.source_id or (own if is_main else f"{own}#{document.part}"),
        source_url=url or file.source_url,
        project=file.project,
        occurred_at=document.occurred_at or file.modified_at,
        metadata={**document.metadata, "file": file.name, **({"places": places} if places else {})},
    )
