"""What counts as a table in plain text, and what atoms a text has."""

from __future__ import annotations

import pytest

from nur.retrieval.pieces.atoms import AtomKind, find_atoms, find_tables


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a,b,c,d", "1,2,3,4", "5,6,7,8"], {0: 0, 1: 0, 2: 0}),
        (["a,b,c,d", "1,2,3,4"], {}),  # two rows are no table
        (["a,b,c", "1,2,3", "5,6,7"], {}),  # two delimiters are too few
        (["a,b,c,d", "1,2,3,4,5", "5,6,7,8"], {0: 0, 1: 0, 2: 0}),  # a cell may contain one
        (["a,b,c,d", "1,2,3,4,5,6", "5,6,7,8"], {}),
        (["a,b,c,d,e", "1,2,3,4", "5,6,7,8,9"], {0: 0, 1: 0, 2: 0}),
        (["one, two, three, four"] * 3, {}),  # prose
        (["a|b|c|d"] * 3, {0: 0, 1: 0, 2: 0}),
        (["a| b| c| d"] * 3, {0: 0, 1: 0, 2: 0}),  # bars are not used in prose
        (["Prose.", *["a;b;c;d"] * 3, "Prose.", *["a\tb\tc\td"] * 4], {1: 1, 2: 1, 3: 1, 5: 5, 6: 5, 7: 5, 8: 5}),
        ([], {}),
    ],
)
def test_rows_of_a_table_name_their_header(lines: list[str], expected: dict[int, int]) -> None:
    assert find_tables(lines) == expected


def test_atoms_are_the_text_and_say_what_they_are() -> None:
    text = "# Title\n\nOne. Two.\n\na,b,c,d\n1,2,3,4\n5,6,7,8\nEnd."
    atoms = find_atoms(text)
    assert "".join(text[one.start : one.end] for one in atoms) == text
    told = [
        (text[one.start : one.end].strip(), one.kind, one.header and text[slice(*one.header)].strip()) for one in atoms
    ]
    assert told == [
        ("# Title", AtomKind.HEADING, None),
        ("One.", AtomKind.TEXT, None),
        ("Two.", AtomKind.TEXT, None),
        ("a,b,c,d", AtomKind.ROW, None),
        ("1,2,3,4", AtomKind.ROW, "a,b,c,d"),
        ("5,6,7,8", AtomKind.ROW, "a,b,c,d"),
        ("End.", AtomKind.TEXT, None),
    ]
    blocks = [one.block for one in atoms]
    assert blocks == sorted(blocks)
    assert [blocks[0] < blocks[1], blocks[1] == blocks[2], blocks[2] < blocks[3], blocks[3] == blocks[5]] == [True] * 4
    assert blocks[5] < blocks[6]
