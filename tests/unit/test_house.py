"""What the package keeps to: small ports, one class per name, the words of the field."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "nur"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_METHODS = 12
#: Words that this project does not use, each with the field's own.
PRIVATE_WORDS = {
    "anew": "again",
    "lest": "so that … not",
    "gives? back": "returns",
    "telling": "content (word), rare",
    "thrice": "three times",
    "aloud": "(leave it out)",
    "gladly": "(leave it out)",
    "desk": "idempotency",
    "deed": "committed change",
    "glances?": "scoring view",
    "shortlist": "best notes",
    "upkeep": "outbox, vectors, retention",
    "hears?": "is called with, receives",
    "takes? possession": "open",
    "(is|are) told": "is called with, receives",
    "shall": "must, is to",
    "befell": "happened to",
    "lets? go of": "releases, closes",
    "what (came|became) of": "the result, the outcome",
    "one's own": "your own",
    "mend(s|ed)?": "correct, fix",
    "may be given again": "may be repeated",
    "unwell": "unhealthy",
}
#: Texts that are about words: what they list is not how this project writes.
WORD_LISTS = ("retrieval/ranking/queries.py", "retrieval/text/")


def _classes(module: Path) -> list[ast.ClassDef]:
    return [node for node in ast.walk(ast.parse(module.read_text("utf-8"))) if isinstance(node, ast.ClassDef)]


def _is_property(function: ast.AST) -> bool:
    return any(ast.unparse(one) == "property" for one in getattr(function, "decorator_list", []))


@pytest.mark.parametrize("module", sorted((PACKAGE / "ports").glob("*.py")), ids=lambda path: path.stem)
def test_a_port_has_at_most_twelve_methods(module: Path) -> None:
    for found in _classes(module):
        methods = [one for one in found.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
        assert len([one for one in methods if not _is_property(one)]) <= MAX_METHODS, found.name


def test_a_class_name_is_used_once() -> None:
    named: dict[str, list[str]] = defaultdict(list)
    for module in MODULES:
        for found in _classes(module):
            named[found.name].append(str(module.relative_to(PACKAGE)))
    assert {name: where for name, where in named.items() if len(where) > 1} == {}


@pytest.mark.parametrize("word", PRIVATE_WORDS)
def test_a_word_of_our_own_is_not_used(word: str) -> None:
    pattern = re.compile(rf"\b{word}\b", re.IGNORECASE)
    texts = [path for path in MODULES if not str(path.relative_to(PACKAGE)).startswith(WORD_LISTS)]
    texts += [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    found = [
        f"{path.relative_to(ROOT)}:{text[: match.start()].count(chr(10)) + 1}"
        for path in texts
        for text in [path.read_text("utf-8")]
        if (match := pattern.search(text))
    ]
    assert found == [], f"write: {PRIVATE_WORDS[word]}"


def test_limits_are_named_max_and_min() -> None:
    other = re.compile(r"^_?(MOST|LEAST|LONGEST|SHORTEST|LARGEST)(_[A-Z_]+)?\b", re.MULTILINE)
    found = {
        str(path.relative_to(PACKAGE)): match[0] for path in MODULES if (match := other.search(path.read_text("utf-8")))
    }
    assert found == {}


def test_only_the_clock_reads_the_time_of_writes() -> None:
    """Services, stores and ranking are given the time, so that tests can choose it."""
    rooms = ("domain", "ports", "retrieval", "services", "adapters")
    read = re.compile(r"datetime\.now\(|datetime\.utcnow\(|date\.today\(|time\.time\(")
    found = [
        str(path.relative_to(PACKAGE))
        for path in MODULES
        if path.relative_to(PACKAGE).parts[0] in rooms and read.search(path.read_text("utf-8"))
    ]
    assert found == ["ports/clock.py"]
