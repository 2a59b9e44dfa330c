"""Reviews, and what is said of notes that others replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from playwright.async_api import expect

from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.async_api import Page

OLD, NEW = "The alarm code of the workshop is 9052.", "The alarm code of the workshop is 3386."
HAS, HAS_NOT = "Danny has the key of the barn in Leeds.", "Danny does not have the key of the barn in Leeds."


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    """A server of the test's own: the number of reviews counts."""
    with NurProcess(tmp_path_factory.mktemp("reviews") / "data") as running:
        yield running


def remember(server: NurProcess, text: str, **more: Any) -> str:
    answer = httpx2.post(f"{server.url}/v2/memories?wait=indexed", json={"text": text, **more}, timeout=60)
    assert answer.is_success, answer.text
    return str(answer.json()["note_id"])


async def test_a_review_is_confirmed_and_undone(page: Page, store: NurProcess) -> None:
    await page.goto(f"{store.url}/#/review")
    await expect(page.get_by_role("heading", name="Nothing to review")).to_be_visible()
    count = page.locator("#waiting")
    await expect(count).to_be_hidden()
    remember(store, OLD, ts="2026-03-11")
    remember(store, NEW, ts="2026-05-01")
    await page.reload()
    await expect(count).to_have_text("1 waiting")
    review = page.locator(".review")
    await expect(review.get_by_role("heading")).to_have_text("A newer value")
    await expect(review.locator("blockquote")).to_have_text([OLD, NEW])
    await expect(review.locator("figcaption")).to_have_text(["Oldersaid 11 Mar 2026", "Newersaid 1 May 2026"])
    await review.get_by_role("button", name="Confirm").click()
    await expect(page.get_by_role("heading", name="Nothing to review")).to_be_visible()
    await expect(count).to_be_hidden()
    await page.goto(f"{store.url}/#/search?q=alarm code of the workshop")
    hits = page.locator(".hit")
    await expect(hits.first).to_contain_text("3386")
    await hits.nth(1).get_by_role("link", name="Replaced: open the newer one").click()
    await expect(page.locator("#detail .text")).to_have_text(NEW)
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator("#toast")).to_contain_text("The pair is open again.")
    await expect(count).to_have_text("1 waiting")
    await expect(page.get_by_role("link", name="Replaced: open the newer one")).to_have_count(0)
    await page.goto(f"{store.url}/#/review")
    await expect(review).to_have_count(1)


async def test_reviews_are_decided_by_keyboard_alone(page: Page, store: NurProcess) -> None:
    for text in (OLD, NEW, HAS, HAS_NOT):
        remember(store, text)
    await page.goto(store.url)
    await expect(page.locator("#waiting")).to_have_text("2 waiting")
    keyboard = page.keyboard
    await keyboard.press("g")
    await keyboard.press("r")
    reviews = page.locator(".review")
    await expect(reviews).to_have_count(2)
    await keyboard.press("j")
    await keyboard.press("j")
    await expect(reviews.nth(1).get_by_role("link", name="Newer")).to_be_focused()
    await keyboard.press("k")
    kept = await reviews.nth(1).inner_text()
    await keyboard.press("x")
    await expect(page.locator("#toast")).to_contain_text("Rejected: both are valid.")
    await expect(reviews).to_have_count(1)
    assert await reviews.inner_text() == kept
    await expect(reviews.get_by_role("link", name="Newer")).to_be_focused()
    await keyboard.press("u")
    await expect(reviews).to_have_count(2)
    await keyboard.press("c")
    await expect(reviews).to_have_count(1)
    await page.get_by_role("link", name="Decided").press("Enter")
    await expect(reviews).to_contain_text("Confirmed: the newer one is valid")
    await reviews.get_by_role("button", name="Undo").press("Enter")
    await expect(page.locator("#waiting")).to_have_text("2 waiting")
    await expect(page.get_by_role("heading", name="Nothing has been decided yet")).to_be_visible()


async def test_a_replaced_note_leads_to_the_newer_one(page: Page, store: NurProcess) -> None:
    old = remember(store, "Tea is at four.")
    remember(store, "Tea is at five.", replaces=old)
    await page.goto(f"{store.url}/#/browse?open={old}")
    row = page.locator(".row", has_text="Tea is at four.")
    await expect(row.get_by_role("link", name="Replaced: open the newer one")).to_be_visible()
    await page.locator("#detail").get_by_role("link", name="Open the newer one").click()
    await expect(page.locator("#detail .text")).to_have_text("Tea is at five.")
    await expect(page.locator("#detail .notice", has_text="holds instead")).to_have_count(0)
    await page.goto(f"{store.url}/#/timeline?kind=changes&change=superseded")
    await page.get_by_role("link", name="Open what replaced it").click()
    await expect(page.locator("#detail .text")).to_have_text("Tea is at five.")


async def test_results_that_disagree_stand_side_by_side(page: Page, store: NurProcess) -> None:
    never, did = "I have never used Bootstrap components.", "I built the gallery with Bootstrap components."
    remember(store, never)
    remember(store, did)
    await page.goto(f"{store.url}/#/search?q=Have I used Bootstrap components before?")
    pair = page.get_by_role("region", name="These disagree")
    await expect(pair.locator("blockquote")).to_have_count(2)
    assert set(await pair.locator("blockquote").all_inner_texts()) == {never, did}
    await pair.get_by_role("link", name="Open the other").click()
    await expect(page.locator("#detail mark.best")).to_be_visible()


async def test_markup_in_reviews_changes_and_the_brief_is_shown_as_text(page: Page, store: NurProcess) -> None:
    markup = "<img src=x onerror=\"document.title = 'taken'\"><script>document.title = 'taken'</script>"
    for number in (9052, 3386):
        remember(store, f"The alarm code of the {markup} workshop is {number}.", type="decision")
    note = {"text": "A note of an oddly named project.", "project": markup}
    assert httpx2.post(f"{store.url}/v2/notes", json=note).is_success
    for address in ("#/review", "#/timeline", "#/timeline?kind=changes", "#/brief"):
        await page.goto(f"{store.url}/{address}")
        await expect(page.locator("main .row", has_text="<img src=x").first).to_be_visible()
        assert await page.locator("main img, main script").count() == 0, address
        assert "taken" not in await page.title()
