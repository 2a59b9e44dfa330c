"""One pattern for many literals, as a tree: it looks at each letter once, however many literals there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Tree: TypeAlias = "dict[str, Tree]"
END = ""


def any_of(literals: Iterable[str], **places: str) -> str:
    """A pattern that matches the longest of the literals; `places` says what single characters stand for."""
    tree: Tree = {}
    for literal in literals:
        branch = tree
        for letter in literal:
            branch = branch.setdefault(letter, {})
        branch[END] = {}
    return _pattern(tree, places)


def _pattern(tree: Tree, places: dict[str, str]) -> str:
    ends = END in tree
    parts = [
        places.get(letter, re.escape(letter)) + _pattern(branch, places)
        for letter, branch in tree.items()
        if letter != END
    ]
    if not parts:
        return ""
    joined = parts[0] if len(parts) == 1 and not ends else f"(?:{'|'.join(parts)})"
    return f"{joined}?" if ends else joined
