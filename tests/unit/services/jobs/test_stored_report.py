"""Reports in the store: seldom written, and known to be old."""

from __future__ import annotations

from dataclasses import dataclass

from nur.services.jobs.stored_report import EVERY_SECONDS, MAX_GAP, StoredReport
from tests.doubles.clock import ManualClock


@dataclass(frozen=True)
class Counted:
    done: int


class Facts:
    """Facts in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.writes = 0

    async def get(self, name: str) -> str | None:
        return self.kept.get(name)

    async def set(self, name: str, value: str) -> None:
        self.kept[name] = value
        self.writes += 1

    async def set_if_absent(self, name: str, value: str) -> str:
        return self.kept.setdefault(name, value)


async def test_a_report_is_read_by_another_process() -> None:
    facts, clock = Facts(), ManualClock()
    writer, reader = (StoredReport(facts, "job", clock) for _ in range(2))
    assert await reader.read() is None
    await writer.write(Counted(3))
    assert await reader.read() == ({"done": 3}, True)
    clock.advance(MAX_GAP.total_seconds())
    assert await reader.read() == ({"done": 3}, False)


async def test_counting_is_written_once_a_second_and_the_end_at_once() -> None:
    facts, clock = Facts(), ManualClock()
    stored = StoredReport(facts, "job", clock)
    for done in range(10):
        await stored.write(Counted(done))
    assert facts.writes == 1
    clock.advance(EVERY_SECONDS)
    await stored.write(Counted(10))
    await stored.write(Counted(11), at_once=True)
    assert facts.writes == 3
    assert await stored.read() == ({"done": 11}, True)
