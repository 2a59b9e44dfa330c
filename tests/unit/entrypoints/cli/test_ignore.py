"""`.gitignore`, as git reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.entrypoints.cli.ingesting.discover import Ignore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("rules", "path", "hidden"),
    [
        ("*.log", "a/b/x.log", True),  # without a slash: at any depth
        ("*.log", "x.logs", False),
        ("/x.log", "a/x.log", False),  # with one: from the file's folder on
        ("/x.log", "x.log", True),
        ("doc/*.txt", "doc/a.txt", True),
        ("doc/*.txt", "doc/b/a.txt", False),  # a star does not cross folders
        ("doc/**/a.txt", "doc/a.txt", True),
        ("doc/**/a.txt", "doc/b/c/a.txt", True),
        ("doc/**", "doc/b/c", True),
        ("build/", "build", False),  # a file of the name of an ignored folder
        ("*.log\n!keep.log", "keep.log", False),  # the last that fits
        ("!keep.log\n*.log", "keep.log", True),
        ("# *.txt\n\n", "a.txt", False),
        ("\\#odd", "#odd", True),
        ("a[0-9].txt", "a7.txt", True),
        ("a[!0-9].txt", "a7.txt", False),
        ("a.b", "axb", False),  # a dot is a dot
        ("[z-a]", "b", False),  # what cannot be understood hides nothing
    ],
)
def test_a_rule_hides_what_git_hides(tmp_path: Path, rules: str, path: str, hidden: bool) -> None:
    (tmp_path / ".gitignore").write_text(rules)
    assert Ignore().within(tmp_path).hides(tmp_path / path, is_folder=False) is hidden


def test_a_folders_rule_hides_folders(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("build/")
    assert Ignore().within(tmp_path).hides(tmp_path / "a" / "build", is_folder=True)


def test_rules_of_the_folders_above_hold_within_a_repository(tmp_path: Path) -> None:
    folder = tmp_path / "repository" / "docs" / "deep"
    folder.mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("*.outside")
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "repository" / ".gitignore").write_text("*.top\n*.both")
    (tmp_path / "repository" / "docs" / ".gitignore").write_text("!a.both")
    ignore = Ignore.above(folder)
    names = ("a.top", "a.both", "b.both", "a.outside")
    assert [ignore.hides(folder / name, is_folder=False) for name in names] == [True, False, True, False]
    assert Ignore.above(tmp_path) == Ignore()
