from __future__ import annotations

from nur.evaluation.dataset import DataSet, Row
from nur.evaluation.folding import edited, measure_folding, repeated

TEXT = "The rent of the mill is 715 pounds, due on Monday, says Lorraine."


def a_set(*texts: str) -> DataSet:
    rows = tuple(Row(str(number), text, {}, "memory") for number, text in enumerate(texts))
    return DataSet("rows", "memories", "doc", rows, ())


def test_edited_copies_say_something_else() -> None:
    copies = edited(TEXT)
    assert TEXT.replace("715", "716") in copies
    assert TEXT.replace("Monday", "Tuesday") in copies
    assert TEXT.replace("is", "is not", 1) in copies
    assert TEXT.replace(".", "?") in copies
    assert TEXT.removesuffix(" Lorraine.") in copies
    assert TEXT not in copies


def test_repeated_copies_have_the_same_words() -> None:
    for copy in repeated(TEXT):
        assert copy != TEXT
        assert copy.casefold().strip("“”\n! .").split() == TEXT.casefold().strip(".").split()


def test_different_facts_are_not_folded_and_repeats_are() -> None:
    found = measure_folding(a_set(TEXT, "The rent of the mill is 690 pounds.", "Salt, please"))
    assert (found.folded_rows, found.folded_edits) == (0, 0)
    assert found.folded_repeats == found.repeats > 0
    assert found.edits > 0


def test_rows_that_say_the_same_are_counted() -> None:
    assert measure_folding(a_set("Salt, please", "salt please!", "Pepper")).folded_rows == 2
