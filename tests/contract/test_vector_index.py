"""Contract tests of all vector indexes."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.domain.notes import Kind, Status
from nur.ports.vector_index import IndexOp
from tests.index_backends import ALL, FlatSigns, InMemory, PgVector, everything, found_alone, keys
from tests.index_notes import NOW, a_note, a_removal, an_upsert

if TYPE_CHECKING:
    from nur.ports.vector_index import VectorIndex
    from tests.index_backends import Backend


async def test_an_empty_index_finds_nothing(index: VectorIndex, backend: Backend) -> None:
    assert await index.query(backend.vector(1), ALL, 10) == []
    assert await backend.count(index) == 0
    assert (await index.health()).healthy


async def test_similarity_is_the_cosine_and_the_nearest_come_first(index: VectorIndex, backend: Backend) -> None:
    at = {1: (0, 2), 2: (3, 4), 3: (5, 0), 4: (-1, 0)}  # lengths differ: only directions count
    await backend.apply(index, *(an_upsert(a_note(n), [backend.vector(*v)]) for n, v in at.items()))
    found = await index.query(backend.vector(2), ALL, 10)
    assert keys(found) == [3000, 2000, 1000, 4000]
    assert [neighbour.similarity for neighbour in found] == pytest.approx([1, 0.6, 0, -1], abs=1e-6)


async def test_a_neighbour_names_its_note(index: VectorIndex, backend: Backend) -> None:
    cut = an_upsert(a_note(1, Kind.ARTIFACT), [backend.vector(1), backend.vector(1, 1)])
    whole = an_upsert(a_note(2), [backend.vector(0, 1)])
    await backend.apply(index, cut, whole)
    found = await index.query(backend.vector(1), ALL, 10)
    assert [(neighbour.chunk_key, neighbour.note_id) for neighbour in found] == [
        (1000, cut.note_id),
        (1001, cut.note_id),
        (2000, whole.note_id),
    ]


async def test_kinds_are_ranked_together_and_equals_by_key(index: VectorIndex, backend: Backend) -> None:
    ops = [an_upsert(a_note(n, kind), [backend.vector(1, 1)]) for n, kind in enumerate(reversed(Kind), 1)]
    ops.append(an_upsert(a_note(9, Kind.ARTIFACT), [backend.vector(1), backend.vector(0, 1)]))
    await backend.apply(index, *ops)
    assert keys(await index.query(backend.vector(1), ALL, 10)) == [9000, 1000, 2000, 3000, 4000, 5000, 9001]


async def test_at_most_limit_are_found_and_they_are_the_best(index: VectorIndex, backend: Backend) -> None:
    kinds = itertools.cycle(Kind)
    await backend.apply(
        index, *(an_upsert(a_note(n, next(kinds)), [backend.vector(1, n / 10)]) for n in range(20, 0, -1))
    )
    assert keys(await index.query(backend.vector(1), ALL, 3)) == [1000, 2000, 3000]
    assert await index.query(backend.vector(1), ALL, 0) == []


async def test_the_same_write_twice_is_one_write(index: VectorIndex, backend: Backend) -> None:
    op = an_upsert(a_note(1, Kind.ARTIFACT), [backend.vector(1), backend.vector(0, 1)])
    await backend.apply(index, op, op)
    await backend.apply(index, op)
    assert await everything(index, backend) == [1000, 1001]
    assert await backend.count(index) == 2


async def test_a_write_replaces_the_vector_and_what_is_said_of_it(index: VectorIndex, backend: Backend) -> None:
    first = a_note(1, type="fact", confidence=0.2, conversation_id="c")
    await backend.apply(index, an_upsert(first, [backend.vector(1)]))
    await backend.apply(index, an_upsert(a_note(1, revision=2, type="decision"), [backend.vector(0, 1)]))
    assert found_alone(await index.query(backend.vector(0, 1), replace(ALL, min_confidence=0.9), 10), 1000)
    assert await everything(index, backend, type="fact") == []


async def test_a_stale_write_does_not_win(index: VectorIndex, backend: Backend) -> None:
    await backend.apply(index, an_upsert(a_note(1, revision=3), [backend.vector(0, 1)]))
    await backend.apply(index, an_upsert(a_note(1, revision=2), [backend.vector(1)] * 2, first_key=50))
    assert found_alone(await index.query(backend.vector(0, 1), ALL, 10), 1000)


async def test_the_newest_of_one_batch_wins_in_whatever_order(index: VectorIndex, backend: Backend) -> None:
    revisions = [an_upsert(a_note(1, revision=n), [backend.vector(1)], first_key=n) for n in (2, 3, 1)]
    await backend.apply(index, *revisions)
    assert await everything(index, backend) == [3]


async def test_a_stale_removal_does_not_win(index: VectorIndex, backend: Backend) -> None:
    await backend.apply(index, an_upsert(a_note(1, revision=3), [backend.vector(1)]))
    await backend.apply(index, a_removal(1, revision=2))
    assert await everything(index, backend) == [1000]


async def test_a_stale_write_does_not_bring_a_removed_note_back(index: VectorIndex, backend: Backend) -> None:
    await backend.apply(index, an_upsert(a_note(1, revision=1), [backend.vector(1)]))
    await backend.apply(index, a_removal(1, revision=3))
    await backend.apply(index, an_upsert(a_note(1, revision=2), [backend.vector(1)]))
    assert await backend.count(index) == 0
    await backend.apply(index, an_upsert(a_note(1, revision=4), [backend.vector(1)]))
    assert await everything(index, backend) == [1000]


@pytest.mark.parametrize("kind", [Kind.ARTIFACT, Kind.MEMORY])
async def test_a_replaced_note_drops_the_chunks_it_no_longer_has(
    index: VectorIndex, backend: Backend, kind: Kind
) -> None:
    vectors = [backend.vector(1, n) for n in range(3)]
    await backend.apply(index, an_upsert(a_note(1, kind), vectors))
    await backend.apply(index, an_upsert(a_note(1, kind, revision=2), vectors[:2], first_key=1001))
    assert await everything(index, backend) == [1001, 1002]
    await backend.apply(index, an_upsert(a_note(1, kind, revision=3), vectors[:1]))
    assert await everything(index, backend) == [1000]
    assert await backend.count(index) == 1


async def test_a_removed_note_leaves_nothing(index: VectorIndex, backend: Backend) -> None:
    cut = an_upsert(a_note(1, Kind.ARTIFACT), [backend.vector(1), backend.vector(0, 1)])
    await backend.apply(index, cut, an_upsert(a_note(2), [backend.vector(1)]))
    await backend.apply(index, a_removal(1, revision=2), a_removal(7, revision=1))
    assert await everything(index, backend) == [2000]
    assert await backend.count(index) == 1


async def test_a_note_in_the_trash_is_not_found(index: VectorIndex, backend: Backend) -> None:
    op = an_upsert(a_note(1), [backend.vector(1)])
    assert op.note is not None
    await backend.apply(index, op)
    deleted = replace(op.note, status=Status.DELETED, revision=2)
    await backend.apply(index, IndexOp(op.note_id, 2, deleted))
    assert await everything(index, backend) == []


async def test_the_count_is_of_chunks(index: VectorIndex, backend: Backend) -> None:
    two = [backend.vector(1), backend.vector(0, 1)]
    ops = [an_upsert(a_note(n, kind), two) for n, kind in enumerate(Kind, 1)]
    await backend.apply(index, *ops, an_upsert(a_note(9, Kind.ARTIFACT), two[:1]))
    assert await backend.count(index) == 11
    assert len(await everything(index, backend)) == 11


async def test_an_expired_note_is_not_found(index: VectorIndex, backend: Backend) -> None:
    for number, days in ((1, 1), (2, 2)):
        note = a_note(number, expires_at=NOW + timedelta(days=days))
        await backend.apply(index, an_upsert(note, [backend.vector(1)]))
    assert await everything(index, backend) == [1000, 2000]
    backend.clock.advance(timedelta(days=1).total_seconds())
    assert await everything(index, backend) == [2000]
    backend.clock.advance(timedelta(days=1).total_seconds())
    assert await everything(index, backend) == []


async def test_others_records_do_not_crowd_out_a_few(index: VectorIndex, backend: Backend) -> None:
    """Every nearer record is expired or belongs to another tenant."""
    near, far = backend.vector(1), backend.vector(1, 1)
    others = [an_upsert(a_note(n, Kind.ARTIFACT, tenant="acme"), [near]) for n in range(10, 20)]
    expired = [an_upsert(a_note(n, Kind.ARTIFACT, expires_at=NOW), [near]) for n in range(20, 30)]
    await backend.apply(index, *others, *expired, an_upsert(a_note(1, Kind.ARTIFACT), [far]))
    assert keys(await index.query(near, ALL, 2)) == [1000]


async def test_the_same_public_id_in_two_tenants_is_two_notes(index: VectorIndex, backend: Backend) -> None:
    twins = [replace(a_note(n, tenant=tenant), public_id="mem_twin") for n, tenant in ((1, "default"), (2, "acme"))]
    await backend.apply(index, *(an_upsert(twin, [backend.vector(1)]) for twin in twins))
    assert await everything(index, backend) == [1000]
    assert await everything(index, backend, tenant="acme") == [2000]


async def test_reset_forgets_and_the_index_goes_on(index: VectorIndex, backend: Backend) -> None:
    if isinstance(backend, PgVector):
        pytest.skip("it holds nothing but the stored vectors, which a reset must not delete")
    ops = [an_upsert(a_note(n, kind), [backend.vector(1)]) for n, kind in enumerate(Kind, 1)]
    await backend.apply(index, *ops)
    await index.reset()
    assert await index.count() == 0
    assert await everything(index, backend) == []
    await index.apply(ops)
    assert await everything(index, backend) == [1000, 2000, 3000, 4000, 5000]


async def test_a_reopened_index_knows_what_it_knew(backend: Backend) -> None:
    if isinstance(backend, InMemory):
        pytest.skip("keeps nothing")
    first = backend.make()
    await first.open()
    cut = an_upsert(a_note(1, Kind.ARTIFACT, revision=5), [backend.vector(1), backend.vector(0, 1)])
    await backend.apply(first, cut, an_upsert(a_note(2, type="fact"), [backend.vector(1, 1)]))
    await first.close()

    second = backend.make()
    await second.open()
    assert await second.was_closed_cleanly()
    assert await backend.count(second) == 3
    assert keys(await second.query(backend.vector(1), ALL, 10)) == [1000, 2000, 1001]
    assert await everything(second, backend, type="fact") == [2000]
    await backend.apply(second, an_upsert(a_note(1, Kind.ARTIFACT, revision=4), [backend.vector(1)]))
    assert await backend.count(second) == 3, "an older revision won after a restart"
    await second.close()


async def test_more_records_than_one_request_takes(
    request: pytest.FixtureRequest, index: VectorIndex, backend: Backend
) -> None:
    if isinstance(backend, FlatSigns) or request.node.callspec.params["backend"] in ("chroma_folder", "qdrant_folder"):
        pytest.skip("slow, and says nothing that the others do not")
    many = 5_500  # Chroma's limit is 5,461
    vectors = np.random.default_rng(0).standard_normal((many, backend.dimensions)).astype(np.float32)
    await backend.apply(index, an_upsert(a_note(1), list(vectors), first_key=1))
    assert await backend.count(index) == many
    assert found_alone(await index.query(vectors[5_480], ALL, 1), 5_481)
    await backend.apply(index, a_removal(1, revision=2))
    assert await backend.count(index) == 0
