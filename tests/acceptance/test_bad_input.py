"""Bad input of every kind: a clear error that says what to do, and nothing stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.acceptance.conftest import Door, OpenDoor

MEMORY = {"content": "a memory", "type": "fact", "confidence": 0.5}
TURN = {"conversation_id": "c", "role": "user", "content": "a turn", "turn_index": 0}
ARTIFACT = {"artifact_type": "doc", "source_system": "drive", "content": "a document"}
TYPES = "preference, fact, project, decision"
URL = (
    "source_url must be a URL such as https://example.com/page, starting with "
    "http, https, ftp, sftp, file, mailto, message, mid"
)
REVERSED = {"time_range_start": "2026-02-01T00:00:00Z", "time_range_end": "2026-01-01T00:00:00Z"}
ARTIFACT_TYPES = "email, doc, chat, transcript, note"


@pytest.mark.parametrize(
    ("tool", "base", "change", "message"),
    [
        ("memory_store", MEMORY, {"content": ""}, "Content must not be empty"),
        ("memory_store", MEMORY, {"content": "  \n "}, "Content must not be blank"),
        ("memory_store", MEMORY, {"content": "x" * 10_001}, "Content exceeds maximum length of 10000 characters"),
        ("memory_store", MEMORY, {"content": "a\0b"}, "Content must not contain NUL characters"),
        ("memory_store", MEMORY, {"content": 5}, "Content must be a string"),
        ("memory_store", MEMORY, {"content": ["a"]}, "Content must be a string"),
        ("memory_store", MEMORY, {"content": None}, "Content must be a string"),
        ("memory_store", MEMORY, {"content": ...}, "Missing required field: content"),
        ("memory_store", MEMORY, {"type": "fakt"}, f"Invalid type: fakt. Must be one of: {TYPES}"),
        ("memory_store", MEMORY, {"type": "x" * 99}, f"Invalid type: {'x' * 60}…. Must be one of: {TYPES}"),
        ("memory_store", MEMORY, {"confidence": 1.1}, "Confidence must be between 0.0 and 1.0"),
        ("memory_store", MEMORY, {"confidence": -0.1}, "Confidence must be between 0.0 and 1.0"),
        ("memory_store", MEMORY, {"confidence": float("nan")}, "Confidence must be a number"),
        ("memory_store", MEMORY, {"confidence": "high"}, "Confidence must be a number"),
        ("memory_store", MEMORY, {"confidence": True}, "Confidence must be a number"),
        (
            "memory_store",
            MEMORY,
            {"conversation_id": "c" * 101},
            "conversation_id exceeds maximum length of 100 characters",
        ),
        (
            "memory_store",
            MEMORY,
            {"contnt": "x"},
            "Unknown field: contnt. Must be one of: content, type, confidence, conversation_id, ts, replaces, project",
        ),
        ("memory_search", {"query": "q"}, {"query": ""}, "Query must not be empty"),
        ("memory_search", {"query": "q"}, {"query": "q" * 501}, "Query exceeds maximum length of 500 characters"),
        ("memory_search", {"query": "q"}, {"limit": 0}, "Limit must be between 1 and 20"),
        ("memory_search", {"query": "q"}, {"limit": 21}, "Limit must be between 1 and 20"),
        ("memory_search", {"query": "q"}, {"limit": "five"}, "Limit must be an integer"),
        ("memory_search", {"query": "q"}, {"limit": 2.5}, "Limit must be an integer"),
        ("memory_search", {"query": "q"}, {"min_confidence": 2}, "min_confidence must be between 0.0 and 1.0"),
        ("memory_list", {}, {"limit": 101}, "Limit must be between 1 and 100"),
        ("memory_list", {}, {"type": "x"}, f"Invalid type: x. Must be one of: {TYPES}"),
        ("memory_delete", {}, {"memory_id": "art_1"}, "Invalid memory_id: must start with 'mem_'"),
        ("memory_delete", {}, {"memory_id": "mem_0"}, "Memory mem_0 not found"),
        ("history_append", TURN, {"role": "bot"}, "Invalid role: bot. Must be one of: user, assistant, system"),
        ("history_append", TURN, {"turn_index": -1}, "turn_index must be between 0 and 9007199254740992"),
        ("history_append", TURN, {"content": "x" * 50_001}, "Content exceeds maximum length of 50000 characters"),
        ("history_append", TURN, {"conversation_id": ""}, "conversation_id must not be empty"),
        ("history_get", {"conversation_id": "c"}, {"limit": 51}, "Limit must be between 1 and 50"),
        (
            "artifact_ingest",
            ARTIFACT,
            {"artifact_type": "pdf"},
            f"Invalid artifact_type: pdf. Must be one of: {ARTIFACT_TYPES}",
        ),
        ("artifact_ingest", ARTIFACT, {"source_system": ...}, "Missing required field: source_system"),
        ("artifact_ingest", ARTIFACT, {"content": "x" * 10_000_001}, "Content exceeds maximum size of 10MB"),
        *(
            ("artifact_ingest", ARTIFACT, {"source_url": url}, URL)
            for url in ("not a url", "abc:def", "javascript:alert(1)", "JavaScript://x/%0aalert(1)", "data:text/html,x")
        ),
        *(
            ("artifact_ingest", ARTIFACT, {"source_url": url}, URL)
            for url in ("https://", "https:/a", "mailto:", "//x")
        ),
        (
            "artifact_ingest",
            ARTIFACT,
            {"ts": "yesterday"},
            "ts must be an ISO 8601 time such as 2025-12-25T10:30:00Z, or a date such as 2025-12-25",
        ),
        ("artifact_ingest", ARTIFACT, {"participants": ["p"] * 101}, "Participants must have at most 100 items"),
        ("artifact_ingest", ARTIFACT, {"participants": "p"}, "Participants must be a list"),
        ("artifact_ingest", ARTIFACT, {"participants": [1]}, "Participants must be a list of strings"),
        ("artifact_search", {"query": "q"}, REVERSED, "time_range_start must not be after time_range_end"),
        ("hybrid_search", {"query": "q"}, {"filters": REVERSED}, "time_range_start must not be after time_range_end"),
        ("artifact_ingest", ARTIFACT, {"title": "t" * 501}, "Title exceeds maximum length of 500 characters"),
        ("artifact_ingest", ARTIFACT, {"retention_policy": "custom"}, "retention_policy custom needs expires_at"),
        ("artifact_search", {"query": "q"}, {"query": "q" * 501}, "Query exceeds maximum length of 500 characters"),
        ("artifact_search", {"query": "q"}, {"limit": 51}, "Limit must be between 1 and 50"),
        ("artifact_get", {}, {"artifact_id": "mem_1"}, "Invalid artifact_id: must start with 'art_'"),
        ("artifact_get", {}, {"artifact_id": "art_1"}, "Artifact art_1 not found"),
        ("artifact_delete", {}, {"artifact_id": "art_1"}, "Artifact art_1 not found"),
        ("hybrid_search", {"query": "q"}, {"filters": {"colour": "red"}}, "Invalid filter: colour"),
        ("hybrid_search", {"query": "q"}, {"filters": "red"}, "Filters must be an object"),
        (
            "hybrid_search",
            {"query": "q"},
            {"filters": {"artifact_type": "pdf"}},
            f"Invalid artifact_type: pdf. Must be one of: {ARTIFACT_TYPES}",
        ),
    ],
)
async def test_bad_input_is_told_and_nothing_is_stored(
    open_door: OpenDoor, tool: str, base: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    arguments = {name: value for name, value in (base | change).items() if value is not ...}
    async with open_door() as nur:
        assert await nur.refusal(tool, **arguments) == message
        await _assert_nothing_stored(nur)


async def test_a_lone_surrogate_is_told_and_nothing_is_stored(open_door: OpenDoor) -> None:
    async with open_door() as nur:
        told = await nur.refusal("memory_store", content="a \ud800 b", type="fact", confidence=1.0)
        assert told == "Content must be valid Unicode text: it holds a lone surrogate"
        await _assert_nothing_stored(nur)


async def test_an_error_never_repeats_long_contents(open_door: OpenDoor) -> None:
    async with open_door() as nur:
        told = await nur.refusal("memory_store", content="secret " * 2000, type="fact", confidence=1.0)
        assert "secret" not in told


async def _assert_nothing_stored(nur: Door) -> None:
    assert await nur.text("memory_list") == "No memories found. No memories are stored yet."
    told = await nur.text("hybrid_search", query="a", include_memory=True, include_history=True)
    assert told == "No results found. Nothing is stored yet."
