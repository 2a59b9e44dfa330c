"""Metadata hook: the README for the package index, and the project's links.

The repository's URL is not stored in the source: a release is built with NUR_REPOSITORY=`https://host/owner/name`.
Relative links then point into the repository at the release's tag. Without it they become plain text and images are
dropped, so that the package's page has no dead links.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "NUR_REPOSITORY"
RELATIVE_IMAGE = re.compile(r"!\[([^\]]+)\]\((?![a-z]+:)([^)\s]+)\)\n*")
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
    """The README with working links, and the comment that proves ownership to the MCP registry."""
    image = rf"![\1]({repository}/raw/v{version}/\2)\n\n" if repository else ""
    target = rf"[\1]({repository}/blob/v{version}/\2)" if repository else r"\1"
    content = RELATIVE_LINK.sub(target, RELATIVE_IMAGE.sub(image, text))
    name = registry_name(repository)
    return f"{content}\n<!-- mcp-name: {name} -->\n" if name else content


def links(repository: str, version: str) -> dict[str, str]:
    """The project links content on the package index."""
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
    """The server's name in the MCP registry, owned by a GitHub account; None for another host."""
    match = GITHUB.fullmatch(repository)
    return f"io.github.{match[1]}/nur-memory" if match else None
