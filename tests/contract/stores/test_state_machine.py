"""State machine test: every database agrees with the reference model after any sequence of operations."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from nur.domain.errors import Conflict
from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, Note, Status
from nur.ports.outbox import Task
from tests.reference_model import ReferenceModel
from tests.store_backends import BACKENDS
from tests.store_notes import (
    ALL,
    DERIVER,
    EMBEDDING,
    START,
    a_derivation,
    a_note,
    a_query,
    at,
    creation,
    description,
    replacement,
    vector_of,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from nur.ports.notes import NoteWrite
    from nur.ports.stores import Stores

T = TypeVar("T")

VOCABULARY = ["tea", "milk", "water", "wine"]
FILTERS = [ALL, replace(ALL, project="p"), NoteFilter(tenant="acme"), replace(ALL, min_confidence=0.5)]
EVERY_CHUNK = 1000

# Few words and few fields, so that identities meet and terms recur.
texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join)
metas = st.fixed_dictionaries(
    {},
    optional={
        "project": st.sampled_from(["", "p"]),
        "confidence": st.sampled_from([0.2, 0.8]),
        "expires_at": st.integers(0, 20).map(lambda seconds: START + timedelta(seconds=seconds)),
    },
)
choices = st.integers(0, 1000)  #: which of the notes there are


class StoresAndModel(RuleBasedStateMachine):
    """One database and the model, asked the same; a subclass names the database."""

    backend_name = ""

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._folder = Path(tempfile.mkdtemp(prefix="nur-test-"))
        self._backend = BACKENDS[self.backend_name](self._folder / "store")
        self._stores: Stores = self._backend.stores
        self._model = ReferenceModel()
        self._now = START
        self._states: list[Note] = []  #: every state that any note was in
        self._do(self._stores.open(START))

    def teardown(self) -> None:
        for note_id in {note.note_id for note in self._states}:
            assert self._backend.previous_texts(note_id) == self._model.previous.get(note_id, {})
        self._do(self._stores.close())
        self._runner.close()
        shutil.rmtree(self._folder)

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def _attempt(self, work: Coroutine[Any, Any, T], *, expected: bool) -> T | None:
        """The answer, where one is expected; else the database must refuse."""
        if expected:
            return self._do(work)
        with pytest.raises(Conflict):
            self._do(work)
        return None

    def _write(self, write: NoteWrite) -> None:
        written = self._attempt(self._stores.notes.write(write, at(self._now)), expected=self._model.accepts(write))
        if written is not None:
            self._model.write(write, written.chunk_keys, self._now)
            self._states.append(write.note)

    def _any_state(self, choice: int) -> Note:
        """A state of some note, most often one that is past."""
        return self._states[choice % len(self._states)]

    def _a_note(self, choice: int) -> Note:
        """Some note as it is now; as it was last, if it was purged."""
        last = {note.note_id: note for note in self._states}
        return list(last.values())[choice % len(last)]

    @rule(
        text=texts,
        meta=metas,
        pieces=st.integers(1, 3),
        tenant=st.sampled_from(["default", "default", "acme"]),
        embedded=st.booleans(),
        indexed=st.booleans(),
        derived=st.booleans(),
    )
    def create(
        self, text: str, meta: dict[str, Any], pieces: int, tenant: str, embedded: bool, indexed: bool, derived: bool
    ) -> None:
        note = a_note(text, pieces=pieces, tenant=tenant, ingested_at=self._now, **meta)
        write = creation(note, text, embedded=embedded, indexed=indexed and embedded)
        self._write(replace(write, derived=[a_derivation(text)] if derived else [], is_derived=derived))

    @precondition(lambda self: self._states)
    @rule(choice=choices, text=texts, pieces=st.integers(1, 3), embedded=st.booleans(), derived=st.booleans())
    def replace_or_restore(self, choice: int, text: str, pieces: int, embedded: bool, derived: bool) -> None:
        write = replacement(self._a_note(choice), text, pieces, embedded=embedded)
        self._write(replace(write, derived=[a_derivation(text)] if derived else [], is_derived=derived))

    @precondition(lambda self: self._states)
    @rule(choice=choices, meta=metas, indexed=st.booleans())
    def describe(self, choice: int, meta: dict[str, Any], indexed: bool) -> None:
        note = self._a_note(choice)
        if note.status is Status.ACTIVE:
            self._write(description(note, indexed=indexed, **meta))

    @precondition(lambda self: self._states)
    @rule(choice=choices, text=texts)
    def write_on_a_state_that_may_be_past(self, choice: int, text: str) -> None:
        self._write(replacement(self._any_state(choice), text))

    @precondition(lambda self: self._states)
    @rule(choice=choices, indexed=st.booleans())
    def remove(self, choice: int, indexed: bool) -> None:
        note = self._any_state(choice)
        if note.status is not Status.ACTIVE:
            return
        work = self._stores.notes.remove(note, at(self._now), action="delete", indexed=indexed)
        gone = self._attempt(work, expected=self._model.is_at(note))
        if gone is not None:
            assert gone == self._model.remove(note, self._now, indexed=indexed)
            self._states.append(gone)

    @precondition(lambda self: self._states)
    @rule(choice=choices, indexed=st.booleans())
    def purge(self, choice: int, indexed: bool) -> None:
        note = self._any_state(choice)
        is_at = self._model.is_at(note)
        self._attempt(self._stores.notes.purge(note, at(self._now), indexed=indexed), expected=is_at)
        if is_at:
            self._model.purge(note, self._now, indexed=indexed)

    @precondition(lambda self: self._states)
    @rule(choice=choices)
    def derive_a_state_that_may_be_past(self, choice: int) -> None:
        note = self._any_state(choice)
        made = [a_derivation(f"{note.content_hash} again")]
        expected = self._model.put(note, made)
        self._attempt(self._stores.derivations.put(note, made, self._now), expected=expected)

    @rule(outdated=st.booleans())
    def queue_derivations(self, outdated: bool) -> None:
        store = self._stores.derivations
        work = store.queue_outdated({DERIVER: 1}, self._now) if outdated else store.queue(self._now)
        assert self._do(work) == self._model.queue_derivations(self._now, outdated=outdated)

    @rule()
    def fill_the_index(self) -> None:
        assert self._do(self._stores.index_marks.mark_all(EMBEDDING, self._now)) == self._model.mark_all()

    @rule()
    def lose_the_index(self) -> None:
        assert self._do(self._stores.index_marks.clear(self._now)) == self._model.clear(self._now)

    @precondition(lambda self: self._states)
    @rule(choice=choices)
    def attach_vectors(self, choice: int) -> None:
        note = self._a_note(choice)
        missing = self._do(self._stores.vectors.missing(note.note_id, EMBEDDING))
        own = self._model.chunks_of(note.note_id).items()
        assert [stored.chunk_key for stored in missing] == [key for key, chunk in own if chunk.vector is None]
        vectors = {stored.chunk_key: vector_of(stored.chunk.content) for stored in missing}
        work = self._stores.vectors.attach(note, vectors, None, EMBEDDING, self._now)
        self._attempt(work, expected=bool(vectors) or self._model.is_at(note))
        self._model.attach(vectors)

    @rule(outcome=st.sampled_from(["finish", "retry", "give up", "vanish"]))
    def work(self, outcome: str) -> None:
        outbox, later = self._stores.outbox, self._now + timedelta(seconds=2)
        jobs = self._do(outbox.lease("w", 2, self._now, 3))
        expected = self._model.lease(2, self._now, 3)
        assert [(job.note_id, job.task, job.revision, job.attempts) for job in jobs] == [
            (job.note_id, job.task, job.revision, job.attempts) for job in expected
        ]
        for job, model_job in zip(jobs, expected, strict=True):
            if outcome == "finish":
                indexed = job.revision if job.task is Task.INDEX else None
                self._do(outbox.finish(job, self._now, indexed=indexed))
                self._model.finish(model_job, indexed)
            elif outcome != "vanish":
                retry_at = later if outcome == "retry" else None
                self._do(outbox.postpone(job, "down", retry_at))
                self._model.postpone(model_job, "down", retry_at)

    @rule(seconds=st.integers(1, 5))
    def let_time_pass(self, seconds: int) -> None:
        self._now += timedelta(seconds=seconds)

    @invariant()
    def notes_agree(self) -> None:
        model, notes = self._model, self._stores.notes
        for where in FILTERS:
            assert self._do(notes.page(where, self._now, limit=100)) == model.page(where, self._now)
        ids = list({note.note_id for note in self._states})
        assert self._do(notes.by_ids(ids)) == model.notes
        assert self._do(notes.texts(ids)) == model.texts

    @invariant()
    def chunks_agree(self) -> None:
        for note_id in self._model.notes:
            stored = self._do(self._stores.chunks.of_note(note_id))
            assert [(one.chunk_key, one.chunk, one.has_vector) for one in stored] == [
                (key, chunk.new.chunk, chunk.vector is not None)
                for key, chunk in self._model.chunks_of(note_id).items()
            ]
        page = self._do(self._stores.vectors.page(EMBEDDING, ChunkKey(0), EVERY_CHUNK, self._now))
        assert [one.stored.chunk_key for one, _ in page] == self._model.paged(self._now)

    @invariant()
    def what_is_derived_is_at_the_notes_revision(self) -> None:
        notes = self._model.notes
        assert self._backend.derived() == {
            note_id: (notes[note_id].revision, 1, bands) for note_id, bands in self._model.derived.items()
        }

    @invariant()
    def index_marks_agree(self) -> None:
        marks = self._stores.index_marks
        for note_id in self._model.notes:
            assert self._do(marks.is_indexed(note_id)) is self._model.is_indexed(note_id)
        assert self._do(marks.count(EMBEDDING)) == self._model.count_indexed()
        sampled = self._do(marks.sample(EMBEDDING, EVERY_CHUNK, self._now))
        assert {one.stored.chunk_key for one in sampled} == self._model.sampled(self._now)

    @invariant()
    def candidates_agree(self) -> None:
        terms = VOCABULARY[:3]
        for where in FILTERS:
            query = a_query(where=where, now=self._now, limit=EVERY_CHUNK)
            by_words = self._do(self._stores.chunks.candidates(replace(query, terms=terms)))
            assert {view.chunk_key for view in by_words.views} == self._model.with_words(terms, where, self._now)
            for compare_all in (False, True):
                asked = replace(query, vector=vector_of("tea"), compare_all=compare_all)
                found = self._do(self._stores.chunks.candidates(asked))
                compared = self._model.compared(where, self._now, compare_all=compare_all)
                expected = {key: float(vector @ vector_of("tea")) for key, vector in compared.items()}
                assert dict(found.cosines) == pytest.approx(expected)
                assert {view.chunk_key for view in found.views} == expected.keys()

    @invariant()
    def counts_agree(self) -> None:
        counted = self._do(self._stores.chunks.statistics([*VOCABULARY, "unknown"]))
        found = (counted.chunks, counted.pieces, counted.terms, counted.frequencies)
        assert found == self._model.statistics(VOCABULARY)
        assert self._do(self._stores.outbox.backlog(self._now)) == self._model.backlog(self._now)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_database_agrees_with_the_model(name: str) -> None:
    machine = type("Machine", (StoresAndModel,), {"backend_name": name})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=12,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
