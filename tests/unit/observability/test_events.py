"""Log lines for machines and for people: the same facts, never contents."""

from __future__ import annotations

import io
import json
import logging

import pytest

from nur.observability import events
from nur.observability.events import EventLog


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def logged(stream: io.StringIO, log_format: str = "auto") -> str:
    events.configure("INFO", log_format, stream)
    with events.traced("trace-1"):
        EventLog("Server").info("server_started", url="http://127.0.0.1:3000", pid=7)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("stream", "log_format"),
    [
        (io.StringIO, "auto"),  # a pipe or a file
        (io.StringIO, "json"),
        (Terminal, "json"),  # asked for
    ],
)
def test_json_unless_a_person_looks(stream: type[io.StringIO], log_format: str) -> None:
    line = json.loads(logged(stream(), log_format))
    assert {name: line[name] for name in ("component", "event", "pid", "trace_id")} == {
        "component": "Server",
        "event": "server_started",
        "pid": 7,
        "trace_id": "trace-1",
    }


@pytest.mark.parametrize(("stream", "log_format"), [(Terminal, "auto"), (io.StringIO, "text")])
def test_text_for_a_person_at_a_terminal(stream: type[io.StringIO], log_format: str) -> None:
    time, rest = logged(stream(), log_format).split(" ", 1)
    assert len(time) == len("12:34:56")
    assert rest == "INFO     Server: server_started url=http://127.0.0.1:3000 pid=7\n"


def test_text_cannot_steer_the_terminal_or_break_the_line() -> None:
    stream = Terminal()
    events.configure("INFO", stream=stream)
    EventLog("Server").info("named", name="a\x1b[31m\n\u009bb", words="two words", several=["a", "b c"])
    line = stream.getvalue()
    assert line.endswith('named name="a\\u001b[31m\\n\\u009bb" words="two words" several="a,b c"\n')


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_the_texts_of_exceptions_and_libraries_are_left_out(log_format: str) -> None:
    stream = io.StringIO()
    events.configure("INFO", log_format, stream)
    try:
        raise ValueError("a secret")
    except ValueError:
        EventLog("Server").crash("failed")
    logging.getLogger("library").warning("a secret of %s", "somebody")
    written = stream.getvalue()
    assert "ValueError" in written
    assert "library_message" in written
    assert "secret" not in written
    assert len(written.splitlines()) == 2
