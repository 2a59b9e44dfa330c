"""Write the MCPB bundle and the MCP registry's `server.json` next to a built wheel: `python -m release.bundle dist`."""

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
#: Placeholder for the registry name if the repository is unknown; nobody can publish under it.
NO_NAME = "io.github.OWNER/nur-memory"


def main(folder: Path) -> None:
    """Write both files for the only wheel in the folder."""
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
    """The `server.json` for the MCP registry."""
    entry: dict[str, Any] = json.loads((HERE / "server.json").read_text(encoding="utf-8"))
    entry |= {"name": registry_name(repository) or NO_NAME, "version": version}
    entry["packages"][0]["version"] = version
    return entry | ({"repository": {"url": repository, "source": "github"}} if registry_name(repository) else {})


def manifest(version: str, repository: str) -> dict[str, Any]:
    """The bundle's manifest, which a client shows before it installs the bundle."""
    contents: dict[str, Any] = json.loads((HERE / "mcpb" / "manifest.json").read_text(encoding="utf-8"))
    contents["version"] = version
    contents["tools"] = [{"name": tool.name, "description": tool.description} for tool in tools(_no_services)]
    return contents | ({"repository": {"type": "git", "url": repository}} if repository else {})


def _no_services() -> AbstractAsyncContextManager[Services]:
    raise AssertionError("tool descriptions need no services")


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
