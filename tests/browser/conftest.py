"""A browser and a server for the session, and pages that record their requests and errors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.browser import story
from tests.browser.chromium import PROGRAM, running_browser
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

    from playwright.async_api import Browser, Page

#: Long, because the machine may be busy: tests wait for conditions and never sleep.
PATIENCE_MILLISECONDS = 30_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip without a browser; CI installs one. All tests share the session's event loop, as the browser does."""
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    for item in here:
        if PROGRAM is None:
            item.add_marker(pytest.mark.skip(reason="needs Chromium: apt-get install chromium"))
        item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    async with running_browser() as running:
        yield running


@pytest.fixture(scope="module")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    """A server with an empty store."""
    with NurProcess(tmp_path_factory.mktemp("empty") / "data") as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[NurProcess]:
    """A server with the sample store, shared by all tests; what they add is told apart by its words."""
    with NurProcess(tmp_path_factory.mktemp("story") / "data") as running:
        await story.tell(running.url)
        yield running


class Watched:
    """Records the hosts that a page contacts, and its script errors."""

    def __init__(self, page: Page) -> None:
        self.hosts: set[str] = set()
        self.errors: list[str] = []
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self._console(message.text) if message.type == "error" else None)

    def _console(self, text: str) -> None:
        if not text.startswith("Failed to load resource"):  # an answer of 401 or 404, which tests provoke
            self.errors.append(text)


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A new tab with its own storage. The test fails if a script fails or contacts another host."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    opened = await context.new_page()
    watched = Watched(opened)
    yield opened
    await _keep_screenshot(opened)
    await context.close()
    assert watched.errors == []
    assert {host.partition(":")[0] for host in watched.hosts} <= {"127.0.0.1"}


async def _keep_screenshot(page: Page) -> None:
    """Save a screenshot of the end of each test if SCREENSHOTS names a folder, as in CI."""
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        name = os.environ["PYTEST_CURRENT_TEST"].rpartition("::")[2].partition(" ")[0]
        await page.screenshot(path=Path(folder) / f"{name}.png")
