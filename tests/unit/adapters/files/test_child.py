"""The parser process: limits on time and memory, and a new process after one that was ended."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import psutil
import pytest
import pytest_asyncio

from nur.adapters.files import frames
from nur.adapters.files.child import ChildFileReader
from nur.domain.errors import FileRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest_asyncio.fixture
async def reader() -> AsyncIterator[ChildFileReader]:
    made = ChildFileReader(60, 512)
    yield made
    await made.close()


async def pid(reader: ChildFileReader) -> int:
    await reader.read("a.txt", b"hello")
    assert reader._process is not None
    return reader._process.pid


async def test_one_process_reads_many_files(reader: ChildFileReader) -> None:
    first = await pid(reader)
    with pytest.raises(FileRefused, match="empty"):
        await reader.read("b.txt", b"")
    assert await pid(reader) == first


async def test_documents_come_over_the_pipe_as_they_are(reader: ChildFileReader) -> None:
    (document,) = await reader.read("dir/käse.md", "---\ndate: 2026-03-01\n---\n# Käse 🧀\n".encode())
    assert document.title == "Käse 🧀"
    assert frames.decode(json.loads(frames.encode(document))) == document


async def test_a_file_that_takes_too_long_is_refused_and_the_next_is_read() -> None:
    reader = ChildFileReader(0.001, 512)
    with pytest.raises(FileRefused, match=r"more than 0\.001 seconds"):
        await reader.read("a.txt", b"hello")
    reader._timeout_seconds = 60
    assert [found.text for found in await reader.read("b.txt", b"world")] == ["world"]
    await reader.close()


async def test_a_process_that_was_killed_is_replaced(reader: ChildFileReader) -> None:
    await pid(reader)
    assert reader._process is not None
    reader._process.kill()
    with pytest.raises(FileRefused, match="crashed"):
        await reader.read("a.txt", b"x" * 1_000_000)
    assert [found.text for found in await reader.read("b.txt", b"world")] == ["world"]


async def test_a_parser_has_no_keys(reader: ChildFileReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    process = await pid(reader)
    assert "OPENAI_API_KEY" in os.environ
    assert "OPENAI_API_KEY" not in psutil.Process(process).environ()
