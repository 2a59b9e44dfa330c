"""Write the MCPB bundle and the MCP registry's `server.json` beside a built wheel: `python -m release.bundle dist`."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nur.entrypoints.mcp.server import tools
from release.readme import REPOSITORY, registry_name

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from nur.bootstrap import Services

HERE = Path(__file__).parent
#: The registry's name of a server whose repository is not known: nobody can publish under it.
NO_NAME = "io.github.OWNER/nur-memory"


def main(folder: Path) -> None:
    """Make both files for the one wheel in the folder."""
    (wheel,) = folder.glob("*.whl")
    version = wheel.name.split("-")[1]
    repository = os.environ.get(REPOSITORY, "").rstrip("/")
    (folder / "server.json").write_text(_json(server(version, repository)), encoding="utf-8")
    with zipfile.ZipFile(folder / f"nur-memory-{version}.mcpb", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("manifest.json", _json(manifest(version, repository)))
        environment = (HERE / "mcpb" / "environment.toml").read_text(encoding="utf-8")
        bundle.writestr("pyproject.toml", environment.format(version=version, wheel=wheel.name))
        bundle.write(HERE / "mcpb" / "server.py", "server.py")
        bundle.write(wheel, wheel.name)
        for name in ("LICENSE", "NOTICE"):
            bundle.write(HERE.parent / name, name)


def server(version: str, repository: str) -> dict[str, Any]:
    """What the MCP registry lists."""
    listed: dict[str, Any] = json.loads((HERE / "server.json").read_text(encoding="utf-8"))
    listed |= {"name": registry_name(repository) or NO_NAME, "version": version}
    listed["packages"][0]["version"] = version
    return listed | ({"repository": {"url": repository, "source": "github"}} if registry_name(repository) else {})


def manifest(version: str, repository: str) -> dict[str, Any]:
    """What a client shows of the bundle before it installs it."""
    shown: dict[str, Any] = json.loads((HERE / "mcpb" / "manifest.json").read_text(encoding="utf-8"))
    shown["version"] = version
    shown["tools"] = [{"name": tool.name, "description": tool.description} for tool in tools(_no_services)]
    return shown | ({"repository": {"type": "git", "url": repository}} if repository else {})


def _no_services() -> AbstractAsyncContextManager[Services]:
    raise AssertionError("a description needs no services")


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
