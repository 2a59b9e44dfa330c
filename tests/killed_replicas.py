"""Like `killed_server`, with two servers and two workers on one PostgreSQL, which is also stopped and started."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.killed_server import Onslaught
from tests.servers.nur_server import NurProcess, WorkerProcess
from tests.servers.postgres_server import PostgresCluster

if TYPE_CHECKING:
    from collections.abc import Callable

SERVERS = WORKERS = 2
#: Unlike in the other tests' cluster, acknowledged commits must survive.
SYNCED = {"fsync": "on", "full_page_writes": "on", "autovacuum": "on"}


@dataclass
class ReplicasOnslaught(Onslaught):
    """Four processes and a database that get killed; each call goes to either server."""

    kills: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.folder.mkdir()
        self._database = PostgresCluster(**SYNCED)
        settings = {"DATABASE_URL": self._database.url(), "LOG_LEVEL": "ERROR", "EMBEDDINGS": "local"}
        self._servers = [NurProcess(self.folder / f"server-{n}", **settings) for n in range(SERVERS)]
        self._workers = [WorkerProcess(self.folder / f"worker-{n}", **settings) for n in range(WORKERS)]
        self._urls: dict[int, str] = {}

    def _somewhere(self) -> str:
        return self._random.choice(list(self._urls.values()))

    async def _start(self) -> None:
        for place, server in enumerate(self._servers):  # one after the other: the first creates the tables
            await asyncio.to_thread(server.start)
            self._urls[place] = server.url
        for worker in self._workers:
            worker.start()
        self._address = self._urls[0]
        self._up.set()

    async def _kill_and_restart(self) -> None:
        """Until it is over; leaves everything up."""
        while True:
            target = self._acknowledged + self._random.randint(*self._between)
            while self._acknowledged < target:
                if self._over.is_set():
                    self._address = self._urls[0]
                    return
                await asyncio.sleep(self._random.uniform(0.001, 0.05))
            strikes = self._strikes()
            await asyncio.to_thread(strikes[self.restarts % len(strikes)])  # in turn: a short run has every kind
            self.restarts += 1

    def _strikes(self) -> list[Callable[[], None]]:
        return [self._stop_the_database, self._kill_a_server, self._kill_a_worker]

    def _kill_a_server(self) -> None:
        self._count("server")
        place = self._random.randrange(SERVERS)
        self._servers[place].kill()
        self._servers[place].start()
        self._urls[place] = self._servers[place].url

    def _kill_a_worker(self) -> None:
        self._count("worker")
        worker = self._random.choice(self._workers)
        worker.kill()
        worker.start()

    def _stop_the_database(self) -> None:
        self._count("database")
        self._database.stop()
        self._database.start()

    def _count(self, what: str) -> None:
        self.kills[what] = self.kills.get(what, 0) + 1

    async def _end(self) -> None:
        for server in self._servers:
            await asyncio.to_thread(server.kill)
        for worker in self._workers:
            await asyncio.to_thread(worker.kill)
        await asyncio.to_thread(self._database.remove)
