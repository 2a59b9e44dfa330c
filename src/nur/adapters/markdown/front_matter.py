"""Reads and writes front matter: the YAML between two `---` lines at the start of a Markdown file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent

from nur.domain.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEAD = re.compile(r"---\r?\n(.*?)(?:\r?\n)?---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LINE = re.compile(r"(  )?([a-z_]+):(?: (.*))?")
#: Characters that YAML forbids or treats as line ends.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class _Composer(Composer):
    """Rejects YAML aliases, which let a short file expand without limit."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.parser.check_event(AliasEvent):
            raise YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


def split(text: str) -> tuple[dict[str, Any], str]:
    """Split a text into the values of its front matter and the rest. Raises BadRequest."""
    head = _HEAD.match(text)
    if head is None:
        return {}, text
    values = _json_lines(head[1])
    return (_yaml(head[1]) if values is None else values), text[head.end() :]


def join(values: Mapping[str, Any], text: str) -> str:
    """Put front matter before a text: one line per value, in JSON, which is also valid YAML."""
    lines: list[str] = []
    for name, value in values.items():
        if isinstance(value, dict):
            lines += [f"{name}:", *(f"  {inner}: {_json(one)}" for inner, one in value.items())]
        else:
            lines.append(f"{name}: {_json(value)}")
    return "\n".join(["---", *lines, "---", text])


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _json_lines(head: str) -> dict[str, Any] | None:
    """The values of lines as `join` writes them; None for other YAML, which has other rules for numbers."""
    values: dict[str, Any] = {}
    inner: dict[str, Any] | None = None
    for line in head.split("\n"):
        match = _LINE.fullmatch(line)
        if match is None or (match[1] and inner is None):
            return None
        if not match[1] and match[3] is None:
            inner = values[match[2]] = {}
            continue
        try:
            value = json.loads(match[3] or "")
        except ValueError:
            return None
        (inner if match[1] and inner is not None else values)[match[2]] = value
    return values


def _yaml(head: str) -> dict[str, Any]:
    reader = YAML(typ="safe", pure=True)
    reader.Composer = _Composer
    reader.allow_duplicate_keys = True
    try:
        values = reader.load(head)
    except (YAMLError, ValueError, RecursionError):
        raise BadRequest("the front matter is not valid YAML") from None
    if not isinstance(values, dict):
        raise BadRequest("the front matter must consist of names and values")
    return {str(name): value for name, value in values.items()}
