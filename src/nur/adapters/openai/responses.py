"""Reading what the provider sent back. Whatever is not exactly the vectors asked for is an error, never stored."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from nur.ports.embedder import Floats

#: Longer than any rounding error, shorter than any real vector.
_SHORTEST = 1e-12


class AnswerError(ValueError):
    """The answer cannot be used. Its text names the defect and holds nothing the provider sent."""


class DimensionsError(AnswerError):
    """Vectors of another size: another model answers than the configured one."""


@dataclass(frozen=True, slots=True)
class EmbeddingResponse:
    """Unit vectors in the order of the texts, and the tokens the provider counted, if it reports them."""

    vectors: Floats
    tokens: int | None


def read(body: bytes, *, count: int, dimensions: int) -> EmbeddingResponse:
    """The vectors of a response body, put in order by their `index`. Raises AnswerError."""
    answer = _parsed(body)
    items = answer.get("data")
    if not isinstance(items, list) or len(items) != count:
        raise AnswerError("not one vector per text")
    places: list[int] = []
    rows: list[npt.NDArray[np.float64]] = []
    for item in items:
        place, row = _item(item, dimensions)
        places.append(place)
        rows.append(row)
    if sorted(places) != list(range(count)):
        raise AnswerError("the indexes are not those of the texts")
    vectors = np.empty((count, dimensions), np.float32)
    vectors[places] = _unit(np.stack(rows))
    return EmbeddingResponse(vectors, _tokens(answer))


def _parsed(body: bytes) -> dict[str, object]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise AnswerError("not JSON") from error
    if not isinstance(answer, dict):
        raise AnswerError("not a JSON object")
    return answer


def _item(item: object, dimensions: int) -> tuple[int, npt.NDArray[np.float64]]:
    if not isinstance(item, dict):
        raise AnswerError("an item is not an object")
    place = item.get("index")
    if type(place) is not int:
        raise AnswerError("an item has no index")
    row = _row(item.get("embedding"))
    if row.shape != (dimensions,):
        raise DimensionsError(f"{row.size} dimensions instead of {dimensions}")
    return place, row


def _row(values: object) -> npt.NDArray[np.float64]:
    """One vector, from base64 of little-endian float32 or from a list of numbers."""
    if isinstance(values, str):
        return _decoded(values)
    if not isinstance(values, list):
        raise AnswerError("an item has no vector")
    try:
        row = np.asarray(values)
    except ValueError as error:  # lists of different lengths inside the list
        raise AnswerError("a vector is not a list of numbers") from error
    if row.ndim != 1 or row.dtype.kind not in "fi":  # null makes it an array of objects, "1.0" one of strings
        raise AnswerError("a vector is not a list of numbers")
    return row.astype(np.float64)


def _decoded(values: str) -> npt.NDArray[np.float64]:
    try:
        return np.frombuffer(base64.b64decode(values, validate=True), "<f4").astype(np.float64)
    except ValueError as error:
        raise AnswerError("a vector is not base64 of floats") from error


def _unit(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if not np.isfinite(rows).all():
        raise AnswerError("a vector holds numbers that are not finite")
    with np.errstate(over="ignore"):  # a length that is not finite is reported below
        lengths: npt.NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or lengths.min() < _SHORTEST:
        raise AnswerError("a vector has no usable length")
    return rows / lengths


def _tokens(answer: dict[str, object]) -> int | None:
    usage = answer.get("usage")
    tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
    return tokens if type(tokens) is int and tokens >= 0 else None
