"""What is purged leaves nothing in the files of the store, whatever was suggested and decided about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.rest_client import open_rest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.rest_client import Rest

KEPT = "The quillwort tarn is closed on 4417 days."
PURGED = "The quillwort tarn is closed on 3386 bogbean days."
ALSO_PURGED = "The quillwort tarn is closed on 9052 sphagnum days."


def _files_with(folder: Path, words: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if words.encode() in path.read_bytes())


async def _reviewed(rest: Rest, text: str) -> tuple[str, list[str]]:
    stored = await rest.ok("POST", "/v2/memories", {"text": text})
    return stored["note_id"], [one["review_id"] for one in stored.get("similar", [])]


async def test_a_purged_memory_leaves_no_bytes_of_its_suggestions_and_decisions(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with open_rest() as rest:
        await _reviewed(rest, KEPT)
        decided, [review] = await _reviewed(rest, PURGED)
        await rest.ok("POST", f"/v2/reviews/{review}", {"decision": "confirm"})
        waiting, reviews = await _reviewed(rest, ALSO_PURGED)
        await rest.ok("GET", "/v2/changes")
        words = ("bogbean", "sphagnum", review, *reviews)
        assert all(_files_with(folder, one) for one in words)  # they were there
        for note_id in (decided, waiting):
            await rest.ok("POST", "/v2/admin/trash/purge", {"note_id": note_id})
        assert [one for one in words if _files_with(folder, one)] == []
        changes = await rest.ok("GET", "/v2/changes")
        assert "bogbean" not in str(changes)
        assert (await rest.ok("GET", "/v2/reviews"))["reviews"] == []
    assert [one for one in words if _files_with(folder, one)] == []
