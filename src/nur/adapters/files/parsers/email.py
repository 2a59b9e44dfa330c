"""E-mail messages: headers, text and attachments."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from typing import TYPE_CHECKING

from nur.adapters.files.parsers import html
from nur.adapters.files.reading import documents
from nur.adapters.files.source import SourceFile, Unreadable, decode, utc
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_DEPTH = 3
_MAX_ATTACHMENTS = 100
SYSTEM = "email"


def parse(file: SourceFile) -> Iterator[Document]:
    """The message, then its attachments."""
    yield from message_documents(file.data, file.depth)


def message_documents(data: bytes, depth: int = 0) -> Iterator[Document]:
    """The message, identified by its Message-ID, then its attachments, identified by the message and a file name."""
    parsed = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    message_id = _header(parsed, "Message-ID").strip("<> ") or f"sha256-{hashlib.sha256(data).hexdigest()[:32]}"
    body = _body_part(parsed)
    attached = [part for part in _leaves(parsed) if part is not body and _is_attachment(part)][:_MAX_ATTACHMENTS]
    unread: dict[str, str] = {}
    inner = [found for part in attached for found in _attachment(part, message_id, depth, unread)]
    names = [_file_name(part) for part in attached]
    yield _message(parsed, body, message_id, {"attachments": names, "unread_attachments": unread})
    yield from inner


def _message(parsed: EmailMessage, body: EmailMessage | None, message_id: str, attached: dict[str, object]) -> Document:
    head = [f"{name}: {value}" for name in _SHOWN_HEADERS if (value := _header(parsed, name))]
    references = [part.strip("<>") for part in _header(parsed, "References").split()]
    in_reply_to = _header(parsed, "In-Reply-To").strip("<> ")
    thread = {
        "message_id": message_id,
        "thread": (references or [in_reply_to or message_id])[0],
        "in_reply_to": in_reply_to,
    }
    people = [_person(name, address) for name, address in _people(parsed, "From", "To", "Cc")]
    return Document(
        text="\n".join(head) + "\n\n" + ("" if body is None else _text(body)).strip(),
        type="email",
        title=_header(parsed, "Subject") or None,
        author=people[0] if people and _header(parsed, "From") else None,
        participants=tuple(people),
        occurred_at=_date(parsed),
        part=message_id,
        source_system=SYSTEM,
        source_id=message_id[:900],
        metadata={name: value for name, value in {**thread, **attached}.items() if value},
    )


def _attachment(part: EmailMessage, message_id: str, depth: int, unread: dict[str, str]) -> Iterator[Document]:
    """The documents of an attached file. If it cannot be read, the reason goes into `unread`."""
    name = _file_name(part)
    try:
        if depth >= _MAX_DEPTH:
            raise Unreadable("It is nested too deeply.")
        found = list(documents(SourceFile(name, _payload(part), depth + 1)))
    except Unreadable as error:
        unread[name] = str(error)
        return
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001  # a parser may raise anything, but the message itself is readable
        unread[name] = f"It is damaged, or its extension is wrong ({type(error).__name__})."
        return
    for document in found:
        yield _of_message(document, name, message_id)


def _of_message(document: Document, name: str, message_id: str) -> Document:
    metadata = {**document.metadata, "attachment_of": message_id}
    if document.source_id is not None:
        return replace(document, metadata=metadata)
    identity = f"{message_id}#{name}" + (f"#{document.part}" if document.part else "")
    return replace(document, part=identity, source_system=SYSTEM, source_id=identity[:900], metadata=metadata)


def _leaves(parsed: EmailMessage) -> Iterator[EmailMessage]:
    """The parts without sub-parts, in order; an attached message counts as one part."""
    stack: list[EmailMessage] = [parsed]
    while stack:
        part = stack.pop(0)
        if part.get_content_type() != "message/rfc822" and part.is_multipart():
            stack[:0] = [inner for inner in part.get_payload() if isinstance(inner, EmailMessage)]
        else:
            yield part


def _body_part(parsed: EmailMessage) -> EmailMessage | None:
    """The part with the message's text: plain text if there is any, else HTML."""
    texts = [part for part in _leaves(parsed) if part.get_content_disposition() != "attachment"]
    for content_type in ("text/plain", "text/html"):
        for part in texts:
            if part.get_content_type() == content_type and not part.get_filename():
                return part
    return None


def _is_attachment(part: EmailMessage) -> bool:
    named = part.get_filename() is not None or part.get_content_type() == "message/rfc822"
    return named or part.get_content_disposition() == "attachment"


def _file_name(part: EmailMessage) -> str:
    is_message = part.get_content_type() == "message/rfc822"
    return (part.get_filename() or ("message.eml" if is_message else "attachment")).replace("/", "_")


def _payload(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload(0)
        return inner.as_bytes() if isinstance(inner, EmailMessage) else b""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _text(part: EmailMessage) -> str:
    text = decode(_payload(part), part.get_content_charset())
    return html.document(text).text if part.get_content_type() == "text/html" else text


def _header(parsed: EmailMessage, name: str) -> str:
    """A header's value on one line; empty if it is missing or cannot be parsed."""
    try:
        return " ".join(str(parsed.get(name) or "").split())
    except (ValueError, IndexError, AttributeError, TypeError):  # bugs in the standard library's header parser
        return ""


def _date(parsed: EmailMessage) -> datetime | None:
    try:
        return utc(parsedate_to_datetime(_header(parsed, "Date")))
    except (ValueError, TypeError, IndexError):
        return None


def _people(parsed: EmailMessage, *names: str) -> list[tuple[str, str]]:
    return getaddresses([_header(parsed, name) for name in names if _header(parsed, name)])


def _person(name: str, address: str) -> str:
    return f"{name} <{address}>" if name and address else name or address
