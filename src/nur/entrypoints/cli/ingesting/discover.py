"""Which files to ingest: those that are named, and what lies in folders, without what nobody meant."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from nur.domain.file_formats import HEAD_BYTES, can_be_read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


NAME = ".gitignore"
_SPECIAL = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)
_MEANING = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}

#: The server takes bodies of 64 MiB; the rest is for what is sent beside the file.
MOST_FILE_BYTES = 63 * 1024 * 1024
#: Folders that tools fill, whether or not a `.gitignore` says so.
GENERATED = frozenset({"node_modules", "__pycache__", "site-packages"})


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    keeps: bool  #: begins with `!`
    folders_only: bool


def _rule(line: str) -> _Rule | None:
    """One line; None where it says nothing."""
    line = line.rstrip("\n").rstrip()
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    line = line.removeprefix("!").removeprefix("\\")
    folders_only, line = line.endswith("/"), line.rstrip("/")
    anchored, line = "/" in line, line.removeprefix("/")
    body = "".join(_translated(part) for part in _SPECIAL.findall(line))
    try:
        return _Rule(re.compile(body if anchored else f"(?:.*/)?{body}"), keeps, folders_only)
    except re.error:
        return None


def _translated(part: str) -> str:
    if part in _MEANING:
        return _MEANING[part]
    if len(part) > 1:  # a set of characters
        return part.replace("[!", "[^", 1).replace("\\", "\\\\")
    return re.escape(part)


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules that hold in a folder: those of the folders above first, so that nearer ones win."""

    levels: tuple[tuple[Path, tuple[_Rule, ...]], ...] = ()

    @classmethod
    def above(cls, folder: Path) -> Ignore:
        """The rules of the folders above, up to the one that holds `.git`; none outside of a repository."""
        chain = [folder, *folder.parents]
        top = next((place for place, parent in enumerate(chain) if (parent / ".git").exists()), 0)
        ignore = cls()
        for parent in reversed(chain[1 : top + 1]):
            ignore = ignore.within(parent)
        return ignore

    def within(self, folder: Path) -> Ignore:
        """The rules that hold in a folder of this one."""
        try:
            lines = (folder / NAME).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return self
        rules = tuple(rule for rule in map(_rule, lines) if rule is not None)
        return Ignore((*self.levels, (folder, rules))) if rules else self

    def hides(self, path: Path, *, is_folder: bool) -> bool:
        """Whether the last rule that fits says so."""
        for folder, rules in reversed(self.levels):
            name = path.relative_to(folder).as_posix()
            for rule in reversed(rules):
                if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(name):
                    return not rule.keeps
        return False


def printable(name: str) -> str:
    """A name that can be sent and printed: bytes that are no UTF-8 are spelled out."""
    return name.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Found:
    """A file to ingest."""

    path: Path
    size: int
    modified_ns: int

    @property
    def name(self) -> str:
        """Its last three parts: enough to tell what it is, and the same from wherever it was found."""
        return printable("/".join(self.path.parts[-3:]).lstrip("/"))

    @property
    def source_id(self) -> str:
        """What the document is known by: the path."""
        return printable(self.path.as_posix())


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was left out on purpose."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be ingested."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Which files of a folder are wanted. Patterns are matched with the path in the folder, and with the name."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    everything: bool = False  #: hidden and ignored files, too

    def refusal(self, path: Path, root: Path, ignore: Ignore, *, is_folder: bool) -> str | None:
        """Why it is left out; None where it is wanted."""
        if not self.everything:
            if path.name.startswith("."):
                return "hidden"
            if is_folder and path.name in GENERATED:
                return "generated"
            if ignore.hides(path, is_folder=is_folder):
                return "ignored by .gitignore"
        if _fits(path, root, self.exclude):
            return "excluded"
        if self.include and not is_folder and not _fits(path, root, self.include):
            return "not included"
        return None


def _fits(path: Path, root: Path, patterns: Sequence[str]) -> bool:
    names = (path.relative_to(root).as_posix(), path.name)
    return any(fnmatch(name, pattern) for name in names for pattern in patterns)


@dataclass(slots=True)
class Discovery:
    """One walk; a file that is met again, by a link or a second argument, is left out."""

    choice: Choice
    _met: set[tuple[int, int]] = field(default_factory=set)

    def __call__(self, arguments: Sequence[str]) -> Iterator[Found | Skipped | Failed]:
        """What the arguments stand for: files, folders, patterns; in order, each folder by name."""
        for argument in arguments:
            path = Path(argument).expanduser()
            is_pattern = not os.path.lexists(path)
            matches = sorted(glob.glob(str(path), recursive=True)) if is_pattern else [path]  # noqa: PTH207  # absolute ones
            if not matches:
                yield Failed(path, "There is no such file or folder.")
            for match in map(Path, matches):
                if is_pattern and _fits(match, match.parent, self.choice.exclude):
                    yield Skipped(match, "excluded")
                else:
                    yield from self._folder(Path(os.path.realpath(match))) if match.is_dir() else self._file(match)

    def _folder(self, root: Path) -> Iterator[Found | Skipped | Failed]:
        rules = {root: Ignore() if self.choice.everything else Ignore.above(root).within(root)}
        failures: list[OSError] = []
        for place, folders, files in os.walk(root, onerror=failures.append):  # links to folders are not followed
            here, ignore = Path(place), rules.pop(Path(place))
            kept: list[str] = []
            for name in sorted(folders):
                path = here / name
                reason = self.choice.refusal(path, root, ignore, is_folder=True)
                if reason is None and path.is_symlink():
                    reason = "link to a folder"
                if reason is not None:
                    yield Skipped(path, reason)
                else:
                    kept.append(name)
                    rules[path] = ignore if self.choice.everything else ignore.within(path)
            folders[:] = kept
            for name in sorted(files):
                reason = self.choice.refusal(here / name, root, ignore, is_folder=False)
                yield from self._file(here / name) if reason is None else (Skipped(here / name, reason),)
        yield from (Failed(Path(error.filename), f"{error.strerror}.") for error in failures)

    def _file(self, path: Path) -> Iterator[Found | Skipped | Failed]:
        try:
            status = path.stat()
            if not path.is_file():
                yield Skipped(path, "not a file")
                return
            with path.open("rb") as file:
                head = file.read(HEAD_BYTES)
        except OSError as error:
            yield Failed(path, f"{error.strerror or 'It cannot be read'}.")
            return
        identity = (status.st_dev, status.st_ino)
        if status.st_ino and identity in self._met:
            yield Skipped(path, "the same file again")
            return
        self._met.add(identity)
        if not head:
            yield Skipped(path, "empty")
        elif not can_be_read(path.name, head):
            yield Skipped(path, "not a format that can be read")
        elif status.st_size > MOST_FILE_BYTES:
            yield Failed(path, f"It is larger than {MOST_FILE_BYTES // 2**20} MB: split it.")
        else:
            # Its real path: through whatever link it was found, it is the same document.
            yield Found(Path(os.path.realpath(path)), status.st_size, status.st_mtime_ns)
