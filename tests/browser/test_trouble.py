"""A token, a provider that is away, a server that is gone, addresses that lead nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
from playwright.async_api import expect

from tests.servers.faults import status
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Page

    from tests.servers.openai_stub import OpenAIStub

TOKEN = "a token of this test alone"


async def test_a_wrong_token_is_told_and_the_right_one_opens(page: Page, tmp_path: Path) -> None:
    with NurProcess(tmp_path / "locked", NUR_TOKEN=TOKEN) as server:
        await page.goto(server.url)
        dialog = page.get_by_role("dialog", name="This store is locked")
        await dialog.get_by_label("Token").fill("not the token")
        await dialog.get_by_role("button", name="Open").click()
        await expect(dialog.get_by_role("alert")).to_have_text("This token is wrong.")
        await dialog.get_by_label("Token").fill(TOKEN)
        await dialog.get_by_role("button", name="Open").click()
        await expect(page.get_by_role("heading", name="Nothing is stored yet")).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("heading", name="Nothing is stored yet")).to_be_visible()
        assert await page.evaluate("localStorage.getItem('nur.token')") is None
        await page.goto(f"{server.url}/#/settings")
        await page.get_by_role("button", name="Forget the token").click()
        await expect(dialog).to_be_visible()


async def test_without_the_provider_search_answers_by_words_and_says_so(
    page: Page, tmp_path: Path, openai_stub: OpenAIStub
) -> None:
    provider = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": openai_stub.url, "OPENAI_MAX_RETRIES": "0"}
    with NurProcess(tmp_path / "data", **provider) as server:
        stored = httpx2.post(f"{server.url}/v2/notes?wait=indexed", json={"text": "The boiler is serviced in May."})
        assert stored.is_success
        openai_stub.fail_forever(status(503))
        await page.goto(f"{server.url}/#/search?q=boiler serviced")
        await expect(page.locator(".notice")).to_contain_text("words")
        await expect(page.locator(".hit").first).to_contain_text("The boiler is serviced in May.")
        stored = httpx2.post(f"{server.url}/v2/notes", json={"text": "The chimney is swept in June."})
        await page.goto(f"{server.url}/#/browse?open={stored.json()['note_id']}")
        await expect(page.locator("#detail .notice")).to_contain_text("Not embedded yet")
        await page.goto(f"{server.url}/#/health")
        await expect(page.locator(".card", has_text="Embedding model")).to_contain_text("does not work")


async def test_a_server_that_is_gone_is_told_and_tried_again(page: Page, tmp_path: Path) -> None:
    with NurProcess(tmp_path / "data") as server:
        await page.goto(server.url)
        await expect(page.get_by_role("heading", name="Nothing is stored yet")).to_be_visible()
        server.stop()
        await page.get_by_role("searchbox").fill("anything")
        await expect(page.get_by_role("heading", name="Nur does not answer")).to_be_visible()
        await expect(page.get_by_role("button", name="Try again")).to_be_visible()


async def test_what_is_not_there_is_told(page: Page, empty_server: NurProcess) -> None:
    await page.goto(f"{empty_server.url}/#/nowhere")
    await expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    await page.goto(f"{empty_server.url}/#/browse?open=note_000000000000")
    await expect(page.locator("#detail")).to_contain_text("not found")
    for kind in ("", "memory", "turn", "artifact", "note", "event", "trash"):
        await page.goto(f"{empty_server.url}/#/browse?kind={kind}")
        await expect(page.locator("main .placeholder h2")).to_be_visible()
    await page.goto(f"{empty_server.url}/#/search?q=anything")
    await expect(page.locator("main .placeholder h2")).to_have_text("Nothing is stored here yet")
