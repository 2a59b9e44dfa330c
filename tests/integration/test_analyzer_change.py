"""A store whose words were found by another analyzer heals itself when it is opened."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING

from nur import bootstrap
from nur.domain.search import Mode, SearchRequest
from nur.domain.writes import OnEmbeddingFailure
from nur.settings import load
from tests.callers import LOCAL_CALLER
from tests.note_world import EVERYTHING

if TYPE_CHECKING:
    from pathlib import Path

    from nur.bootstrap import Services


async def found_by_words(services: Services) -> int:
    return len(
        (
            await services.search(
                SearchRequest(query="marmalade", caller=LOCAL_CALLER, where=EVERYTHING, mode=Mode.LEXICAL)
            )
        ).hits
    )


async def test_words_are_found_again_after_a_change_of_the_analyzer(tmp_path: Path) -> None:
    settings = load(nur_data_dir=tmp_path)
    async with bootstrap.running(settings) as services:
        await services.remember(
            "The marmalade is in the cellar.",
            type="fact",
            confidence=1.0,
            conversation_id=None,
            caller=LOCAL_CALLER,
            on_failure=OnEmbeddingFailure.REJECT,
        )
        assert await found_by_words(services) == 1
    with sqlite3.connect(tmp_path / "nur.db") as store:  # as an older analyzer would have left it
        store.execute("UPDATE piece_terms SET terms = 'deadbeef'")
        store.execute("UPDATE store_facts SET value = '0' WHERE name = 'analyzer_version'")
    async with bootstrap.running(settings) as services:
        while services.rebuild.report.is_running:  # noqa: ASYNC110  # as who asks over REST
            await asyncio.sleep(0.01)
        assert await found_by_words(services) == 1
        assert services.rebuild.report.rechunked == 1
