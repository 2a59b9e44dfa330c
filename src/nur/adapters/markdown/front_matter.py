"""Front matter: the lines between two `---` at the head of a Markdown file."""

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
#: What YAML does not allow in a file, or takes for the end of a line.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class _Composer(Composer):
    """YAML without aliases, which can make a short file grow without end."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.parser.check_event(AliasEvent):
            raise YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def split(text: str) -> tuple[dict[str, Any], str]:
    """The front matter as values, and the rest of the text. Raises BadRequest."""
    head = _HEAD.match(text)
    if head is None:
        return {}, text
    own = _own(head[1])
    return (_yaml(head[1]) if own is None else own), text[head.end() :]


def join(values: Mapping[str, Any], text: str) -> str:
    """A text with its front matter: each value is JSON, which is YAML, too, on a line of its own."""
    lines: list[str] = []
    for name, value in values.items():
        if isinstance(value, dict):
            lines += [f"{name}:", *(f"  {inner}: {_json(one)}" for inner, one in value.items())]
        else:
            lines.append(f"{name}: {_json(value)}")
    return "\n".join(["---", *lines, "---", text])


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _own(head: str) -> dict[str, Any] | None:
    """The values of lines as `join` writes them; None for other YAML, whose numbers are not JSON's."""
    values: dict[str, Any] = {}
    inner: dict[str, Any] | None = None
    for line in head.split("\n"):
        found = _LINE.fullmatch(line)
        if found is None or (found[1] and inner is None):
            return None
        if not found[1] and found[3] is None:
            inner = values[found[2]] = {}
            continue
        try:
            value = json.loads(found[3] or "")
        except ValueError:
            return None
        (inner if found[1] and inner is not None else values)[found[2]] = value
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
        raise BadRequest("the front matter must be a list of names and values")
    return {str(name): value for name, value in values.items()}
