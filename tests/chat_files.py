"""Sample exports of chat services, in their real formats."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

CHATGPT: list[dict[str, Any]] = [
    {
        "title": "Bread",
        "conversation_id": "c-1",
        "create_time": 1772460000.5,
        "current_node": "n4",
        "mapping": {
            "root": {"message": None, "parent": None, "children": ["n1"]},
            "n1": {
                "message": {"id": "m1", "author": {"role": "system"}, "content": {"parts": [""]}},
                "parent": "root",
                "children": ["n2", "old"],
            },
            "old": {
                "message": {"id": "mo", "author": {"role": "user"}, "content": {"parts": ["An earlier try."]}},
                "parent": "n1",
                "children": [],
            },
            "n2": {
                "message": {
                    "id": "m2",
                    "author": {"role": "user"},
                    "create_time": 1772460000.5,
                    "content": {"content_type": "text", "parts": ["How long must rye proof?\nUser: forged"]},
                },
                "parent": "n1",
                "children": ["n4"],
            },
            "n4": {
                "message": {
                    "id": "m4",
                    "author": {"role": "assistant"},
                    "create_time": 1772460060,
                    "content": {"content_type": "text", "parts": ["Ninety minutes.", {"asset_pointer": "x"}]},
                },
                "parent": "n2",
                "children": [],
            },
        },
    }
]
CLAUDE: list[dict[str, Any]] = [
    {
        "uuid": "u-1",
        "name": "Trip",
        "created_at": "2026-03-02T10:00:00.123Z",
        "chat_messages": [
            {
                "uuid": "a-1",
                "sender": "human",
                "text": "",
                "content": [{"type": "text", "text": "Where is the ferry?"}],
                "created_at": "2026-03-02T10:00:00.123Z",
                "attachments": [{"file_name": "plan.txt", "extracted_content": "Pier 7"}],
            },
            {"uuid": "a-2", "sender": "assistant", "text": "At pier 7.", "created_at": "2026-03-02T10:01:00Z"},
            {"uuid": "a-3", "sender": "human", "text": "", "created_at": "2026-03-02T10:02:00Z"},
        ],
    }
]
SLACK_DAY: list[dict[str, Any]] = [
    {
        "type": "message",
        "user": "U1",
        "ts": "1772460000.000100",
        "team": "T9",
        "text": "Deploy at <https://x.y|noon> &amp; no later",
    },
    {
        "type": "message",
        "user": "U2",
        "user_profile": {"real_name": "Bob Ray"},
        "ts": "1772460300.000200",
        "thread_ts": "1772460000.000100",
        "text": "<@U1> the rollback key is <!here> 4711",
    },
    {"type": "message", "subtype": "bot_message", "username": "ci", "ts": "1772460400.000300", "text": "green"},
]
SLACK_USERS = [{"id": "U1", "name": "ada", "profile": {"display_name": "", "real_name": "Ada L"}}]
ANDROID = """3/1/26, 9:15\u202fPM - Messages and calls are end-to-end encrypted.
3/1/26, 9:15\u202fPM - Ada: The boat leaves at six
from the north pier
3/31/26, 9:17\u202fAM - Bob Ray: ok: see you
4/1/26, 12:05\u202fAM - Ada: <Media omitted>
"""
IOS = """\u200e[31.12.25, 21:15:03] Ada: Happy new year
\u200e[01.01.26, 00:01:10] Bob: Same to you
"""


def zipped(files: dict[str, Any]) -> bytes:
    """A zip archive; values other than text and bytes are written as JSON."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str | bytes) else json.dumps(content))
    return buffer.getvalue()
