"""JSON is counted without being parsed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.domain.errors import BadRequest
from nur.domain.json_values import MOST_VALUES, check_values


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({f"name{i}": 1 for i in range(MOST_VALUES + 2)}),
        "[" + "1," * MOST_VALUES + "1,1]",
        "[" + "[]," * MOST_VALUES + "1]",
        "[" * (MOST_VALUES + 1),
        '{"text": "' + "x" * 70_000 + '", "more": [' + '"\\\\",' * MOST_VALUES + "1,1]}",
    ],
)
def test_too_many_values_are_refused(body: str) -> None:
    with pytest.raises(BadRequest, match="more than 100000 values"):
        check_values(body.encode())


@given(st.text(alphabet='"\\,[{\n\u00e4x', min_size=1, max_size=30), st.integers(0, 3))
def test_what_stands_in_a_text_is_not_counted(piece: str, shift: int) -> None:
    text = "x" * shift + piece * (200_000 // len(piece))
    check_values(json.dumps({"text": text, "more": [1, 2]}).encode())
