"""Files that the documentation's commands use."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "notes/lease.md": "# Offices\n\nThe lease of the Oslo office ends on 30 June 2027.\n",
    "notes/.draft.md": "Not yet.\n",
    "notes/empty.txt": "",
    "notes/garden.txt": "The pears are ripe in September.\n",
    "vault/Projects/Boat.md": "---\ntags: [boat]\n---\n\nThe hull is painted every second spring. See [[Harbour]].\n",
    "vault/Harbour.md": "# Harbour\n\nThe berth costs 240 euros a month.\n",
    "vault/.obsidian/app.json": "{}",
    "report.html": "<html><title>Report</title><body><h1>Report</h1><p>Sales rose by four percent.</p></body></html>",
}
MAIL = """From anna@example.com Mon Nov  2 09:00:00 2026
From: Anna <anna@example.com>
To: you@example.com
Subject: The boiler
Date: Mon, 2 Nov 2026 09:00:00 +0000
Message-ID: <boiler-1@example.com>
Content-Type: text/plain; charset=utf-8

The boiler is serviced on 12 November between nine and eleven.
"""
SLACK_USERS = [{"id": "U1", "name": "anna", "profile": {"real_name": "Anna"}}]
SLACK_DAY = [{"type": "message", "user": "U1", "text": "The launch moves to Thursday.", "ts": "1793606400.000100"}]
OLD_MEMORY = {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["Anna plays the cello."]}


def write_files(folder: Path) -> None:
    """Write them all under a folder."""
    for name, text in TEXTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "archive.mbox").write_text(MAIL, encoding="utf-8")
    (folder / "memory.jsonl").write_text(json.dumps(OLD_MEMORY) + "\n", encoding="utf-8")
    with zipfile.ZipFile(folder / "slack-export.zip", "w") as archive:
        archive.writestr("users.json", json.dumps(SLACK_USERS))
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "general", "members": ["U1"]}]))
        archive.writestr("general/2026-11-02.json", json.dumps(SLACK_DAY))
