"""Presence: shows other processes on the same database that this one runs, and which schema it knows.

Every connection of the process holds two shared advisory locks: on the process's number, and on its schema's.
PostgreSQL releases them with the last connection: at once if the process was killed, after failed TCP keepalives if its
machine lost power.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from nur.adapters.sql.migrations import HEAD, PROGRAMS

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy import Connection

#: The first half of the lock's key: an arbitrary number, used for nothing else.
_OWNERS = 7809625
_SHOW = "SELECT pg_advisory_lock_shared(%s, %s), pg_advisory_lock_shared(%s, %s)"
_IS_FREE = text("SELECT pg_try_advisory_xact_lock(:owners, :number)")


def _any_number() -> int:
    return secrets.randbits(31)


@dataclass(frozen=True, slots=True)
class Presence:
    """One process that has the database open."""

    number: int = field(default_factory=_any_number)
    head: str = HEAD  #: the newest schema that this program knows

    def show(self, connection: psycopg.Connection[Any], _: object) -> None:
        """Take the locks on a new connection, for as long as it lives."""
        with connection.cursor() as cursor:
            cursor.execute(_SHOW, (_OWNERS, self.number, PROGRAMS, int(self.head)))
        connection.commit()

    def is_gone(self, connection: Connection, number: int) -> bool:
        """Whether the process with this number has no connection left."""
        if number == self.number:
            return False
        return bool(connection.execute(_IS_FREE, {"owners": _OWNERS, "number": number}).scalar())
