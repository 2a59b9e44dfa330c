"""What the embedder of sentence models records about its work."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from nur.adapters.sentences.embedder import SentenceEmbedder
from nur.observability.metrics import REGISTRY
from tests.doubles.clock import ManualClock
from tests.sentence_models import installed

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


class TickingClock(ManualClock):
    """A clock on which a quarter of a second passes between two looks."""

    def monotonic(self) -> float:
        self.advance(0.25)
        return super().monotonic()


async def test_a_query_is_logged_and_timed_as_stored_texts_are(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    before = REGISTRY.get_sample_value("embedding_latency_seconds_sum") or 0.0
    with installed(tmp_path):
        embedder = SentenceEmbedder(clock=TickingClock())
        await embedder.embed_query("tea in the morning")
        await embedder.close()
    assert REGISTRY.get_sample_value("embedding_latency_seconds_sum") == before + 0.25
    assert [record.getMessage() for record in caplog.records] == ["embedding_requested", "embedding_generated"]
