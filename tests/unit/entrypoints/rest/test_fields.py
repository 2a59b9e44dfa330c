"""What is refused is refused before it costs much."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from nur.entrypoints.rest.create import NoteIn
from nur.entrypoints.rest.fields import MAX_UNKNOWN


def test_a_few_unknown_names_are_told_and_no_more_errors_are_built() -> None:
    with pytest.raises(ValidationError) as refused:
        NoteIn.model_validate({"text": 1, **{f"name{i}": i for i in range(50_000)}})
    assert refused.value.error_count() == MAX_UNKNOWN + 1  # and the text that is none
