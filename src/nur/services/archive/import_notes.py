"""Import a stream of records. Existing notes stay, so an interrupted import can be run again."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from nur.domain.decisions import Decision
from nur.domain.errors import BadRequest, Conflict, NotFound
from nur.domain.records import FORMAT, End, Header, Record, decode
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence

    from nur.domain.access import Caller
    from nur.domain.archive import ArchivedNote, NewNote
    from nur.ports.clock import Clock
    from nur.ports.decisions import DecisionStore
    from nur.services.archive.import_note import ImportNote, ImportOutcome


Line: TypeAlias = "tuple[int, bytes]"  #: line number, from 1, and content

#: Longer than any record: a text and twenty previous ones, escaped.
MAX_LINE_BYTES = 2 * 1024**3

log = EventLog("ImportService")

#: Notes stored concurrently, so that their writes share a commit.
BATCH = 32
BATCH_BYTES = 8_000_000
FAILURES_SHOWN = 100


async def numbered_lines(pieces: AsyncIterable[bytes]) -> AsyncIterator[Line]:
    """Yield the lines that are not blank, with their numbers. Raises BadRequest for one that is too long."""
    number, parts, size = 1, list[bytes](), 0
    async for piece in pieces:
        *complete, rest = piece.split(b"\n")
        for line in complete:
            whole = b"".join((*parts, line))
            if whole.strip():
                yield number, whole
            number, parts, size = number + 1, [], 0
        parts.append(rest)
        size += len(rest)
        if size > MAX_LINE_BYTES:
            raise BadRequest(f"line {number}: is longer than any note")
    if b"".join(parts).strip():
        yield number, b"".join(parts)


async def batches(lines: AsyncIterable[Line], *, most: int, max_bytes: int) -> AsyncIterator[list[Line]]:
    """Yield the lines in groups of `most` lines, or fewer once a group has `max_bytes`."""
    batch: list[Line] = []
    async for line in lines:
        batch.append(line)
        if len(batch) == most or sum(len(text) for _, text in batch) >= max_bytes:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class Failure:
    """A line that was not imported, and why."""

    line: int
    reason: str


@dataclass(slots=True)
class ImportReport:
    """Result of an import."""

    outcomes: Counter[ImportOutcome] = field(default_factory=Counter)
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)  #: the first FAILURES_SHOWN
    complete: bool = False  #: the last line was an end record with the right number of notes
    _notes: int = 0  #: notes since the header

    def read(self, line: int, record: Record | BadRequest) -> ArchivedNote | NewNote | Decision | None:
        """Count a line and return its note or decision; None if there is none to import."""
        self.complete = isinstance(record, End) and record.notes == self._notes
        if isinstance(record, Header):
            self._notes = 0
        if isinstance(record, Header | End):
            return None
        if isinstance(record, Decision):
            return record
        self._notes += 1
        if isinstance(record, BadRequest):
            self.fail(line, record)
            return None
        return record

    def fail(self, line: int, error: BadRequest | Conflict | NotFound) -> None:
        """Count a line that was not imported."""
        self.failed += 1
        if len(self.failures) < FAILURES_SHOWN:
            self.failures.append(Failure(line, str(error)))


@dataclass(frozen=True, slots=True)
class ImportNotes:
    """Imports an export with its ids, revisions, previous texts, trash and times."""

    import_note: ImportNote
    decisions: DecisionStore
    wake: Callable[[], None]
    clock: Clock

    async def __call__(self, pieces: AsyncIterable[bytes], caller: Caller, *, dry_run: bool = False) -> ImportReport:
        """Import every valid line. Raises BadRequest if it is not an export, StoreDown if storing fails."""
        report, is_first = ImportReport(), True
        async for batch in batches(numbered_lines(pieces), most=BATCH, max_bytes=BATCH_BYTES):
            records = await asyncio.to_thread(_decoded, batch)
            if is_first:
                _refuse_other_formats(records[0])
                is_first = False
            read = [(line, report.read(line, record)) for (line, _), record in zip(batch, records, strict=True)]
            await asyncio.gather(
                *(self._store(line, one, caller, report, dry_run=dry_run) for line, one in read if _is_note(one))
            )
            for line, one in read:  # decisions need their notes stored first
                if isinstance(one, Decision) and not dry_run:
                    await self._decide(line, one, caller, report)
            self.wake()
        counts = {outcome.value: count for outcome, count in report.outcomes.items()}
        log.info("imported", dry_run=dry_run, failed=report.failed, **counts)
        return report

    async def _store(
        self,
        line: int,
        note: ArchivedNote | NewNote | Decision | None,
        caller: Caller,
        report: ImportReport,
        *,
        dry_run: bool,
    ) -> None:
        if note is None or isinstance(note, Decision):
            return
        try:
            report.outcomes[await self.import_note(note, caller, dry_run=dry_run)] += 1
        except (BadRequest, Conflict) as error:
            report.fail(line, error)

    async def _decide(self, line: int, decision: Decision, caller: Caller, report: ImportReport) -> None:
        try:
            await self.decisions.decide(decision, caller.at(self.clock.now()))
        except (NotFound, Conflict) as error:
            report.fail(line, error)


def _is_note(record: ArchivedNote | NewNote | Decision | None) -> bool:
    return record is not None and not isinstance(record, Decision)


def _decoded(batch: Sequence[Line]) -> list[Record | BadRequest]:
    return [_decode(line) for _, line in batch]


def _decode(line: bytes) -> Record | BadRequest:
    try:
        return decode(line)
    except BadRequest as error:
        return error


def _refuse_other_formats(first: Record | BadRequest) -> None:
    """Raise BadRequest unless the first line is a header, so that a newer format is not imported in part."""
    if isinstance(first, Header):
        return
    why = str(first) if isinstance(first, BadRequest) else "it is a note"
    raise BadRequest(f"The first line must be the header of an export ({FORMAT}): {why}. Nothing was imported.")
