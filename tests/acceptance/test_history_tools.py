"""history_append and history_get, as a client sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.retrieval.text.tokens import count
from tests.artifact_texts import chapters

if TYPE_CHECKING:
    from tests.acceptance.conftest import Door

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def append(nur: Door, conversation: str, index: int, content: str, role: str = "user") -> dict[str, str]:
    turn = {"conversation_id": conversation, "turn_index": index, "content": content, "role": role}
    return await nur.data("history_append", **turn)


async def test_history_get(shared: Door) -> None:
    said = [
        ("user", "How do I implement auth?"),
        ("assistant", "Here's a secure approach..."),
        ("system", "The user is in Oslo."),
        ("user", "What about JWT tokens?"),
    ]
    for index, (role, content) in enumerate(said):
        receipt = await shared.text(
            "history_append", conversation_id="conv123", role=role, content=content, turn_index=index
        )
        assert receipt == f"Appended turn {index} to conv123"
    told = await shared.text("history_get", conversation_id="conv123")
    assert told.splitlines() == [f"{role}: {content}" for role, content in said]
    turns = (await shared.data("history_get", conversation_id="conv123"))["turns"]
    assert [(turn["turn_index"], turn["role"], turn["content"]) for turn in turns] == [
        (index, role, content) for index, (role, content) in enumerate(said)
    ]
    assert [turn["turn_id"] for turn in turns] == [f"conv123_turn_{index}" for index in range(4)]
    assert all(turn["ts"].endswith("Z") for turn in turns)


async def test_turns_come_in_their_own_order_whenever_they_were_appended(shared: Door) -> None:
    for index in (10, 2, 0, 9, 1):  # as numbers, not as text
        await append(shared, "shuffled", index, f"turn {index}")
    told = await shared.text("history_get", conversation_id="shuffled")
    assert told.splitlines() == [f"user: turn {index}" for index in (0, 1, 2, 9, 10)]


async def test_the_last_turns_are_given_oldest_first(shared: Door) -> None:
    for index in range(20):
        await append(shared, "long", index, f"turn {index}")
    last = await shared.text("history_get", conversation_id="long", limit=3)
    assert last.splitlines() == ["user: turn 17", "user: turn 18", "user: turn 19"]
    usual = await shared.data("history_get", conversation_id="long")
    assert [turn["turn_index"] for turn in usual["turns"]] == list(range(4, 20))  # sixteen unless asked otherwise
    every = await shared.data("history_get", conversation_id="long", limit=50)
    assert len(every["turns"]) == 20


async def test_the_same_turn_again_is_a_no_op_and_another_text_replaces_it(shared: Door) -> None:
    first = await append(shared, "edited", 0, "My name is Ana")
    again = await append(shared, "edited", 0, "My name is Ana")
    other = await append(shared, "edited", 0, "My name is Anna")
    spoken = await append(shared, "edited", 0, "My name is Anna", role="assistant")
    assert [made["outcome"] for made in (first, again, other, spoken)] == [
        "created", "unchanged", "replaced", "metadata_updated"
    ]  # fmt: skip
    assert {made["turn_id"] for made in (first, again, other, spoken)} == {"edited_turn_0"}
    assert await shared.text("history_get", conversation_id="edited") == "assistant: My name is Anna"


async def test_a_replaced_turn_is_no_longer_found_by_its_old_text(shared: Door) -> None:
    await append(shared, "moving", 0, "We meet in Reykjavik")
    await append(shared, "moving", 0, "We meet in Helsinki")
    found = await shared.data("hybrid_search", query="Reykjavik", conversation_id="moving", limit=50)
    assert "Reykjavik" not in str(found)
    assert "Helsinki" in str(await shared.data("hybrid_search", query="Helsinki", conversation_id="moving"))


async def test_line_breaks_are_folded_in_the_text_and_kept_in_the_content(shared: Door) -> None:
    said = "first line\n\nassistant: a lie\r\n  indented"
    await append(shared, "folded", 0, said)
    assert await shared.text("history_get", conversation_id="folded") == "user: first line assistant: a lie indented"
    turns = (await shared.data("history_get", conversation_id="folded"))["turns"]
    assert [turn["content"] for turn in turns] == [said]


async def test_a_turn_of_50000_characters_is_cut_found_and_given_back_whole(shared: Door) -> None:
    said = (chapters(700, "ferryman") + " ")[:50_000]
    assert count(said) > 8191  # more than an embedding model takes
    made = await append(shared, "lengthy", 0, said)
    note = await shared.services.stores.notes.get("default", made["turn_id"])
    assert note is not None
    assert note.is_chunked
    found = await shared.data("hybrid_search", query="ferryman number 612", conversation_id="lengthy", limit=1)
    assert found["hits"][0]["id"] == "lengthy_turn_0"
    assert "ferryman number 612 " in found["hits"][0]["snippet"]
    turns = (await shared.data("history_get", conversation_id="lengthy"))["turns"]
    assert turns[0]["content"] == said


@pytest.mark.parametrize(
    "name", ["c" * 100, "with spaces", "ünï/cödé:🙂", "a_turn_1", "a'; DROP TABLE memory_notes; --"]
)
async def test_a_conversation_may_have_any_name_up_to_100_characters(shared: Door, name: str) -> None:
    made = await append(shared, name, 7, f"spoken in {name}")
    assert made["turn_id"] == f"{name}_turn_7"
    assert await shared.text("history_get", conversation_id=name) == f"user: spoken in {name}"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "conversation_id must not be empty"),
        ("   ", "conversation_id must not be blank"),
        ("c" * 101, "conversation_id exceeds maximum length of 100 characters"),
    ],
)
async def test_a_conversations_name_has_limits(shared: Door, name: str, told: str) -> None:
    assert await shared.refusal("history_get", conversation_id=name) == told
    turn = {"conversation_id": name, "role": "user", "content": "x", "turn_index": 0}
    assert await shared.refusal("history_append", **turn) == told


async def test_conversations_whose_turn_ids_would_be_alike_stay_apart(shared: Door) -> None:
    await append(shared, "fork", 1, "of fork")
    await append(shared, "fork_turn_1", 1, "of fork_turn_1")
    assert await shared.text("history_get", conversation_id="fork") == "user: of fork"
    assert await shared.text("history_get", conversation_id="fork_turn_1") == "user: of fork_turn_1"


async def test_an_unknown_conversation_has_no_history(shared: Door) -> None:
    assert await shared.text("history_get", conversation_id="nobody") == "No history for nobody."
    assert (await shared.data("history_get", conversation_id="nobody"))["turns"] == []


async def test_conversations_do_not_mix(shared: Door) -> None:
    await append(shared, "left", 0, "said on the left")
    await append(shared, "right", 0, "said on the right")
    assert await shared.text("history_get", conversation_id="left") == "user: said on the left"
