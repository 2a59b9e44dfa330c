"""The timeline, what was changed, and the brief."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.servers.nur_server import NurProcess

LINES = 130


def post(server: NurProcess, path: str, **body: Any) -> str:
    answer = httpx2.post(f"{server.url}{path}", json=body, timeout=60)
    assert answer.is_success, answer.text
    return str(answer.json()["note_id"])


async def test_a_line_stands_under_the_day_that_it_names_and_opens_its_note(page: Page, server: NurProcess) -> None:
    post(server, "/v2/memories", text="We bought the rowing boat yesterday.", ts="2025-05-08")
    post(server, "/v2/memories", text="The rowing boat was painted.", ts="2025-06-02")
    await page.goto(f"{server.url}/#/timeline")
    days = page.get_by_role("list", name="Timeline").get_by_role("heading")
    await expect(days.last).to_have_text("Wednesday, 7 May 2025")
    await page.get_by_text("Filters", exact=True).click()
    await page.get_by_label("Containing").fill("rowing boat")
    await page.get_by_label("Containing").press("Enter")
    await expect(page.locator(".row")).to_have_count(2)
    assert await days.all_inner_texts() == ["Monday, 2 June 2025", "Wednesday, 7 May 2025"]
    await page.get_by_label("When").fill("2025-05")
    await page.get_by_label("When").press("Enter")
    await expect(page.locator(".row")).to_have_count(1)
    await expect(page.locator(".row")).to_contain_text("said 8 May 2025")
    await page.get_by_role("link", name="We bought the rowing boat yesterday.").click()
    await expect(page.locator("#detail .text")).to_have_text("We bought the rowing boat yesterday.")


async def test_a_time_that_is_none_is_told(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/timeline?when=soonish")
    await expect(page.get_by_role("alert")).to_contain_text("when must name a time")


async def test_the_timeline_goes_back_page_by_page(page: Page, empty_server: NurProcess) -> None:
    for number in range(LINES):  # stored in another order than they were said
        said = f"2024-{1 + number * 7 % 12:02}-{1 + number % 28:02}"
        post(empty_server, "/v2/notes", text=f"Entry {number} of the log.", ts=said)
    await page.goto(f"{empty_server.url}/#/timeline")
    rows = page.locator(".row")
    await expect(rows.first).to_be_visible()
    assert await rows.count() < LINES
    while await rows.count() < LINES:
        before = await rows.count()
        await rows.last.scroll_into_view_if_needed()
        await expect(rows.nth(before)).to_be_attached()
    await expect(rows).to_have_count(LINES)
    days = await page.locator("li.day").evaluate_all("days => days.map((day) => day.dataset.day)")
    assert days == sorted(set(days), reverse=True)


async def test_changes_show_both_texts_and_where_deleted_notes_are(page: Page, server: NurProcess) -> None:
    post(server, "/v2/notes", text="The ferry leaves at nine from the east pier.", key="ferry")
    post(server, "/v2/notes", text="The ferry leaves at ten from the east pier.", key="ferry")
    gone = post(server, "/v2/notes", text="The ferry is never late, they say.")
    assert httpx2.delete(f"{server.url}/v2/notes/{gone}").is_success
    await page.goto(f"{server.url}/#/timeline")
    await page.get_by_role("link", name="Changes only").click()
    row = page.locator(".row", has_text="Replaced").filter(has_text="ferry")
    quotes = row.locator("blockquote")
    await expect(quotes).to_have_text(
        ["The ferry leaves at nine from the east pier.", "The ferry leaves at ten from the east pier."]
    )
    assert await row.locator("mark").all_inner_texts() == ["nine", "ten"]
    deleted = page.locator(".row", has_text="Deleted").first
    await expect(deleted.get_by_role("link", name="Look in the trash")).to_be_visible()
    await expect(page.locator("main")).not_to_contain_text("never late")
    await row.get_by_role("link", name="The ferry leaves at ten").click()
    await expect(page.locator("#detail .text")).to_contain_text("at ten")
    await page.keyboard.press("Escape")
    await page.get_by_text("Filters", exact=True).click()
    await page.get_by_role("combobox", name="Change").select_option("created")
    await page.get_by_label("Containing").fill("ferry leaves")
    await page.get_by_label("Containing").press("Enter")
    await expect(page.locator(".row")).to_have_count(1)
    await expect(page.locator(".row")).to_contain_text("Created")


async def test_what_is_changed_in_the_page_is_on_the_list_of_changes_at_once(page: Page, server: NurProcess) -> None:
    note = post(server, "/v2/notes", text="The lighthouse is lit at dusk.")
    await page.goto(f"{server.url}/#/timeline?kind=changes&containing=lighthouse&open={note}")
    await expect(page.locator(".row")).to_have_count(1)
    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("Text").fill("The lighthouse is lit at dawn.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".row")).to_have_count(2)
    await expect(page.locator(".row").first.locator("mark")).to_have_text(["dusk.", "dawn."])


async def test_the_brief_is_what_an_agent_gets_for_a_project(page: Page, empty_server: NurProcess) -> None:
    post(empty_server, "/v2/memories", text="Always answer in British English.", type="preference", confidence=1.0)
    harbour = {"type": "decision", "project": "harbour"}
    post(empty_server, "/v2/notes", text="We decided to paint the pier white.", **harbour)
    post(empty_server, "/v2/notes", text="We decided to roof the barn in tin.", type="decision", project="barn")
    await page.goto(f"{empty_server.url}/#/brief?project=harbour")
    await expect(page.locator(".brief-section").first).to_be_visible()
    main = page.locator("main")
    await expect(main).to_contain_text("Always answer in British English.")
    await expect(main).not_to_contain_text("roof the barn")
    shown = httpx2.get(f"{empty_server.url}/v2/context", params={"project": "harbour"}).json()
    await page.get_by_text("The text that the agent gets").click()
    assert await page.locator(".brief-text").text_content() == shown["text"]
    await page.get_by_role("combobox", name="Project").select_option("barn")
    await expect(main).to_contain_text("roof the barn")
    await expect(main).not_to_contain_text("paint the pier")
    await page.get_by_role("link", name="roof the barn").first.click()
    await expect(page.locator("#detail .text")).to_contain_text("roof the barn in tin")
