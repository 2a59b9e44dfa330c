"""`make mutants`: change the code in a sample of places, one at a time, and see whether the fast tests notice.

Every test runs once, to learn which lines it reaches. Then each changed line is tested by the tests that reach it, in a
copy of the package. All changes would take hours; the sample is drawn with a fixed seed, so the same code gives the
same sample.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData

from tests.mutants.changes import Change, changes

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "nur"
ROOMS = ("domain", "retrieval", "services")
FAST = ("tests/unit/domain", "tests/unit/retrieval", "tests/unit/services", "tests/contract/stores")
#: A change that makes a loop endless is noticed by this. The slowest tests take seconds on an idle machine.
LONGEST_SECONDS = 300.0
#: Of the tests that reach a line; a line of every write is reached by hundreds.
MOST_TESTS = 40


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one file."""

    file: Path  #: under the package
    change: Change

    def __str__(self) -> str:
        return f"{self.file}:{self.change.line}: {self.change.before}  ->  {self.change.after}"


def pytest(source: Path, *arguments: str, longest_seconds: float | None = LONGEST_SECONDS) -> bool:
    """Whether these tests pass over this copy of the package."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    try:
        found = subprocess.run(
            command, cwd=ROOT, env=environment, check=False, capture_output=True, timeout=longest_seconds
        )
    except subprocess.TimeoutExpired:
        return False
    return found.returncode == 0


def reached(source: Path, folder: Path, tests: list[str]) -> CoverageData:
    """Which tests reach which lines."""
    settings, file = folder / "coveragerc", folder / "coverage"
    settings.write_text(f"[run]\ndata_file = {file}\nsource = {source / 'nur'}\n", encoding="utf-8")
    learning = (f"--cov-config={settings}", "--cov", "--cov-context=test", "--cov-report=")
    if not pytest(source, *learning, *tests, longest_seconds=None):
        sys.exit("The tests fail before anything is changed.")
    data = CoverageData(str(file))
    data.read()
    return data


def is_noticed(mutant: Mutant, source: Path, data: CoverageData) -> bool | None:
    """Whether a test fails with this change; None when no test reaches it."""
    path = source / "nur" / mutant.file
    by_line = data.contexts_by_lineno(str(path))
    own = by_line.get(mutant.change.line, [])
    if own == [""]:  # a line that runs on import: a constant, which any test of the file may notice
        own = [context for contexts in by_line.values() for context in contexts]
    tests = sorted({context.split("|")[0] for context in own if context})
    if not tests:
        return None
    path.write_text(mutant.change.source, encoding="utf-8")
    try:
        return not pytest(source, *tests[:: max(1, len(tests) // MOST_TESTS)])
    finally:
        shutil.copy(PACKAGE / mutant.file, path)


def main() -> None:
    """Test a sample, and print the score and what no test noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("room", nargs="*", choices=[*ROOMS, []], help="which folders; all when none is named")
    parser.add_argument("--sample", type=int, default=200, help="how many changes to test")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws another sample")
    parser.add_argument("--tests", nargs="*", default=list(FAST), help="which tests have to notice")
    options = parser.parse_args()
    files = [path for room in options.room or ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
    mutants = [
        Mutant(path.relative_to(PACKAGE), change) for path in files for change in changes(path.read_text("utf-8"))
    ]
    sample = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    noticed = unreached = 0
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "src"
        shutil.copytree(PACKAGE, source / "nur")
        data = reached(source, Path(name), options.tests)
        for mutant in sample:
            result = is_noticed(mutant, source, data)
            noticed += result is True
            unreached += result is None
            if not result:
                print("not noticed" if result is False else "not reached", mutant, flush=True)
    share = noticed / len(sample)
    print(f"{noticed} of {len(sample)} changes noticed ({share:.0%}), {unreached} not reached; drawn of {len(mutants)}")


if __name__ == "__main__":
    main()
