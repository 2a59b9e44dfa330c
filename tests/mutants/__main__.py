"""`make mutants`: change the code in a sample of places, one at a time, and check that the fast tests fail.

Every test runs once to record which lines it reaches; the record is kept in `.mutants/` until the code changes. Each
change is then tested by the tests that reach it, until one fails. Testing all changes would take hours; the sample is
drawn with a fixed seed, so the same code gives the same sample.

The tests are collected once. A change inside a function is tested in a forked copy of this process, where the function
gets the changed code. A change that acts on import (a constant, a default) needs a new process.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.changed_module import FILE, SOURCE
from tests.mutants.changes import Change, changes
from tests.mutants.children import BROKEN, Job, outcomes
from tests.mutants.code import LoadedFunctions
from tests.mutants.reach import PACKAGE, ROOMS, ROOT, Reach, imports_file, learn, learn_imports, learned_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Tests that run in this process; of the acceptance tests, those that start no other process.
FAST = (
    *("tests/unit/domain", "tests/unit/retrieval", "tests/unit/services", "tests/contract/stores"),
    *("tests/unit/adapters/files/test_text.py", "tests/unit/adapters/files/test_chats.py"),
    *(f"tests/acceptance/test_{name}_tools.py" for name in ("artifact", "history", "memory", "search")),
    *(f"tests/acceptance/test_rest_{name}.py" for name in ("kinds", "notes", "searches")),
    *(f"tests/acceptance/test_{name}.py" for name in ("archive", "asked_times", "privacy", "uploads", "versions")),
    "tests/acceptance/test_search_answers.py",
    *(f"tests/acceptance/test_{name}.py" for name in ("changes", "context", "said", "reviews", "transactions")),
)
#: Limit on tests per change: a line that every write uses is reached by hundreds.
MAX_TESTS = 60
CONTROLS = 8  #: selections of tests that also run once without a change
REPORT_EVERY = 20  #: tested changes
PASSED, FAILED = 0, 1


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one file."""

    module: Path  #: under the package
    change: Change

    def __str__(self) -> str:
        return f"{self.module}:{self.change.line}: {self.change.before}  ->  {self.change.after}"


class Mutation:
    """A pytest plugin that tests mutants instead of running the collected tests once."""

    def __init__(self, sample: list[Mutant], drawn_of: int, workers: int) -> None:
        self._sample, self._drawn_of, self._workers = sample, drawn_of, workers

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Record what the tests reach, then test each mutant of the sample."""
        from tests.empty_store import empty_store_file  # nur is imported by pytest, not before

        empty_store_file()  # made once for every child, as is the folder of their temporary files
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        items = [item for item in session.items if "[postgres" not in item.nodeid]
        if not imports_file().exists():
            learn_imports(imports_file())
        reach = Reach(self._learned(items), imports_file())
        functions = LoadedFunctions(PACKAGE)
        gc.collect()
        gc.freeze()  # children share the memory of what is loaded
        by_name = {item.nodeid: item for item in items}
        tests = {str(mutant): reach.tests(mutant.module, mutant.change, MAX_TESTS) for mutant in self._sample}
        jobs = [
            Job(
                str(mutant),
                partial(
                    _test_apart if reach.acts_on_import(mutant.module, mutant.change) else _test,
                    *(mutant, [by_name[test] for test in tests[str(mutant)]], functions),
                ),
                cpu_seconds=60 + 10 * round(reach.seconds(tests[str(mutant)])),
                wall_seconds=900.0,
            )
            for mutant in self._sample
            if tests[str(mutant)]
        ]
        for name in [name for name, chosen in tests.items() if not chosen]:
            print("not reached", name, flush=True)
        self._control([[by_name[test] for test in tests[job.name]] for job in jobs[:: len(jobs) // CONTROLS or 1]])
        noticed = 0
        for tested, (name, code) in enumerate(outcomes(jobs, self._workers), start=1):
            if code == BROKEN:
                pytest.exit(f"Could not test {name}", returncode=2)
            noticed += code != PASSED
            if code == PASSED:
                print(f"not noticed, {tested} of {len(jobs)} tested:", name, flush=True)
            if tested % REPORT_EVERY == 0:  # valid if interrupted: the sample is in random order
                print(f"{noticed} of the first {tested} noticed", flush=True)
        print(
            f"{noticed} of {len(self._sample)} changes noticed ({noticed / len(self._sample):.0%}), "
            f"{len(self._sample) - len(jobs)} not reached; drawn of {self._drawn_of}"
        )
        return True

    def _control(self, selections: list[list[pytest.Item]]) -> None:
        """Check that the tests pass without a change; otherwise they would seem to detect every change."""
        jobs = [
            Job(
                f"{len(items)} tests of {items[0].nodeid}", partial(_passes, items), cpu_seconds=600, wall_seconds=900.0
            )
            for items in selections
        ]
        failed = [name for name, code in outcomes(jobs, self._workers) if code != PASSED]
        if failed:
            pytest.exit(f"Nothing was tested: without a change, these failed: {', '.join(failed)}", returncode=2)

    def _learned(self, items: list[pytest.Item]) -> Iterator[Path]:
        grouped = [(file, list(group)) for file, group in groupby(items, key=lambda item: item.path)]
        files = [learned_file(file) for file, _ in grouped]
        jobs = [
            Job(str(path), partial(_learn, group, file), cpu_seconds=1200, wall_seconds=3600.0)
            for (path, group), file in zip(grouped, files, strict=True)
            if not file.exists()
        ]
        failed = [path for path, code in outcomes(jobs, self._workers) if code != PASSED]
        if failed:
            pytest.exit(f"Nothing was tested: {', '.join(failed)} failed before anything was changed.", returncode=2)
        return iter(files)


def _learn(items: list[pytest.Item], file: Path) -> int:
    learn(items, file)
    return PASSED


def _test(mutant: Mutant, items: list[pytest.Item], functions: LoadedFunctions) -> int:
    assert mutant.change.function is not None
    functions.replace(PACKAGE / mutant.module, mutant.change.function, mutant.change.source)
    return _passes(items)


def _passes(items: list[pytest.Item]) -> int:
    for item, following in zip(items, [*items[1:], None], strict=True):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            return FAILED
    return PASSED


def _test_apart(mutant: Mutant, items: list[pytest.Item], _: LoadedFunctions) -> int:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "tests.mutants.changed_module"]
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as source:
        source.write(mutant.change.source)
        source.flush()
        environment = {**os.environ, FILE: str(PACKAGE / mutant.module), SOURCE: source.name}
        tests = [item.nodeid for item in items]
        return subprocess.run([*command, *tests], cwd=ROOT, env=environment, check=False).returncode


def main() -> int:
    """Draw a sample and hand it to pytest."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("room", nargs="*", choices=[*ROOMS, []], help="which folders; all when none is named")
    parser.add_argument("--sample", type=int, default=200, help="how many changes to test")
    parser.add_argument("--draw", type=int, default=1, help="another number draws another sample")
    parser.add_argument("--only", default="", help="of the sample, only modules whose path contains this")
    parser.add_argument("--workers", type=int, default=2, help="how many changes are tested at a time")
    parser.add_argument("--tests", nargs="*", default=list(FAST), help="which tests have to notice")
    options = parser.parse_args()
    files = [path for room in options.room or ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
    mutants = [
        Mutant(path.relative_to(PACKAGE), change) for path in files for change in changes(path.read_text("utf-8"))
    ]
    sample = random.Random(options.draw).sample(mutants, min(options.sample, len(mutants)))
    sample = [mutant for mutant in sample if options.only in str(mutant.module)]
    quiet = ("-qq", "-s", "-p", "no:randomly", "--no-header", "-o", "tmp_path_retention_policy=none")
    with tempfile.TemporaryDirectory() as folder:
        return pytest.main(
            [*quiet, f"--basetemp={folder}/tests", *options.tests],
            plugins=[Mutation(sample, len(mutants), options.workers)],
        )


if __name__ == "__main__":
    sys.exit(main())
