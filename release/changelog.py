"""Merge the fragments of `changes/` into CHANGELOG.md, under the version in pyproject.toml.

towncrier writes a new section for each build. If the unreleased version already has a section, the new entries are
added to it under their headings.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHANGELOG = ROOT / "CHANGELOG.md"
SECTION = re.compile(r"^## (?P<version>\S+) \([^)]*\)\n+(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^### (?P<name>[^\n]+)\n+(?P<entries>.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Add the fragments' entries, and delete the fragments."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    drafted = _towncrier("--draft", "--version", version)
    text = CHANGELOG.read_text(encoding="utf-8")
    if not any(section["version"] == version for section in SECTION.finditer(text)):
        _towncrier("--yes", "--version", version)
        return
    CHANGELOG.write_text(merged(text, version, drafted), encoding="utf-8")
    for fragment in (ROOT / "changes").glob("+*.md"):
        fragment.unlink()


def merged(changelog: str, version: str, drafted: str) -> str:
    """The changelog, with the drafted entries added to the section of this version."""

    def extended(section: re.Match[str]) -> str:
        if section["version"] != version:
            return section[0]
        entries = _entries(section["body"])
        for name, added in _entries(drafted).items():
            entries[name] = f"{entries[name]}\n{added}" if name in entries else added
        body = "\n\n".join(f"### {name}\n\n{text}" for name, text in entries.items())
        return f"{section[0].splitlines()[0]}\n\n{body}\n\n"

    return SECTION.sub(extended, changelog).rstrip() + "\n"


def _entries(body: str) -> dict[str, str]:
    return {found["name"]: found["entries"].strip() for found in HEADING.finditer(body) if found["entries"].strip()}


def _towncrier(*arguments: str) -> str:
    command = [sys.executable, "-m", "towncrier", "build", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S603  # ours


if __name__ == "__main__":
    main()
