"""Keyboard alone, screen readers, narrow and wide, light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

    from tests.servers.nur_server import NurProcess

VIEWS = {
    "search": "#/search?q=Vienna",
    "note": "#/search?q=when must requests for time off be sent?",
    "browse": "#/browse",
    "filters": "#/browse?containing=Jonas",
    "conversations": "#/browse?kind=turn&conversation=trip-planning",
    "trash": "#/browse?kind=trash",
    "timeline": "#/timeline",
    "when": "#/timeline?when=this year",
    "changes": "#/timeline?kind=changes",
    "review": "#/review",
    "decided": "#/review?state=decided",
    "brief": "#/brief",
    "add": "#/add",
    "health": "#/health",
    "settings": "#/settings",
}


async def settled(page: Page) -> None:
    """Wait until the view has what it asked for."""
    await expect(page.locator("main > *").first).to_be_attached()
    await page.wait_for_load_state("networkidle")
    await expect(page.locator("[aria-busy=true]")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious(
    browser: Browser, server: NurProcess, scheme: Literal["light", "dark"]
) -> None:
    context = await browser.new_context(color_scheme=scheme, bypass_csp=True)  # for axe's own script
    page = await context.new_page()
    await page.goto(server.url)
    for name, address in VIEWS.items():
        await page.evaluate("address => { location.hash = address }", address)
        await settled(page)
        if name == "note":
            await page.get_by_role("button", name="Why this result").first.click()
            await page.locator(".hit a").first.click()
            await expect(page.locator("#detail mark.best")).to_be_visible()
        await page.evaluate(AXE_SCRIPT)
        found: dict[str, Any] = await page.evaluate("() => axe.run()")
        assert len(found["passes"]) > 10, name
        serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
        assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in serious] == [], name
    await context.close()


@pytest.mark.parametrize("width", [380, 1600])
async def test_no_view_scrolls_sideways(page: Page, server: NurProcess, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 800})
    await page.goto(server.url)
    for name, address in VIEWS.items():
        await page.evaluate("address => { location.hash = address }", address)
        await settled(page)
        wide = await page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, name


async def test_a_journey_by_keyboard_alone(page: Page, server: NurProcess) -> None:
    await page.goto(server.url)
    await expect(page.locator(".row").first).to_be_visible()
    keyboard = page.keyboard
    for key, focused in (("j", 0), ("j", 1), ("k", 0)):
        await keyboard.press(key)
        await expect(page.locator("a.row-name").nth(focused)).to_be_focused()
    await keyboard.press("/")
    await keyboard.type("which food is dangerous for Jonas?")
    await expect(page.locator(".hit").first).to_contain_text("Jonas is allergic")
    await keyboard.press("ArrowDown")
    await expect(page.locator(".hit a").first).to_be_focused()
    await keyboard.press("w")
    await expect(page.locator(".why").first).to_contain_text("Returned at place 1")
    await keyboard.press("Enter")
    await expect(page.locator("#detail .text")).to_contain_text("hazelnuts")
    await keyboard.press("e")
    await expect(page.get_by_label("Text")).to_be_focused()
    await keyboard.press("End")
    await keyboard.type(" Keep them away.")
    await keyboard.press("Control+Enter")
    await expect(page.locator("#detail .text")).to_contain_text("Keep them away.")
    await keyboard.press("u")
    await expect(page.locator("#detail .text")).not_to_contain_text("Keep them away.")
    await keyboard.press("Escape")
    await expect(page.locator("#detail")).to_be_hidden()
    await expect(page.locator(".hit a").first).to_be_focused()
    await keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    await keyboard.press("Escape")
    await keyboard.press("g")
    await keyboard.press("b")
    await expect(page.get_by_role("heading", name="Browse")).to_be_visible()


async def test_the_skip_link_leads_to_the_content(page: Page, server: NurProcess) -> None:
    await page.goto(server.url)
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("main")).to_be_focused()


async def test_the_number_of_results_is_announced(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/search?q=Vienna")
    await expect(page.locator("#announcer")).to_contain_text("result")


async def test_single_keys_can_be_switched_off(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/settings")
    await page.get_by_label("Use single-key shortcuts").uncheck()
    await page.locator("main").focus()
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox")).not_to_be_focused()


async def test_a_chosen_theme_stays(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/settings")
    await page.get_by_label("dark", exact=True).check()
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(23, 22, 20)"
