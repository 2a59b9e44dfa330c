"""Cursors of turns."""

from __future__ import annotations

import pytest

from nur.domain.errors import BadRequest
from nur.services.notes.list_conversations import _turn_index


@pytest.mark.parametrize(("cursor", "index"), [("0", 0), ("17", 17), ("9" * 16, int("9" * 16))])
def test_a_cursor_is_the_index_of_a_turn(cursor: str, index: int) -> None:
    assert _turn_index(cursor) == index


@pytest.mark.parametrize("cursor", ["", "-1", "1.0", "١", "9" * 17])
def test_anything_else_is_refused(cursor: str) -> None:
    with pytest.raises(BadRequest):
        _turn_index(cursor)
