"""Real messages and mailboxes, made by the standard library."""

from __future__ import annotations

import mailbox
from email.message import EmailMessage
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def message(subject: str, text: str, *, message_id: str | None = None, **headers: str) -> EmailMessage:
    """A message from Ada to Bob."""
    made = EmailMessage()
    made["From"] = "Ada Lovelace <ada@example.com>"
    made["To"] = "Bob <bob@example.com>, carol@example.com"
    made["Date"] = "Tue, 03 Mar 2026 14:05:00 +0100"
    made["Subject"] = subject
    if message_id:
        made["Message-ID"] = f"<{message_id}>"
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    return made


def mbox(path: Path, messages: list[EmailMessage]) -> Path:
    """A mailbox file with these messages."""
    box = mailbox.mbox(path)
    for each in messages:
        box.add(each)
    box.flush()
    box.close()
    return path
