"""TOML: edit one table and keep every other line."""

from __future__ import annotations

import json
import tomllib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import regex as re

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADER = re.compile(r"^[ \t]*\[")


def parse(text: str) -> dict[str, Any]:
    """Parse the tables. Raises ValueError."""
    return tomllib.loads(text.replace("\r\n", "\n"))


def set_entry(text: str, path: Sequence[str], value: Any) -> str:
    """Replace the table of this name, or append it."""
    newline = "\r\n" if "\r\n" in text else "\n"
    table = show(path, value).replace("\n", newline) + newline
    lines, blocks = text.splitlines(keepends=True), _blocks(text, path)
    if blocks:
        start = blocks[0][0]
        kept = _without(lines, blocks)
        return "".join(kept[:start]) + table + "".join(kept[start:])
    end = "" if not text or text.endswith("\n") else newline
    return text + end + (newline if text.strip() else "") + table


def remove_entry(text: str, path: Sequence[str]) -> str:
    """Remove this table and its subtables."""
    lines, blocks = text.splitlines(keepends=True), _blocks(text, path)
    kept = _without(lines, blocks)
    if blocks and blocks[-1][1] == len(lines):  # also the blank line that set_entry added
        while kept and not kept[-1].strip():
            kept.pop()
    return "".join(kept)


def show(path: Sequence[str], value: Any) -> str:
    """The entry as a table."""
    lines = [f"{key} = {_value(one)}" for key, one in value.items()]
    return "\n".join([f"[{'.'.join(path)}]", *lines])


def _value(value: Any) -> str:
    """Render a string, a list of strings or a table of strings. JSON strings are valid TOML strings."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _blocks(text: str, path: Sequence[str]) -> list[tuple[int, int]]:
    """Line ranges of the table and its subtables, end exclusive."""
    names = r"\s*\.\s*".join(f"[\"']?{re.escape(key)}[\"']?" for key in path)
    ours = re.compile(rf"^[ \t]*\[\s*{names}\s*(\..*)?\]\s*(#.*)?$")
    lines = text.splitlines()
    headers = [number for number, line in enumerate(lines) if _HEADER.match(line)] + [len(lines)]
    found = []
    for header, following in pairwise(headers):
        end = following
        while end > header + 1 and re.match(r"\s*(#.*)?$", lines[end - 1]) and following != len(lines):
            end -= 1  # comments and blank lines before a header belong to the next table
        if ours.match(lines[header]):
            found.append((header, end))
    return found


def _without(lines: Sequence[str], blocks: Sequence[tuple[int, int]]) -> list[str]:
    return [line for number, line in enumerate(lines) if not any(start <= number < end for start, end in blocks)]
