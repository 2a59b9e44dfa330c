"""POST /v2/artifacts with a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.rest_client import open_rest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx2

    from tests.rest_client import Rest

PLAN = b"# Plan\n\nThe launch is on 4 May.\n"


@pytest.fixture
async def rest(tmp_path: Path) -> AsyncIterator[Rest]:
    async with open_rest(nur_data_dir=tmp_path / "data") as opened:
        yield opened


async def send(rest: Rest, name: str, data: bytes, **fields: str) -> httpx2.Response:
    return await rest.client.post("/v2/artifacts", data=fields, files={"file": (name, data)})


async def found(rest: Rest, query: str) -> dict[str, Any]:
    answer = await rest.ok("POST", "/v2/searches", {"query": query, "kinds": ["artifact"]})
    item: dict[str, Any] = answer["items"][0]
    return item


async def test_a_file_is_stored_with_what_the_form_says(rest: Rest) -> None:
    fields = {
        "source_system": "drive",
        "source_id": "doc-7",
        "source_url": "https://example.com/doc-7",
        "artifact_type": "note",
        "title": "Launch plan",
        "project": "rocket",
        "modified_at": "2026-03-01T10:00:00+01:00",
        "sensitivity": "sensitive",
        "visibility_scope": "team",
        "retention_policy": "custom",
        "expires_at": "2099-01-01T00:00:00Z",
    }
    response = await send(rest, "plan.md", PLAN, **fields)
    receipt = response.json()
    assert (response.status_code, receipt["operation"], receipt["documents"]) == (201, "created", 1)
    note = await rest.ok("GET", f"/v2/notes/{receipt['artifacts'][0]['note_id']}")
    assert note["text"] == PLAN.decode()
    assert note["source"] == {"system": "drive", "id": "doc-7", "url": "https://example.com/doc-7"}
    assert (note["kind"], note["type"], note["title"], note["project"]) == (
        "artifact",
        "note",
        "Launch plan",
        "rocket",
    )
    assert (note["sensitivity"], note["visibility_scope"]) == ("sensitive", "team")
    assert note["occurred_at"] == "2026-03-01T09:00:00Z"
    assert (note["retention_policy"], note["expires_at"]) == ("custom", "2099-01-01T00:00:00Z")


async def test_the_same_file_again_changes_nothing_and_another_replaces_it(rest: Rest) -> None:
    await send(rest, "plan.md", PLAN)
    again = await send(rest, "plan.md", PLAN)
    assert (again.status_code, again.json()["operation"], again.json()["unchanged"]) == (200, "unchanged", 1)
    other = await send(rest, "plan.md", PLAN.replace(b"4 May", b"9 June"))
    assert (other.status_code, other.json()["operation"]) == (200, "replaced")
    assert "9 June" in (await found(rest, "when is the launch?"))["snippet"]


async def test_a_table_with_many_commas_is_no_json_body(rest: Rest) -> None:
    lines = b"".join(b"%d,a,b,c\n" % number for number in range(40_000))
    assert (await send(rest, "numbers.txt", lines)).status_code == 201


@pytest.mark.parametrize(
    ("name", "data", "fields", "status", "code", "words"),
    [
        ("a.txt", b"", {}, 422, "file_refused", "It is empty."),
        ("a.bin", b"\0\1\2\3", {}, 422, "file_refused", "not a format that can be read"),
        ("a.txt", b"x", {"artifact_type": "song"}, 422, "invalid", "artifact_type"),
        ("a.txt", b"x", {"source_url": "javascript:alert(1)"}, 422, "invalid", "source_url"),
        ("a.txt", b"x", {"expires_at": "2020-01-01T00:00:00Z"}, 400, "bad_request", "expires_at must lie in"),
        ("a.txt", b"x", {"secrecy": "high"}, 400, "bad_request", "body.secrecy: there is no such field"),
    ],
)
async def test_what_cannot_be_stored_is_refused_with_a_reason(
    rest: Rest, name: str, data: bytes, fields: dict[str, str], status: int, code: str, words: str
) -> None:
    response = await send(rest, name, data, **fields)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (status, code)
    assert words in problem["detail"]
    assert problem["retryable"] is False


async def test_a_form_without_a_file_is_refused(rest: Rest) -> None:
    response = await rest.client.post("/v2/artifacts", files={"other": ("a.txt", b"x")})
    assert response.status_code == 422
    assert "file" in response.json()["detail"]


async def test_a_file_beyond_the_limit_is_refused(rest: Rest) -> None:
    response = await send(rest, "big.txt", b"x" * (64 * 1024 * 1024 + 1))
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
