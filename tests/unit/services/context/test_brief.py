"""What a brief asks the store for, how it shares its budget, and for how long it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from nur.domain.briefs import BriefRequest
from nur.domain.filters import PrivacyFilter
from nur.domain.notes import Sensitivity
from nur.domain.statements import StatementKind
from nur.ports.briefs import BriefMaterial, NamedDay, NoteExcerpt, TextChange
from nur.services.context.brief import MakeBrief
from tests.callers import LOCAL_CALLER
from tests.doubles.clock import ManualClock
from tests.store_notes import START, a_note

if TYPE_CHECKING:
    from nur.domain.search import SearchRequest
    from nur.ports.briefs import BriefQuery

EXCERPTS = [NoteExcerpt(f"mem_{place}", START, f"Note {place}.") for place in range(3)]
MATERIAL = BriefMaterial(
    statements=[],
    changes=[TextChange("mem_c", START, "old", "new")],
    upcoming=[NamedDay(NoteExcerpt("mem_u", START, "First. The party is on 3 May. Last."), 22, 739_374, 739_375)],
    recent=EXCERPTS,
)


@dataclass
class Store:
    """Stands for the store and for searches."""

    material_found: BriefMaterial = MATERIAL
    number: int = 1
    asked: list[BriefQuery] = field(default_factory=list)
    searched: list[SearchRequest] = field(default_factory=list)
    scores: tuple[float, ...] = ()

    async def mark(self, tenant: str) -> int:
        assert tenant == LOCAL_CALLER.tenant
        return self.number

    async def material(self, query: BriefQuery) -> BriefMaterial:
        self.asked.append(query)
        return self.material_found

    async def __call__(self, request: SearchRequest) -> Any:
        self.searched.append(request)
        hits = [
            SimpleNamespace(
                score=score,
                note=a_note(public_id=f"mem_{score}"),
                passages=[SimpleNamespace(text=f"Passage {score}."), SimpleNamespace(text="Another.")],
            )
            for score in self.scores
        ]
        return SimpleNamespace(hits=hits)


def maker(store: Store, *, enforced: bool = False) -> MakeBrief:
    any_store = cast("Any", store)
    return MakeBrief(any_store, any_store, PrivacyFilter(enforced), ManualClock(), None)


def a_request(**fields: Any) -> BriefRequest:
    return BriefRequest(caller=LOCAL_CALLER, **fields)


async def test_a_brief_reads_a_week_back_and_thirty_days_ahead() -> None:
    store = Store()
    make = maker(store)
    await make(a_request())
    [query] = store.asked
    now = make.clock.now()
    today = now.astimezone().date().toordinal()
    assert (query.now, query.changed_since) == (now, now - timedelta(days=7))
    assert (query.first_day, query.end_day, query.limit, query.characters) == (today, today + 30, 40, 600)
    assert set(query.kinds) == {
        StatementKind.INSTRUCTION,
        StatementKind.PREFERENCE,
        StatementKind.DECISION,
        StatementKind.PROJECT,
        StatementKind.QUESTION,
    }


async def test_a_brief_has_800_tokens_unless_told_otherwise() -> None:
    assert a_request().max_tokens == 800


async def test_sections_come_in_the_order_in_which_they_are_needed() -> None:
    brief = await maker(Store())(a_request())
    assert [section.title for section in brief.sections] == ["Changed in the last week", "Coming up", "Recently stored"]
    changed, upcoming, recent = (section.lines for section in brief.sections)
    assert changed[0].quote == '"old" became "new"'
    assert (upcoming[0].quote, upcoming[0].day) == ("The party is on 3 May.", date.fromordinal(739_374))
    assert [line.public_id for line in recent] == ["mem_0", "mem_1", "mem_2"]


@pytest.mark.parametrize(
    ("fields", "projects", "sensitivity"),
    [
        ({}, [None], Sensitivity.NORMAL),
        ({"include_sensitive": True}, [None], None),
        ({"project": "nur"}, ["nur", ""], Sensitivity.NORMAL),
        ({"project": ""}, [""], Sensitivity.NORMAL),
    ],
)
async def test_a_project_has_its_own_notes_and_those_of_none(
    fields: dict[str, Any], projects: list[str | None], sensitivity: str | None
) -> None:
    store = Store()
    await maker(store, enforced=True)(a_request(conversation_id="c", **fields))
    [query] = store.asked
    assert [where.project for where in query.where] == projects
    assert {(where.sensitivity, where.conversation_id, where.visible_to) for where in query.where} == {
        (sensitivity, "c", LOCAL_CALLER.principal.name)
    }


async def test_passages_about_a_question_stand_behind_the_first_sections() -> None:
    store = Store(scores=(0.9, 0.45, 0.44))
    brief = await maker(store)(a_request(query="tea"))
    assert brief.sections[0].title == "About: tea"
    assert [line.quote for line in brief.sections[0].lines] == ["Passage 0.9.", "Passage 0.45."]  # half of the best
    assert [request.limit for request in store.searched] == [5]


async def test_at_most_five_passages_are_quoted() -> None:
    store = Store(scores=(0.9, 0.89, 0.88, 0.87, 0.86, 0.85))
    brief = await maker(store)(a_request(query="tea", project="nur"))  # asked of the project and of none
    assert len(brief.sections[0].lines) == 3  # the best five, each twice, and the same words are quoted once
    assert len(store.searched) == 2


async def test_instructions_alone_ask_no_question() -> None:
    store = Store(scores=(0.9,))
    brief = await maker(store)(a_request(query="tea", instructions_only=True))
    assert (brief.sections, store.searched) == ((), [])


async def test_a_brief_is_kept_for_half_a_minute_while_nothing_is_written() -> None:
    store = Store()
    make = maker(store)
    clock = cast("ManualClock", make.clock)
    first = await make(a_request())
    clock.advance(29.9)
    assert await make(replace(a_request(), caller=replace(LOCAL_CALLER, call_id="another"))) is first
    clock.advance(0.1)
    await make(a_request())
    assert len(store.asked) == 2
    store.number += 1
    await make(a_request())
    assert len(store.asked) == 3
    await make(a_request(project="nur"))
    assert len(store.asked) == 4


async def test_only_some_briefs_are_kept() -> None:
    store = Store()
    make = maker(store)
    for place in range(65):
        await make(a_request(project=str(place)))
    await make(a_request(project="1"))
    assert len(store.asked) == 65
    await make(a_request(project="0"))  # the oldest went
    assert len(store.asked) == 66
