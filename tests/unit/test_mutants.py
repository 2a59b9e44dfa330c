"""The changes that `make mutants` tests are each a valid module that differs in one expression."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.changes import Change, changes

SOURCE = '''"""Doc 1."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    x = 1 + 1
LEAST = 3


def f(a: int = 1) -> "Literal[5]":
    """Doc 2."""
    é = f"{a + 1} é"
    log.info("done", seconds=a * 1000)
    pairs = zip(a, é, strict=True)
    return a if not a < 2 and é else True
'''


def test_every_expression_that_runs_is_changed_once() -> None:
    made = [(change.line, change.before, change.after) for change in changes(SOURCE)]
    assert made == [
        (5, "3", "4"),
        (8, "1", "2"),
        (13, "2", "3"),
        (13, "True", "False"),
        (13, "a < 2", "(a <= 2)"),
        (13, "a if not a < 2 and é else True", "(True if not a < 2 and é else a)"),
        (13, "not a < 2", "bool(a < 2)"),
        (13, "not a < 2 and é", "((not a < 2) or (é))"),
    ]


@pytest.mark.parametrize("change", changes(SOURCE), ids=lambda change: change.before)
def test_a_changed_module_is_valid_and_differs_in_one_line(change: Change) -> None:
    ast.parse(change.source)
    pairs = zip(SOURCE.split("\n"), change.source.split("\n"), strict=True)
    assert [number for number, (old, new) in enumerate(pairs, 1) if old != new] == [change.line]


def test_a_changed_operator_keeps_the_brackets_of_both_sides() -> None:
    assert [change.after for change in changes("a * (b + c)\n")] == ["(a / (b + c))", "(b - c)"]
    assert [change.after for change in changes("a * (b in c)\n")] == ["(a / (b in c))", "(b not in c)"]
