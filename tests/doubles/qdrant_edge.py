"""Qdrant's real engine (the package qdrant-edge-py) behind the client methods that the adapter calls.

It proves that the real engine filters, ranks and rejects stale points like the in-process engine of the client. It has
one shard and no network; a collection's metadata is stored in a file next to it.
"""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import qdrant_edge as edge
from qdrant_client import models

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SCHEMAS = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "float": edge.PayloadSchemaType.Float,
    "integer": edge.PayloadSchemaType.Integer,
}


class EdgeClient:
    """The engine in a folder, shared by all indexes of one test as a server would be."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: dict[Path, edge.EdgeShard] = {}

    def close(self) -> None:
        """Disconnect one client; the engine keeps running."""

    def stop(self) -> None:
        """Close the files."""
        for shard in self._shards.values():
            shard.close()

    def collection_exists(self, name: str) -> bool:
        return self._facts(name).exists()

    def create_collection(
        self, name: str, *, vectors_config: Any, sparse_vectors_config: Any, metadata: Any, **_: Any
    ) -> None:
        folder = self._folder / name
        folder.mkdir(parents=True)
        dense = {
            vector: edge.EdgeVectorParams(size=params.size, distance=edge.Distance.Cosine)
            for vector, params in vectors_config.items()
        }
        sparse = {vector: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf) for vector in sparse_vectors_config}
        config = edge.EdgeConfig(vectors=dense, sparse_vectors=sparse)
        self._shards[folder] = edge.EdgeShard.create(str(folder), config)
        self._facts(name).write_text(json.dumps({"metadata": metadata, "indexed": []}))

    def delete_collection(self, name: str) -> None:
        self._shards.pop(self._folder / name).close()
        shutil.rmtree(self._folder / name)
        self._facts(name).unlink()

    def get_collection(self, name: str) -> Any:
        facts = json.loads(self._facts(name).read_text())
        return SimpleNamespace(
            config=SimpleNamespace(metadata=facts["metadata"]), payload_schema=dict.fromkeys(facts["indexed"])
        )

    def create_payload_index(self, name: str, field: str, schema: Any, *, wait: bool) -> None:
        kind = getattr(schema, "type", schema).value
        self._shard(name).update(edge.UpdateOperation.create_field_index(field, _SCHEMAS[kind]))
        facts = json.loads(self._facts(name).read_text())
        facts["indexed"].append(field)
        self._facts(name).write_text(json.dumps(facts))

    def count(self, name: str, *, exact: bool) -> Any:
        return SimpleNamespace(count=self._shard(name).count(edge.CountRequest(exact=exact)))

    def upsert(
        self, name: str, points: Sequence[models.PointStruct], *, wait: bool, ordering: Any, update_filter: Any
    ) -> None:
        operation = edge.UpdateOperation.upsert_points([_point(one) for one in points], _filter(update_filter))
        self._shard(name).update(operation)

    def delete(self, name: str, selector: models.FilterSelector, *, wait: bool, ordering: Any) -> None:
        self._shard(name).update(edge.UpdateOperation.delete_points_by_filter(_filter(selector.filter)))

    def scroll(self, name: str, which: models.Filter | None, *, limit: int, with_payload: bool) -> Any:
        wanted = _filter(which) if which else None
        return self._shard(name).scroll(edge.ScrollRequest(limit=limit, filter=wanted, with_payload=with_payload))

    def query_points(
        self,
        name: str,
        *,
        query: Any,
        using: str,
        query_filter: models.Filter,
        limit: int,
        with_payload: list[str],
        search_params: Any,
    ) -> Any:
        asked = _sparse(query) if isinstance(query, models.SparseVector) else query
        request = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(asked, using=using),
            filter=_filter(query_filter),
            with_payload=True,
        )
        found = self._shard(name).query(request)
        kept = [{key: (one.payload or {})[key] for key in with_payload} for one in found]
        points = [SimpleNamespace(score=one.score, payload=some) for one, some in zip(found, kept, strict=True)]
        return SimpleNamespace(points=points)

    def _facts(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _shard(self, name: str) -> edge.EdgeShard:
        try:
            return self._shards[self._folder / name]
        except KeyError:
            raise ValueError(f"Collection {name} not found") from None


def _point(point: models.PointStruct) -> edge.Point:
    assert isinstance(point.vector, dict)
    vectors: Any = {
        name: _sparse(vector) if isinstance(vector, models.SparseVector) else vector
        for name, vector in point.vector.items()
    }
    return edge.Point(UUID(str(point.id)), vectors, point.payload)


def _sparse(vector: models.SparseVector) -> edge.SparseVector:
    return edge.SparseVector(vector.indices, vector.values)


def _filter(wanted: models.Filter) -> edge.Filter:
    parts: dict[str, Any] = {
        name: [_condition(one) for one in found]
        for name in ("must", "should", "must_not")
        if (found := getattr(wanted, name))
    }
    return edge.Filter(**parts)


def _condition(wanted: Any) -> Any:
    if isinstance(wanted, models.Filter):
        return _filter(wanted)
    if isinstance(wanted, models.HasIdCondition):
        return edge.HasIdCondition({UUID(str(one)) for one in wanted.has_id})
    if wanted.range is not None:
        limits = wanted.range.model_dump(exclude_none=True)
        return edge.FieldCondition(wanted.key, range=edge.RangeFloat(**limits))
    if isinstance(wanted.match, models.MatchAny):
        return edge.FieldCondition(wanted.key, match=edge.MatchAny([str(value) for value in wanted.match.any]))
    return edge.FieldCondition(wanted.key, match=edge.MatchValue(wanted.match.value))
