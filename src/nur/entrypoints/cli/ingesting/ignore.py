"""`.gitignore` files: what a project itself leaves out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAME = ".gitignore"
_SPECIAL = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)
_MEANING = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    keeps: bool  #: begins with `!`
    folders_only: bool


def _rule(line: str) -> _Rule | None:
    """One line; None where it says nothing."""
    line = line.rstrip("\n").rstrip()
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    line = line.removeprefix("!").removeprefix("\\")
    folders_only, line = line.endswith("/"), line.rstrip("/")
    anchored, line = "/" in line, line.removeprefix("/")
    body = "".join(_translated(part) for part in _SPECIAL.findall(line))
    try:
        return _Rule(re.compile(body if anchored else f"(?:.*/)?{body}"), keeps, folders_only)
    except re.error:
        return None


def _translated(part: str) -> str:
    if part in _MEANING:
        return _MEANING[part]
    if len(part) > 1:  # a set of characters
        return part.replace("[!", "[^", 1).replace("\\", "\\\\")
    return re.escape(part)


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules that hold in a folder: those of the folders above first, so that nearer ones win."""

    levels: tuple[tuple[Path, tuple[_Rule, ...]], ...] = ()

    @classmethod
    def above(cls, folder: Path) -> Ignore:
        """The rules of the folders above, up to the one that holds `.git`; none outside of a repository."""
        chain = [folder, *folder.parents]
        top = next((place for place, parent in enumerate(chain) if (parent / ".git").exists()), 0)
        ignore = cls()
        for parent in reversed(chain[1 : top + 1]):
            ignore = ignore.within(parent)
        return ignore

    def within(self, folder: Path) -> Ignore:
        """The rules that hold in a folder of this one."""
        try:
            lines = (folder / NAME).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return self
        rules = tuple(rule for rule in map(_rule, lines) if rule is not None)
        return Ignore((*self.levels, (folder, rules))) if rules else self

    def hides(self, path: Path, *, is_folder: bool) -> bool:
        """Whether the last rule that fits says so."""
        for folder, rules in reversed(self.levels):
            name = path.relative_to(folder).as_posix()
            for rule in reversed(rules):
                if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(name):
                    return not rule.keeps
        return False
