"""Translates SQLite's errors to ours, by error code."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from nur.domain.errors import Conflict, NurError, StoreDamaged, StoreDown, StoreFull

_PRIMARY = 0xFF  #: an extended error code has the primary one in its low byte
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}  #: the second: no space for the shared memory file
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_TOOBIG}
_FILE = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM}

FULL = "The disk is full; nothing was written. Free some space, then try again."
DAMAGED = "The store's file is damaged. Restore a backup, or move the data folder away to start with a new store."


def translate(error: SQLAlchemyError) -> NurError:
    """Translate an error. The engine's text may contain SQL and stored text, so it is kept as the cause only."""
    code = _code(error)
    if isinstance(error, IntegrityError):
        return Conflict("Another write came first; nothing was written. Try again.")
    if {code, code & _PRIMARY} & _FULL:
        return StoreFull(FULL)
    if code & _PRIMARY in _DAMAGED or "Could not decode to UTF-8" in str(getattr(error, "orig", "")):
        return StoreDamaged(DAMAGED)
    return StoreDown("The store could not be read or written. See the server's log.")


def ends_transaction(error: Exception) -> bool:
    """Whether SQLite may have rolled the whole transaction back: the files failed, not the statement."""
    return isinstance(error, SQLAlchemyError) and _code(error) & _PRIMARY in {*_FULL, *_DAMAGED, *_FILE}


def cause_of(error: BaseException) -> str:
    """SQLite's error name, for the log; never the error's text."""
    return str(getattr(getattr(error, "orig", error), "sqlite_errorname", type(error).__name__))


def _code(error: SQLAlchemyError) -> int:
    """SQLite's extended error code; 0 for an error that is not SQLite's own."""
    original = error.orig if isinstance(error, DBAPIError) else None
    return int(getattr(original, "sqlite_errorcode", 0))
