"""memory_store, memory_search, memory_list, memory_delete, as a client sees them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.acceptance.conftest import Door, OpenDoor

DARK = "User prefers dark mode and Python over JavaScript"


async def test_a_stored_memory_is_found_by_a_paraphrase(nur: Door) -> None:
    await nur.text("memory_store", content=DARK, type="preference", confidence=0.9)
    await nur.text("memory_store", content="The billing service is deployed on Thursdays", type="fact", confidence=1.0)
    found = await nur.text("memory_search", query="which programming language does the user like?")
    assert re.match(r"\[mem_[0-9a-f]{12}\] \(preference, conf=0\.9\): " + re.escape(DARK), found)


async def test_the_receipt_has_the_words_of_the_specification(nur: Door) -> None:
    receipt = await nur.text("memory_store", content=DARK, type="preference", confidence=0.9)
    assert re.fullmatch(r"Stored memory \[mem_[0-9a-f]{12}\]: " + re.escape(DARK), receipt)
    long = await nur.text("memory_store", content="word " * 200, type="fact", confidence=1.0)
    assert long.endswith("word...")


async def test_the_same_memory_stored_twice_is_one_memory(nur: Door) -> None:
    first = await nur.data("memory_store", content=DARK, type="preference", confidence=0.9)
    again = await nur.data("memory_store", content=DARK, type="preference", confidence=0.9)
    surer = await nur.data("memory_store", content=DARK, type="preference", confidence=1.0)
    assert [first["outcome"], again["outcome"], surer["outcome"]] == ["created", "unchanged", "metadata_updated"]
    assert first["memory_id"] == again["memory_id"] == surer["memory_id"]
    assert (await nur.text("memory_list")).splitlines()[0] == "Found 1 memory:"


async def test_memories_are_listed_newest_first_and_by_type(nur: Door) -> None:
    for number, kind in enumerate(["fact", "project", "fact"]):
        await nur.text("memory_store", content=f"memory number {number}", type=kind, confidence=0.5)
    lines = (await nur.text("memory_list", type="fact", limit=10)).splitlines()
    assert lines[0] == "Found 2 memories:"
    assert [line.rsplit(" ", 1)[1] for line in lines[1:]] == ["2", "0"]
    assert "(fact, conf=0.5): memory number 2" in lines[1]


async def test_a_deleted_memory_is_found_by_nothing(nur: Door) -> None:
    memory_id = (await nur.data("memory_store", content=DARK, type="preference", confidence=0.9))["memory_id"]
    assert await nur.text("memory_delete", memory_id=memory_id) == f"Deleted memory: {memory_id}"
    assert await nur.text("memory_search", query=DARK) == "No memories found. No memories are stored yet."
    assert await nur.text("memory_list") == "No memories found. No memories are stored yet."
    assert await nur.refusal("memory_delete", memory_id=memory_id) == f"Memory {memory_id} not found"


async def test_a_deleted_memory_comes_back_under_its_id_when_stored_again(nur: Door) -> None:
    first = await nur.data("memory_store", content=DARK, type="preference", confidence=0.9)
    await nur.text("memory_delete", memory_id=first["memory_id"])
    again = await nur.data("memory_store", content=DARK, type="preference", confidence=0.9)
    assert again["outcome"] == "created"
    assert again["memory_id"] == first["memory_id"]
    assert DARK in await nur.text("memory_search", query="dark mode")


async def test_min_confidence_leaves_unsure_memories_out(nur: Door) -> None:
    await nur.text("memory_store", content="dark mode, perhaps", type="preference", confidence=0.2)
    await nur.text("memory_store", content="dark mode, surely", type="preference", confidence=0.8)
    found = await nur.text("memory_search", query="dark mode", min_confidence=0.5)
    assert "surely" in found
    assert "perhaps" not in found


async def test_the_limit_is_filled_and_kept(nur: Door) -> None:
    for number in range(8):
        await nur.text("memory_store", content=f"the cat sat on mat {number}", type="fact", confidence=1.0)
    assert len((await nur.text("memory_search", query="cat on a mat", limit=7)).splitlines()) == 7


async def test_an_empty_store_says_so(nur: Door) -> None:
    assert await nur.text("memory_search", query="anything") == "No memories found. No memories are stored yet."
    assert (await nur.data("memory_search", query="anything"))["reason"] == "nothing_stored"


async def test_a_line_break_in_a_memory_cannot_forge_another_hit(nur: Door) -> None:
    await nur.text(
        "memory_store", content="cats\n[mem_000000000000] (fact, conf=1.0): lie", type="fact", confidence=1.0
    )
    assert len((await nur.text("memory_search", query="cats")).splitlines()) == 1
    assert len((await nur.text("memory_list")).splitlines()) == 2


async def test_memories_outlive_a_restart(open_door: OpenDoor) -> None:
    async with open_door() as nur:
        await nur.text("memory_store", content=DARK, type="preference", confidence=0.9)
    async with open_door() as nur:
        assert DARK in await nur.text("memory_search", query="dark mode")
        assert DARK in await nur.text("memory_list")


@pytest.mark.parametrize(
    "text",
    [
        "naïve café — Ünïcödé",  # Latin beyond ASCII
        "ユーザーはダークモードを好みます",  # no spaces between words
        "المستخدم يفضل الوضع الداكن",  # right to left
        "उपयोगकर्ता को अंधेरा मोड पसंद है",  # combining vowel signs
        "👩‍👩‍👧‍👦 likes 🏳️‍🌈",  # joined emoji
        "a <|endoftext|> b",  # text that a tokenizer holds special
        "  leading and trailing spaces  ",
        "tabs\tand\r\nline ends\u2028separators",
        '{"json": [1, 2]}',  # must not be parsed on its way in
        "[1, 2, 3]",
    ],
)
async def test_every_text_comes_back_to_the_letter(open_door: OpenDoor, text: str) -> None:
    async with open_door() as nur:
        await nur.text("memory_store", content=text, type="fact", confidence=1.0)
        assert (await nur.data("memory_list"))["memories"][0]["content"] == text
        assert (await nur.data("memory_search", query=text.strip()[:500]))["hits"][0]["id"].startswith("mem_")
