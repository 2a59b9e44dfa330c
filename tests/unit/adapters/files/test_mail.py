"""Messages, their threads and attachments, and mailboxes."""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage
from typing import TYPE_CHECKING

import pytest

from nur.adapters.files.source import Unreadable
from tests.mail_files import mbox, message
from tests.parsed import read, read_one

if TYPE_CHECKING:
    from pathlib import Path


def test_a_message_keeps_headers_text_and_thread() -> None:
    sent = message(
        "Re: Büro", "The lease ends\nin June.\n", message_id="b@x", In_Reply_To="<a@x>", References="<root@x> <a@x>"
    )
    mail = read_one("a.eml", sent.as_bytes())
    assert mail.text.splitlines()[3:] == ["Subject: Re: Büro", "", "The lease ends", "in June."]
    assert (mail.type, mail.title, mail.author) == ("email", "Re: Büro", "Ada Lovelace <ada@example.com>")
    assert mail.participants == ("Ada Lovelace <ada@example.com>", "Bob <bob@example.com>", "carol@example.com")
    assert mail.occurred_at == datetime(2026, 3, 3, 13, 5, tzinfo=UTC)
    assert (mail.source_system, mail.source_id) == ("email", "b@x")
    assert mail.metadata["thread"] == "root@x"
    assert mail.metadata["in_reply_to"] == "a@x"


def test_attachments_are_documents_of_their_own_and_a_bad_one_costs_nothing_else() -> None:
    sent = message("Plan", "See attached.", message_id="p@x")
    sent.add_attachment(b"name,city\nAda,Paris\n", maintype="text", subtype="csv", filename="people.csv")
    sent.add_attachment(b"\0\1\2", maintype="application", subtype="octet-stream", filename="blob.bin")
    sent.add_attachment(message("Inner", "Deep words.", message_id="i@x"))
    mail, table, inner = read("a.eml", sent.as_bytes())
    assert mail.text.endswith("See attached.")
    assert mail.metadata["attachments"] == ["people.csv", "blob.bin", "message.eml"]
    assert mail.metadata["unread_attachments"] == {"blob.bin": "It is not text, and not a format that can be read."}
    assert (table.source_system, table.source_id, table.title) == ("email", "p@x#people.csv", "people.csv")
    assert "name: Ada; city: Paris" in table.text
    assert table.metadata["attachment_of"] == "p@x"
    assert (inner.source_id, inner.title) == ("i@x", "Inner")


def test_html_is_read_where_there_is_no_plain_text() -> None:
    sent = EmailMessage()
    sent["Subject"] = "News"
    sent.set_content("<h1>News</h1><p>We moved.</p>", subtype="html")
    assert read_one("a.eml", sent.as_bytes()).text == "Subject: News\n\n# News\n\nWe moved."


@pytest.mark.parametrize(
    "raw",
    [
        b"From: a@x\nContent-Type: text/plain; charset=no-such-charset\n\nGr\xfc\xdfe",  # an unknown encoding
        b"From: a@x\nTo: =?bad?Q?=?=, <<>>,,;\nDate: yesterday\nMessage-ID: \n\nGr\xc3\xbc\xc3\x9fe",  # odd headers
        b'From: a@x\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n\nGr\xc3\xbc\xc3\x9fe',  # no end
    ],
)
def test_a_message_that_is_not_quite_right_is_still_read(raw: bytes) -> None:
    mail = read("a.eml", raw)[0]
    assert "Grüße" in mail.text
    assert mail.source_id


def test_messages_within_messages_end() -> None:
    sent = message("0", "deepest", message_id="m0@x")
    for depth in range(1, 8):
        outer = message(str(depth), "around", message_id=f"m{depth}@x")
        outer.add_attachment(sent)
        sent = outer
    found = read("a.eml", sent.as_bytes())
    assert [mail.title for mail in found] == ["7", "6", "5", "4"]
    assert found[-1].metadata["unread_attachments"] == {"message.eml": "It is nested too deeply."}


def test_a_mailbox_yields_every_message_once(tmp_path: Path) -> None:
    quoted = "From here on it is quoted.\n\nFrom me, too.\n"
    path = mbox(tmp_path / "in.mbox", [message("One", quoted, message_id="1@x"), message("Two", "2")])
    first, second = read("in.mbox", path.read_bytes())
    assert first.text.endswith(quoted.strip())
    assert (first.title, second.title) == ("One", "Two")
    assert first.source_id == "1@x"
    assert str(second.source_id).startswith("sha256-")
    assert [mail.source_id for mail in read("copy", path.read_bytes())] == [first.source_id, second.source_id]


def test_a_message_is_known_by_its_beginning() -> None:
    assert read_one("message", message("Hi", "Words.").as_bytes()).type == "email"


def test_what_is_no_mailbox_says_so() -> None:
    with pytest.raises(Unreadable, match="not a mailbox"):
        read("a.mbox", "Hello")
