"""E-mail: a message with its headers, its text and its attachments."""

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

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_DEEPEST = 3
_MOST_ATTACHMENTS = 100
SYSTEM = "email"


def parse(file: SourceFile) -> Iterator[Document]:
    """The message, then its attachments."""
    yield from message_documents(file.data, file.depth)


def message_documents(data: bytes, depth: int = 0) -> Iterator[Document]:
    """The message, known by its Message-ID wherever it lies, then what is attached, known by the message and a name."""
    parsed = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    own = _header(parsed, "Message-ID").strip("<> ") or f"sha256-{hashlib.sha256(data).hexdigest()[:32]}"
    body = _body_part(parsed)
    attached = [part for part in _leaves(parsed) if part is not body and _is_attachment(part)][:_MOST_ATTACHMENTS]
    unread: dict[str, str] = {}
    inner = [found for part in attached for found in _attachment(part, own, depth, unread)]
    names = [_file_name(part) for part in attached]
    yield _message(parsed, body, own, {"attachments": names, "unread_attachments": unread})
    yield from inner


def _message(parsed: EmailMessage, body: EmailMessage | None, own: str, attached: dict[str, object]) -> Document:
    head = [f"{name}: {value}" for name in _SHOWN if (value := _header(parsed, name))]
    references = [part.strip("<>") for part in _header(parsed, "References").split()]
    answered = _header(parsed, "In-Reply-To").strip("<> ")
    thread = {"message_id": own, "thread": (references or [answered or own])[0], "in_reply_to": answered}
    people = [_person(name, address) for name, address in _people(parsed, "From", "To", "Cc")]
    return Document(
        text="\n".join(head) + "\n\n" + ("" if body is None else _text(body)).strip(),
        type="email",
        title=_header(parsed, "Subject") or None,
        author=people[0] if people and _header(parsed, "From") else None,
        participants=tuple(people),
        occurred_at=_date(parsed),
        part=own,
        source_system=SYSTEM,
        source_id=own[:900],
        metadata={name: value for name, value in {**thread, **attached}.items() if value},
    )


def _attachment(part: EmailMessage, own: str, depth: int, unread: dict[str, str]) -> Iterator[Document]:
    """The documents of an attached file; one that cannot be read is named with the reason, and costs nothing else."""
    name = _file_name(part)
    try:
        if depth >= _DEEPEST:
            raise Unreadable("It is nested too deeply.")
        found = list(documents(SourceFile(name, _payload(part), depth + 1)))
    except Unreadable as error:
        unread[name] = str(error)
        return
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001  # whatever a parser meets in it, the message itself is readable
        unread[name] = f"It is damaged, or not what its name says ({type(error).__name__})."
        return
    for document in found:
        yield _of_message(document, name, own)


def _of_message(document: Document, name: str, own: str) -> Document:
    metadata = {**document.metadata, "attachment_of": own}
    if document.source_id is not None:
        return replace(document, metadata=metadata)
    identity = f"{own}#{name}" + (f"#{document.part}" if document.part else "")
    return replace(document, part=identity, source_system=SYSTEM, source_id=identity[:900], metadata=metadata)


def _leaves(parsed: EmailMessage) -> Iterator[EmailMessage]:
    """The parts that hold something; an attached message is one part."""
    waiting: list[EmailMessage] = [parsed]
    while waiting:
        part = waiting.pop(0)
        if part.get_content_type() != "message/rfc822" and part.is_multipart():
            waiting[:0] = [inner for inner in part.get_payload() if isinstance(inner, EmailMessage)]
        else:
            yield part


def _body_part(parsed: EmailMessage) -> EmailMessage | None:
    """The text of the message: plain where there is some, else HTML."""
    texts = [part for part in _leaves(parsed) if part.get_content_disposition() != "attachment"]
    for wanted in ("text/plain", "text/html"):
        for part in texts:
            if part.get_content_type() == wanted and not part.get_filename():
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
    found = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""


def _text(part: EmailMessage) -> str:
    text = decode(_payload(part), part.get_content_charset())
    return html.document(text).text if part.get_content_type() == "text/html" else text


def _header(parsed: EmailMessage, name: str) -> str:
    """A header's value on one line; empty where it is missing or cannot be parsed."""
    try:
        return " ".join(str(parsed.get(name) or "").split())
    except (ValueError, IndexError, AttributeError, TypeError):  # bugs of the library's own header parser
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
