"""Take the screenshots for the documentation: `python -m tests.browser.screenshots docs/images`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import expect

from tests.browser import story
from tests.browser.chromium import running_browser
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

QUESTION = "#/search?q=when must requests for time off be sent?"


async def _opened(page: Page) -> None:
    await page.locator(".hit a").first.click()
    await expect(page.locator("#detail mark.best")).to_be_in_viewport()


async def _explained(page: Page) -> None:
    await page.get_by_role("button", name="Why this result").first.click()
    await expect(page.locator(".why").first).to_contain_text("Returned")


async def _loaded(page: Page) -> None:
    await expect(page.locator("main .row, main .card, main form.fields").first).to_be_visible()


#: name, width, height, theme, path, action before the screenshot
PICTURES = [
    ("page-search", 1120, 640, "light", QUESTION, _opened),
    ("page-search-dark", 1120, 640, "dark", QUESTION, _opened),
    ("page-why", 1120, 640, "light", "#/search?q=which food is dangerous for Jonas?", _explained),
    ("page-narrow", 380, 680, "light", QUESTION, _explained),
    ("page-browse", 1120, 640, "light", "#/browse", _loaded),
    ("page-timeline", 1120, 640, "dark", "#/timeline", _loaded),
    ("page-changes", 1120, 640, "light", "#/timeline?kind=changes", _loaded),
    ("page-review", 1120, 640, "light", "#/review", _loaded),
    ("page-brief", 1120, 640, "dark", "#/brief", _loaded),
    ("page-add", 1120, 640, "light", "#/add", _loaded),
    ("page-health", 1120, 640, "dark", "#/health", _loaded),
]


async def _take(browser: Browser, url: str, folder: Path) -> None:
    for name, width, height, theme, address, prepare in PICTURES:
        context = await browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if theme == "dark" else "light",
            locale="en-GB",
            timezone_id="UTC",
        )
        page = await context.new_page()
        await page.goto(f"{url}/{address}")
        await prepare(page)
        await page.wait_for_load_state("networkidle")
        await page.screenshot(path=folder / f"{name}.png")
        await context.close()


async def main(folder: Path) -> None:
    """Start a server, fill it with the sample store, and take all screenshots."""
    expect.set_options(timeout=60_000)
    with tempfile.TemporaryDirectory() as data, NurProcess(Path(data) / "data") as server:
        await story.tell(server.url)
        async with running_browser() as browser:
            await _take(browser, server.url, folder)


if __name__ == "__main__":
    asked = Path(sys.argv[1])
    asked.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(asked))
