"""The web page's files as a browser fetches them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

import nur.entrypoints.web
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "a token of this test alone"
STATIC = Path(nur.entrypoints.web.__file__).parent / "static"
NAMES = sorted(path.name for path in STATIC.iterdir())
MAX_PAGE_BYTES = 140_000  #: scripts, styles and markup of all views


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("page") / "data", NUR_TOKEN=TOKEN) as running:
        yield running


def test_the_page_needs_no_token_but_what_is_stored_does(server: NurProcess) -> None:
    page = httpx2.get(server.url)
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert httpx2.get(f"{server.url}/v2/notes").status_code == 401


@pytest.mark.parametrize("name", NAMES)
def test_every_file_comes_under_the_policy_with_its_type(server: NurProcess, name: str) -> None:
    answer = httpx2.get(f"{server.url}/web/{name}")
    assert answer.content == (STATIC / name).read_bytes()
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    expected = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "html": "text/html"}
    assert answer.headers["content-type"].partition(";")[0] == expected[name.rpartition(".")[2]]


def test_a_file_that_the_browser_has_is_not_sent_again(server: NurProcess) -> None:
    first = httpx2.get(f"{server.url}/web/main.js")
    again = httpx2.get(f"{server.url}/web/main.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]


@pytest.mark.parametrize(
    "path", ["/web/", "/web/nothing.js", "/web/../page.py", "/web/%2e%2e/page.py", "/web/..%2fpage.py"]
)
def test_nothing_else_is_served(server: NurProcess, path: str) -> None:
    with httpx2.Client() as client:
        request = client.build_request("GET", server.url)
        request.url = httpx2.URL(server.url + path)
        assert client.send(request).status_code in (401, 404)


def test_the_page_is_small_and_asks_nobody_else() -> None:
    texts = [(STATIC / name).read_text(encoding="utf-8") for name in NAMES]
    assert sum(len(text.encode()) for text in texts) < MAX_PAGE_BYTES
    addresses = {found for text in texts for found in re.findall(r"https?://[^\s\"'`)]+", text)}
    assert addresses == {"http://www.w3.org/2000/svg"}


def test_no_script_makes_markup_from_text() -> None:
    scripts = [(STATIC / name).read_text(encoding="utf-8") for name in NAMES if name.endswith(".js")]
    assert not [
        found
        for script in scripts
        for found in re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)
    ]


def test_no_script_or_style_is_inline() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|style=|\son\w+=|<script(?![^>]*\ssrc=)", page)
