"""The REST reference at /docs: it needs no token and nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

import nur.entrypoints.web
from nur.entrypoints.rest.app import make_fastapi
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager

    from nur.bootstrap import Services

FILES = sorted((Path(nur.entrypoints.web.__file__).parent / "docs").iterdir())
MAX_DOCS_BYTES = 20_000


def nobody() -> AbstractAsyncContextManager[Services]:
    raise AssertionError("a description needs no services")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("docs") / "data", NUR_TOKEN="a token of this test alone") as running:
        yield running


def test_the_reference_and_what_it_loads_need_no_token(server: NurProcess) -> None:
    page = httpx2.get(f"{server.url}/docs")
    assert page.status_code == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    loaded = re.findall(r'(?:src|href)="(/web/[^"]+)"', page.text)
    assert "/web/docs.js" in loaded
    for path in (*loaded, "/openapi.json"):
        assert httpx2.get(server.url + path).status_code == 200, path
    assert httpx2.get(f"{server.url}/v2/notes").status_code == 401


def test_the_description_names_the_token_where_one_is_needed(server: NurProcess) -> None:
    described = httpx2.get(f"{server.url}/openapi.json").json()
    ((name, scheme),) = described["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"], described["security"]) == ("http", "bearer", [{name: []}])
    without = make_fastapi(nobody).openapi()
    assert "securitySchemes" not in without["components"]
    assert "security" not in without


def test_the_reference_is_small_and_names_no_other_address() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    assert sum(len(text.encode()) for text in texts) < MAX_DOCS_BYTES
    assert [found for text in texts for found in re.findall(r"https?://", text)] == []
    assert [text for text in texts if re.search(r"innerHTML|<script>|\s(?:style|on\w+)=\"", text)] == []
