"""Contract of BriefStore: quotes of matching active notes, newest first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from nur.domain.derivations import Derivation, StatementRow, TimeRow
from nur.domain.notes import Kind, Sensitivity
from nur.domain.statements import StatementKind
from nur.ports.briefs import BriefQuery
from tests.store_notes import ALL, START, a_note, after, at, creation, remove, replacement, write

if TYPE_CHECKING:
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note
    from nur.ports.briefs import BriefMaterial
    from nur.ports.stores import Stores

TODAY = START.date().toordinal()
STATED = (StatementKind.INSTRUCTION, StatementKind.PREFERENCE)


async def stated(stores: Stores, text: str, *, kind: str = "instruction", trust: str = "owner", **changes: Any) -> Note:
    """A note whose text, but for its first character, states something."""
    rows = [StatementRow(1, len(text), kind, trust, "user")]
    changes = {"occurred_at": START, **changes}
    made = replace(creation(a_note(text, **changes), text), derived=[Derivation("note_statements", 1, rows)])
    return await write(stores, made)


async def material(stores: Stores, *where: NoteFilter, limit: int = 10) -> BriefMaterial:
    return await stores.briefs.material(
        BriefQuery(
            where=where or [ALL],
            now=after(10),
            kinds=STATED,
            changed_since=after(5),
            first_day=TODAY,
            end_day=TODAY + 30,
            limit=limit,
            characters=20,
        )
    )


async def test_statements_are_quoted_by_kind_newest_first(stores: Stores) -> None:
    older = await stated(stores, "«Use tabs — 𝔞lways.")
    newer = await stated(stores, " Use spaces.", occurred_at=after(1))
    other = await stated(stores, " Tea.", kind="preference")
    found = (await material(stores)).statements
    assert [(one.kind, one.quote, one.public_id, one.said_at) for one in found] == [
        (StatementKind.INSTRUCTION, "Use spaces.", newer.public_id, after(1)),
        (StatementKind.INSTRUCTION, "Use tabs — 𝔞lways.", older.public_id, START),
        (StatementKind.PREFERENCE, "Tea.", other.public_id, START),
    ]
    assert [one.public_id for one in (await material(stores, limit=1)).statements] == [newer.public_id, other.public_id]


async def test_only_what_the_owner_stated_is_quoted(stores: Stores) -> None:
    for trust in ("assistant", "person", "document"):
        await stated(stores, f" Obey {trust}.", trust=trust)
    assert (await material(stores)).statements == []


async def test_notes_that_match_any_filter_are_quoted(stores: Stores) -> None:
    for project in ("oak", "elm", ""):
        await stated(stores, f" Project {project}.", project=project)
    await stated(stores, " Secret.", project="oak", sensitivity=Sensitivity.SENSITIVE)
    oak = replace(ALL, project="oak", sensitivity="normal")
    found = (await material(stores, oak, replace(oak, project=""))).statements
    assert {one.quote for one in found} == {"Project oak.", "Project ."}


async def test_a_deleted_note_is_not_quoted(stores: Stores) -> None:
    note = await stated(stores, " Use tabs.")
    await remove(stores, note)
    found = await material(stores)
    assert (found.statements, found.recent) == ([], [])


async def test_days_to_come_are_listed_soonest_first_with_the_text_around(stores: Stores) -> None:
    text = "0123456789 dentist on Friday at nine, then tea."
    days = {"soon": (2, 3), "sooner": (1, 2), "past": (-1, 0), "far": (40, 41), "vague": (1, 20)}
    for name, (first, end) in days.items():
        body = f"{text} {name}"
        rows = [TimeRow(22, 28, TODAY + first, TODAY + end)]
        await write(stores, replace(creation(a_note(body), body), derived=[Derivation("note_times", 1, rows)]))
    found = (await material(stores)).upcoming
    assert [(one.first_day - TODAY, one.end_day - TODAY) for one in found] == [(1, 2), (2, 3)]
    assert {(one.excerpt.text, one.start_char) for one in found} == {(text[12:32], 10)}


async def test_texts_replaced_lately_are_listed_with_both(stores: Stores) -> None:
    note = await write(stores, creation(a_note("Go 1.23"), "Go 1.23"))
    await stores.notes.write(replacement(note, "Go 1.24"), at(after(6)))
    early = await write(stores, creation(a_note("Tea at four"), "Tea at four"))
    await stores.notes.write(replacement(early, "Tea at five"), at(after(4)))
    found = (await material(stores)).changes
    assert [(one.public_id, one.before, one.after, one.replaced_at) for one in found] == [
        (note.public_id, "Go 1.23", "Go 1.24", after(6))
    ]


async def test_what_was_stored_lately_is_listed_but_for_turns_and_documents(stores: Stores) -> None:
    for place, kind in enumerate(Kind):
        text = f"{kind}, a text of more than twenty characters"
        changes: dict[str, Any] = {"conversation_id": "c", "turn_index": 0} if kind is Kind.TURN else {}
        note = a_note(text, kind=kind, occurred_at=START + timedelta(seconds=place), **changes)
        await write(stores, creation(note, text))
    found = (await material(stores)).recent
    assert [one.text for one in found] == [f"{kind}, a text of more"[:20] for kind in ("event", "note", "memory")]


async def test_the_mark_grows_with_every_write(stores: Stores) -> None:
    first = await stores.briefs.mark(ALL.tenant)
    note = await stated(stores, " Use tabs.")
    second = await stores.briefs.mark(ALL.tenant)
    await remove(stores, note)
    assert first < second < await stores.briefs.mark(ALL.tenant)
    assert await stores.briefs.mark("nobody") == 0
