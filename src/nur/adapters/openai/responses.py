"""Parses and checks embedding responses. Anything but exactly the requested vectors is an error."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from nur.ports.embedder import Floats

#: Minimum vector length: above any rounding error, below any real vector.
_MIN_LENGTH = 1e-12


class ResponseError(ValueError):
    """The response cannot be used. The message names the defect and quotes nothing from the provider."""


class DimensionsError(ResponseError):
    """The vectors have the wrong size: another model answered than the configured one."""


@dataclass(frozen=True, slots=True)
class EmbeddingResponse:
    """Unit vectors in text order, and the provider's token count, if it reports one."""

    vectors: Floats
    tokens: int | None


def read(body: bytes, *, count: int, dimensions: int) -> EmbeddingResponse:
    """The vectors of a response body, sorted by their `index`. Raises ResponseError."""
    answer = _parsed(body)
    items = answer.get("data")
    if not isinstance(items, list) or len(items) != count:
        raise ResponseError("not one vector per text")
    indexes: list[int] = []
    rows: list[npt.NDArray[np.float64]] = []
    for item in items:
        index, row = _item(item, dimensions)
        indexes.append(index)
        rows.append(row)
    if sorted(indexes) != list(range(count)):
        raise ResponseError("the indexes are not those of the texts")
    vectors = np.empty((count, dimensions), np.float32)
    vectors[indexes] = _unit(np.stack(rows))
    return EmbeddingResponse(vectors, _tokens(answer))


def _parsed(body: bytes) -> dict[str, object]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ResponseError("not JSON") from error
    if not isinstance(answer, dict):
        raise ResponseError("not a JSON object")
    return answer


def _item(item: object, dimensions: int) -> tuple[int, npt.NDArray[np.float64]]:
    if not isinstance(item, dict):
        raise ResponseError("an item is not an object")
    index = item.get("index")
    if type(index) is not int:
        raise ResponseError("an item has no index")
    row = _row(item.get("embedding"))
    if row.shape != (dimensions,):
        raise DimensionsError(f"{row.size} dimensions instead of {dimensions}")
    return index, row


def _row(values: object) -> npt.NDArray[np.float64]:
    """One vector, from base64 (little-endian float32) or from a list of numbers."""
    if isinstance(values, str):
        return _decoded(values)
    if not isinstance(values, list):
        raise ResponseError("an item has no vector")
    try:
        row = np.asarray(values)
    except ValueError as error:  # nested lists of different lengths
        raise ResponseError("a vector is not a list of numbers") from error
    if row.ndim != 1 or row.dtype.kind not in "fi":  # null makes it an object array, "1.0" a string array
        raise ResponseError("a vector is not a list of numbers")
    return row.astype(np.float64)


def _decoded(values: str) -> npt.NDArray[np.float64]:
    try:
        return np.frombuffer(base64.b64decode(values, validate=True), "<f4").astype(np.float64)
    except ValueError as error:
        raise ResponseError("a vector is not base64 of floats") from error


def _unit(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if not np.isfinite(rows).all():
        raise ResponseError("a vector holds numbers that are not finite")
    with np.errstate(over="ignore"):  # an infinite length is reported below
        lengths: npt.NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or lengths.min() < _MIN_LENGTH:
        raise ResponseError("a vector has no usable length")
    return rows / lengths


def _tokens(answer: dict[str, object]) -> int | None:
    usage = answer.get("usage")
    tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
    return tokens if type(tokens) is int and tokens >= 0 else None
