"""Generate the reference of tools, REST and settings from the code: `make reference`.

The generated pages list every name, type, limit and default; hand-written pages explain the behaviour. A test fails if
the generated pages differ from the code.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nur.entrypoints.mcp.server import tools
from nur.entrypoints.rest.app import make_fastapi
from nur.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractAsyncContextManager

    from pydantic.fields import FieldInfo

    from nur.bootstrap import Services

GENERATED = "<!-- Generated from the code by `make reference`. Do not edit. -->"
LIMITS = {
    "minLength": "characters: from {}",
    "maxLength": "characters: up to {}",
    "minimum": "from {}",
    "maximum": "to {}",
    "exclusiveMinimum": "more than {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


def _no_services() -> AbstractAsyncContextManager[Services]:
    raise RuntimeError("descriptions need no services")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    heads = list(heads)
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return [*lines, *("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows)]


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def type_of(schema: Mapping[str, Any]) -> str:
    """A JSON schema's type in a few words, without null, which every optional field accepts."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            parts = [type_of(one) for one in schema[union] if one.get("type") != "null"]
            return " or ".join(dict.fromkeys(parts))
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any")


def limits_of(schema: Mapping[str, Any]) -> str:
    """A JSON schema's limits, separated by commas."""
    found = [words.format(_number(schema[name])) for name, words in LIMITS.items() if name in schema]
    inner = [limits_of(one) for one in schema.get("anyOf", []) if one.get("type") != "null"]
    return ", ".join(filter(None, [*found, *inner]))


def _default(schema: Mapping[str, Any]) -> str:
    return f"`{json.dumps(schema['default'])}`" if schema.get("default") is not None else ""


def _fields(properties: Mapping[str, Any], required: Iterable[str]) -> list[str]:
    needed = set(required)
    rows = [
        [f"`{name}`", type_of(one), "yes" if name in needed else "", _default(one), limits_of(one), _description(one)]
        for name, one in properties.items()
    ]
    return _table(["name", "type", "required", "default", "limits", "meaning"], rows)


def _description(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", "")).replace("<", "\\<")


def tools_page() -> str:
    """Every MCP tool with the schema of its arguments."""
    lines = [
        GENERATED,
        "",
        "# Tool schemas",
        "",
        "What `tools/list` answers. How the tools behave: [tools](../tools.md).",
    ]
    for tool in tools(_no_services):
        hints = tool.annotations.model_dump(exclude_none=True) if tool.annotations else {}
        shown = ", ".join(
            name.removesuffix("_hint").replace("_", "-") for name, value in hints.items() if value is True
        )
        lines += ["", f"## {tool.name}", "", str(tool.description).replace("\n", " "), ""]
        lines += [f"Hints: {shown or 'none'}.", ""]
        properties = tool.parameters.get("properties", {})
        lines += _fields(properties, tool.parameters.get("required", [])) if properties else ["No arguments."]
    return "\n".join(lines) + "\n"


def _route(method: str, path: str, route: Mapping[str, Any]) -> list[str]:
    lines = ["", f"### {method.upper()} {path}", "", str(route.get("description", "")).strip().replace("\n", " "), ""]
    given = {one["name"]: {**one["schema"], **_only(one, "description")} for one in route.get("parameters", [])}
    needed = [one["name"] for one in route.get("parameters", []) if one.get("required")]
    if given:
        lines += [*_fields(given, needed), ""]
    for media, body in route.get("requestBody", {}).get("content", {}).items():
        lines += [f"Body, `{media}`: {type_of(body['schema'])}.", ""]
    answers = {
        status: type_of(next(iter(answer["content"].values()))["schema"]) if answer.get("content") else "no content"
        for status, answer in route["responses"].items()
        if status.startswith("2")
    }
    return [*lines, "Answers: " + ", ".join(f"{status} {answer}" for status, answer in answers.items()) + "."]


def _only(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {name: values[name]} if name in values else {}


def rest_page() -> str:
    """Every route, then the schema of every body."""
    described = make_fastapi(_no_services).openapi()
    lines = [
        *[GENERATED, "", "# REST schemas", "", "The same as `/openapi.json`. How calls behave: [REST](../rest.md)."],
        *["", "## Routes"],
    ]
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            lines += _route(method, path, route)
    lines += ["", "## Bodies"]
    for name, schema in sorted(described["components"]["schemas"].items()):
        lines += ["", f"### {name}", ""]
        if schema.get("description"):
            lines += [_description(schema).replace("\n", " "), ""]
        if schema.get("properties"):
            lines += _fields(schema["properties"], schema.get("required", []))
        else:
            lines += [type_of(schema) + "."]
    return "\n".join(lines) + "\n"


def _setting_default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "depends on the system"
    value = field.get_default()
    if value is None or value == "" or value == ():
        return "none"
    return f"`{json.dumps(value, default=str) if not isinstance(value, str) else value}`"


def settings_page() -> str:
    """Every setting with its type, limits and default."""
    schema = Settings.model_json_schema(mode="validation")
    properties = {name.lower(): one for name, one in schema["properties"].items()}
    tables = {name for name, one in properties.items() if "$ref" in one}
    rows = [
        [
            f"`{name.upper()}`",
            "a table of `nur.toml`" if name in tables else type_of(properties[name]),
            _setting_default(field),
            limits_of(properties[name]),
            field.description or "",
        ]
        for name, field in Settings.model_fields.items()
    ]
    heads = ["setting", "type", "default", "limits", "meaning"]
    title = ["# All settings", "", "One table of them all. What they are for, by subject: [settings](../settings.md)."]
    return "\n".join([GENERATED, "", *title, "", *_table(heads, rows)]) + "\n"


PAGES = {"tools.md": tools_page, "rest.md": rest_page, "settings.md": settings_page}


def main(folder: Path) -> None:
    """Write every page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
