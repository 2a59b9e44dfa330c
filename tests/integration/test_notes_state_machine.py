"""Whatever is written, edited and deleted, in whatever order, with whatever is down: the index ends as the store is.

The plain model is a dictionary of texts. After the dust has settled, the index holds a record for each chunk of each
text in it and no others, and nothing was embedded twice for the same chunk.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from nur.domain.decisions import Decision, DecisionKind, NotePair
from nur.domain.errors import Conflict
from nur.domain.search import Mode
from nur.domain.writes import Outcome
from nur.retrieval.currency.relation import relation
from nur.services.notes.edit_note import Edit
from tests.empty_store import copy_store
from tests.note_world import ME, FailingIndex, World

if TYPE_CHECKING:
    from collections.abc import Coroutine

CHUNKING = {"max_tokens": 6, "overlap_tokens": 2}
WORDS = ["tea", "milk", "water", "wine", "lamp", "hall"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(lambda words: " ".join(words) + ".")
#: Short, and about few things: many say something else about the same thing, or the opposite.
memories = st.builds(
    "The {} in the {} {} {} lamps.".format,
    st.sampled_from(["hall", "attic"]),
    st.sampled_from(["lighthouse", "harbour"]),
    st.sampled_from(["has", "never has"]),
    st.sampled_from(["four", "7", "12"]),
)
keys = st.sampled_from(["door", "desk", None])
places = st.integers(0, 100)


class Notes(RuleBasedStateMachine):
    empty_store: Path  #: to be copied

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._texts: dict[str, str] = {}  #: the model: by public id
        self._trash: dict[str, str] = {}
        self._decided: dict[tuple[str, str], str] = {}  #: by newer and older note
        self._crashes = 0

    def teardown(self) -> None:
        try:
            if hasattr(self, "world"):
                self._run(self._settled())
        finally:
            if hasattr(self, "world"):
                self._run(self.world.close())
                self._folder.cleanup()
            self._runner.close()

    def _run(self, job: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(job)

    @initialize(follows=st.booleans())
    def open(self, follows: bool) -> None:
        self.world = self._run(self._opened(follows=follows))

    async def _opened(self, *, follows: bool = True) -> World:
        self._folder = TemporaryDirectory()
        folder = copy_store(self.empty_store, Path(self._folder.name) / "data")
        world = World(folder, follows=follows, chunking=CHUNKING)
        await world.open()
        return world

    def _some(self, place: int) -> str:
        return list(self._texts)[place % len(self._texts)]

    @rule(text=texts, key=keys, importance=st.sampled_from([None, 0.5]))
    def add(self, text: str, key: str | None, importance: float | None) -> None:
        stored = self._run(self.world.add(text, key=key, importance=importance))
        name = stored.note.public_id
        known = self._texts.get(name)
        expected = Outcome.CREATED if known is None else Outcome.REPLACED if known != text else stored.outcome
        assert stored.outcome is expected
        self._texts[name] = text
        self._trash.pop(name, None)

    @rule(text=memories)
    def remember(self, text: str) -> None:
        stored = self._run(self.world.remember(text))
        name = stored.note.public_id
        self._texts[name] = text
        self._trash.pop(name, None)
        waiting = {frozenset((one.newer, one.older)) for one in self.world.suggested()}
        assert {frozenset((name, one.public_id)) for one in stored.similar} <= waiting

    @rule(text=memories, in_the_middle=st.booleans())
    def crash(self, text: str, in_the_middle: bool) -> None:
        """Everything that was acknowledged is there afterwards, and nothing of a write that was not."""
        self._crashes += 1
        left = Path(self._folder.name) / f"data-{self._crashes}"
        if in_the_middle:
            self.world.run.crash_into = left
            self._run(self.world.remember(text))
        if not left.exists():
            self.world.run.copy_files(left)
            self.world.run.crash_into = None
        self.world = self._run(self._reopened(left))

    async def _reopened(self, left: Path) -> World:
        world: World = self.world
        return await world.reopened(left)

    @invariant()
    def suggestions_are_about_texts_as_they_are(self) -> None:
        """No suggestion without both its quotes, none that the rule would not make, and none about what was decided."""
        if not hasattr(self, "world"):
            return
        for one in self.world.suggested():
            assert one.is_current
            assert {one.newer, one.older} <= self._texts.keys()
            assert relation(one.newer_text, one.older_text) == one.relation

    @precondition(lambda self: self._texts)
    @rule(place=places, text=st.none() | texts | memories, title=st.sampled_from(["a", "b"]))
    def edit(self, place: int, text: str | None, title: str) -> None:
        name = self._some(place)
        edit = Edit(fields={"title": title}, text=text)
        try:
            stored = self._run(self.world.services.edit_note(name, edit, ME))
        except Conflict:
            assert text in self._texts.values()  # another note has this text
            return
        self._texts[name] = self._texts[name] if text is None else text
        assert stored.note.public_id == name

    @precondition(lambda self: self._texts)
    @rule(place=places)
    def delete(self, place: int) -> None:
        name = self._some(place)
        self._run(self.world.services.forget(name, None, ME))
        self._trash[name] = self._texts.pop(name)

    @precondition(lambda self: self._trash)
    @rule(place=places, purge=st.booleans())
    def restore_or_purge(self, place: int, purge: bool) -> None:
        name = list(self._trash)[place % len(self._trash)]
        if purge:
            self._run(self.world.services.trash.purge(name, ME))
            del self._trash[name]
            self._decided = {pair: kind for pair, kind in self._decided.items() if name not in pair}
            return
        try:
            self._run(self.world.services.trash.restore(name, ME))
        except Conflict:
            return  # another note has its key or text by now
        self._texts[name] = self._trash.pop(name)

    @precondition(lambda self: len(self._texts) > 1)
    @rule(newer=places, older=places, kind=st.sampled_from(list(DecisionKind)))
    def decide(self, newer: int, older: int, kind: DecisionKind) -> None:
        pair = self._some(newer), self._some(older)
        if pair[0] == pair[1]:
            return
        one, other = [self._run(self.world.stores.notes.get(ME.tenant, name)) for name in pair]
        decision = Decision(
            pair=NotePair(one.note_id, other.note_id),
            kind=kind,
            newer_hash=one.content_hash,
            older_hash=other.content_hash,
            decided_by="local",
            decided_at=self.world.clock.now(),
        )
        context = ME.at(self.world.clock.now())
        try:
            self._run(self.world.stores.decisions.decide(decision, context))
        except Conflict:
            assert self._supersedes(pair[1], pair[0])  # a circle
            return
        self._decided.pop((pair[1], pair[0]), None)
        self._decided[pair] = kind

    def _supersedes(self, newer: str, older: str) -> bool:
        """Whether one note supersedes another, directly or through others."""
        reached, edge = set(), {newer}
        while edge:
            edge = {
                pair[1]
                for pair, kind in self._decided.items()
                if kind is DecisionKind.SUPERSEDES and pair[0] in edge and pair[1] not in reached
            }
            reached |= edge
        return older in reached

    @precondition(lambda self: self._decided)
    @rule(place=places)
    def undo(self, place: int) -> None:
        pair = list(self._decided)[place % len(self._decided)]
        one, other = [self._run(self.world.stores.notes.get(ME.tenant, name)) for name in pair]
        job = self.world.stores.decisions.undo(NotePair(one.note_id, other.note_id), ME.at(self.world.clock.now()))
        assert self._run(job)
        del self._decided[pair]

    @invariant()
    def decisions_are_kept_until_undone_or_purged(self) -> None:
        if not hasattr(self, "world"):
            return
        kept = self._run(self.world.stores.decisions.page(ME.tenant, None, 1000))
        ids = {note_id for one in kept for note_id in (one.pair.newer, one.pair.older)}
        notes = self._run(self.world.stores.notes.by_ids(list(ids)))
        found = {(notes[one.pair.newer].public_id, notes[one.pair.older].public_id): one.kind for one in kept}
        assert found == self._decided

    @invariant()
    def what_is_superseded_stands_behind(self) -> None:
        """By a note that is not in the trash, whatever is down."""
        direct = [
            pair
            for pair, kind in self._decided.items()
            if kind is DecisionKind.SUPERSEDES and all(name in self._texts for name in pair)
        ]
        if not direct:
            return
        newer, older = direct[0]
        word = self._texts[older].rstrip(".").split()[0]
        hits = [hit.note.public_id for hit in self._run(self.world.find(word, Mode.LEXICAL)).hits]
        if older in hits:
            assert newer in hits[: hits.index(older)] or newer not in hits or self._supersedes(older, newer)

    @rule(down=st.booleans())
    def provider(self, down: bool) -> None:
        self.world.embedder.down = down

    @precondition(lambda self: isinstance(self.world.index, FailingIndex))
    @rule(down=st.booleans())
    def index(self, down: bool) -> None:
        self.world.index.down = down

    @rule()
    def derive_again(self) -> None:
        self._run(self.world.stores.derivations.queue(self.world.clock.now()))

    @rule(broken=st.booleans())
    def deriver(self, broken: bool) -> None:
        self.world.deriver.broken = broken

    @invariant()
    def only_notes_out_of_the_trash_have_derived_rows(self) -> None:
        assert self.world.derived().keys() <= self._texts.keys()

    @rule()
    def work(self) -> None:
        self._run(self.world.services.index_worker.once())

    @rule(seconds=st.sampled_from([1, 70, 400]))
    def time(self, seconds: int) -> None:
        self.world.clock.advance(seconds)

    @rule()
    def lose_the_index(self) -> None:
        index = self.world.index
        if not (isinstance(index, FailingIndex) and index.down):
            self._run(self.world.lose_the_index())

    @invariant()
    def every_note_is_found_by_its_words(self) -> None:
        if not self._texts:
            return
        name, text = next(iter(self._texts.items()))
        word = text.rstrip(".").split()[0]
        hits = self._run(self.world.find(word, Mode.LEXICAL)).hits
        found = {named for hit in hits for named in (hit.note.public_id, *hit.duplicates)}  # say the same: one hit
        assert found <= set(self._texts)
        assert name in found or len(hits) == 10

    async def _settled(self) -> None:
        world = self.world
        world.embedder.down = world.deriver.broken = False
        await world.stores.outbox.retry_dead(world.clock.now())
        if isinstance(world.index, FailingIndex):
            world.index.down = False
        await world.settle(100_000)
        assert (await world.stores.outbox.backlog(world.clock.now())).pending == 0
        existing = {note.public_id: note for note in await world.stores.notes.all(None, 1000)}
        assert existing.keys() == self._texts.keys()
        texts = await world.stores.notes.texts([note.note_id for note in existing.values()])
        assert {name: texts[note.note_id] for name, note in existing.items()} == self._texts
        await world.indexed_as_stored()
        await world.derived_as_stored()
        await self._suggested_as_stored()

    async def _suggested_as_stored(self) -> None:
        """When all is derived again, every memory that the rule relates to another is in a suggestion or decided."""
        world = self.world
        await world.stores.derivations.queue(world.clock.now())
        await world.settle(100_000)
        found = {name for one in world.suggested() for name in (one.newer, one.older)}
        found |= {name for pair in self._decided for name in pair}
        memories = {name: text for name, text in self._texts.items() if name.startswith("mem_")}
        for name, text in memories.items():
            others = [other for other_name, other in memories.items() if other_name != name]
            if any(relation(text, other) and relation(other, text) for other in others):
                assert name in found


class NotesInTheFlatIndex(Notes):
    """The same with the flat index, as a server has it by default."""

    @initialize()
    def open(self) -> None:
        self.world = self._run(self._opened())
        self._run(self.world.use_flat_index())

    async def _reopened(self, left: Path) -> World:
        world = await super()._reopened(left)
        await world.use_flat_index()
        return world


@pytest.fixture(scope="module", autouse=True)
def machines_copy(empty_store: Path) -> None:
    """Every run of a machine starts with a copy of the empty store."""
    Notes.empty_store = empty_store


TestNotes = Notes.TestCase
TestNotes.settings = settings(max_examples=45, stateful_step_count=25, deadline=None)

TestNotesInTheFlatIndex = NotesInTheFlatIndex.TestCase
TestNotesInTheFlatIndex.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
