"""The REST reference as a person uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.async_api import Page

TOKEN = "a token of this test alone"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("locked") / "data", NUR_TOKEN=TOKEN) as running:
        yield running


async def test_a_route_is_described_and_tried_with_the_token(page: Page, locked: NurProcess) -> None:
    await page.goto(f"{locked.url}/docs#add_note")
    route = page.locator("#add_note")
    await expect(route).to_be_in_viewport()
    await route.get_by_text("Body: application/json").click()
    await expect(route.get_by_role("cell", name="text *", exact=True)).to_be_visible()
    await route.get_by_text("Try it").click()
    await route.get_by_role("button", name="Send").click()
    await expect(route.locator("form")).to_contain_text("401")
    await page.get_by_label("Token").fill(TOKEN)
    await page.get_by_label("Token").press("Tab")
    await route.get_by_role("button", name="Send").click()
    await expect(route.locator("form")).to_contain_text('"operation": "created"')


async def test_every_route_can_be_reached_from_the_contents(page: Page, empty_server: NurProcess) -> None:
    await page.goto(f"{empty_server.url}/docs")
    contents = page.get_by_role("navigation", name="Routes")
    await contents.get_by_role("link", name="GET /v2/conversations", exact=True).click()
    route = page.locator("#list_conversations")
    await expect(route).to_be_in_viewport()
    await route.get_by_text("Try it").click()
    await route.get_by_role("button", name="Send").click()
    await expect(route.locator("form")).to_contain_text('"conversations": []')
    await route.get_by_text("Errors", exact=True).click()
    await expect(route).to_contain_text("422 Does not match the schema")
    await expect(page.get_by_label("Token")).to_be_hidden()
