"""Metadata hook: the README as a package index shows it, and the project's links.

The repository's address is not written down anywhere: a release is built with NUR_REPOSITORY set to it, as
`https://host/owner/name`. Then relative links lead into the repository, at the release's tag. Without it they become
plain text and pictures are left out, so that no link on a package's page is dead.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "NUR_REPOSITORY"
RELATIVE_PICTURE = re.compile(r"!\[([^\]]+)\]\((?![a-z]+:)([^)\s]+)\)\n*")
RELATIVE_LINK = re.compile(r"\[([^\]]+)\]\((?![a-z]+:|#)([^)\s]+)\)")
GITHUB = re.compile(r"https://github\.com/([\w.-]+)/[\w.-]+")


class ReadmeHook(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called once for each build."""
        repository = os.environ.get(REPOSITORY, "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": page(text, repository, metadata["version"]),
        }
        metadata["urls"] = links(repository, metadata["version"])


def page(text: str, repository: str, version: str) -> str:
    """The README with links that lead somewhere, and the mark by which the MCP registry knows the package."""
    pictured = rf"![\1]({repository}/raw/v{version}/\2)\n\n" if repository else ""
    target = rf"[\1]({repository}/blob/v{version}/\2)" if repository else r"\1"
    shown = RELATIVE_LINK.sub(target, RELATIVE_PICTURE.sub(pictured, text))
    name = registry_name(repository)
    return f"{shown}\n<!-- mcp-name: {name} -->\n" if name else shown


def links(repository: str, version: str) -> dict[str, str]:
    """What a package index lists beside the README."""
    if not repository:
        return {}
    files = f"{repository}/blob/v{version}"
    return {
        "Homepage": repository,
        "Documentation": f"{files}/docs/quickstart.md",
        "Changelog": f"{files}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
        "Security": f"{files}/SECURITY.md",
    }


def registry_name(repository: str) -> str | None:
    """The server's name in the MCP registry, which GitHub accounts own; None for another host."""
    found = GITHUB.fullmatch(repository)
    return f"io.github.{found[1]}/nur-memory" if found else None
