"""JSON is counted without being parsed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.domain.errors import BadRequest
from nur.domain.json_values import MAX_VALUES, check_values


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({f"name{i}": 1 for i in range(MAX_VALUES + 2)}),
        "[" + "1," * MAX_VALUES + "1,1]",
        "[" + "[]," * MAX_VALUES + "1]",
        "[" * (MAX_VALUES + 1),
        '{"text": "' + "x" * 70_000 + '", "more": [' + '"\\\\",' * MAX_VALUES + "1,1]}",
    ],
)
def test_too_many_values_are_refused(body: str) -> None:
    with pytest.raises(BadRequest, match="more than 100000 values"):
        check_values(body.encode())


@given(st.text(alphabet='"\\,[{\n\u00e4x', min_size=1, max_size=30), st.integers(0, 3))
def test_what_stands_in_a_text_is_not_counted(piece: str, shift: int) -> None:
    text = "x" * shift + piece * (200_000 // len(piece))
    check_values(json.dumps({"text": text, "more": [1, 2]}).encode())


@pytest.mark.parametrize("value", ["1", '"a,b"', '"\\""'])
def test_as_many_values_as_the_limit_are_taken_and_one_more_is_refused(value: str) -> None:
    """The bracket of the list and every comma count, so a list of so many values has as many marks."""
    check_values(f"[{','.join([value] * MAX_VALUES)}]".encode())
    with pytest.raises(BadRequest):
        check_values(f"[{','.join([value] * (MAX_VALUES + 1))}]".encode())


@pytest.mark.parametrize("length", range(65_530, 65_545))
def test_a_long_text_ends_where_it_ends_whatever_lies_on_the_edge_of_what_is_read_at_once(length: int) -> None:
    for ending in ("", "\\", '"', "\\\\", '\\"'):
        text = "x" * length + ending
        body = json.dumps([text, *[1] * (MAX_VALUES - 1)]).encode()
        check_values(body)
        with pytest.raises(BadRequest):
            check_values(body[:-1] + b", 1]")
