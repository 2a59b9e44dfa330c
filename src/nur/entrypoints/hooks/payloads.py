"""What each client sends to a hook and what it reads back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: What a hook does, whatever the client calls the event.
START, PROMPT, KEEP = "start", "prompt", "keep"


@dataclass(frozen=True, slots=True)
class HookPayload:
    """What every client states, under names of its own."""

    session: str
    folder: str  #: that the client works in
    source: str  #: of a start: startup, resume, clear, compact
    prompt: str
    transcript: str  #: path of the conversation so far; "" where the client has none
    reply: str  #: the assistant's last words, where the client sends them instead of a transcript
    turn: str  #: names a prompt and its reply


def read(text: str) -> HookPayload:
    """What standard input holds. Raises ValueError where it is no JSON object."""
    given = json.loads(text)
    if not isinstance(given, dict):
        raise ValueError("no JSON object")  # noqa: TRY004  # the text is wrong, not the call
    roots = given.get("workspace_roots") or [""]
    return HookPayload(
        session=_text(given, "session_id", "conversation_id"),
        folder=_text(given, "cwd") or str(roots[0]),
        source=_text(given, "source", "trigger"),
        prompt=_text(given, "prompt"),
        transcript=_text(given, "transcript_path"),
        reply=_text(given, "text", "prompt_response", "last_assistant_message"),
        turn=_text(given, "generation_id", "turn_id"),
    )


def _text(given: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := given.get(name), str) and value), "")


def _specific(event: str, text: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}, ensure_ascii=False)


def _plain(event: str, text: str) -> str:
    del event
    return text


def _cursor(event: str, text: str) -> str:
    """Cursor takes context when a session starts, and none with a prompt."""
    return json.dumps({"additional_context": text}, ensure_ascii=False) if event == "sessionStart" else ""


@dataclass(frozen=True, slots=True)
class HookClient:
    """A client that has hooks: its events, and how it takes a text for the model."""

    events: Mapping[str, str]  #: its event -> what the hook does
    context: Callable[[str, str], str]  #: event, text -> standard output
    transcript: str = "claude"  #: how its transcripts are written; "": the events carry the turns


HOOK_CLIENTS: dict[str, HookClient] = {
    "claude-code": HookClient(
        {
            "SessionStart": START,
            "UserPromptSubmit": PROMPT,
            "Stop": KEEP,
            "PreCompact": KEEP,
            "SessionEnd": KEEP,
        },
        _specific,
    ),
    # Codex refused the field additionalContext in some releases (openai/codex#45999); plain text it always takes.
    "codex": HookClient({"SessionStart": START, "UserPromptSubmit": PROMPT, "Stop": KEEP}, _plain, "codex"),
    "gemini": HookClient(
        {"SessionStart": START, "BeforeAgent": PROMPT, "AfterAgent": KEEP, "SessionEnd": KEEP, "PreCompress": KEEP},
        _specific,
        "gemini",
    ),
    "cursor": HookClient(
        {"sessionStart": START, "beforeSubmitPrompt": KEEP, "afterAgentResponse": KEEP}, _cursor, transcript=""
    ),
}


def event_of(client: HookClient, name: str) -> str | None:
    """The client's event of this name, however it is written: session-start, SessionStart."""
    wanted = name.replace("-", "").replace("_", "").lower()
    return next((event for event in client.events if event.lower() == wanted), None)
