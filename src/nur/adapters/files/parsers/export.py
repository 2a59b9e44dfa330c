"""Zip archives exported by chat services."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from nur.adapters.files import archives
from nur.adapters.files.parsers import json as json_parser
from nur.adapters.files.parsers import slack, whatsapp
from nur.adapters.files.source import SourceFile, Unreadable

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator

    from nur.domain.documents import Document


def parse(file: SourceFile) -> Iterator[Document]:
    """The conversations of a ChatGPT, Claude, Slack or WhatsApp export."""
    archive = archives.open_archive(file.data)
    names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
    by_base = {PurePosixPath(name).name: name for name in names}
    if "conversations.json" in by_base:
        data = archives.read_member(archive, by_base["conversations.json"])
        yield from json_parser.parse(SourceFile("conversations.json", data, file.depth))
    elif "channels.json" in by_base or "users.json" in by_base:
        yield from _slack(archive, names, by_base.get("users.json"))
    elif chats := [name for name in names if name.endswith(".txt")]:
        yield from _whatsapp(archive, chats, file)
    else:
        raise Unreadable("It is an archive: unpack it and ingest the folder.")


def _slack(archive: zipfile.ZipFile, names: list[str], users: str | None) -> Iterator[Document]:
    users_by_id = slack.user_names(json.loads(archives.read_member(archive, users))) if users else {}
    for name in sorted(names):
        if len(PurePosixPath(name).parts) > 1 and name.endswith(".json"):
            day = json.loads(archives.read_member(archive, name))
            if slack.looks_like(day):
                yield from slack.conversations(day, name, users_by_id)


def _whatsapp(archive: zipfile.ZipFile, chats: list[str], file: SourceFile) -> Iterator[Document]:
    """WhatsApp chats. The app for iOS names every chat `_chat.txt`; then the archive's name is used."""
    for name in chats:
        basename = PurePosixPath(name).name
        inner = SourceFile(
            f"{file.stem}.txt" if basename == "_chat.txt" else basename, archives.read_member(archive, name)
        )
        if not whatsapp.looks_like(inner.text()):
            raise Unreadable("It is an archive: unpack it and ingest the folder.")
        yield from whatsapp.parse(inner)
