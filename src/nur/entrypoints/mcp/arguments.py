"""Checks the arguments of tool calls. The SDK's own messages would repeat the caller's contents.

Limits are stated once, in the tools' signatures; the input schema advertises them, and they are checked here.
"""

from __future__ import annotations

import inspect
import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from nur.domain.errors import BadRequest
from nur.domain.times import in_utc, parse_moment
from nur.domain.urls import RULE, is_source_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_core import ErrorDetails

    from nur.domain.times import Zone

#: Most characters of the caller's value that an error message repeats.
ECHO = 60
#: A number in a string, as JSON writes it.
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?")
_NUMBERS = {"int", "float"}
#: Most characters of a list or object sent as JSON in a string.
MAX_JSON_CHARACTERS = 100_000


class Arguments(BaseModel):
    """A tool's arguments: exactly these, of exactly these types."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


def arguments_of(function: Callable[..., Any], skip: frozenset[str]) -> type[Arguments]:
    """The argument model of a tool's function, from its signature."""
    fields: dict[str, Any] = {
        name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in skip
    }
    return create_model(f"{function.__name__}_arguments", __base__=Arguments, **fields)


def schema_of(model: type[Arguments]) -> dict[str, Any]:
    """The input schema, without titles that repeat each name: every conversation reads `tools/list`."""
    schema = model.model_json_schema()
    schema.pop("title", None)
    for entry in schema.get("properties", {}).values():
        entry.pop("title", None)
        _flatten_optional(entry)
    return schema


def _flatten_optional(entry: dict[str, Any]) -> None:
    """Turn `anyOf: [X, null]` into X: optional arguments are usually left out; null is still accepted."""
    choices = [choice for choice in entry.get("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        del entry["anyOf"]
        entry.update({key: value for key, value in choices[0].items() if key not in entry})
        if entry.get("default", ...) is None:
            del entry["default"]


def check(model: type[Arguments], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked arguments. Raises BadRequest, naming the field and the limit."""
    # One unknown name is enough to refuse the call: pydantic would copy the value of each into an error.
    unknown = next((name for name in given if name not in model.model_fields), None)
    plain = {name: _unwrap(model, name, given[name]) for name in model.model_fields if name in given}
    if unknown is not None:
        plain[unknown] = given[unknown]
    try:
        checked = model.model_validate(plain)
    except ValidationError as error:
        raise BadRequest(explain(model, error.errors()[0])) from None
    values = {name: getattr(checked, name) for name in model.model_fields}
    for name, value in values.items():
        _check_characters(name, value)
    return values


def _unwrap(model: type[Arguments], name: str, value: Any) -> Any:
    """Decode a number, list or object sent as JSON in a string, as Claude Desktop and small models do."""
    field = model.model_fields.get(name)
    if not isinstance(value, str) or field is None or "str" in (kinds := _kinds(field.annotation)):
        return value
    if not kinds.isdisjoint(_NUMBERS) and _NUMBER.fullmatch(value):
        return json.loads(value)
    if value[:1] not in "[{":
        return value
    if len(value) > MAX_JSON_CHARACTERS:
        raise BadRequest(_too_long(name, _label(name), MAX_JSON_CHARACTERS))
    try:
        return json.loads(value)
    except RecursionError:
        raise BadRequest(f"{_label(name)} must not be nested so deeply") from None
    except ValueError:
        return value


def _kinds(annotation: Any) -> set[str]:
    """Names of the top-level types of an annotation."""
    arms = getattr(annotation, "__args__", ()) if "|" in str(annotation) else (annotation,)
    return {getattr(arm, "__name__", str(arm)) for arm in arms}


def _check_characters(name: str, value: Any) -> None:
    for text in value if isinstance(value, list | tuple) else (value,):
        if isinstance(text, str) and "\0" in text:
            raise BadRequest(f"{_label(name)} must not contain NUL characters")


def explain(model: type[Arguments], problem: ErrorDetails) -> str:
    """The message for a validation error, in the specification's words if it has any."""
    name = str(problem["loc"][0]) if problem["loc"] else "arguments"
    kind, context = problem["type"], problem.get("ctx", {})
    label = _label(name)
    if kind == "missing":
        return f"Missing required field: {name}"
    if kind == "extra_forbidden":
        return f"Unknown field: {_echo(name)}. Must be one of: {', '.join(model.model_fields)}"
    if kind == "literal_error":
        choices = str(context["expected"]).replace("'", "").replace(" or ", ", ")
        return f"Invalid {name}: {_echo(problem['input'])}. Must be one of: {choices}"
    if kind == "string_too_long":
        return _too_long(name, label, int(context["max_length"]))
    if kind == "string_too_short":
        return f"{label} must not be empty"
    if kind in ("greater_than_equal", "less_than_equal", "finite_number"):
        return f"{label} must be {_range(model, name)}"
    if kind == "too_long":
        return f"{label} must have at most {context['max_length']} items"
    if kind == "string_unicode":
        return f"{label} must be valid Unicode text: it holds a lone surrogate"
    if kind == "value_error":
        return str(context["error"])
    types = _TYPES if len(problem["loc"]) < 2 else _ITEM_TYPES  # longer: the field and the index of an item
    return f"{label} must be {types.get(kind, 'of the type that the schema says')}"


_TYPES = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
}
_ITEM_TYPES = {"string_type": "a list of strings"}
_TEN_MILLION = 10_000_000


def _too_long(name: str, label: str, most: int) -> str:
    if name == "content" and most == _TEN_MILLION:
        return "Content exceeds maximum size of 10MB"
    return f"{label} exceeds maximum length of {most} characters"


def _range(model: type[Arguments], name: str) -> str:
    """The limits of a number, as its field states them."""
    limits = model.model_json_schema()["properties"][name]
    low, high = limits.get("minimum"), limits.get("maximum")
    return f"between {low} and {high}" if high is not None else f"at least {low}"


def checked_text(name: str, text: str) -> str:
    """Return the text. Raises BadRequest if it is blank."""
    if not text.strip():
        raise BadRequest(f"{_label(name)} must not be blank")
    return text


def checked_said(name: str, text: str | None, zone: Zone) -> datetime | None:
    """Parse when something was said, to UTC; without an offset it is in `zone`, and a date alone means noon."""
    if text is None:
        return None
    try:
        return in_utc(parse_moment(text), zone)
    except ValueError as error:
        raise BadRequest(f"{name} {error}") from None


def checked_moment(name: str, text: str | None) -> datetime | None:
    """Parse an ISO 8601 time to UTC; without an offset it is UTC."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"{name} must be an ISO 8601 time such as 2025-12-25T10:30:00Z") from None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise BadRequest(f"{name} must lie between the years 1 and 9999") from None


def checked_range(start: str | None, end: str | None) -> tuple[datetime | None, datetime | None]:
    """Parse `time_range_start` and `time_range_end` to UTC. Raises BadRequest if they are not in order."""
    first, last = checked_moment("time_range_start", start), checked_moment("time_range_end", end)
    if first is not None and last is not None and first > last:
        raise BadRequest("time_range_start must not be after time_range_end")
    return first, last


def checked_url(name: str, text: str | None) -> str | None:
    """Return the URL. Raises BadRequest if its scheme is not allowed."""
    if text is not None and not is_source_url(text):
        raise BadRequest(f"{name} {RULE}")
    return text


def _label(name: str) -> str:
    """`query` starts a sentence as `Query`; a name with an underscore stays as it is."""
    return name if "_" in name else name.capitalize()


def _echo(value: Any) -> str:
    """The caller's value on one short line."""
    text = " ".join(str(value).split())
    return text if len(text) <= ECHO else text[:ECHO] + "…"
