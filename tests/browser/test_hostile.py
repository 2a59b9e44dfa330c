"""What is stored is text, whatever it looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest
from mcp import Client
from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.servers.nur_server import NurProcess

MARKUP = [
    "<script>document.title = 'taken'</script>",
    "<img src=x onerror=\"document.title = 'taken'\">",
    "<svg onload=\"document.title = 'taken'\"></svg>",
    "</div><iframe srcdoc='<p>taken</p>'></iframe>",
]


@pytest.mark.parametrize("markup", MARKUP, ids=["script", "image", "drawing", "frame"])
async def test_stored_markup_is_shown_and_not_run(page: Page, server: NurProcess, markup: str) -> None:
    text = f"Hostile words follow here: {markup} and end."
    body = {"text": text, "title": markup, "type": markup[:200], "source": {"system": markup[:200], "id": markup[:200]}}
    note = httpx2.post(f"{server.url}/v2/notes", json={**body, "metadata": {markup: markup}}).json()["note_id"]
    await page.goto(f"{server.url}/#/search?q=hostile words follow here&open={note}&at=0-20")
    await expect(page.locator("#detail .text")).to_have_text(text)
    await expect(page.locator("#detail h2")).to_have_text(markup)
    await expect(page.locator(".hit", has_text=markup).first).to_be_visible()
    await page.get_by_text("Properties").click()
    assert (
        await page.locator("main script, main img, main svg, main iframe, #detail script, #detail iframe").count() == 0
    )
    assert await page.title() == "Search · Nur"


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd"])
async def test_only_web_addresses_become_links(page: Page, server: NurProcess, address: str) -> None:
    """REST refuses such addresses; the page does not rely on it."""
    await page.goto(server.url)
    made = await page.evaluate("async (address) => (await import('/web/dom.js')).webLink(address).outerHTML", address)
    assert "<a" not in made
    safe = await page.evaluate("async () => (await import('/web/dom.js')).webLink('https://example.com/a').outerHTML")
    assert 'rel="noopener noreferrer"' in safe


async def test_a_link_of_a_source_opens_without_telling_where_from(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/search?q=staging database port")
    await page.get_by_role("link", name="Staging port").click()
    await page.get_by_text("Properties").click()
    link = page.get_by_role("link", name="https://example.com/C042/1718")
    await expect(link).to_have_attribute("rel", "noopener noreferrer")


async def test_direction_marks_cannot_disguise_a_name(page: Page, server: NurProcess) -> None:
    disguised = "invoice\u202egpj.exe"
    answer = httpx2.post(f"{server.url}/v2/notes", json={"text": f"About {disguised}\nmore", "title": disguised})
    note = answer.json()["note_id"]
    await page.goto(f"{server.url}/#/browse?open={note}")
    await expect(page.locator("#detail h2")).to_have_text("invoice⟨U+202E⟩gpj.exe")
    await expect(page.locator(".row-name", has_text="gpj.exe")).to_have_text("invoice⟨U+202E⟩gpj.exe")


async def test_an_answer_that_holds_instructions_changes_nothing(page: Page, server: NurProcess) -> None:
    """A conversation's name goes into an address of the page."""
    name = "a&open=x#/settings?b=<b>"
    async with Client(f"{server.url}/mcp") as mcp:
        turn = {"conversation_id": name, "role": "user", "content": "A turn of an oddly named talk.", "turn_index": 0}
        assert not (await mcp.call_tool("history_append", turn)).is_error
    await page.goto(f"{server.url}/#/browse?kind=turn")
    await page.get_by_role("link", name=name).click()
    await expect(page.get_by_text("A turn of an oddly named talk.")).to_be_visible()
    assert await page.get_by_role("heading", name="Browse").is_visible()
