"""Find the files to ingest: named files and the contents of folders, without hidden and ignored files."""

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
_TOKENS = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)
_AS_REGEX = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}

#: The server accepts bodies of 64 MiB; the rest is for the form's other fields.
MAX_FILE_BYTES = 63 * 1024 * 1024
#: Generated folders, skipped whether or not a `.gitignore` lists them.
GENERATED = frozenset({"node_modules", "__pycache__", "site-packages"})


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    keeps: bool  #: starts with `!`
    folders_only: bool


def _rule(line: str) -> _Rule | None:
    """Parse a line of `.gitignore`; None for a blank line, a comment or an invalid pattern."""
    line = line.rstrip("\n").rstrip()
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    line = line.removeprefix("!").removeprefix("\\")
    folders_only, line = line.endswith("/"), line.rstrip("/")
    anchored, line = "/" in line, line.removeprefix("/")
    body = "".join(_translated(token) for token in _TOKENS.findall(line))
    try:
        return _Rule(re.compile(body if anchored else f"(?:.*/)?{body}"), keeps, folders_only)
    except re.error:
        return None


def _translated(token: str) -> str:
    if token in _AS_REGEX:
        return _AS_REGEX[token]
    if len(token) > 1:  # a set of characters
        return token.replace("[!", "[^", 1).replace("\\", "\\\\")
    return re.escape(token)


@dataclass(frozen=True, slots=True)
class Ignore:
    """The ignore rules of a folder: parents' rules first, since later rules win."""

    levels: tuple[tuple[Path, tuple[_Rule, ...]], ...] = ()

    @classmethod
    def above(cls, folder: Path) -> Ignore:
        """Rules of the parent folders, up to the repository's root; none outside of a repository."""
        chain = [folder, *folder.parents]
        top = next((depth for depth, parent in enumerate(chain) if (parent / ".git").exists()), 0)
        ignore = cls()
        for parent in reversed(chain[1 : top + 1]):
            ignore = ignore.within(parent)
        return ignore

    def within(self, folder: Path) -> Ignore:
        """These rules plus those of a subfolder's own `.gitignore`."""
        try:
            lines = (folder / NAME).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return self
        rules = tuple(rule for rule in map(_rule, lines) if rule is not None)
        return Ignore((*self.levels, (folder, rules))) if rules else self

    def hides(self, path: Path, *, is_folder: bool) -> bool:
        """Whether the path is ignored; the last matching rule decides."""
        for folder, rules in reversed(self.levels):
            name = path.relative_to(folder).as_posix()
            for rule in reversed(rules):
                if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(name):
                    return not rule.keeps
        return False


def printable(name: str) -> str:
    """The name as valid UTF-8; undecodable bytes are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to ingest."""

    path: Path
    size: int
    modified_ns: int

    @property
    def name(self) -> str:
        """The last three parts of the path: recognisable, and independent of the argument that found the file."""
        return printable("/".join(self.path.parts[-3:]).lstrip("/"))

    @property
    def source_id(self) -> str:
        """Source id of the document: its path."""
        return printable(self.path.as_posix())


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was skipped on purpose."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be ingested."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class FileFilter:
    """Selects the files of a folder. Patterns match the path in the folder, or the file's name."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    everything: bool = False  #: hidden and ignored files, too

    def refusal(self, path: Path, root: Path, ignore: Ignore, *, is_folder: bool) -> str | None:
        """Reason to skip the path; None if it is selected."""
        if not self.everything:
            if path.name.startswith("."):
                return "hidden"
            if is_folder and path.name in GENERATED:
                return "generated"
            if ignore.hides(path, is_folder=is_folder):
                return "ignored by .gitignore"
        if _matches(path, root, self.exclude):
            return "excluded"
        if self.include and not is_folder and not _matches(path, root, self.include):
            return "not included"
        return None


def _matches(path: Path, root: Path, patterns: Sequence[str]) -> bool:
    names = (path.relative_to(root).as_posix(), path.name)
    return any(fnmatch(name, pattern) for name in names for pattern in patterns)


@dataclass(slots=True)
class Discovery:
    """Walks the arguments once; a file found twice, by a link or a second argument, is skipped."""

    file_filter: FileFilter
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def __call__(self, arguments: Sequence[str]) -> Iterator[FoundFile | Skipped | Failed]:
        """Resolve files, folders and patterns, in argument order; the contents of a folder sorted by name."""
        for argument in arguments:
            path = Path(argument).expanduser()
            is_pattern = not os.path.lexists(path)
            matches = sorted(glob.glob(str(path), recursive=True)) if is_pattern else [path]  # noqa: PTH207  # absolute ones
            if not matches:
                yield Failed(path, "There is no such file or folder.")
            for match in map(Path, matches):
                if is_pattern and _matches(match, match.parent, self.file_filter.exclude):
                    yield Skipped(match, "excluded")
                else:
                    yield from self._folder(Path(os.path.realpath(match))) if match.is_dir() else self._file(match)

    def _folder(self, root: Path) -> Iterator[FoundFile | Skipped | Failed]:
        rules = {root: Ignore() if self.file_filter.everything else Ignore.above(root).within(root)}
        failures: list[OSError] = []
        for parent, folders, files in os.walk(root, onerror=failures.append):  # links to folders are not followed
            here, ignore = Path(parent), rules.pop(Path(parent))
            kept: list[str] = []
            for name in sorted(folders):
                path = here / name
                reason = self.file_filter.refusal(path, root, ignore, is_folder=True)
                if reason is None and path.is_symlink():
                    reason = "link to a folder"
                if reason is not None:
                    yield Skipped(path, reason)
                else:
                    kept.append(name)
                    rules[path] = ignore if self.file_filter.everything else ignore.within(path)
            folders[:] = kept
            for name in sorted(files):
                reason = self.file_filter.refusal(here / name, root, ignore, is_folder=False)
                yield from self._file(here / name) if reason is None else (Skipped(here / name, reason),)
        yield from (Failed(Path(error.filename), f"{error.strerror}.") for error in failures)

    def _file(self, path: Path) -> Iterator[FoundFile | Skipped | Failed]:
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
        if status.st_ino and identity in self._seen:
            yield Skipped(path, "the same file again")
            return
        self._seen.add(identity)
        if not head:
            yield Skipped(path, "empty")
        elif not can_be_read(path.name, head):
            yield Skipped(path, "not a format that can be read")
        elif status.st_size > MAX_FILE_BYTES:
            yield Failed(path, f"It is larger than {MAX_FILE_BYTES // 2**20} MB: split it.")
        else:
            # The real path identifies the document, whichever link led to it.
            yield FoundFile(Path(os.path.realpath(path)), status.st_size, status.st_mtime_ns)
