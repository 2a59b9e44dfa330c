"""How the fields of a record are read, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from nur.domain.errors import BadRequest
from nur.domain.notes import MAX_CHARACTERS
from nur.domain.record_fields import (
    MAX_COUNT,
    MAX_NAME_CHARACTERS,
    METADATA,
    content,
    count,
    moment,
    read_fields,
    refuse_unstorable,
    string,
)


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (string, "x" * MAX_NAME_CHARACTERS),
        (string, ""),
        (content, " x "),
        (content, "x" * MAX_CHARACTERS),
        (count, 1),
        (count, MAX_COUNT),
        (count, 2_147_483_647),  # what a database's integer holds
    ],
)
def test_values_within_the_limits_are_taken_as_they_are(read: Any, value: object) -> None:
    assert read(value) == value


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (string, "x" * (MAX_NAME_CHARACTERS + 1)),
        (string, 5),
        (content, " \n"),
        (content, None),
        (content, "x" * (MAX_CHARACTERS + 1)),
        (count, 0),
        (count, 2_147_483_648),
        (count, True),
        (count, 1.0),
        (moment, "2026-01-05T09:30:00"),  # no zone
        (moment, "yesterday"),
        (moment, 5),
    ],
)
def test_values_beyond_the_limits_are_refused(read: Any, value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        read(value)


def test_a_time_is_read_as_utc() -> None:
    assert moment("2026-01-05T09:30:00+02:00") == datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "is_taken"), [(0, True), (1, True), (0.5, True), (-0.1, False), (1.1, False), (True, False), ("1", False)]
)
def test_a_confidence_lies_between_0_and_1(value: object, is_taken: bool) -> None:
    if is_taken:
        assert read_fields({"confidence": value}, METADATA) == {"confidence": value}
    else:
        with pytest.raises(BadRequest, match=r"^meta.confidence: must be a number between 0 and 1"):
            read_fields({"confidence": value}, METADATA, "meta.")


def test_null_is_a_missing_field_and_an_unknown_one_is_named() -> None:
    assert read_fields({"confidence": None}, METADATA) == {}
    with pytest.raises(BadRequest, match=r"^meta.colour: there is no such field"):
        read_fields({"colour": None}, METADATA, "meta.")


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800"])
@pytest.mark.parametrize("inside", [lambda bad: bad, lambda bad: {"a": [1, {"b": bad}]}, lambda bad: {bad: 1}])
def test_strings_that_no_database_stores_are_refused_wherever_they_are(inside: Any, bad: str) -> None:
    with pytest.raises(BadRequest):
        refuse_unstorable(inside(bad))
    refuse_unstorable(inside("fine"))
