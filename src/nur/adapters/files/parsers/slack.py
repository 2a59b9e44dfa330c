"""Slack's export: one folder per channel, one file per day."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from nur.adapters.files.chats import Message, conversation
from nur.adapters.files.source import epoch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nur.domain.documents import Document

_MARKS = re.compile(r"<([@#!]?)([^<>|]{1,2000})(?:\|([^<>]{0,2000}))?>")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def looks_like(value: Any) -> bool:
    """Whether it is a list of Slack messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and one.get("type") == "message" and "ts" in one for one in value)
    )


def conversations(value: Any, name: str, users: Mapping[str, str] | None = None) -> Iterator[Document]:
    """One document: one day of a channel. `users` maps ids to names, if `users.json` is available."""
    path = PurePath(name)
    channel, day = path.parent.name or path.stem, path.stem
    names = {**_profiles(value), **(users or {})}
    messages = [message for one in value if (message := _message(one, names)).text.strip()]
    team = next((one["team"] for one in value if isinstance(one.get("team"), str)), None)
    source_id = "/".join(filter(None, (team, channel, day)))
    if messages:
        yield conversation(messages, system="slack", source_id=source_id, title=f"#{channel}, {day}")


def user_names(value: Any) -> dict[str, str]:
    """Names by id, from `users.json`."""
    found = (one for one in value if isinstance(one, dict) and "id" in one)
    return {one["id"]: _name(one.get("profile") or {}) or _name(one) for one in found}


def _profiles(value: list[dict[str, Any]]) -> dict[str, str]:
    """Names by id, from the messages themselves."""
    return {one["user"]: _name(one["user_profile"]) for one in value if one.get("user") and one.get("user_profile")}


def _name(profile: dict[str, Any]) -> str:
    return profile.get("display_name") or profile.get("real_name") or profile.get("name") or ""


def _message(one: dict[str, Any], names: Mapping[str, str]) -> Message:
    user = one.get("user") or ""
    speaker = names.get(user) or one.get("username") or user or "Slack"
    in_thread = one.get("thread_ts") not in (None, one["ts"])
    files = [f"(file {found.get('name')})" for found in one.get("files") or () if isinstance(found, dict)]
    text = "\n".join([_readable(one.get("text") or "", names), *files])
    return Message(f"{speaker} (in thread)" if in_thread else speaker, text, epoch(one["ts"]), str(one["ts"]))


def _readable(text: str, names: Mapping[str, str]) -> str:
    """Replace Slack's markup: mentions by name, links by label and target."""

    def shown(match: re.Match[str]) -> str:
        mark, target, label = match.groups()
        if mark == "@":
            return f"@{label or names.get(target) or target}"
        if mark:
            return f"{mark.replace('!', '@')}{label or target}"
        return f"{label} ({target})" if label else target

    text = _MARKS.sub(shown, text)
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text
