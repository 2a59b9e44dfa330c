"""The outcome of a file with several documents."""

from __future__ import annotations

import pytest

from nur.domain.writes import IndexState, Outcome, Stored
from nur.services.notes.ingest_file import IngestedFile
from tests.store_notes import a_note

CREATED, UNCHANGED, UPDATED, REPLACED = Outcome.CREATED, Outcome.UNCHANGED, Outcome.METADATA_UPDATED, Outcome.REPLACED


@pytest.mark.parametrize(
    ("documents", "outcome"),
    [
        ([UNCHANGED, UPDATED, CREATED, REPLACED], REPLACED),
        ([UNCHANGED, UPDATED, CREATED], CREATED),
        ([UNCHANGED, UPDATED], UPDATED),
        ([UNCHANGED, UNCHANGED], UNCHANGED),
    ],
)
def test_a_file_reports_the_largest_change_of_its_documents(documents: list[Outcome], outcome: Outcome) -> None:
    stored = [Stored(note=a_note("Tea."), outcome=one, index_state=IndexState.INDEXED) for one in documents]
    assert IngestedFile(tuple(stored)).outcome is outcome


def test_a_file_that_is_known_is_unchanged() -> None:
    assert IngestedFile((), a_note("Tea.")).outcome is UNCHANGED
