"""A pytest plugin that imports one module from changed source: `pytest -p tests.mutants.changed_module`."""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType

FILE, SOURCE = "MUTANT_FILE", "MUTANT_SOURCE"  #: variables: the module's file, and a file with its changed source


class _Loader(SourceFileLoader):
    def get_code(self, _: str) -> CodeType:
        return compile(Path(os.environ[SOURCE]).read_bytes(), self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, name: str, path: str) -> None:
        self._name, self._path = name, path

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        return spec_from_file_location(fullname, self._path, loader=_Loader(fullname, self._path))


def _name(file: Path) -> str:
    parts = file.with_suffix("").parts
    inside = parts[len(parts) - parts[::-1].index("nur") - 1 :]
    return ".".join(inside).removesuffix(".__init__")


if FILE in os.environ:
    sys.meta_path.insert(0, _Finder(_name(Path(os.environ[FILE])), os.environ[FILE]))
