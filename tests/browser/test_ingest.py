"""Files, dropped and chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.async_api import expect

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Page

    from tests.servers.nur_server import NurProcess

DROP = """
([files]) => {
  const data = new DataTransfer();
  for (const [name, text] of files) data.items.add(new File([text], name));
  for (const type of ["dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}
"""


async def test_dropped_files_are_stored_and_asked_about(page: Page, empty_server: NurProcess) -> None:
    await page.goto(empty_server.url)
    await expect(page.locator("main > *").first).to_be_attached()
    files = [["tides.md", "# Tides\n\nHigh water in Brest is at half past four."], ["list.txt", "Rope, torch, bread."]]
    await page.evaluate(DROP, [files])
    listed = page.get_by_role("list", name="Files")
    await expect(listed.get_by_role("listitem").filter(has_text="stored")).to_have_count(2)
    await expect(page.get_by_role("status").filter(has_text="2 of 2 files done")).to_be_visible()
    await page.get_by_role("searchbox").fill("when is high water in Brest?")
    await expect(page.locator(".hit").first).to_contain_text("half past four")


async def test_a_folder_is_taken_with_its_names_and_again_changes_nothing(
    page: Page, empty_server: NurProcess, tmp_path: Path
) -> None:
    inner = tmp_path / "papers" / "2026"
    inner.mkdir(parents=True)
    (inner / "lease.txt").write_text("The lease of the boat ends in October.")
    (tmp_path / "papers" / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(range(256)))
    await page.goto(f"{empty_server.url}/#/add")
    folder = page.locator("input[type=file]").nth(1)
    await folder.set_input_files(tmp_path / "papers")
    row = page.get_by_role("listitem").filter(has_text="papers/2026/lease.txt")
    await expect(row).to_contain_text("stored")
    photo = page.get_by_role("listitem").filter(has_text="papers/photo.jpg")
    await expect(photo.get_by_role("button", name="Try again")).to_be_visible()
    await row.get_by_role("link").click()
    await expect(page.locator("#detail .text")).to_contain_text("The lease of the boat")
    await page.keyboard.press("Escape")
    await folder.set_input_files(tmp_path / "papers")
    await expect(row.nth(1)).to_contain_text("already stored")


async def test_a_drop_by_mistake_is_undone(page: Page, server: NurProcess) -> None:
    await page.goto(server.url)
    await expect(page.locator("main > *").first).to_be_attached()
    await page.evaluate(DROP, [[["mistake.txt", "Quicksilver numbers nobody should keep."]]])
    await expect(page.locator("#toast")).to_contain_text("1 file added.")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("listitem").filter(has_text="mistake.txt")).to_contain_text("moved to the trash")
    await page.goto(f"{server.url}/#/browse?kind=artifact&containing=Quicksilver")
    await expect(page.get_by_role("heading", name="Nothing matches these filters")).to_be_visible()
