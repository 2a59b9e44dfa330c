"""Lists with filters, whole conversations, and texts that are code or tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.servers.nur_server import NurProcess

MARKDOWN = """# Ports

The staging proxy listens on these:

| name | port |
|---|---|
| proxy | 8443 |

```python
def port():
    return 8443
```

> Ask before you change one.
"""


async def test_a_list_is_filtered_by_words_and_the_field_keeps_the_focus(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/browse")
    await page.get_by_text("Filters", exact=True).click()
    await page.get_by_label("Containing").fill("allergic")
    await page.get_by_label("Containing").press("Enter")
    await expect(page.locator(".row")).to_have_count(1)
    await expect(page.locator(".row")).to_contain_text("Jonas is allergic")
    await expect(page.get_by_label("Containing")).to_be_focused()
    await page.get_by_label("Containing").fill("no note says this")
    await page.get_by_label("Containing").press("Enter")
    await expect(page.get_by_role("heading", name="Nothing matches these filters")).to_be_visible()
    await page.get_by_role("link", name="Show everything").click()
    await expect(page.locator(".row").nth(3)).to_be_visible()


async def test_a_conversation_is_deleted_whole_and_comes_back(page: Page, server: NurProcess) -> None:
    name = "about-the-roof"
    for index, text in enumerate(["Does the roof leak?", "Yes, above the stairs.", "Then call the roofer."]):
        turn = {"turn_index": index, "role": "user" if index % 2 == 0 else "assistant", "text": text}
        assert httpx2.post(f"{server.url}/v2/conversations/{name}/turns", json=turn).is_success
    await page.goto(f"{server.url}/#/browse?kind=turn&conversation={name}")
    await expect(page.get_by_text("Then call the roofer.")).to_be_visible()
    await page.get_by_role("button", name="Delete conversation").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("3 turns")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page.locator("#toast")).to_contain_text("3 turns moved to the trash.")
    await expect(page.get_by_role("link", name=name)).to_have_count(0)
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("link", name=name)).to_be_visible()
    turns = httpx2.get(f"{server.url}/v2/conversations/{name}/turns").json()["turns"]
    assert len(turns) == 3


async def test_code_and_tables_keep_their_columns(page: Page, server: NurProcess) -> None:
    document = {"text": MARKDOWN, "type": "doc", "title": "Ports", "source": {"system": "file", "id": "ports.md"}}
    stored = httpx2.post(f"{server.url}/v2/artifacts", json=document).json()["note_id"]
    await page.goto(f"{server.url}/#/browse?open={stored}&at=9-25")
    text = page.locator("#detail .text")
    await expect(text.locator("mark.best")).to_have_text("The staging prox")
    await expect(text.locator(".heading")).to_have_text("# Ports")
    await expect(text.locator(".code").first).to_contain_text("| proxy | 8443 |")
    await expect(text.locator(".code").last).to_contain_text("    return 8443", use_inner_text=True)
    await expect(text.locator(".quote")).to_have_text("> Ask before you change one.")
    assert await text.text_content() == MARKDOWN
    assert "mono" in await text.locator(".code").first.evaluate("element => getComputedStyle(element).fontFamily")


async def test_the_actions_stay_in_sight_at_the_passage_of_a_long_text(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/search?q=when must requests for time off be sent?")
    await page.get_by_role("link", name="Workshop handbook").click()
    await expect(page.locator("#detail mark.best")).to_be_in_viewport()
    await expect(page.get_by_role("button", name="Edit")).to_be_in_viewport()
    await expect(page.locator("#detail h2")).to_be_in_viewport()


async def test_results_far_behind_the_first_stand_under_a_line(page: Page, server: NurProcess) -> None:
    await page.goto(f"{server.url}/#/search?q=when must requests for time off be sent?")
    await expect(page.locator(".hit").first).to_contain_text("Requests for time off")
    before = page.locator(".hits > li")
    texts = await before.all_inner_texts()
    at = texts.index("Less likely")
    assert at == 1
