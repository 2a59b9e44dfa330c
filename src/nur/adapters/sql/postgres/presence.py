"""Presence: how other processes on the same PostgreSQL see that this one runs, and which schema it knows.

Each of its connections shares two advisory locks: on a number of its own, and on the number of the schema. PostgreSQL
frees them when the last connection ends: those of a killed process at once, those of a machine that lost its power when
TCP keepalives fail.
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

#: The first half of the lock's key; any number that is ours.
_OWNERS = 7809625
_SHOW = "SELECT pg_advisory_lock_shared(%s, %s), pg_advisory_lock_shared(%s, %s)"
_IS_FREE = text("SELECT pg_try_advisory_xact_lock(:owners, :number)")


def _any_number() -> int:
    return secrets.randbits(31)


@dataclass(frozen=True, slots=True)
class Presence:
    """One process with the database open."""

    number: int = field(default_factory=_any_number)
    head: str = HEAD  #: the newest schema that this program knows

    def show(self, connection: psycopg.Connection[Any], _: object) -> None:
        """For a new connection: while it lasts, this process runs."""
        with connection.cursor() as cursor:
            cursor.execute(_SHOW, (_OWNERS, self.number, PROGRAMS, int(self.head)))
        connection.commit()

    def is_gone(self, connection: Connection, number: int) -> bool:
        """Whether no connection of this other process is left."""
        if number == self.number:
            return False
        return bool(connection.execute(_IS_FREE, {"owners": _OWNERS, "number": number}).scalar())
