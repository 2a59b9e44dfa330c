"""Faults that the stub servers can simulate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Item: TypeAlias = dict[str, Any]
Tamper: TypeAlias = Callable[[list[Item]], list[Item]]


@dataclass(frozen=True, slots=True)
class Fault:
    """How a response deviates from a correct one; everything else about it is correct."""

    name: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None  #: sent verbatim
    content_type: str = "application/json"
    tamper: Tamper | None = None  #: changes the `data` of a correct response
    keep_share: float = 1.0  #: send only this share of the body, with the full Content-Length
    delay_seconds: float = 0.0
    hang: bool = False  #: read the request and never answer
    held: bool = False  #: answer correctly, but only after the test calls `release`
    reset: bool = False  #: break the connection instead of answering


def status(code: int, **headers: str) -> Fault:
    """An error response; `retry_after="7"` sets the header Retry-After."""
    return Fault(f"status {code}", status=code, headers=tuple((k.replace("_", "-"), v) for k, v in headers.items()))


def slow(seconds: float) -> Fault:
    """A correct but slow response."""
    return Fault("slow", delay_seconds=seconds)


def _first(change: Callable[[list[float]], object]) -> Tamper:
    def tamper(data: list[Item]) -> list[Item]:
        return [{**data[0], "embedding": change(data[0]["embedding"])}, *data[1:]]

    return tamper


HANG = Fault("hang", hang=True)
HELD = Fault("held", held=True)
RESET = Fault("reset", reset=True)
EMPTY_BODY = Fault("empty body", body=b"")
HTML = Fault("html", body=b"<html><body>Bad Gateway</body></html>", content_type="text/html")
TRUNCATED_JSON = Fault("truncated JSON", body=b'{"object": "list", "data": [{"index": 0, "embedding": [0.1, ')
CUT_OFF = Fault("cut off on the wire", keep_share=0.5)
NOT_AN_OBJECT = Fault("not an object", body=b"[]")
WRONG_DIMENSION = Fault("wrong dimension", tamper=_first(lambda vector: vector[:-1]))
NAN = Fault("NaN", tamper=_first(lambda vector: [float("nan"), *vector[1:]]))
INFINITY = Fault("Infinity", tamper=_first(lambda vector: [float("inf"), *vector[1:]]))
NULL_NUMBER = Fault("null number", tamper=_first(lambda vector: [None, *vector[1:]]))
NULL_VECTOR = Fault("null vector", tamper=_first(lambda _: None))
ZERO_VECTOR = Fault("zero vector", tamper=_first(lambda vector: [0.0] * len(vector)))
FEWER_ITEMS = Fault("fewer items", tamper=lambda data: data[:-1])
MORE_ITEMS = Fault("more items", tamper=lambda data: [*data, {**data[0], "index": len(data)}])
TWICE_THE_SAME_INDEX = Fault("same index twice", tamper=lambda data: [{**item, "index": 0} for item in data])
SHUFFLED = Fault("shuffled", tamper=lambda data: data[::-1])
