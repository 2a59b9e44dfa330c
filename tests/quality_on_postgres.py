"""The figures of `nur eval` on SQLite and on PostgreSQL with pgvector: `python -m tests.quality_on_postgres SET …`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from nur.domain.search import Mode
from nur.evaluation import run
from nur.evaluation.run import EvalOptions
from tests.servers.postgres_server import PostgresCluster

WANTED = EvalOptions(baselines=(), mode=Mode.HYBRID, max_chars=2000, questions=None, off_topic=False, chunking=None)


class OnPostgres(Mapping[str, Any]):
    """Settings with a separate database for each store."""

    def __init__(self, cluster: PostgresCluster) -> None:
        self._cluster = cluster

    def __getitem__(self, name: str) -> Any:
        if name == "database_url":
            return self._cluster.create()
        return {"index": "pgvector", "chroma_host": None, "qdrant_url": None, "database_allow_unsynced": True}[name]

    def __iter__(self) -> Iterator[str]:
        return iter(["index", "chroma_host", "qdrant_url", "database_allow_unsynced", "database_url"])

    def __len__(self) -> int:
        return 5


async def _figures(folder: Path) -> dict[str, float]:
    with Progress(disable=True) as progress:
        report = await run.evaluate(folder, WANTED, progress)
    return report.nur.mean(report.scored())


def main() -> None:
    """Measure each set twice and print the figures."""
    console = Console()
    for folder in map(Path, sys.argv[1:]):
        sqlite = asyncio.run(_figures(folder))
        cluster = PostgresCluster()
        without = run.NO_SERVERS
        try:
            run.NO_SERVERS = OnPostgres(cluster)  # type: ignore[assignment]
            postgres = asyncio.run(_figures(folder))
        finally:
            run.NO_SERVERS = without
            cluster.remove()
        for name, figure in sqlite.items():
            console.print(f"{folder.name:24}{name:20}{figure:8.4f}{postgres[name]:8.4f}{postgres[name] - figure:+9.4f}")


if __name__ == "__main__":
    main()
