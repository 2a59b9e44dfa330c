"""Arguments are checked by our own rules: the message names the field and the limit, and echoes no contents."""

# Signatures are read at run time, so annotations are not postponed here.
import tracemalloc
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from nur.domain.errors import BadRequest
from nur.entrypoints.mcp.arguments import ECHO, arguments_of, check, schema_of


async def tool(
    services: object,
    context: object,
    text: Annotated[str, Field(min_length=1, max_length=10)],
    kind: Literal["red", "green"] = "red",
    limit: Annotated[int, Field(ge=1, le=50, description="Most results")] = 5,
    share: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5,
    least: Annotated[int, Field(ge=3)] = 3,
    names: Annotated[list[str] | None, Field(max_length=2)] = None,
    filters: dict[str, Any] | None = None,
    flag: bool = False,
    source_id: Annotated[str | None, Field(min_length=1, max_length=5)] = None,
    content: Annotated[str | None, Field(max_length=10_000_000)] = None,
) -> None:
    """A tool with one parameter of every sort."""


MODEL = arguments_of(tool, skip=frozenset({"services", "context"}))


def told(**arguments: Any) -> str:
    with pytest.raises(BadRequest) as caught:
        check(MODEL, {"text": "t", **arguments})
    return str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": 5}, "Text must be a string"),
        ({"text": None}, "Text must be a string"),
        ({"text": ""}, "Text must not be empty"),
        ({"text": "x" * 11}, "Text exceeds maximum length of 10 characters"),
        ({"text": "a\0"}, "Text must not contain NUL characters"),
        ({"text": "\ud800"}, "Text must be valid Unicode text: it holds a lone surrogate"),
        ({"kind": "blue"}, "Invalid kind: blue. Must be one of: red, green"),
        ({"kind": 5}, "Invalid kind: 5. Must be one of: red, green"),
        ({"kind": "b\n\nlue"}, "Invalid kind: b lue. Must be one of: red, green"),  # on one line
        ({"limit": 0}, "Limit must be between 1 and 50"),
        ({"limit": 51}, "Limit must be between 1 and 50"),
        ({"limit": "5.5"}, "Limit must be an integer"),
        ({"limit": 5.5}, "Limit must be an integer"),
        ({"limit": True}, "Limit must be an integer"),
        ({"limit": 10**40}, "Limit must be between 1 and 50"),
        ({"share": 1.5}, "Share must be between 0.0 and 1.0"),
        ({"share": "one"}, "Share must be a number"),
        ({"share": True}, "Share must be a number"),
        ({"least": 2}, "Least must be at least 3"),
        ({"names": "a"}, "Names must be a list"),
        ({"names": ["a"] * 3}, "Names must have at most 2 items"),
        ({"names": ["a\0"]}, "Names must not contain NUL characters"),
        ({"filters": "red"}, "Filters must be an object"),
        ({"filters": ["a"]}, "Filters must be an object"),
        ({"flag": "yes"}, "Flag must be true or false"),
        ({"flag": 1}, "Flag must be true or false"),
        ({"source_id": ""}, "source_id must not be empty"),  # a name with an underscore stays as it is
        ({"source_id": "x" * 6}, "source_id exceeds maximum length of 5 characters"),
        ({"content": "x" * 10_000_001}, "Content exceeds maximum size of 10MB"),  # the specification's words
    ],
)
def test_the_message_names_the_field_and_the_limit(arguments: dict[str, Any], message: str) -> None:
    assert told(**arguments) == message


def test_a_missing_and_an_unknown_field_are_named() -> None:
    with pytest.raises(BadRequest, match=r"^Missing required field: text$"):
        check(MODEL, {})
    assert told(colour=1).startswith("Unknown field: colour. Must be one of: text, kind, limit,")


@given(st.text(min_size=1, max_size=500))
def test_an_echo_is_short_and_on_one_line(value: str) -> None:
    words = told(kind=value if value not in ("red", "green") else value + "!")
    assert len(words.splitlines()) <= 1
    assert len(words) <= ECHO + len("Invalid kind: …. Must be one of: red, green")


def test_what_is_left_out_has_its_default_and_null_is_left_out() -> None:
    found = check(MODEL, {"text": "t", "names": None})
    assert found == {
        "text": "t", "kind": "red", "limit": 5, "share": 0.5, "least": 3, "names": None, "filters": None,
        "flag": False, "source_id": None, "content": None,
    }  # fmt: skip


def test_an_integer_is_a_number_too() -> None:
    assert check(MODEL, {"text": "t", "share": 1})["share"] == 1.0


def test_lists_and_objects_may_come_as_json_in_a_string() -> None:
    found = check(MODEL, {"text": "t", "names": '["a", "b"]', "filters": '{"a": {"b": 1}}'})
    assert (found["names"], found["filters"]) == (["a", "b"], {"a": {"b": 1}})


@pytest.mark.parametrize("text", ['["a"]', '{"a": 1}', "[", "null"])
def test_a_text_that_looks_like_json_stays_a_text(text: str) -> None:
    found = check(MODEL, {"text": text, "content": text})
    assert (found["text"], found["content"]) == (text, text)


def test_json_that_is_broken_is_not_a_list() -> None:
    assert told(names='["a"') == "Names must be a list"


def test_the_schema_states_the_limits_and_repeats_nothing() -> None:
    schema = schema_of(MODEL)
    assert schema["required"] == ["text"]
    assert schema["additionalProperties"] is False
    fields = schema["properties"]
    assert set(fields) == set(MODEL.model_fields)
    assert fields["text"] == {"type": "string", "minLength": 1, "maxLength": 10}
    assert fields["kind"] == {"type": "string", "enum": ["red", "green"], "default": "red"}
    assert fields["limit"] == {
        "type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "Most results"
    }  # fmt: skip
    assert fields["names"] == {"type": "array", "items": {"type": "string"}, "maxItems": 2}
    assert "title" not in str(schema)
    assert "null" not in str(schema)  # an optional argument is left out, not sent as null


def test_unknown_names_cost_no_memory_each() -> None:
    names = {f"name{i}": i for i in range(100_000)}
    tracemalloc.start()
    try:
        assert told(**names).startswith("Unknown field: name0.")
        assert tracemalloc.get_traced_memory()[1] < 30 * len(names) * 8  # the call's own copies of the names
    finally:
        tracemalloc.stop()
