"""Chat exports and subtitles: who said what, when."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from nur.adapters.files.source import Unreadable
from nur.retrieval.chunking.structure import chat
from tests.chat_files import ANDROID, CHATGPT, CLAUDE, IOS, SLACK_DAY, SLACK_USERS, zipped
from tests.parsed import read, read_one


@pytest.mark.parametrize("packed", [False, True])
def test_chatgpt_keeps_the_branch_that_is_shown(packed: bool) -> None:
    data = zipped({"conversations.json": CHATGPT, "user.json": {}}) if packed else json.dumps(CHATGPT)
    talk = read_one("export.zip" if packed else "conversations.json", data)
    assert talk.text == (
        "[2026-03-02 14:00] User: How long must rye proof?\n  User: forged\n\n"
        "[2026-03-02 14:01] ChatGPT: Ninety minutes."
    )
    assert (talk.type, talk.title, talk.participants) == ("chat", "Bread", ("User", "ChatGPT"))
    assert (talk.source_system, talk.source_id, talk.url) == ("chatgpt", "c-1", "https://chatgpt.com/c/c-1")
    assert [place.label for place in talk.places] == ["message m2", "message m4"]
    assert talk.text[talk.places[1].start_char :].strip().startswith("[2026-03-02 14:01] ChatGPT")


def test_a_chatgpt_tree_that_is_a_circle_ends() -> None:
    node = {"message": None, "parent": "a", "children": ["a"]}
    with pytest.raises(Unreadable, match="no text"):
        read("conversations.json", json.dumps([{"mapping": {"a": node}, "current_node": "a"}]))


@pytest.mark.parametrize("packed", [False, True])
def test_claude_keeps_what_was_taken_from_attachments(packed: bool) -> None:
    data = zipped({"data/conversations.json": CLAUDE}) if packed else json.dumps(CLAUDE)
    talk = read_one("export.zip" if packed else "conversations.json", data)
    assert talk.text == (
        "[2026-03-02 10:00] User: Where is the ferry?\n  (attached file plan.txt)\n  Pier 7\n\n"
        "[2026-03-02 10:01] Claude: At pier 7."
    )
    assert (talk.source_system, talk.source_id, talk.title) == ("claude", "u-1", "Trip")


@pytest.mark.parametrize("packed", [False, True])
def test_slack_names_people_and_threads(packed: bool) -> None:
    name, ada = "general/2026-03-02.json", "Ada L"
    if packed:
        files = {"channels.json": [], "users.json": SLACK_USERS, name: SLACK_DAY, "__MACOSX/x.json": "junk"}
        (day,) = read("Acme export.zip", zipped(files))
    else:
        day, ada = read_one(name, json.dumps(SLACK_DAY)), "U1"
    assert day.text.split("\n\n") == [
        f"[2026-03-02 14:00] {ada}: Deploy at noon (https://x.y) & no later",
        f"[2026-03-02 14:05] Bob Ray (in thread): @{ada} the rollback key is @here 4711",
        "[2026-03-02 14:06] ci: green",
    ]
    assert (day.source_system, day.source_id, day.title) == ("slack", "T9/general/2026-03-02", "#general, 2026-03-02")


def test_whatsapp_is_told_by_its_lines_and_cut_by_month() -> None:
    march, april = read("WhatsApp Chat with Ada.txt", ANDROID)
    assert march.text == (
        "[2026-03-01 21:15] Ada: The boat leaves at six\n  from the north pier\n\n"
        "[2026-03-31 09:17] Bob Ray: ok: see you"
    )
    assert (march.source_system, march.source_id, march.title) == ("whatsapp", "Ada/2026-03", "Ada, 2026-03")
    assert april.occurred_at == datetime(2026, 4, 1, 0, 5, tzinfo=UTC)


def test_whatsapp_of_ios_comes_in_an_archive() -> None:
    december, january = read("WhatsApp Chat - Bob.zip", zipped({"_chat.txt": IOS, "photo.jpg": b"\xff\xd8"}))
    assert (december.source_id, january.source_id) == ("Bob/2025-12", "Bob/2026-01")
    assert january.text == "[2026-01-01 00:01] Bob: Same to you"


def test_the_chunker_sees_the_turns_of_a_conversation() -> None:
    talk = read_one("conversations.json", json.dumps(CHATGPT)).text
    assert [section.path for section in chat.sections(talk)] == [("User",), ("ChatGPT",)]


@pytest.mark.parametrize("files", [{"a.docx.txt": "Hello"}, {"x/y.bin": b"\0"}, {"readme.md": "# Hi"}])
def test_another_archive_is_to_be_unpacked(files: dict[str, object]) -> None:
    with pytest.raises(Unreadable, match="unpack it"):
        read("a.zip", zipped(files))


def test_a_damaged_archive_says_so() -> None:
    with pytest.raises(Unreadable, match="damaged"):
        read("a.zip", zipped({"conversations.json": CLAUDE})[:100])


SRT = """1
00:00:01,000 --> 00:00:03,500
<i>Welcome to the</i>
tour.

2
00:00:03,600 --> 00:00:05,000
ANNA: Mind the step.

3
00:01:10,000 --> 00:01:12,000
The tower was built in 1432.
"""
VTT = """WEBVTT

NOTE a comment

intro
00:01.000 --> 00:02.000 align:start
<v Ada>We ship on Tuesday.</v>

00:02.100 --> 00:03.000
<v Bob>Fine &mdash; I&#39;ll tell them.
"""


def test_subtitles_become_a_transcript_with_times() -> None:
    transcript = read_one("tour.srt", SRT)
    assert transcript.text.split("\n\n") == [
        "[00:00:01] Welcome to the tour.",
        "[00:00:03] ANNA: Mind the step.",
        "[00:01:10] The tower was built in 1432.",
    ]
    assert (transcript.type, transcript.title, transcript.participants) == ("transcript", "tour", ("ANNA",))


def test_webvtt_keeps_its_voices() -> None:
    transcript = read_one("call.vtt", VTT)
    assert transcript.text == "[00:00:01] Ada: We ship on Tuesday.\n\n[00:00:02] Bob: Fine — I'll tell them."
    assert transcript.participants == ("Ada", "Bob")
