"""Filter columns; `tests/contract/test_note_filter.py` compares the masks with the definition."""

from __future__ import annotations

from dataclasses import replace

from nur.adapters.flat.filters import Columns, ValueCodes
from tests.index_backends import ALL
from tests.index_notes import NOW, a_note


def test_a_row_that_is_written_again_forgets_what_it_was() -> None:
    vocabulary, columns = ValueCodes(), Columns(1)
    columns.write(0, a_note(1, type="fact", confidence=0.1, expires_at=NOW), vocabulary)
    columns.write(0, a_note(2), vocabulary)
    assert columns.mask(vocabulary.condition(replace(ALL, min_confidence=0.9), NOW), 1).tolist() == [True]
    assert columns.mask(vocabulary.condition(replace(ALL, type="fact"), NOW), 1).tolist() == [False]
