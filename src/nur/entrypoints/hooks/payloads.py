"""The clients that have hooks: their events, what they send to a hook, and the output they expect."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The hook's task, whatever the client calls the event.
START, PROMPT, KEEP = "start", "prompt", "keep"


@dataclass(frozen=True, slots=True)
class HookPayload:
    """An event's fields, under common names; each is "" if the client does not send it."""

    session: str
    folder: str  #: working directory of the client
    source: str  #: why a session starts: startup, resume, clear, compact
    prompt: str
    transcript: str  #: path of the conversation so far
    reply: str  #: the assistant's last message, if the client sends it instead of a transcript
    turn: str  #: id shared by a prompt and its reply


def read(text: str) -> HookPayload:
    """Parse the event that a client sends. Raises ValueError if it is not a JSON object."""
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise ValueError("no JSON object")  # noqa: TRY004  # the text is wrong, not the call
    roots = fields.get("workspace_roots") or [""]
    return HookPayload(
        session=_text(fields, "session_id", "conversation_id"),
        folder=_text(fields, "cwd") or str(roots[0]),
        source=_text(fields, "source", "trigger"),
        prompt=_text(fields, "prompt"),
        transcript=_text(fields, "transcript_path"),
        reply=_text(fields, "text", "prompt_response", "last_assistant_message"),
        turn=_text(fields, "generation_id", "turn_id"),
    )


def _text(fields: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is a non-empty string, else ""."""
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), "")


def _hook_output(event: str, text: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}, ensure_ascii=False)


def _plain(event: str, text: str) -> str:
    del event
    return text


def _cursor(event: str, text: str) -> str:
    """Cursor accepts context when a session starts, but not with a prompt."""
    return json.dumps({"additional_context": text}, ensure_ascii=False) if event == "sessionStart" else ""


@dataclass(frozen=True, slots=True)
class HookClient:
    """A client that has hooks."""

    events: Mapping[str, str]  #: the client's event -> the hook's task
    context: Callable[[str, str], str]  #: (event, text for the model) -> standard output
    transcript: str = "claude"  #: format of its transcripts; "": the events carry the turns


HOOK_CLIENTS: dict[str, HookClient] = {
    "claude-code": HookClient(
        {
            "SessionStart": START,
            "UserPromptSubmit": PROMPT,
            "Stop": KEEP,
            "PreCompact": KEEP,
            "SessionEnd": KEEP,
        },
        _hook_output,
    ),
    # Some releases of Codex reject the field additionalContext (openai/codex#45999); all accept plain text.
    "codex": HookClient({"SessionStart": START, "UserPromptSubmit": PROMPT, "Stop": KEEP}, _plain, "codex"),
    "gemini": HookClient(
        {"SessionStart": START, "BeforeAgent": PROMPT, "AfterAgent": KEEP, "SessionEnd": KEEP, "PreCompress": KEEP},
        _hook_output,
        "gemini",
    ),
    "cursor": HookClient(
        {"sessionStart": START, "beforeSubmitPrompt": KEEP, "afterAgentResponse": KEEP}, _cursor, transcript=""
    ),
}


def event_of(client: HookClient, name: str) -> str | None:
    """The client's event of this name in any spelling (session-start, SessionStart); None if unknown."""
    normalised = name.replace("-", "").replace("_", "").lower()
    return next((event for event in client.events if event.lower() == normalised), None)
