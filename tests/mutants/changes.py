"""Small changes to a module's source that tests should notice, one at a time."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}


@dataclass(frozen=True, slots=True)
class Change:
    """One expression, replaced."""

    line: int
    statement: tuple[int, int]  #: first and last line of the statement around it
    function: int | None  #: first line of the outermost function around it; None: the change acts on import
    before: str
    after: str
    source: str  #: the whole module, changed


def changes(source: str) -> list[Change]:
    """Every change of a module, in line order.

    Excludes what tests cannot notice: code for type checkers, logging, text, and guards such as
    `zip(..., strict=True)`, which never fail in a correct program.
    """
    tree = ast.parse(source)
    made = [
        Change(
            node.lineno,
            _statement(tree, node),
            _function(tree, node),
            ast.unparse(node),
            after,
            _replaced(source, node, after),
        )
        for node, after in _replacements(tree)
    ]
    return sorted(made, key=lambda change: (change.line, change.before, change.after))


def _is_inside(outer: ast.stmt | ast.expr, inner: ast.expr) -> bool:
    first, last = (outer.lineno, outer.col_offset), (outer.end_lineno, outer.end_col_offset)
    return first <= (inner.lineno, inner.col_offset) and (inner.end_lineno, inner.end_col_offset) <= last


def _statement(tree: ast.AST, node: ast.expr) -> tuple[int, int]:
    """Lines of the smallest statement around an expression, without the statement's body."""
    around = [found for found in ast.walk(tree) if isinstance(found, ast.stmt) and _is_inside(found, node)]
    smallest = max(around, key=lambda found: (found.lineno, found.col_offset))
    body = getattr(smallest, "body", None)
    end = body[0].lineno - 1 if body else smallest.end_lineno
    return smallest.lineno, max(node.lineno, end or 0)


def _function(tree: ast.AST, node: ast.expr) -> int | None:
    """The line where the code of the outermost function around an expression starts: its first decorator's."""
    for found in ast.walk(tree):  # from the outside to the inside
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) and any(
            _is_inside(inner, node) for inner in found.body
        ):
            return min([found.lineno, *(one.lineno for one in found.decorator_list)])
    return None


def _replacements(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    for node in _executed(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield node, _joined(node.left, _COMPARISONS[type(node.ops[0])], node.comparators[0])
        elif isinstance(node, ast.BoolOp):
            other = " or " if isinstance(node.op, ast.And) else " and "
            yield node, f"({other.join(f'({ast.unparse(value)})' for value in node.values)})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, f"bool({ast.unparse(node.operand)})"
        elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            yield node, _joined(node.left, _ARITHMETIC[type(node.op)], node.right)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, str(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield node, repr(node.value + 1)
        elif isinstance(node, ast.IfExp):
            yield node, f"({ast.unparse(node.orelse)} if {ast.unparse(node.test)} else {ast.unparse(node.body)})"


def _joined(left: ast.expr, operator: str, right: ast.expr) -> str:
    """Put both sides in brackets, so that the new operator's precedence does not matter."""
    return f"({_bracketed(left)} {operator} {_bracketed(right)})"


def _bracketed(side: ast.expr) -> str:
    compound = isinstance(side, ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.UnaryOp | ast.Await)
    return f"({ast.unparse(side)})" if compound else ast.unparse(side)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes whose change can be noticed."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_unseen(child):
                yield child
                yield from _executed(child)


def _is_unseen(node: ast.AST) -> bool:
    match node:
        case ast.JoinedStr():
            return True
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return True
        case ast.Call(func=ast.Attribute(ast.Name("log"), _)):
            return True
        case ast.keyword("strict", ast.Constant(True)):
            return True
    return False


def _replaced(source: str, node: ast.expr, after: str) -> str:
    """The source with this node replaced; offsets of the tree count bytes."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    first = starts[node.lineno - 1] + node.col_offset
    last = starts[node.end_lineno - 1] + node.end_col_offset
    whole = source.encode()
    return (whole[:first] + after.encode() + whole[last:]).decode()
