"""Search as a person does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.servers.nur_server import NurProcess


async def test_a_memory_is_found_by_a_paraphrase_while_typing(page: Page, server: NurProcess) -> None:
    await page.goto(server.url)
    await page.get_by_role("searchbox").press_sequentially("when do I have to pay the bills and invoices?", delay=5)
    first = page.get_by_role("list", name="Results").get_by_role("listitem").first
    await expect(first).to_contain_text("The invoices of the garden project")


async def test_a_document_opens_at_the_passage_that_answers(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/search?q=when must requests for time off be sent?")
    result = page.get_by_role("link", name="Workshop handbook")
    await expect(page.locator(".hit").first).to_contain_text("Requests for time off are sent to Marta")
    await result.click()
    mark = page.locator("#detail mark.best")
    await expect(mark).to_contain_text("Requests for time off are sent to Marta")
    await expect(mark).to_be_in_viewport()


async def test_an_explanation_is_under_each_result(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/search?q=who must not eat nuts?")
    why = page.get_by_role("button", name="Why this result").first
    await why.click()
    await expect(why).to_have_attribute("aria-expanded", "true")
    await expect(page.locator(".why").first).to_contain_text("Returned at place 1")
    await expect(page.locator(".why").first).to_contain_text("Meaning")


async def test_a_kind_limits_the_results(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/search?q=Vienna")
    await expect(page.locator(".hit").first).to_be_visible()
    await page.get_by_role("navigation", name="Kinds").get_by_role("link", name="Conversations").click()
    await expect(page.locator(".hit .kind", has_text="Memory")).to_have_count(0)
    assert set(await page.locator(".hit .kind").all_inner_texts()) == {"Turn"}


async def test_the_page_without_a_query_shows_the_newest_notes(page: Page, server: NurProcess) -> None:
    await page.goto(server.url)
    await expect(page.get_by_role("list", name="Newest notes").get_by_role("listitem").first).to_be_visible()
