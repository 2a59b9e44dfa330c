"""What is purged leaves nothing in the databases of the data folder, with an embedded Chroma in it, either."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from nur.entrypoints.cli.app import run
from tests.rest_client import open_rest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.rest_client import Rest

KEPT = "Cormorants nest on the northern rock."
PURGED = ("Quillwort grows in the tarn", "Sphagnum covers the moor", "Bogbean flowers in the ditch")


#: Chroma writes its vector file with memory that it never initialised: what any part of the process held may be in it.
UNINITIALISED = "data_level0.bin"


def _files_with(folder: Path, words: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != UNINITIALISED]
    return sorted(path.name for path in files if words.encode() in path.read_bytes())


async def _indexed(rest: Rest) -> None:
    async with asyncio.timeout(60):
        while (await rest.ok("GET", "/v2/admin/outbox"))["pending"]:  # noqa: ASYNC110  # asked over REST
            await asyncio.sleep(0.05)


@pytest.mark.timeout(180)
async def test_a_purged_note_leaves_no_bytes_in_an_embedded_chroma(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEX", "chroma")
    folder = tmp_path / "data"
    async with open_rest() as rest:
        kept = (await rest.ok("POST", "/v2/notes", {"text": KEPT}))["note_id"]
        ids = [
            (await rest.ok("POST", "/v2/notes", {"text": f"{text}.", "title": f"About {text}"}))["note_id"]
            for text in PURGED
        ]
        await _indexed(rest)
        assert all("chroma.sqlite3" in _files_with(folder, text) for text in PURGED)

        await rest.ok("DELETE", f"/v2/notes/{ids[0]}")  # one by way of the trash
        await _indexed(rest)
        for note_id in ids[:2]:
            await rest.ok("POST", "/v2/admin/trash/purge", {"note_id": note_id})
        assert [_files_with(folder, text) for text in PURGED[:2]] == [[], []]

    assert await asyncio.to_thread(run, ["purge", "--yes", ids[2]]) == 0  # a process that ends at once
    assert _files_with(folder, PURGED[2]) == []
    async with open_rest() as rest:
        answer = await rest.ok("POST", "/v2/searches", {"query": KEPT, "mode": "dense"})
        assert [item["note_id"] for item in answer["items"]] == [kept]
        assert await rest.services.index.count() == 1
