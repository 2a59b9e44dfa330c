"""Logs, as JSON or for people: one event per line, with a trace id that follows one call through every layer."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO, TypeAlias
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Field: TypeAlias = "str | int | float | bool | Sequence[str] | Sequence[float] | None"

SERVICE = "mcp-memory"
#: The parent of our own loggers. Libraries write contents, addresses and arguments into theirs.
OURS = "nur"

_trace_id: ContextVar[str | None] = ContextVar("trace_id", default=None)


@contextmanager
def traced(trace_id: str | None = None) -> Iterator[str]:
    """Give everything logged inside one trace id; inside another trace the outer one stays."""
    name = _trace_id.get() or trace_id or uuid4().hex
    token = _trace_id.set(name)
    try:
        yield name
    finally:
        _trace_id.reset(token)


class EventLog:
    """A component's log. Fields are ids, counts and timings; callers keep contents out."""

    def __init__(self, component: str) -> None:
        self._log = logging.getLogger(f"{OURS}.{component}")
        self._component = component

    def debug(self, event: str, **fields: Field) -> None:
        """Detail for debugging."""
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Field) -> None:
        """Normal work."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Field) -> None:
        """Something went wrong and was handled."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Field) -> None:
        """Something failed."""
        self._write(logging.ERROR, event, fields)

    def critical(self, event: str, **fields: Field) -> None:
        """The service as a whole is hurt: a store that cannot be used, an index that is lost, a start that failed."""
        self._write(logging.CRITICAL, event, fields)

    def crash(self, event: str, **fields: Field) -> None:
        """A bug: logs the exception that is being handled, where it was raised, without its text."""
        self._log.error(event, extra={"component": self._component, "fields": fields}, exc_info=True)

    def _write(self, level: int, event: str, fields: dict[str, Field]) -> None:
        if self._log.isEnabledFor(level):
            self._log.log(level, event, extra={"component": self._component, "fields": fields})


class JsonFormatter(logging.Formatter):
    """One JSON object per line, in the shape of the specification's section 10.1."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line = {
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "service": SERVICE,
            **_facts(record),
        }
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """The same facts for a person at a terminal: local time, level, component, event, fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of text; what a terminal would act on is escaped."""
        facts = _facts(record)
        facts.pop("trace_id", None)  # it is for machines; a reader has no use for it
        moment = datetime.fromtimestamp(record.created, UTC).astimezone()
        component, event = _shown(facts.pop("component")), _shown(facts.pop("event"))
        fields = " ".join(f"{name}={_shown(value)}" for name, value in facts.items())
        return f"{moment:%H:%M:%S} {record.levelname:<8} {component}: {event} {fields}".rstrip()


def _facts(record: logging.LogRecord) -> dict[str, object]:
    """What both formats write. Exceptions and libraries' lines come without their texts, which may hold contents."""
    facts: dict[str, object] = {
        "component": getattr(record, "component", record.name),
        **(_event(record) if _is_ours(record) else _library_event(record)),
    }
    if trace_id := _trace_id.get():
        facts["trace_id"] = trace_id
    if record.exc_info and record.exc_info[0] is not None:
        facts["exception"] = record.exc_info[0].__name__
        frames = traceback.extract_tb(record.exc_info[2])
        facts["at"] = [f"{frame.name}:{frame.lineno}" for frame in frames[-6:]]
    return facts


def _shown(value: object) -> str:
    """A value without characters that break a line or steer a terminal; in quotes where it has spaces."""
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.split(".", 1)[0] == OURS


def _event(record: logging.LogRecord) -> dict[str, object]:
    return {"event": record.getMessage(), **getattr(record, "fields", {})}


def _library_event(record: logging.LogRecord) -> dict[str, object]:
    return {"event": "library_message", "at": [f"{record.funcName}:{record.lineno}"]}


def _may_be_logged(record: logging.LogRecord) -> bool:
    """Whatever level a library gives its loggers: below WARNING only our own lines are written."""
    return _is_ours(record) or record.levelno >= logging.WARNING


def configure(level: str = "INFO", log_format: str = "auto", stream: TextIO | None = None) -> None:
    """Send every log line to `stream` (standard error). Later calls replace earlier ones.

    The format is `json` or `text`; `auto` is text on a terminal and JSON elsewhere.
    """
    stream = stream or sys.stderr
    as_text = stream.isatty() if log_format == "auto" else log_format == "text"
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter() if as_text else JsonFormatter())
    handler.addFilter(_may_be_logged)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelName(level)))
    logging.getLogger(OURS).setLevel(level)
