"""Contract of Chroma shared with other programs: only our collections are touched; embedded and as a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nur.adapters.chroma.client import connect, disconnect
from nur.domain.errors import IndexDown, IndexLost, StoreForeign
from nur.domain.notes import Kind
from tests.index_backends import ALL, keys
from tests.index_notes import a_note, an_upsert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.index_backends import Chroma


async def test_an_index_that_was_not_closed_says_so(chroma: Chroma) -> None:
    first, second = chroma.make(), chroma.make()
    await first.open()
    assert await first.was_closed_cleanly(), "a new one has nothing to lose"
    await second.open()  # while the first is open, which is what a killed owner leaves behind
    assert not await second.was_closed_cleanly()
    await first.close()
    await second.close()


async def test_vectors_of_another_version_under_the_same_name_are_not_trusted(chroma: Chroma) -> None:
    first = chroma.make()
    await first.open()
    await first.apply([an_upsert(a_note(1), [chroma.vector(1)])])
    await first.close()
    second = chroma.make(version="test:another:8")
    await second.open()
    assert not await second.was_closed_cleanly()
    await second.close()


@pytest.fixture
def others(chroma: Chroma) -> Iterator[Any]:
    """Another program's client of the same Chroma."""
    client = connect(chroma.place, 10)
    yield client
    disconnect(client)


@pytest.mark.parametrize("name", ["memory", "artifact_chunks", "nur_state"])
async def test_somebody_elses_collection_stops_the_start(chroma: Chroma, others: Any, name: str) -> None:
    foreign = others.create_collection(name + chroma.suffix, embedding_function=None)
    foreign.upsert(["theirs"], embeddings=[[1.0, 2.0]], documents=["keep me"])
    index = chroma.make()
    with pytest.raises(StoreForeign, match=rf"'{foreign.name}'.*nur rebuild --wipe-foreign {foreign.name}$"):
        await index.open()
    assert foreign.get()["documents"] == ["keep me"]
    with pytest.raises(IndexDown):
        await index.query(chroma.vector(1), ALL, 1)
    others.delete_collection(foreign.name)
    await index.open()
    await index.close()


async def test_a_collection_of_another_store_is_somebody_elses(chroma: Chroma) -> None:
    first, second = chroma.make(), chroma.make(store_id="another")
    await first.open()
    with pytest.raises(StoreForeign):
        await second.open()
    await second.close()
    await first.close()


async def test_a_collection_that_somebody_makes_meanwhile_is_not_touched(chroma: Chroma, others: Any) -> None:
    index = chroma.make()
    await index.open()
    foreign = others.create_collection("memory" + chroma.suffix, embedding_function=None)
    with pytest.raises(StoreForeign):
        await index.apply([an_upsert(a_note(1), [chroma.vector(1)])])
    with pytest.raises(StoreForeign):
        await index.reset()
    assert foreign.count() == 0
    others.delete_collection(foreign.name)
    await index.close()


async def test_reset_touches_only_what_is_ours(chroma: Chroma, others: Any) -> None:
    foreign = others.create_collection("theirs" + chroma.suffix, embedding_function=None)
    foreign.upsert(["theirs"], embeddings=[[1.0, 2.0]], documents=["keep me"])
    index = chroma.make()
    await index.open()
    await index.apply([an_upsert(a_note(1), [chroma.vector(1)])])
    await index.reset()
    assert foreign.get()["documents"] == ["keep me"]
    assert {found.name for found in others.list_collections()} >= {foreign.name, "nur_state" + chroma.suffix}
    await index.close()


async def test_a_collection_that_somebody_deletes_is_lost_until_the_index_is_reset(chroma: Chroma, others: Any) -> None:
    """A missing collection must not be taken for an empty one."""
    index = chroma.make()
    await index.open()
    upsert = an_upsert(a_note(1), [chroma.vector(1)])
    await index.apply([upsert])
    others.delete_collection("memory" + chroma.suffix)
    for _ in range(2):
        with pytest.raises(IndexLost):
            await index.query(chroma.vector(1), ALL, 10)
        with pytest.raises(IndexLost):
            await index.count()
        with pytest.raises(IndexLost):
            await index.apply([upsert])
    await index.reset()
    assert await index.count() == 0
    await index.apply([upsert])
    assert keys(await index.query(chroma.vector(1), ALL, 10)) == [1000]
    await index.close()


async def test_a_cut_artifacts_parent_has_the_pooled_vector_and_no_text(chroma: Chroma, others: Any) -> None:
    index = chroma.make()
    await index.open()
    await index.apply([an_upsert(a_note(1, Kind.ARTIFACT), [chroma.vector(1), chroma.vector(0, 1)])])
    parents = others.get_collection("artifacts" + chroma.suffix, embedding_function=None).get(
        include=["metadatas", "documents", "embeddings"]
    )
    assert parents["ids"] == ["artifact_1"]
    assert parents["documents"] == [""]
    assert parents["metadatas"][0]["is_chunked"] is True
    assert parents["embeddings"][0][:2] == pytest.approx([0.5, 0.5])
    assert keys(await index.query(chroma.vector(0.5, 0.5), ALL, 1)) == [1000], "the parent took a place"
    await index.close()


async def test_what_is_no_longer_said_is_gone_from_the_metadata(chroma: Chroma, others: Any) -> None:
    index = chroma.make()
    await index.open()
    await index.apply([an_upsert(a_note(1, title="old", participants=("a", "b")), [chroma.vector(1)])])
    await index.apply([an_upsert(a_note(1, revision=2), [chroma.vector(1)])])
    existing = others.get_collection("memory" + chroma.suffix, embedding_function=None).get(include=["metadatas"])
    assert not existing["metadatas"][0].keys() & {"title", "participants"}
    await index.close()
