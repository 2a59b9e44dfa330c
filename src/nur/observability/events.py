"""Structured logs, as JSON or text: one event per line, with a trace id that all lines of one call share."""

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
#: Parent of Nur's loggers. Log lines of libraries may contain note texts, addresses and arguments.
OURS = "nur"

_trace_id: ContextVar[str | None] = ContextVar("trace_id", default=None)


@contextmanager
def traced(trace_id: str | None = None) -> Iterator[str]:
    """Give all log lines inside the block one trace id; a nested block keeps the outer one."""
    current = _trace_id.get() or trace_id or uuid4().hex
    token = _trace_id.set(current)
    try:
        yield current
    finally:
        _trace_id.reset(token)


class EventLog:
    """A component's log. Fields are ids, counts and timings; callers never log contents."""

    def __init__(self, component: str) -> None:
        self._log = logging.getLogger(f"{OURS}.{component}")
        self._component = component

    def debug(self, event: str, **fields: Field) -> None:
        """Log a detail for debugging."""
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Field) -> None:
        """Log normal work."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Field) -> None:
        """Log a problem that was handled."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Field) -> None:
        """Log a failure."""
        self._write(logging.ERROR, event, fields)

    def critical(self, event: str, **fields: Field) -> None:
        """Log a failure of the whole service: an unusable store, a lost index, a failed start."""
        self._write(logging.CRITICAL, event, fields)

    def crash(self, event: str, **fields: Field) -> None:
        """Log a bug: the type and origin of the current exception, without its message."""
        self._log.error(event, extra={"component": self._component, "fields": fields}, exc_info=True)

    def _write(self, level: int, event: str, fields: dict[str, Field]) -> None:
        if self._log.isEnabledFor(level):
            self._log.log(level, event, extra={"component": self._component, "fields": fields})


class JsonFormatter(logging.Formatter):
    """One JSON object per line, in the shape of the specification's section 10.1."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line = {
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "service": SERVICE,
            **_fields(record),
        }
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """The same fields for a terminal: local time, level, component, event, other fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of text; control characters are escaped."""
        fields = _fields(record)
        fields.pop("trace_id", None)  # of no use to a person
        moment = datetime.fromtimestamp(record.created, UTC).astimezone()
        component, event = _escaped(fields.pop("component")), _escaped(fields.pop("event"))
        others = " ".join(f"{name}={_escaped(value)}" for name, value in fields.items())
        return f"{moment:%H:%M:%S} {record.levelname:<8} {component}: {event} {others}".rstrip()


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """Return the fields of both formats. Messages of exceptions and libraries are left out: they may quote notes."""
    fields: dict[str, object] = {
        "component": getattr(record, "component", record.name),
        **(_event(record) if _is_ours(record) else _library_event(record)),
    }
    if trace_id := _trace_id.get():
        fields["trace_id"] = trace_id
    if record.exc_info and record.exc_info[0] is not None:
        fields["exception"] = record.exc_info[0].__name__
        frames = traceback.extract_tb(record.exc_info[2])
        fields["at"] = [f"{frame.name}:{frame.lineno}" for frame in frames[-6:]]
    return fields


def _escaped(value: object) -> str:
    """Return a value as text; quoted, with control characters escaped, if it has those or spaces."""
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.split(".", 1)[0] == OURS


def _event(record: logging.LogRecord) -> dict[str, object]:
    return {"event": record.getMessage(), **getattr(record, "fields", {})}


def _library_event(record: logging.LogRecord) -> dict[str, object]:
    return {"event": "library_message", "at": [f"{record.funcName}:{record.lineno}"]}


def _may_be_logged(record: logging.LogRecord) -> bool:
    """Whether to write a record: any of Nur's, and WARNING or above of libraries, whatever level they set."""
    return _is_ours(record) or record.levelno >= logging.WARNING


def configure(level: str = "INFO", log_format: str = "auto", stream: TextIO | None = None) -> None:
    """Send all log lines to `stream`, by default standard error. Replaces an earlier configuration.

    `log_format` is `json`, `text` or `auto`: text on a terminal, else JSON.
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
