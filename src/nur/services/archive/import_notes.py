"""Import a stream of records. What is there already stays, so that a broken import is simply run again."""

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


Line: TypeAlias = "tuple[int, bytes]"  #: its number, from 1, and its bytes

#: More than the longest note has: its text and twenty previous ones, escaped.
MOST_LINE_BYTES = 2 * 1024**3

log = EventLog("ImportService")

#: Notes that are stored at once: their writes share a commit.
BATCH = 32
BATCH_BYTES = 8_000_000
FAILURES_SHOWN = 100


async def numbered_lines(pieces: AsyncIterable[bytes]) -> AsyncIterator[Line]:
    """The lines that are not blank. Raises BadRequest for one without an end."""
    number, parts, size = 1, list[bytes](), 0
    async for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for line in ended:
            whole = b"".join((*parts, line))
            if whole.strip():
                yield number, whole
            number, parts, size = number + 1, [], 0
        parts.append(rest)
        size += len(rest)
        if size > MOST_LINE_BYTES:
            raise BadRequest(f"line {number}: is longer than any note")
    if b"".join(parts).strip():
        yield number, b"".join(parts)


async def batches(lines: AsyncIterable[Line], *, most: int, most_bytes: int) -> AsyncIterator[list[Line]]:
    """The lines in groups of so many, or of so many bytes."""
    batch: list[Line] = []
    async for line in lines:
        batch.append(line)
        if len(batch) == most or sum(len(text) for _, text in batch) >= most_bytes:
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
    """What came of an import."""

    outcomes: Counter[ImportOutcome] = field(default_factory=Counter)
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)  #: the first ones
    complete: bool = False  #: the end of an export came last, after as many notes as it says
    _notes: int = 0  #: lines with a note since the header

    def read(self, line: int, record: Record | BadRequest) -> ArchivedNote | NewNote | Decision | None:
        """Count a line, and return the note or the decision that it holds."""
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
    """Stores the notes of an export: ids, revisions, previous texts, trash and times stay as they were."""

    import_note: ImportNote
    decisions: DecisionStore
    wake: Callable[[], None]
    clock: Clock

    async def __call__(self, pieces: AsyncIterable[bytes], caller: Caller, *, dry_run: bool = False) -> ImportReport:
        """Import all lines that can be. Raises BadRequest for what is no export, StoreDown when storing fails."""
        report, is_first = ImportReport(), True
        async for batch in batches(numbered_lines(pieces), most=BATCH, most_bytes=BATCH_BYTES):
            records = await asyncio.to_thread(_decoded, batch)
            if is_first:
                _refuse_other_formats(records[0])
                is_first = False
            read = [(line, report.read(line, record)) for (line, _), record in zip(batch, records, strict=True)]
            await asyncio.gather(
                *(self._store(line, one, caller, report, dry_run=dry_run) for line, one in read if _is_note(one))
            )
            for line, one in read:  # after the notes that they are about
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
    """A file starts with its header, so that a newer format is not read by halves."""
    if isinstance(first, Header):
        return
    why = str(first) if isinstance(first, BadRequest) else "it is a note"
    raise BadRequest(f"The first line must be the header of an export ({FORMAT}): {why}. Nothing was imported.")
