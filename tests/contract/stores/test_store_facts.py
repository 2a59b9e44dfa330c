"""What every StoreFacts does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nur.ports.stores import Stores


async def test_a_fact_is_set_once_unless_it_is_set_on_purpose(stores: Stores) -> None:
    assert await stores.facts.get("embedding_version") is None
    assert await stores.facts.set_if_absent("embedding_version", "a") == "a"
    assert await stores.facts.set_if_absent("embedding_version", "b") == "a"
    await stores.facts.set("embedding_version", "c")
    await stores.facts.set("other", "d")
    assert await stores.facts.get("embedding_version") == "c"
    assert await stores.facts.get("other") == "d"


async def test_of_many_who_set_a_fact_at_once_all_get_the_same(stores: Stores) -> None:
    answers = await asyncio.gather(*(stores.facts.set_if_absent("a_fact", f"s{i}") for i in range(16)))
    assert set(answers) == {await stores.facts.get("a_fact")}
