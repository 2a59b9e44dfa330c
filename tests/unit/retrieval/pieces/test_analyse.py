from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.retrieval.pieces.analyse import TARGET, cut
from nur.retrieval.pieces.atoms import MAX_ATOM_CHARACTERS, find_atoms

LINES = st.sampled_from(
    [
        "# Kitchen",
        "",
        "The kettle is broken. Rob ordered a new one!",
        "- descale it first",
        "name,qty,price,shelf",
        "oak,12,4.50,A1",
        "pine,3,2.10,B2",
        "[2026-03-01 10:02] Aga: see you at six",
        "def run(self): return 1",
        "word " * 90,
        "ประเทศไทย มีภูเขา",
        "x" * 700,
        "\u2028",
        "é́́",
    ]
)
TEXTS = st.one_of(st.text(max_size=400), st.lists(LINES, max_size=25).map("\n".join))


@given(TEXTS)
def test_pieces_and_atoms_cover_the_text_once_and_in_order(text: str) -> None:
    pieces = cut(text)
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    assert all(one.end == following.start for one, following in pairwise(pieces))
    atoms = [atom for piece in pieces for atom in piece.atoms]
    assert atoms == find_atoms(text)
    assert all(one.end == following.start for one, following in pairwise(atoms))


@given(TEXTS)
def test_a_piece_is_short_unless_one_atom_is_long(text: str) -> None:
    for piece in cut(text):
        assert piece.end - piece.start <= TARGET or len(piece.atoms) == 1
    # Blank lines behind an atom belong to it, whatever their number.
    assert all(len(text[atom.start : atom.end].rstrip()) <= MAX_ATOM_CHARACTERS for atom in find_atoms(text))


@given(TEXTS)
def test_the_same_text_is_cut_the_same_way(text: str) -> None:
    assert cut(text) == cut(text)


def test_a_table_row_is_a_piece_with_its_header_as_context() -> None:
    text = "Stock\n\nname,qty,price,shelf\noak,12,4.50,A1\npine,3,2.10,B2\n\nCount again in May."
    row = next(piece for piece in cut(text) if "pine" in text[piece.start : piece.end])
    assert text[row.start : row.end].strip() == "pine,3,2.10,B2"
    assert "name,qty,price,shelf" in row.context


def test_commas_in_prose_make_no_table() -> None:
    text = "We need oak, pine, ash, and elm.\nAsk Rob, Aga, Danny, or Kay.\nThen cut, plane, sand, and oil."
    assert all(atom.header is None for atom in find_atoms(text))


@pytest.mark.parametrize("title", ["## Heating", "Heating"])
def test_the_nearest_heading_is_the_context_of_what_stands_below_it(title: str) -> None:
    text = f"{title}\n" + "The boiler is serviced in May by the same firm as ever. " * 12
    pieces = cut(text)
    assert len(pieces) > 2
    assert pieces[-1].context == "Heating"
    assert all(piece.context == "" for piece in cut(text, has_headings=False))


def test_a_piece_ends_at_a_blank_line_once_it_is_no_stump() -> None:
    long = "The garden wall leans towards the road and the neighbour has asked twice about it now."
    pieces = cut(f"Wall.\n\n{long}\n\n{long}")
    assert len(pieces) == 2  # the stump goes with the paragraph below it


@pytest.mark.parametrize("text", ["a,b,c,d\n" * 40_000, "word. " * 40_000, "\n" * 200_000, "a;b;c;d\nx\n" * 40_000])
def test_the_time_is_linear(text: str) -> None:
    started = time.process_time()
    cut(text)
    assert time.process_time() - started < 10  # quadratic: minutes
