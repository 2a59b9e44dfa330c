"""Which files are found, and why others are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nur.entrypoints.cli.ingesting.discover import MAX_FILE_BYTES, Discovery, Failed, FileFilter, FoundFile, Skipped


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Words.\n")


def look(*paths: Path | str, choice: FileFilter | None = None) -> dict[str, str]:
    """What became of each path, by its last part: found, or the reason."""
    seen: dict[str, str] = {}
    for met in Discovery(choice or FileFilter())([str(path) for path in paths]):
        seen[met.path.name] = "found" if isinstance(met, FoundFile) else met.reason
    return seen


def test_a_folder_is_walked_without_what_nobody_meant(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "deep/er/b.py", ".env", ".git/config", "node_modules/x.js", "out.log", "no_ending")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF\0")
    (tmp_path / "wrong.txt").write_bytes(b"%PDF-1.7\n\0\0")
    assert look(tmp_path) == {
        "a.md": "found",
        "b.py": "found",
        "no_ending": "found",
        "wrong.txt": "found",  # known by its beginning
        ".env": "hidden",
        ".git": "hidden",
        ".gitignore": "hidden",
        "node_modules": "generated",
        "out.log": "ignored by .gitignore",
        "empty.txt": "empty",
        "photo.jpg": "not a format that can be read",
    }


def test_all_takes_what_is_hidden_or_ignored(tmp_path: Path) -> None:
    write(tmp_path, ".env", "out.log", ".config/x.toml")
    (tmp_path / ".gitignore").write_text("*.log\n")
    found = look(tmp_path, choice=FileFilter(everything=True))
    assert found == dict.fromkeys([".env", ".gitignore", "out.log", "x.toml"], "found")


def test_include_and_exclude_match_names_and_paths(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.txt", "old/c.md", "drafts/d.md", "drafts/e.md")
    choice = FileFilter(include=("*.md",), exclude=("old", "drafts/d*"))
    assert look(tmp_path, choice=choice) == {
        "a.md": "found",
        "e.md": "found",
        "b.txt": "not included",
        "old": "excluded",
        "d.md": "excluded",
    }


def test_links_are_met_once_and_loops_not_at_all(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md")
    (tmp_path / "docs" / "loop").symlink_to(tmp_path / "docs")
    (tmp_path / "docs" / "self").symlink_to(tmp_path / "docs" / "self")
    (tmp_path / "docs" / "z.md").symlink_to(tmp_path / "docs" / "a.md")
    (tmp_path / "docs" / "gone.md").symlink_to(tmp_path / "nowhere")
    seen = look(tmp_path / "docs", tmp_path / "docs" / "a.md")
    assert (seen["loop"], seen["z.md"]) == ("link to a folder", "the same file again")
    assert "No such file" in seen["gone.md"]
    assert "symbolic links" in seen["self"]


def test_a_link_is_known_by_the_file_that_it_leads_to(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "b.md").symlink_to(tmp_path / "a.md")
    (met,) = Discovery(FileFilter())([str(tmp_path / "b.md")])
    assert met.path == Path(os.path.realpath(tmp_path / "a.md"))


def test_patterns_and_missing_files(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "deep/b.md", "deep/c.txt")
    assert look(tmp_path / "**" / "*.md") == {"a.md": "found", "b.md": "found"}
    assert look(tmp_path / "none.md") == {"none.md": "There is no such file or folder."}


def test_what_a_pattern_finds_can_be_excluded_and_what_is_named_cannot(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("words")
    choice = FileFilter(exclude=("b*",))
    found = list(Discovery(choice)([str(tmp_path / "*.md"), str(tmp_path / "b.md")]))
    assert [type(one).__name__ + one.path.name for one in found] == ["FoundFilea.md", "Skippedb.md", "FoundFileb.md"]


def test_a_named_file_is_taken_though_it_is_hidden(tmp_path: Path) -> None:
    write(tmp_path, ".notes.md")
    assert look(tmp_path / ".notes.md") == {".notes.md": "found"}


def test_a_file_that_is_too_large_fails_without_being_read(tmp_path: Path) -> None:
    with (tmp_path / "big.txt").open("wb") as file:
        file.write(b"words")
        file.truncate(MAX_FILE_BYTES + 1)
    (met,) = Discovery(FileFilter())([str(tmp_path / "big.txt")])
    assert isinstance(met, Failed)
    assert "larger than 63 MB" in met.reason


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (met,) = Discovery(FileFilter())([str(tmp_path)])
    assert isinstance(met, Skipped)
    assert met.reason == "not a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_fails(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "a.md").chmod(0)
    assert look(tmp_path) == {"a.md": "Permission denied."}
