"""Our errors for PostgreSQL's, by SQLSTATE."""

from __future__ import annotations

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from nur.domain.errors import BadRequest, Conflict, NurError, StoreDamaged, StoreDown, StoreFull

_FULL = "53100"
_DAMAGED = {"XX001", "XX002"}
_STOPPING = {"57P", "080"}  #: stopped, not started yet, or the connection broke
_COLLIDED = {"40001", "40P01"}  #: serialisation failure, deadlock: PostgreSQL asks to run it again

FULL = "The disk of the PostgreSQL server is full; nothing was written. Free some space, then try again."
DAMAGED = "PostgreSQL reports damaged data. Restore a backup of the database."
DOWN = "PostgreSQL does not answer. Nur connects again by itself; try again in a moment."


def translate(error: SQLAlchemyError) -> NurError:
    """Our error for the engine's; its text may hold SQL and contents, so it stays behind as the cause."""
    state = _state(error)
    if isinstance(error, IntegrityError) or state in _COLLIDED:
        return Conflict("Another write came first; nothing was written. Try again.")
    if isinstance(error, DataError) and "NUL" in str(error.orig):
        return BadRequest("PostgreSQL stores no NUL character; nothing was written. Take it out of the text.")
    if state == _FULL:
        return StoreFull(FULL)
    if state in _DAMAGED:
        return StoreDamaged(DAMAGED)
    return StoreDown(
        DOWN if lost_connection(error) else "The store could not be read or written. See the server's log."
    )


def collided(error: SQLAlchemyError) -> bool:
    """Whether it failed because of another transaction at the same time, and may succeed when it is run again."""
    return _state(error) in _COLLIDED


def lost_connection(error: SQLAlchemyError) -> bool:
    """Whether there was no connection, or it broke."""
    if not isinstance(error, DBAPIError):
        return False
    without_answer = isinstance(error, OperationalError | InterfaceError) and not _state(error)
    return error.connection_invalidated or without_answer or _state(error)[:3] in _STOPPING


def cause_of(error: BaseException) -> str:
    """PostgreSQL's code for what went wrong, for the log: never its text."""
    return (isinstance(error, SQLAlchemyError) and _state(error)) or type(getattr(error, "orig", error)).__name__


def reason(error: SQLAlchemyError) -> str:
    """The last line of the driver's own words, for the operator: only while no content is sent yet."""
    lines = [line.strip() for line in str(getattr(error, "orig", error)).splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else type(error).__name__


def _state(error: SQLAlchemyError) -> str:
    """The five characters of SQLSTATE; empty for an error that is not the server's."""
    return str(getattr(getattr(error, "orig", None), "sqlstate", None) or "")
