"""Which tests reach which lines, and how long each takes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _pytest.runner import runtestprotocol
from coverage import Coverage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pytest

    from tests.mutants.changes import Change

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "nur"
CACHE = ROOT / ".mutants"
ROOMS = ("domain", "retrieval", "services")  #: folders whose code is changed


class Reach:
    """Which tests reach which lines, read from the last recording of each test file."""

    def __init__(self, files: Iterable[Path], imported: Path) -> None:
        self._imported = {(module, line) for module, line in json.loads(imported.read_text("utf-8"))}
        self._seconds: dict[str, float] = {}
        self._tests: dict[tuple[str, int], set[str]] = {}
        for file in files:
            for test, found in json.loads(file.read_text("utf-8")).items():
                self._seconds[test] = found["seconds"]
                for module, lines in found["lines"].items():
                    for line in lines:
                        self._tests.setdefault((module, line), set()).add(test)

    def tests(self, module: Path, change: Change, most: int) -> list[str]:
        """At most this many tests that reach a change: those of its own module first, then the fastest."""
        first, last = change.statement
        found = self._on(module, [change.line]) or self._on(module, range(first, last + 1))
        if self.acts_on_import(module, change):  # any test of the module or its neighbours may detect it
            found = self._of(lambda name: name == str(module)) or self._of(
                lambda name: Path(name).parent == module.parent
            )
        own = tuple(f"/{module.parent}/test_{module.stem}{end}" for end in (".py", "_"))
        return sorted(found, key=lambda test: (not any(name in test for name in own), self._seconds[test], test))[:most]

    def acts_on_import(self, module: Path, change: Change) -> bool:
        """Whether a change is one of a constant or a default, or of a function that only runs while modules load."""
        first, last = change.statement
        lines = range(first, last + 1)
        at_import = any((str(module), line) in self._imported for line in lines)
        return change.function is None or (at_import and not self._on(module, lines))

    def seconds(self, tests: Iterable[str]) -> float:
        """CPU time of these tests, from their own measurement."""
        return sum(self._seconds[test] for test in tests)

    def _of(self, is_asked: Callable[[str], bool]) -> set[str]:
        return {test for (name, _), tests in self._tests.items() if is_asked(name) for test in tests}

    def _on(self, module: Path, lines: Iterable[int]) -> set[str]:
        return {test for line in lines for test in self._tests.get((str(module), line), ())}


def learn(items: list[pytest.Item], file: Path) -> None:
    """Run the tests of one file and record which lines each reaches. Raises if one fails."""
    coverage = Coverage(data_file=None, source=[str(PACKAGE)], config_file=False)
    coverage.start()
    seconds = {}
    for item, following in zip(items, [*items[1:], None], strict=True):
        coverage.switch_context(item.nodeid)
        start = time.process_time()
        reports = runtestprotocol(item, log=False, nextitem=following)
        seconds[item.nodeid] = time.process_time() - start
        if failed := [report.longreprtext for report in reports if report.failed]:
            raise AssertionError(f"{item.nodeid} fails before anything is changed: {failed[0]}")
    coverage.stop()
    learned: dict[str, Any] = {test: {"seconds": spent, "lines": {}} for test, spent in seconds.items()}
    data = coverage.get_data()
    for path in data.measured_files():
        module = str(Path(path).relative_to(PACKAGE))
        for line, tests in data.contexts_by_lineno(path).items():
            for test in filter(None, tests):
                learned[test]["lines"].setdefault(module, []).append(line)
    CACHE.mkdir(exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(learned), encoding="utf-8")
    partial.replace(file)


def learn_imports(file: Path) -> None:
    """Record which lines run while the package's modules load, in a process where none is loaded yet."""
    program = (
        "import importlib, json, sys; from pathlib import Path; from coverage import Coverage; "
        "package = Path(sys.argv[1]); found = Coverage(data_file=None, source=[str(package)], config_file=False); "
        "found.start(); "
        "[importlib.import_module('.'.join(('nur', *path.relative_to(package).with_suffix('').parts))) "
        "for room in sys.argv[3:] for path in sorted((package / room).rglob('*.py')) if path.stem != '__init__']; "
        "found.stop(); data = found.get_data(); "
        "Path(sys.argv[2]).write_text(json.dumps([(str(Path(path).relative_to(package)), line) "
        "for path in data.measured_files() for line in data.lines(path)]))"
    )
    CACHE.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-c", program, str(PACKAGE), str(file), *ROOMS], check=True)


def imports_file() -> Path:
    """File with the lines that run on import."""
    return CACHE / f"imports-{_shared()[:16]}.json"


def learned_file(test_file: Path) -> Path:
    """File with the lines that a test file reaches; its name changes with the tests or the package."""
    digest = hashlib.sha256(_shared().encode())
    digest.update(test_file.read_bytes())
    return CACHE / f"{test_file.stem}-{digest.hexdigest()[:16]}.json"


@cache
def _shared() -> str:
    """A digest of the package and of the code that tests share."""
    digest = hashlib.sha256()
    for path in sorted(_shared_files()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _shared_files() -> Iterator[Path]:
    yield from PACKAGE.rglob("*.py")
    for path in (ROOT / "tests").rglob("*.py"):
        if not path.name.startswith("test_") and "mutants" not in path.parts:
            yield path
