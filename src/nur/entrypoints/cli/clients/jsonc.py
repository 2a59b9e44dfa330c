"""JSON with comments and trailing commas: edit one entry and keep every other byte."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import regex as re

if TYPE_CHECKING:
    from collections.abc import Sequence

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|(?P<cut>//[^\r\n]*|/\*.*?\*/)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING}|(?P<cut>,)(?=\s*[}}\]])", re.DOTALL)
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object, with offsets into the text."""

    key: str
    key_start: int
    start: int  #: of the value
    stop: int  #: end of the value, exclusive


class _Document:
    """A text, and the same text as strict JSON: removed characters become spaces, so that offsets agree."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.uncommented = _blanked(_COMMENT, text)
        self.strict = _blanked(_TRAILING_COMMA, self.uncommented)
        self.newline = "\r\n" if "\r\n" in text else "\n"
        indented = re.search(r"^[ \t]+(?=\")", self.strict, re.MULTILINE)
        self.indent = indented[0] if indented else "  "

    @property
    def root(self) -> int:
        """Offset of the root object."""
        return self._skip(0)

    def members(self, opened: int) -> list[_Member]:
        """Members of the object whose `{` is at this offset."""
        members = []
        at = self._skip(opened + 1)
        while self.strict[at] != "}":
            key, end = _DECODER.raw_decode(self.strict, at)
            start = self._skip(self._skip(end) + 1)
            _, stop = _DECODER.raw_decode(self.strict, start)
            members.append(_Member(key, at, start, stop))
            at = self._skip(stop)
            if self.strict[at] == ",":
                at = self._skip(at + 1)
        return members

    def closing(self, opened: int) -> int:
        """Offset of the `}` of the object whose `{` is at this offset."""
        return int(_DECODER.raw_decode(self.strict, opened)[1]) - 1

    def render(self, value: Any, depth: int) -> str:
        """A value as JSON, with this file's indentation."""
        return json.dumps(value, indent=self.indent, ensure_ascii=False).replace("\n", self.line(depth))

    def line(self, depth: int) -> str:
        """Line break and indentation of this depth."""
        return self.newline + self.indent * depth

    def _skip(self, at: int) -> int:
        return int(_SPACE.match(self.strict, at).end())


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    def blank(found: re.Match[str]) -> str:
        return str(re.sub(r"[^\r\n]", " ", found[0]) if found["cut"] else found[0])

    return str(pattern.sub(blank, text))


def parse(text: str) -> dict[str, Any]:
    """Parse the object; an empty text is an empty object. Raises ValueError."""
    strict = _Document(text).strict
    content = json.loads(strict) if strict.strip() else {}
    if not isinstance(content, dict):
        raise ValueError("it is not an object")  # noqa: TRY004  # tomllib and json raise it as well
    return content


def set_entry(text: str, path: Sequence[str], value: Any) -> str:
    """Set the value at this path, creating missing parents. The text must parse."""
    document = _Document(text if _Document(text).strict.strip() else text + "{}\n")
    opened = document.root
    *parents, name = path
    for depth, key in enumerate(parents):
        parent = _last(document.members(opened), key)
        if parent is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _insert(document, opened, depth, key, value)
        opened = parent.start
    member = _last(document.members(opened), name)
    if member is None:
        return _insert(document, opened, len(parents), name, value)
    return document.text[: member.start] + document.render(value, len(path)) + document.text[member.stop :]


def _last(members: Sequence[_Member], key: str) -> _Member | None:
    """Member with that key; of duplicates the last, which is the one JSON parsers use."""
    return next((member for member in reversed(members) if member.key == key), None)


def _insert(document: _Document, opened: int, depth: int, key: str, value: Any) -> str:
    members, closed = document.members(opened), document.closing(opened)
    last = members[-1].stop if members else opened + 1
    trailing = document.uncommented[last:closed].strip()  # the trailing comma, if the file uses them
    comma = "," if members and not trailing else ""
    rest = document.text[last:closed].rstrip()
    line = f"{document.line(depth + 1)}{json.dumps(key)}: {document.render(value, depth + 1)}"
    return document.text[:last] + comma + rest + line + trailing + document.line(depth) + document.text[closed:]


def remove_entry(text: str, path: Sequence[str]) -> str:
    """Remove the value at this path. Raises KeyError if there is none."""
    document = _Document(text)
    opened = document.root
    for key in path[:-1]:
        opened = _existing(document.members(opened), key).start
    members = document.members(opened)
    member = _existing(members, path[-1])
    before, stop = text[: member.key_start].rstrip(), member.stop
    following = document.uncommented[stop : document.closing(opened)]
    if following.lstrip().startswith(","):
        stop += following.index(",") + 1
    elif member.key_start != members[0].key_start:
        comma = document.uncommented.rindex(",", 0, member.key_start)
        before = before[:comma] + before[comma + 1 :]
    after = text[stop:]
    if before == text[: opened + 1] and after.lstrip().startswith("}"):
        after = after.lstrip()
    return before + after


def _existing(members: Sequence[_Member], key: str) -> _Member:
    member = _last(members, key)
    if member is None:
        raise KeyError(key)
    return member


def show(path: Sequence[str], value: Any) -> str:
    """A whole file that holds only this entry."""
    return set_entry("", path, value).rstrip("\n")
