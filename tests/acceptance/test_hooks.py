"""`nur hook`: what clients run when a session starts, a prompt is sent and a turn ends.

The payloads are those that the clients send, as their documentation and their own tests record them.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from nur.entrypoints.hooks.payloads import HOOK_CLIENTS
from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SESSION = "0b6cf1f2-8d0e-4c8e-9a53-5d4f2f6f8a10"
RULE = "Always answer in British English."


def payload(client: str, event: str, place: Path, **more: Any) -> dict[str, Any]:
    """What a client sends with every event, and what belongs to this one."""
    if client == "cursor":
        common: dict[str, Any] = {
            "conversation_id": SESSION,
            "generation_id": "gen-1",
            "model": "default",
            "hook_event_name": event,
            "cursor_version": "3.1.0",
            "workspace_roots": [str(place)],
            "user_email": None,
            "transcript_path": None,
        }
    else:
        common = {
            "session_id": SESSION,
            "transcript_path": str(place / "transcript.jsonl"),
            "cwd": str(place),
            "hook_event_name": event,
        }
    return {**common, **more}


def run(client: str, event: str, given: Any, folder: Path, seconds: str = "60") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nur", "hook", client, event],
        input=given if isinstance(given, str) else json.dumps(given),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=clean_environment(folder, NUR_HOOK_TIMEOUT=seconds),  # a busy machine needs more than the usual 1.5
    )


def printed(client: str, event: str, given: Any, folder: Path) -> str:
    """What the hook printed; it never fails and never complains."""
    done = run(client, event, given, folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("hooks") / "data") as process:
        memory = {"text": RULE, "type": "preference"}
        assert httpx2.post(f"{process.url}/v2/memories", json=memory).is_success
        fact = {"text": "The staging database of the Heron project runs on port 5499.", "type": "fact"}
        assert httpx2.post(f"{process.url}/v2/memories?wait=indexed", json=fact).is_success
        yield process


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A repository named heron."""
    (tmp_path / "heron" / ".git").mkdir(parents=True)
    return tmp_path / "heron"


def turns_of(server: NurProcess, client: str, session: str = SESSION) -> list[dict[str, Any]]:
    answer = httpx2.get(f"{server.url}/v2/conversations/{client}-{session}/turns")
    found: list[dict[str, Any]] = answer.json()["turns"]
    return found


@pytest.mark.parametrize(
    ("client", "event", "more", "context"),
    [
        ("claude-code", "SessionStart", {"source": "startup"}, ["hookSpecificOutput", "additionalContext"]),
        ("codex", "SessionStart", {"source": "startup", "permission_mode": "default"}, None),
        ("gemini", "SessionStart", {"source": "startup"}, ["hookSpecificOutput", "additionalContext"]),
        ("cursor", "sessionStart", {"is_background_agent": False}, ["additional_context"]),
    ],
)
def test_a_session_starts_with_the_brief(
    server: NurProcess, place: Path, client: str, event: str, more: dict[str, Any], context: list[str] | None
) -> None:
    out = printed(client, event, payload(client, event, place, **more), server.folder)
    text: Any = out if context is None else json.loads(out)
    for name in context or []:
        text = text[name]
    assert text.startswith('<nur-memory project="heron"')
    assert RULE in text
    assert "port 5499" in text


def test_after_a_compaction_only_instructions_are_repeated(server: NurProcess, place: Path) -> None:
    given = payload("claude-code", "SessionStart", place, source="compact")
    out = printed("claude-code", "session-start", given, server.folder)
    assert RULE in out
    assert "5499" not in out


def test_a_prompt_gets_passages_once_and_only_when_they_are_worth_it(server: NurProcess, place: Path) -> None:
    def asked(prompt: str, session: str = "s2") -> str:
        given = payload("claude-code", "UserPromptSubmit", place, prompt=prompt) | {"session_id": session}
        return printed("claude-code", "UserPromptSubmit", given, server.folder)

    question = "On which port does the staging database of Heron run?"
    answer = json.loads(asked(question))["hookSpecificOutput"]
    assert answer["hookEventName"] == "UserPromptSubmit"
    assert "runs on port 5499" in answer["additionalContext"]
    assert asked(question) == ""  # shown before in this session
    assert "5499" in asked(question, "s3")
    assert asked(f"{question} #skip", "s4") == ""
    assert asked("port?", "s4") == ""  # too short to mean anything
    assert asked("Write a limerick about an otter that plays the accordion.", "s4") == ""


def test_a_passage_that_held_once_names_what_holds_now(server: NurProcess, place: Path) -> None:
    old, new = "The alarm code of the Heron shed is 4417.", "The alarm code of the Heron shed is 3386."
    ids = []
    for text, ts in ((old, "2026-03-11"), (new, "2026-05-02")):
        memory = {"text": text, "type": "fact", "ts": ts}
        ids.append(httpx2.post(f"{server.url}/v2/memories?wait=indexed", json=memory).json()["note_id"])
    given = payload("claude-code", "UserPromptSubmit", place, prompt="What is the alarm code of the Heron shed?")
    out = json.loads(printed("claude-code", "UserPromptSubmit", given | {"session_id": "codes"}, server.folder))
    shown = out["hookSpecificOutput"]["additionalContext"]
    assert f"{new} [2026-05-02, {ids[1]}]" in shown
    assert f"{old} [2026-03-11, {ids[0]}; outdated, see {ids[1]}]" in shown


CLAUDE: list[dict[str, Any]] = [
    {"type": "summary", "summary": "earlier work", "leafUuid": "x"},
    {"type": "user", "isMeta": True, "message": {"role": "user", "content": "Caveat: generated"}, "timestamp": "T"},
    {
        "type": "user",
        "message": {"role": "user", "content": "Which port has staging?"},
        "timestamp": "2026-05-08T10:00:00.000Z",
        "uuid": "1",
    },
    {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "secret thought"},
                {"type": "text", "text": "It is 5499."},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
            ],
        },
        "timestamp": "2026-05-08T10:00:05.000Z",
        "uuid": "2",
    },
    {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "file"}]},
        "timestamp": "2026-05-08T10:00:06.000Z",
    },
    {"type": "assistant", "isSidechain": True, "message": {"role": "assistant", "content": "from a subagent"}},
]
CODEX: list[dict[str, Any]] = [
    {"timestamp": "2026-05-08T10:00:00.000Z", "type": "session_meta", "payload": {"id": SESSION}},
    {
        "timestamp": "2026-05-08T10:00:00.000Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>cwd</environment_context>"}],
        },
    },
    {
        "timestamp": "2026-05-08T10:00:00.000Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Which port has staging?"}],
        },
    },
    {"timestamp": "2026-05-08T10:00:02.000Z", "type": "response_item", "payload": {"type": "reasoning", "summary": []}},
    {
        "timestamp": "2026-05-08T10:00:05.000Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "It is 5499."}],
        },
    },
]
GEMINI = {
    "sessionId": SESSION,
    "messages": [
        {"id": "1", "timestamp": "2026-05-08T10:00:00.000Z", "type": "user", "content": "Which port has staging?"},
        {"id": "2", "timestamp": "2026-05-08T10:00:03.000Z", "type": "info", "content": "a tip"},
        {"id": "3", "timestamp": "2026-05-08T10:00:05.000Z", "type": "gemini", "content": [{"text": "It is 5499."}]},
    ],
}
SAID = [
    ("user", "Which port has staging?", "2026-05-08T10:00:00Z"),
    ("assistant", "It is 5499.", "2026-05-08T10:00:05Z"),
]


def lines(entries: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


@pytest.mark.parametrize(
    ("client", "event", "written"),
    [
        ("claude-code", "Stop", lines(CLAUDE)),
        ("codex", "Stop", lines(CODEX)),
        ("gemini", "AfterAgent", json.dumps(GEMINI)),
    ],
)
def test_turns_are_kept_once_with_the_time_they_were_said(
    server: NurProcess, place: Path, client: str, event: str, written: str
) -> None:
    (place / "transcript.jsonl").write_text(written)
    given = payload(client, event, place, stop_hook_active=False)
    for name in (event, event):  # the second time nothing is new
        assert printed(client, name, given, server.folder) == ""
    turns = turns_of(server, client)
    assert [(turn["role"], turn["text"], turn["occurred_at"]) for turn in turns] == SAID
    assert {turn["project"] for turn in turns} == {"heron"}


def test_what_follows_is_added_though_the_hooks_own_notes_are_lost(server: NurProcess, place: Path) -> None:
    given = payload("claude-code", "Stop", place) | {"session_id": "grows"}
    transcript = place / "transcript.jsonl"
    transcript.write_text(lines(CLAUDE) + '{"type": "user", "mess')  # still being written
    printed("claude-code", "Stop", given, server.folder)
    more = {"type": "user", "message": {"role": "user", "content": "Thanks!"}, "timestamp": "2026-05-08T10:01:00Z"}
    transcript.write_text(lines([*CLAUDE, more]))
    for file in (server.folder / "hooks").glob("*.json"):
        file.unlink()
    printed("claude-code", "SessionEnd", given | {"reason": "exit"}, server.folder)
    assert [turn["text"] for turn in turns_of(server, "claude-code", "grows")] == [
        "Which port has staging?",
        "It is 5499.",
        "Thanks!",
    ]


def test_recalled_text_is_not_kept_as_if_it_had_been_said(server: NurProcess, place: Path) -> None:
    said = {"type": "user", "message": {"content": f"Hello.\n<nur-memory>\n- {RULE}\n</nur-memory>"}, "timestamp": "T"}
    (place / "transcript.jsonl").write_text(lines([said | {"timestamp": "2026-05-08T10:00:00Z"}]))
    given = payload("claude-code", "PreCompact", place, trigger="auto") | {"session_id": "recalled"}
    printed("claude-code", "PreCompact", given, server.folder)
    assert [turn["text"] for turn in turns_of(server, "claude-code", "recalled")] == ["Hello."]


def test_cursor_sends_turns_with_its_events(server: NurProcess, place: Path) -> None:
    prompt = payload("cursor", "beforeSubmitPrompt", place, prompt="Which port has staging?", attachments=[])
    reply = payload("cursor", "afterAgentResponse", place, text="It is 5499.")
    for given in (prompt, prompt, reply, reply):
        assert printed("cursor", str(given["hook_event_name"]), given, server.folder) == ""
    assert [(turn["role"], turn["text"]) for turn in turns_of(server, "cursor")] == [one[:2] for one in SAID]


@pytest.mark.parametrize(
    ("client", "event", "given"),
    [
        ("claude-code", "SessionStart", "no JSON"),
        ("claude-code", "SessionStart", "[]"),
        ("claude-code", "Stop", {"session_id": "x", "transcript_path": "/nowhere", "cwd": "/"}),
        ("claude-code", "NoSuchEvent", {}),
        ("nobody", "Stop", {}),
        ("claude-code", "UserPromptSubmit", {"prompt": 7}),
    ],
)
def test_nothing_that_goes_wrong_reaches_the_client(server: NurProcess, client: str, event: str, given: Any) -> None:
    assert printed(client, event, given, server.folder) == ""


@pytest.mark.parametrize("client", HOOK_CLIENTS)
def test_a_server_that_hangs_holds_nothing_up(tmp_path: Path, place: Path, client: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:  # accepts, and never answers
        tmp_path.joinpath("hung").mkdir()
        facts = {"url": f"http://127.0.0.1:{listening.getsockname()[1]}", "pid": os.getpid()}
        tmp_path.joinpath("hung", "server.json").write_text(json.dumps(facts))
        event = next(iter(HOOK_CLIENTS[client].events))
        (place / "transcript.jsonl").write_text(lines(CLAUDE))
        done = run(client, event, payload(client, event, place, prompt="What is it?"), tmp_path / "hung", "0.2")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "TimeoutError" in (tmp_path / "hung" / "hooks.log").read_text()


def test_the_log_holds_no_contents(server: NurProcess, place: Path) -> None:
    given = payload("claude-code", "Stop", place, prompt="canary-7731") | {"transcript_path": "/nowhere/canary-7731"}
    printed("claude-code", "Stop", given, server.folder)
    assert "canary-7731" not in (server.folder / "hooks.log").read_text()
