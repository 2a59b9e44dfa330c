"""Store, edit, undo, delete and restore in the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.servers.nur_server import NurProcess


async def test_the_first_visit_stores_a_memory_and_finds_it(page: Page, empty_server: NurProcess) -> None:
    await page.goto(empty_server.url)
    await expect(page.get_by_role("heading", name="Nothing is stored yet")).to_be_visible()
    await page.get_by_label("Text").fill("The spare key hangs behind the blue door.")
    await page.get_by_role("button", name="Store").click()
    await expect(page.locator("#toast")).to_contain_text("Stored.")
    await expect(page.get_by_role("list", name="Newest notes")).to_contain_text("The spare key")
    await page.get_by_role("searchbox").fill("where is the spare key?")
    await expect(page.locator(".hit").first).to_contain_text("behind the blue door")


async def test_a_memory_is_corrected_and_the_correction_undone(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/search?q=when does Anna's train leave?")
    await page.get_by_role("link", name="Anna's train to Vienna").click()
    await page.get_by_role("button", name="Edit").click()
    text = page.get_by_label("Text")
    await expect(text).to_have_value("Anna's train to Vienna leaves on Friday at 07:40 from platform 3.")
    await text.fill("Anna's train to Vienna leaves on Friday at 08:10 from platform 5.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#detail .text")).to_contain_text("platform 5")
    await expect(page.locator(".hit").first).to_contain_text("platform 5")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator("#toast")).to_contain_text("Undone.")
    await expect(page.locator("#detail .text")).to_contain_text("platform 3")
    await expect(page.locator(".hit").first).to_contain_text("platform 3")


async def test_an_edit_of_a_note_that_changed_meanwhile_loses_nothing(page: Page, server: NurProcess) -> None:
    note = _store(server, "The gate code is 1234.")
    await page.goto(f"{server.url}/#/browse?open={note}")
    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("Text").fill("The gate code is 9999.")
    changed = httpx2.patch(f"{server.url}/v2/notes/{note}", json={"text": "The gate code is 5678."})
    assert changed.is_success
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("changed elsewhere")
    await expect(page.get_by_label("Text")).to_have_value("The gate code is 9999.")
    await page.get_by_role("button", name="Reload").click()
    await expect(page.locator("#detail .text")).to_contain_text("5678")


async def test_a_note_is_deleted_and_comes_back(page: Page, server: NurProcess) -> None:
    note = _store(server, "Borrowed the ladder from the neighbours.")
    await page.goto(f"{server.url}/#/browse?open={note}")
    await page.get_by_role("button", name="Delete").click()
    row = page.locator(".row", has_text="Borrowed the ladder")
    await expect(row).to_have_count(0)
    await page.get_by_role("button", name="Undo").click()
    await expect(row).to_be_visible()


async def test_the_trash_restores_and_erases(page: Page, server: NurProcess) -> None:
    for text in ("The first draft of the poem.", "The second draft of the poem."):
        assert httpx2.delete(f"{server.url}/v2/notes/{_store(server, text)}").is_success
    await page.goto(f"{server.url}/#/browse?kind=trash")
    first, second = (page.locator(".row", has_text=f"The {name} draft") for name in ("first", "second"))
    await first.get_by_role("button", name="Restore").click()
    await expect(first).to_have_count(0)
    await second.get_by_role("button", name="Erase").click()
    await page.get_by_role("dialog").get_by_role("button", name="Erase").click()
    await expect(second).to_have_count(0)
    await page.goto(f"{server.url}/#/browse")
    await expect(first).to_be_visible()
    await expect(second).to_have_count(0)


async def test_a_former_version_becomes_the_current_text_again(page: Page, server: NurProcess) -> None:
    note = _store(server, "Lunch is at twelve.")
    assert httpx2.patch(f"{server.url}/v2/notes/{note}", json={"text": "Lunch is at one."}).is_success
    await page.goto(f"{server.url}/#/browse?open={note}")
    await page.get_by_text("Versions (2)").click()
    await page.get_by_role("button", name="Show").click()
    await expect(page.locator(".versions .text:visible")).to_have_text("Lunch is at twelve.")
    await page.get_by_role("button", name="Restore").click()
    await expect(page.locator("#detail .body > div .text")).to_have_text("Lunch is at twelve.")


def _store(server: NurProcess, text: str) -> str:
    answer = httpx2.post(f"{server.url}/v2/notes", json={"text": text})
    assert answer.is_success, answer.text
    return str(answer.json()["note_id"])
