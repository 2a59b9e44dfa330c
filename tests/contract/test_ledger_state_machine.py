"""Whatever happens, in whatever order, SqliteLedger says what InMemoryLedger says."""

from __future__ import annotations

import asyncio
import math
import shutil
import tempfile
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from nur.adapters.in_memory.clock import ManualClock
from nur.adapters.sql.sqlite.ledger import SqliteLedger
from nur.domain.errors import Conflict
from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, Note, Status
from nur.ports.ledger import Order
from tests.ledger_notes import EMBEDDING, START, a_note, creation, description, replacement, vector_of
from tests.ledger_stores import InMemoryStore, SqliteStore, Store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nur.ports.ledger import Ledger

VOCABULARY = ["tea", "milk", "water", "wine"]
SELECTIONS = [NoteFilter(), NoteFilter(project="p"), NoteFilter(tenant="acme"), NoteFilter(min_confidence=0.5)]

# Few words and few fields, so that identities meet and terms recur.
texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join)
abouts = st.fixed_dictionaries(
    {},
    optional={
        "project": st.sampled_from(["", "p"]),
        "confidence": st.sampled_from([0.2, 0.8]),
        "expires_at": st.integers(0, 20).map(lambda seconds: START + timedelta(seconds=seconds)),
    },
)
places = st.integers(0, 1000)  #: which of the notes there are


@cache
def empty_folder() -> Path:
    """A new store, made once; the operating system clears it away."""

    async def make(folder: Path) -> Path:
        ledger = SqliteLedger(folder, ManualClock())
        await ledger.open()
        await ledger.close()
        return folder

    return asyncio.run(make(Path(tempfile.mkdtemp(prefix="nur-test-"))))


class TwoLedgers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._folder = Path(tempfile.mkdtemp(prefix="nur-test-"))
        self._clock = ManualClock(START)
        shutil.copytree(empty_folder(), self._folder, dirs_exist_ok=True)
        self._stores: list[Store] = [InMemoryStore(self._clock), SqliteStore(self._folder, self._clock)]
        self._ask("open")
        self._written: list[Note] = []  #: every state that any note was in

    def teardown(self) -> None:
        for note_id in {note.note_id for note in self._written}:
            expected, former = (store.former_texts(note_id) for store in self._stores)
            assert former == expected
        self._ask("close")
        self._runner.close()
        shutil.rmtree(self._folder)

    def _on_both(self, ask: Callable[[Ledger], Awaitable[Any]]) -> Any:
        """The one answer that both give; None when both refuse."""

        async def answers() -> list[Any]:
            found: list[Any] = []
            for store in self._stores:
                try:
                    found.append(await ask(store.ledger))
                except Conflict:
                    found.append(None)
            return found

        expected, answer = self._runner.run(answers())
        assert answer == expected
        return answer

    def _ask(self, method: str, *arguments: Any, **named: Any) -> Any:
        """What both answer to one call."""
        return self._on_both(lambda ledger: getattr(ledger, method)(*arguments, **named))

    def _write(self, write: Any) -> None:
        if self._ask("write", write) is not None:
            self._written.append(write.note)

    def _any_state(self, place: int) -> Note:
        """A state of some note, most often one that is past."""
        return self._written[place % len(self._written)]

    def _a_note(self, place: int) -> Note:
        """Some note as it is now."""
        now = {note.note_id: note for note in self._written}
        return list(now.values())[place % len(now)]

    @rule(
        text=texts,
        meta=abouts,
        pieces=st.integers(1, 3),
        tenant=st.sampled_from(["default", "default", "acme"]),
        embedded=st.booleans(),
        indexed=st.booleans(),
    )
    def create(self, text: str, meta: dict[str, Any], pieces: int, tenant: str, embedded: bool, indexed: bool) -> None:
        note = a_note(text, pieces=pieces, tenant=tenant, ingested_at=self._clock.now(), **meta)
        self._write(creation(note, text, embedded=embedded, indexed=indexed and embedded))

    @precondition(lambda self: self._written)
    @rule(place=places, text=texts, pieces=st.integers(1, 3), embedded=st.booleans())
    def replace_or_revive(self, place: int, text: str, pieces: int, embedded: bool) -> None:
        self._write(replacement(self._a_note(place), text, pieces, embedded=embedded))

    @precondition(lambda self: self._written)
    @rule(place=places, meta=abouts, indexed=st.booleans())
    def describe(self, place: int, meta: dict[str, Any], indexed: bool) -> None:
        note = self._a_note(place)
        if note.status is Status.ACTIVE:
            self._write(description(note, indexed=indexed, **meta))

    @precondition(lambda self: self._written)
    @rule(place=places, text=texts)
    def write_on_a_state_that_may_be_past(self, place: int, text: str) -> None:
        self._write(replacement(self._any_state(place), text))

    @precondition(lambda self: self._written)
    @rule(place=places, indexed=st.booleans())
    def remove(self, place: int, indexed: bool) -> None:
        note = self._any_state(place)
        if note.status is Status.ACTIVE:
            gone = self._ask("remove", note, action="delete", principal="ann", indexed=indexed)
            if gone is not None:
                self._written.append(gone)

    @precondition(lambda self: self._written)
    @rule(place=places)
    def mark_indexed(self, place: int) -> None:
        note = self._any_state(place)
        self._ask("mark_indexed", note.note_id, note.revision)

    @precondition(lambda self: self._written)
    @rule(place=places)
    def attach_vectors(self, place: int) -> None:
        note = self._a_note(place)
        missing = self._ask("missing_vectors", note.note_id, EMBEDDING) or []
        found = {stored.chunk_key: vector_of(stored.chunk.content) for stored in missing}
        self._ask("attach_vectors", note, found, None, EMBEDDING)

    @rule(finish=st.booleans(), retry=st.booleans())
    def work(self, finish: bool, retry: bool) -> None:
        now = self._clock.now()
        for job in self._ask("lease", "w", 2, now, 3) or []:
            if finish:
                self._ask("finish", job, now)
            elif retry:
                later = now + timedelta(seconds=2)
                self._ask("postpone", job, "down", later)

    @rule()
    def lose_the_index(self) -> None:
        self._ask("mark_all_unindexed", EMBEDDING)

    @rule(seconds=st.integers(1, 5))
    def let_time_pass(self, seconds: int) -> None:
        self._clock.advance(seconds)

    @invariant()
    def notes_are_the_same(self) -> None:
        for where in SELECTIONS:
            self._ask("notes", where, order=Order.NEWEST, limit=100)
        ids = list({note.note_id for note in self._written})
        self._ask("by_ids", ids)
        self._ask("texts", ids)

    @invariant()
    def chunks_are_the_same(self) -> None:
        for note_id in {note.note_id for note in self._written}:
            self._ask("chunks", note_id)
        self._ask("pages", EMBEDDING, ChunkKey(0), 1000)
        self._ask("count_indexed", EMBEDDING)

    @invariant()
    def what_is_not_indexed_is_the_same(self) -> None:
        async def stale(ledger: Ledger) -> list[tuple[int, bytes]]:
            keys, vectors = await ledger.unindexed(NoteFilter(), EMBEDDING, 1000)
            return sorted((key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True))

        async def sampled(ledger: Ledger) -> list[int]:
            return sorted(each.stored.chunk_key for each in await ledger.sample_indexed(EMBEDDING, 1000))

        self._on_both(stale)
        self._on_both(sampled)
        self._ask("backlog", self._clock.now())

    @invariant()
    def words_find_the_same(self) -> None:
        self._ask("corpus", [*VOCABULARY, "unknown"])
        for where in SELECTIONS:
            self._compare_scores(VOCABULARY[:3], where)

    def _compare_scores(self, terms: list[str], where: NoteFilter) -> None:
        async def scores() -> list[dict[ChunkKey, float]]:
            found = [await store.ledger.lexical(terms, where, 1000) for store in self._stores]
            return [{hit.chunk_key: hit.score for hit in hits} for hits in found]

        expected, got = self._runner.run(scores())
        assert got.keys() == expected.keys()
        assert all(math.isclose(got[key], expected[key], rel_tol=1e-6) for key in got)


TestTwoLedgers = TwoLedgers.TestCase
TestTwoLedgers.settings = settings(
    max_examples=12,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
