"""Mailboxes: the messages of an mbox file, in order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nur.adapters.files.parsers.email import message_documents
from nur.adapters.files.source import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile
    from nur.domain.documents import Document

_MESSAGE_START = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\n]{1,500}\n")
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


def parse(file: SourceFile) -> Iterator[Document]:
    """The documents of every message: the message, then its attachments."""
    marks = list(_MESSAGE_START.finditer(file.data))
    if not marks or marks[0].start() != 0:
        raise Unreadable("It is not a mailbox: it does not start with a `From ` line.")
    ends = [*(mark.start() for mark in marks[1:]), len(file.data)]
    for mark, end in zip(marks, ends, strict=True):
        yield from message_documents(_QUOTED.sub(rb"\1", file.data[mark.end() : end]), file.depth)
