"""Contract of the Qdrant adapter: sparse vectors, foreign collections, concurrent workers, no text in payloads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nur.adapters.qdrant.client import QdrantFolder
from nur.domain.errors import IndexLost, StoreForeign
from nur.retrieval.ranking.term_vectors import row_word
from nur.retrieval.text.analysis import ANALYZER
from tests.index_backends import ALL, Qdrant, everything, keys
from tests.index_notes import a_note, a_removal, an_upsert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.notes import Note
    from nur.ports.vector_index import IndexOp


def words(text: str) -> list[str]:
    return [row_word(term) for token in ANALYZER.tokens(text) for term in ANALYZER.ids(token).main]


def saying(note: Note, backend: Qdrant, *texts: str) -> IndexOp:
    op = an_upsert(note, [backend.vector(1)] * len(texts))
    return replace(op, records=[replace(one, content=text) for one, text in zip(op.records, texts, strict=True)])


async def found(backend: Qdrant, ops: Sequence[IndexOp], question: str, limit: int = 10) -> list[int]:
    index = backend.make()
    await index.open()
    await index.apply(ops)
    answer = keys(await index.by_words(words(question), ALL, limit))
    await index.close()
    return answer


async def test_rare_words_and_short_texts_count_more(qdrant: Qdrant) -> None:
    long = "bread " + "and much else that was said on that day " * 20
    ops = [
        saying(a_note(1), qdrant, "the keeper likes tea"),
        saying(a_note(2), qdrant, "the keeper likes bread"),
        saying(a_note(3), qdrant, long),
        saying(a_note(4), qdrant, "the keeper and the lamp"),
        saying(a_note(5), qdrant, "nothing of the kind"),
    ]
    assert await found(qdrant, ops, "keeper bread") == [2000, 3000, 1000, 4000]
    assert await found(qdrant, ops, "keeper bread", limit=2) == [2000, 3000]
    assert await found(qdrant, ops, "zeppelin") == []
    assert await found(qdrant, ops, "") == []


async def test_words_are_searched_within_the_filter(qdrant: Qdrant) -> None:
    index = qdrant.make()
    await index.open()
    await index.apply([saying(a_note(1, type="fact"), qdrant, "rye"), saying(a_note(2, tenant="acme"), qdrant, "rye")])
    assert keys(await index.by_words(words("rye"), ALL, 10)) == [1000]
    assert keys(await index.by_words(words("rye"), replace(ALL, tenant="acme"), 10)) == [2000]
    assert keys(await index.by_words(words("rye"), replace(ALL, type="decision"), 10)) == []
    await index.apply([saying(a_note(1, revision=2), qdrant, "wheat"), a_removal(2, revision=2)])
    assert keys(await index.by_words(words("rye"), ALL, 10)) == []
    assert keys(await index.by_words(words("wheat"), ALL, 10)) == [1000]
    await index.close()


async def test_a_collection_of_another_store_is_refused_and_stays(qdrant: Qdrant) -> None:
    theirs = qdrant.make(store_id="theirs")
    await theirs.open()
    await theirs.apply([an_upsert(a_note(1), [qdrant.vector(1)])])
    await theirs.close()
    ours = qdrant.make()
    with pytest.raises(StoreForeign, match=r"--wipe-foreign nur_|--wipe-foreign test_"):
        await ours.open()
    await ours.close()
    again = qdrant.make(store_id="theirs")
    await again.open()
    assert await again.count() == 1
    await again.close()


async def test_another_embedding_version_has_a_collection_of_its_own(qdrant: Qdrant) -> None:
    first, second = qdrant.make(), qdrant.make(version="test:other:4")
    await first.open()
    await first.apply([an_upsert(a_note(1), [qdrant.vector(1)])])
    await first.close()
    await second.open()
    assert await second.count() == 0
    await second.reset()
    await second.close()
    await first_again(qdrant)


async def first_again(qdrant: Qdrant) -> None:
    index = qdrant.make()
    await index.open()
    assert await index.count() == 1
    await index.close()


async def test_a_collection_that_somebody_deleted_is_lost_not_empty(qdrant: Qdrant) -> None:
    index = qdrant.make()
    await index.open()
    await index.apply([an_upsert(a_note(1), [qdrant.vector(1)])])
    collection = index._collection()
    await index._run("delete", collection.client.delete_collection, collection.name)
    for ask in (index.count(), index.query(qdrant.vector(1), ALL, 1)):
        with pytest.raises(IndexLost):
            await ask
    await index.reset()
    assert await index.count() == 0
    await index.close()


async def test_no_text_leaves_the_store(qdrant: Qdrant) -> None:
    index = qdrant.make()
    await index.open()
    await index.apply([saying(a_note(1, title="Bread"), qdrant, "the keeper likes rye bread")])
    collection = index._collection()
    payload = await index._run("read", _payload, collection)
    assert not {"keeper", "rye", "bread"} & set(str(payload).lower().split())
    assert {"note_id", "chunk_id", "chunk_index", "start_offset", "end_offset", "tenant", "status"} <= payload.keys()
    await index.close()


def _payload(collection: object) -> dict[str, object]:
    points, _ = collection.client.scroll(collection.name, None, limit=1, with_payload=True)  # type: ignore[attr-defined]
    return dict(points[0].payload)


@pytest.mark.parametrize("late", [2, 1])
async def test_the_stale_write_of_another_worker_does_not_win(qdrant: Qdrant, late: int) -> None:
    """Two processes do not know of each other: only Qdrant can tell that the second write is older."""
    if isinstance(qdrant.place, QdrantFolder):
        pytest.skip("one process only may have the folder open")
    one, other = qdrant.make(), qdrant.make()
    await one.open()
    await other.open()
    await one.apply([an_upsert(a_note(1, revision=3), [qdrant.vector(0, 1)])])
    await other.apply([an_upsert(a_note(1, revision=late), [qdrant.vector(1)] * 3)])
    assert await everything(one, qdrant) == [1000]
    assert (await one.query(qdrant.vector(0, 1), ALL, 1))[0].similarity == pytest.approx(1)
    await one.close()
    await other.close()
