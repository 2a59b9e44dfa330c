"""PostgreSQL ranks and counts words as SQLite does."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.store_backends import BACKENDS
from tests.store_notes import ALL, START, a_note, at, creation

if TYPE_CHECKING:
    from pathlib import Path

    from nur.ports.stores import Stores

NOTES = 120
QUESTIONS = 30
#: Few common words and many rare ones, as in any text.
VOCABULARY = [f"word{number}" for number in range(60) for _ in range(60 // (number + 1))]


@pytest.fixture
def databases(tmp_path: Path) -> list[Stores]:
    """One empty store of each database."""
    return [make(tmp_path / name).stores for name, make in BACKENDS.items()]


async def test_the_first_ten_and_the_counts_are_the_same(databases: list[Stores]) -> None:
    chance = random.Random(1)
    texts = [" ".join(chance.choices(VOCABULARY, k=chance.randint(3, 40))) for _ in range(NOTES)]
    questions = [chance.sample(sorted(set(VOCABULARY)), 4) for _ in range(QUESTIONS)]
    answers = []
    for stores in databases:
        await stores.open(START)
        first: dict[int, int] = {}  #: the number of the text behind each chunk
        for number, text in enumerate(texts):
            (key,) = (await stores.notes.write(creation(a_note(text), text), at())).chunk_keys
            first[key] = number
        found = [await stores.chunks.by_words(asked, ALL, START, 10) for asked in questions]
        counted = await stores.chunks.statistics(sorted(set(VOCABULARY)))
        answers.append(([[first[key] for key in keys] for keys in found], counted))
        await stores.close()
    assert len(answers) == 2
    assert any(len(found) == 10 for found in answers[0][0])
    assert answers[0] == answers[1]
