"""`tools/list` is read by every conversation: it must stay small."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nur.entrypoints.mcp.server import OFFERS
from nur.retrieval.text import tokens

if TYPE_CHECKING:
    from tests.acceptance.conftest import Door

MAX_TOKENS = 3000


async def test_the_whole_list_fits_its_budget(nur: Door) -> None:
    listed = await nur.client.list_tools()
    text = listed.model_dump_json(by_alias=True, exclude_none=True)
    assert tokens.count(text) <= MAX_TOKENS
    assert len(listed.tools) == len(OFFERS)


async def test_no_tool_has_an_output_schema(nur: Door) -> None:
    assert [tool.name for tool in (await nur.client.list_tools()).tools if tool.output_schema is not None] == []


async def test_every_tool_says_what_it_does_to_the_store(nur: Door) -> None:
    for tool in (await nur.client.list_tools()).tools:
        assert tool.annotations is not None
        if not tool.annotations.read_only_hint:
            assert tool.annotations.destructive_hint is not None
            assert tool.annotations.idempotent_hint is not None


@pytest.mark.parametrize("word", ["search", "get", "list", "health"])
async def test_what_only_reads_says_so(nur: Door, word: str) -> None:
    for tool in (await nur.client.list_tools()).tools:
        if word in tool.name.split("_"):
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is True


async def test_deletes_are_destructive(nur: Door) -> None:
    named = {tool.name: tool.annotations for tool in (await nur.client.list_tools()).tools}
    destructive = {name for name, hints in named.items() if hints is not None and hints.destructive_hint}
    assert destructive == {"memory_delete", "artifact_delete"}


async def test_every_tool_and_parameter_is_plain_json_schema(nur: Door) -> None:
    for tool in (await nur.client.list_tools()).tools:
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert "$ref" not in json.dumps(tool.input_schema)
