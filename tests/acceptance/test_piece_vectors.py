"""With a model that embeds pieces, a sentence of a long document is found by its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.domain.access import LOCAL
from nur.domain.filters import NoteFilter
from nur.services.jobs.reembed import Reembed
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import InMemoryPieceEmbedder

if TYPE_CHECKING:
    from tests.acceptance.conftest import OpenWithoutJobs

SYNONYMS = {"zug": "train", "abfahrt": "departs", "gleis": "platform"}
SUBJECTS = ("roof", "garden", "cellar", "kitchen", "stairs", "attic", "fence", "gate", "well", "shed")
FILLING = [f"The {subject} was measured and paid for in week {week}." for week in range(8) for subject in SUBJECTS]
ANSWER = "The train departs at 07:40 from platform nine."
DOCUMENT = "\n\n".join([*FILLING[:60], ANSWER, *FILLING[60:]])
QUESTION = "Zug Abfahrt Gleis"  # no word in common with the answer


async def test_a_sentence_with_no_word_in_common_is_the_passage(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs(embedder=InMemoryPieceEmbedder(SYNONYMS)) as nur:
        await nur.call("artifact_ingest", artifact_type="doc", source_system="test", content=DOCUMENT)
        for subject in SUBJECTS:
            await nur.call("memory_store", content=f"The {subject} is done.", type="fact", confidence=0.9)

        found = await nur.data("hybrid_search", query=QUESTION, limit=3, response_format="detailed")

    first = found["hits"][0]
    assert ANSWER in " ".join(passage["text"] for passage in first["passages"])


async def test_another_model_embeds_what_is_stored(open_without_jobs: OpenWithoutJobs) -> None:
    """A store without pieces' vectors, as one of another model is, finds by meaning once it is embedded again."""
    embedder, clock = InMemoryPieceEmbedder(SYNONYMS), ManualClock()
    async with open_without_jobs(clock=clock) as nur:
        await nur.call("artifact_ingest", artifact_type="doc", source_system="test", content=DOCUMENT)
        stores = nur.services.stores
        result = await Reembed(stores, None, embedder, clock)("in_memory:hashed-words:64", lambda done, total: None)
        assert (result.switched, result.failed) == (True, 0)
    async with open_without_jobs(clock=clock, embedder=embedder) as nur:
        where = NoteFilter(tenant=LOCAL.tenant)
        (note,) = await nur.services.stores.notes.page(where, clock.now(), limit=9)
        await nur.services.index_worker.index_note(note)

        found = await nur.data("hybrid_search", query=QUESTION, limit=3, response_format="detailed")

    passages = " ".join(passage["text"] for passage in found["hits"][0]["passages"])
    assert ANSWER in passages


@pytest.mark.parametrize("text", ["Tea at four.", DOCUMENT])
async def test_an_edit_embeds_the_pieces_of_the_new_text(open_without_jobs: OpenWithoutJobs, text: str) -> None:
    async with open_without_jobs(embedder=InMemoryPieceEmbedder(SYNONYMS)) as nur:
        await nur.call("artifact_ingest", artifact_type="doc", source_system="test", source_id="1", content=text)
        changed = text.replace("07:40", "08:15") + "\n\nThe train departs from platform two."
        await nur.call("artifact_ingest", artifact_type="doc", source_system="test", source_id="1", content=changed)

        found = await nur.data("hybrid_search", query=QUESTION, limit=3, response_format="detailed")

    passages = " ".join(passage["text"] for passage in found["hits"][0]["passages"])
    assert "platform two" in passages
