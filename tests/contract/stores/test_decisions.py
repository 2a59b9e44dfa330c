"""Contract of DecisionStore: decisions last as long as both notes, suggestions as long as both texts."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.decisions import Decision, DecisionKind, NotePair, Relation, Suggestion
from nur.domain.errors import Conflict, NotFound
from nur.ports.decisions import FoundPair, MemoryComparison, ReviewCursor
from nur.ports.outbox import Task
from tests.store_notes import ALL, START, a_note, a_query, after, at, creation, remove, replacement, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.notes import Note, NoteId
    from nur.ports.decisions import AlikeMemory
    from nur.ports.stores import Stores


async def stored(stores: Stores, text: str, **changes: Any) -> Note:
    return await write(stores, creation(a_note(text, **changes), text))


def decision(newer: Note, older: Note, kind: DecisionKind = DecisionKind.SUPERSEDES) -> Decision:
    return Decision(
        pair=NotePair(newer.note_id, older.note_id),
        kind=kind,
        newer_hash=newer.content_hash,
        older_hash=older.content_hash,
        decided_by="ann",
        decided_at=START,
    )


def suggestion(newer: Note, older: Note, relation: Relation = Relation.OTHER) -> Suggestion:
    return Suggestion(
        pair=NotePair(newer.note_id, older.note_id),
        relation=relation,
        newer_hash=newer.content_hash,
        older_hash=older.content_hash,
        found_at=START,
    )


async def waiting(stores: Stores) -> list[tuple[str, str]]:
    found = await stores.decisions.reviews(ALL, START, decided=False, limit=10)
    return [(one.newer.public_id, one.older.public_id) for one in found]


async def superseded(stores: Stores, note: Note) -> str | None:
    return (await stores.decisions.superseded([note.note_id], ALL, START)).get(note.note_id)


async def test_a_decision_supersedes_until_it_is_undone(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four."), await stored(stores, "Tea at five.")
    await stores.decisions.decide(decision(new, old), at())
    assert await superseded(stores, old) == new.public_id
    assert await superseded(stores, new) is None
    assert await stores.decisions.undo(NotePair(new.note_id, old.note_id), at())
    assert not await stores.decisions.undo(NotePair(new.note_id, old.note_id), at())
    assert await superseded(stores, old) is None


async def test_the_opposite_decision_takes_the_place_of_the_first(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four."), await stored(stores, "Tea at five.")
    await stores.decisions.decide(decision(new, old), at())
    await stores.decisions.decide(decision(old, new), at())
    assert await superseded(stores, old) is None
    assert await superseded(stores, new) == old.public_id


async def test_decisions_never_run_in_a_circle(stores: Stores) -> None:
    one, two, three = [await stored(stores, f"Tea at {hour}.") for hour in ("four", "five", "six")]
    await stores.decisions.decide(decision(two, one), at())
    await stores.decisions.decide(decision(three, two), at())
    assert await superseded(stores, one) == three.public_id
    with pytest.raises(Conflict):
        await stores.decisions.decide(decision(one, three), at())


async def test_a_note_that_is_gone_supersedes_nothing_and_comes_back_with_its_decision(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four."), await stored(stores, "Tea at five.")
    await stores.decisions.decide(decision(new, old), at())
    gone = await remove(stores, new)
    assert await superseded(stores, old) is None
    assert len(await stores.decisions.page(ALL.tenant, None, 10)) == 1
    await stores.notes.purge(gone, at(), indexed=True)
    assert await stores.decisions.page(ALL.tenant, None, 10) == []


async def test_unknown_notes_and_those_of_others_cannot_be_decided_about(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four."), a_note("Tea at five.")
    with pytest.raises(NotFound):
        await stores.decisions.decide(decision(new, old), at())
    foreign = await stored(stores, "Tea at six.", tenant="other")
    with pytest.raises(NotFound):
        await stores.decisions.decide(decision(foreign, old), at())


async def test_a_suggestion_waits_until_it_is_decided(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four."), await stored(stores, "Tea at five.")
    await stores.decisions.suggest(new.note_id, [suggestion(new, old)])
    assert await waiting(stores) == [(new.public_id, old.public_id)]
    await stores.decisions.decide(decision(new, old, DecisionKind.REJECTED), at())
    assert await waiting(stores) == []
    assert await superseded(stores, old) is None
    await stores.decisions.suggest(new.note_id, [suggestion(new, old)])  # found again by a rule
    assert await waiting(stores) == []
    found = await stores.decisions.reviews(ALL, START, decided=True, limit=10)
    assert [(one.review_id, one.decision is not None) for one in found] == [
        (NotePair(new.note_id, old.note_id).review_id, True)
    ]


async def test_suggestions_go_with_the_text_and_the_note(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four."), await stored(stores, "Tea at five.")
    await stores.decisions.suggest(new.note_id, [suggestion(new, old)])
    old = await write(stores, replacement(old, "Milk at four."))
    assert await waiting(stores) == []
    await stores.decisions.suggest(new.note_id, [suggestion(new, old)])
    assert len(await waiting(stores)) == 1
    await remove(stores, old)
    assert await waiting(stores) == []


async def test_a_pair_that_is_found_from_both_notes_is_suggested_once(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four."), await stored(stores, "Tea at five.")
    found = [suggestion(new, old)]
    await asyncio.gather(*(stores.decisions.suggest(note.note_id, found) for note in (old, new, old, new)))
    assert await waiting(stores) == [(new.public_id, old.public_id)]


async def test_what_was_compared_with_another_text_is_not_suggested(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four."), await stored(stores, "Tea at five.")
    found = suggestion(new, old)
    await write(stores, replacement(old, "Milk at four."))
    await stores.decisions.suggest(new.note_id, [found])
    assert await waiting(stores) == []


async def test_both_notes_of_a_review_must_be_visible(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four.", owner="bob"), await stored(stores, "Tea at five.", owner="ann")
    await stores.decisions.suggest(new.note_id, [suggestion(new, old)])
    review_id = NotePair(new.note_id, old.note_id).review_id
    for name in ("ann", "bob"):
        own = replace(ALL, visible_to=name)
        assert await stores.decisions.reviews(own, START, decided=False, limit=10) == []
        assert await stores.decisions.review(review_id, own, START) is None
    assert await stores.decisions.review(review_id, ALL, START) is not None


async def test_reviews_and_decisions_are_paged(stores: Stores) -> None:
    new = await stored(stores, "Tea at noon.")
    olds = [await stored(stores, f"Tea at {hour}.") for hour in range(1, 6)]
    await stores.decisions.suggest(new.note_id, [suggestion(new, old) for old in olds])
    seen: list[str] = []
    reached: ReviewCursor | None = None
    while page := await stores.decisions.reviews(ALL, START, decided=False, limit=2, after=reached):
        seen += [one.review_id for one in page]
        reached = ReviewCursor(page[-1].listed_at, page[-1].review_id)
    assert sorted(seen) == sorted(NotePair(new.note_id, old.note_id).review_id for old in olds)
    for old in olds:
        await stores.decisions.decide(decision(new, old), at())
    exported: list[NotePair] = []
    while more := await stores.decisions.page(ALL.tenant, exported[-1] if exported else None, 2):
        exported += [one.pair for one in more]
    assert len(set(exported)) == 5


async def test_a_page_of_reviews_follows_a_pair_that_is_gone(stores: Stores) -> None:
    new = await stored(stores, "Tea at noon.")
    olds = [await stored(stores, f"Tea at {hour}.") for hour in range(1, 4)]
    await stores.decisions.suggest(new.note_id, [suggestion(new, old) for old in olds])
    first, *rest = await stores.decisions.reviews(ALL, START, decided=False, limit=3)
    await remove(stores, first.older)
    reached = ReviewCursor(first.listed_at, first.review_id)
    assert await stores.decisions.reviews(ALL, START, decided=False, limit=3, after=reached) == rest


async def test_what_supersedes_a_candidate_is_a_candidate(stores: Stores) -> None:
    old, new = await stored(stores, "tea at four"), await stored(stores, "milk at five")
    await stores.decisions.decide(decision(new, old), at())
    found = await stores.chunks.candidates(a_query(terms=["tea"]))
    assert {view.public_id for view in found.views} == {old.public_id, new.public_id}
    assert found.superseded == {old.public_id: [new.public_id]}


async def test_what_may_update_a_candidate_is_a_candidate_if_asked_for(stores: Stores) -> None:
    tea, milk = await stored(stores, "tea at four"), await stored(stores, "milk at five", occurred_at=after(1))
    water = await stored(stores, "water at six", occurred_at=after(2))
    same = await stored(stores, "juice at seven", occurred_at=after(3))
    for newer, relation in ((milk, Relation.OTHER), (water, Relation.CONFLICT), (same, Relation.SAME)):
        await stores.decisions.suggest(newer.note_id, [suggestion(newer, tea, relation)])
    found = await stores.chunks.candidates(a_query(terms=["tea"], with_updates=True))
    assert {view.public_id for view in found.views} == {tea.public_id, milk.public_id, water.public_id}
    assert found.updated_by == {tea.public_id: [water.public_id, milk.public_id]}  # the newest first
    assert len((await stores.chunks.candidates(a_query(terms=["tea"]))).views) == 1
    await stores.decisions.decide(decision(water, tea, DecisionKind.REJECTED), at())
    found = await stores.chunks.candidates(a_query(terms=["tea"], with_updates=True))
    assert found.updated_by == {tea.public_id: [milk.public_id]}


async def test_decisions_are_changes(stores: Stores) -> None:
    old, new = await stored(stores, "Tea at four."), await stored(stores, "Tea at five.")
    pair = NotePair(new.note_id, old.note_id)
    await stores.decisions.decide(decision(new, old), at(after(1)))
    await stores.decisions.undo(pair, at(after(2)))
    last = await stores.changes.settled(ALL.tenant, 0)
    found = await stores.changes.page(ALL.tenant, 0, last, limit=10)
    assert [one.kind.value for one in found] == ["created", "created", "superseded", "reinstated"]
    assert found[2].other == new.note_id
    assert found[2].note_id == old.note_id


async def test_memories_that_share_words_are_found_and_not_the_memory_itself(stores: Stores) -> None:
    new, old = await stored(stores, "alarm code unit 3386"), await stored(stores, "alarm code unit 4417")
    await stored(stores, "alarm code unit 9052", project="another")
    await stored(stores, "oat milk")
    await remove(stores, await stored(stores, "alarm code unit 1111"))
    for number in range(40):
        await stored(stores, f"unit {number}")
    where = replace(ALL, project=new.meta.project)
    found = await stores.decisions.alike(new.note_id, ["alarm", "code", "unit", "3386"], where, START, 3)
    assert (found[0].note_id, found[0].text) == (old.note_id, "alarm code unit 4417")
    assert all(one.text.startswith("unit ") for one in found[1:])
    assert len(found) <= 3
    assert await stores.decisions.alike(new.note_id, [], where, START, 3) == []


async def test_a_write_finds_what_is_alike_and_suggests_it(stores: Stores) -> None:
    old = await stored(stores, "alarm code unit 4417")
    await stored(stores, "alarm code unit 9052", project="another")
    text = "alarm code unit 3386"
    new = a_note(text)
    seen: list[AlikeMemory] = []

    def rule(alike: Sequence[AlikeMemory]) -> list[FoundPair]:
        seen.extend(alike)
        return [FoundPair(one, suggestion(new, old)) for one in alike]

    where = replace(ALL, project=new.meta.project)
    comparison = MemoryComparison(terms=["alarm", "code", "unit", "3386"], where=where, limit=3, rule=rule)
    written = await stores.notes.write(replace(creation(new, text), comparison=comparison), at())
    assert [(one.note_id, one.text) for one in seen] == [(old.note_id, "alarm code unit 4417")]
    assert [found.other.note_id for found in written.similar] == [old.note_id]
    assert await waiting(stores) == [(new.public_id, old.public_id)]


async def test_memories_written_at_the_same_moment_find_each_other(stores: Stores) -> None:
    old = await stored(stores, "alarm code unit 4417")
    one, other = (a_note(f"alarm code unit {number}") for number in (3386, 3387))
    meeting = threading.Barrier(2)  # on SQLite the second write waits for the first, and they do not meet

    async def written(note: Note, number: int) -> list[NoteId]:
        def rule(alike: Sequence[AlikeMemory]) -> list[FoundPair]:
            with contextlib.suppress(threading.BrokenBarrierError):
                meeting.wait(timeout=2)
            return [FoundPair(found, suggestion(note, old)) for found in alike]

        comparison = MemoryComparison(terms=["alarm", "code", "unit"], where=ALL, limit=3, rule=rule)
        write = replace(creation(note, f"alarm code unit {number}"), comparison=comparison)
        return [found.other.note_id for found in (await stores.notes.write(write, at())).similar]

    seen = await asyncio.gather(written(one, 3386), written(other, 3387))
    jobs = await stores.outbox.lease("worker", 10, START, 60)
    later = {job.note_id for job in jobs if job.task is Task.DERIVE}
    assert one.note_id in seen[1] or other.note_id in seen[0] or later & {one.note_id, other.note_id}
    for note in (one, other):
        alike = await stores.decisions.alike(note.note_id, ["alarm", "code"], ALL, START, 5)
        assert {found.note_id for found in alike} == {old.note_id, one.note_id, other.note_id} - {note.note_id}


async def test_a_memory_that_is_compared_alone_is_compared_once(stores: Stores) -> None:
    new = a_note("alarm code unit 3386")
    comparison = MemoryComparison(terms=["alarm", "code"], where=ALL, limit=3, rule=lambda _: [])
    await stores.notes.write(replace(creation(new, "alarm code unit 3386"), comparison=comparison), at())
    assert [job.task for job in await stores.outbox.lease("worker", 10, START, 60)] == [Task.INDEX]


async def test_a_write_that_is_refused_suggests_nothing(stores: Stores) -> None:
    old = await stored(stores, "alarm code unit 4417")
    stale = a_note("alarm code unit 3386", revision=7)

    def rule(alike: Sequence[AlikeMemory]) -> list[FoundPair]:
        return [FoundPair(one, suggestion(stale, old)) for one in alike]

    comparison = MemoryComparison(terms=["alarm", "code"], where=ALL, limit=3, rule=rule)
    with pytest.raises(Conflict):
        await stores.notes.write(replace(replacement(stale, "alarm code 3386"), comparison=comparison), at())
    assert await waiting(stores) == []
