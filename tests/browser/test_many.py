"""Long lists and long texts come in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.servers.nur_server import NurProcess

NOTES = 130


async def test_a_list_loads_its_next_page_when_its_end_is_near(page: Page, empty_server: NurProcess) -> None:
    with httpx2.Client(base_url=empty_server.url, timeout=60) as rest:
        for number in range(NOTES):
            assert rest.post("/v2/notes", json={"text": f"Entry {number} of a long list."}).is_success
    await page.goto(f"{empty_server.url}/#/browse?kind=note")
    rows = page.locator(".row")
    await expect(rows.first).to_contain_text(f"Entry {NOTES - 1} ")
    assert await rows.count() < NOTES
    while await rows.count() < NOTES:
        before = await rows.count()
        await rows.last.scroll_into_view_if_needed()
        await expect(rows.nth(before)).to_be_attached()
    await expect(rows).to_have_count(NOTES)
    await expect(rows.last).to_contain_text("Entry 0 ")


async def test_a_long_text_opens_at_its_passage_and_not_whole(page: Page, empty_server: NurProcess) -> None:
    filler = "The river is calm and the boats wait 🚤. " * 2000
    text = f"{filler}The ferry to the island leaves at noon. {filler}"
    document = {"text": text, "type": "doc", "title": "Log of the harbour", "source": {"system": "test", "id": "log"}}
    stored = httpx2.post(f"{empty_server.url}/v2/artifacts", json=document, timeout=60)
    assert stored.is_success, stored.text
    await page.goto(f"{empty_server.url}/#/search?q=when does the ferry to the island leave?")
    await page.get_by_role("link", name="Log of the harbour").click()
    best = page.locator("#detail mark.best")
    await expect(best).to_contain_text("The ferry to the island leaves at noon.")
    await expect(best).to_be_in_viewport()
    assert len(await page.locator("#detail .text").inner_text()) < len(text) / 4
    shown = await page.locator("#detail .text").inner_text()
    await page.get_by_role("button", name="Show earlier text").click()
    await expect(page.locator("#detail .text")).not_to_have_text(shown)
    await expect(best).to_contain_text("The ferry to the island leaves at noon.")
