"""`make bench`: run the named benchmarks, or all, and print their figures."""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import sqlite3
import sys
import time
from typing import TYPE_CHECKING

# Imported first: it limits BLAS to one thread, which works only before numpy's first import.
from tests.benchmarks import baselines  # isort: skip

from rich.console import Console

from tests.benchmarks import (
    changing,
    context,
    doors,
    embedding,
    flat,
    large_artifact,
    mcp_call,
    pgvector,
    resolving,
    scaling,
    searching,
    start,
    walk,
    writing,
)
from tests.benchmarks.figures import Report

if TYPE_CHECKING:
    from collections.abc import Callable

#: Benchmarks by name, in the order in which they run.
BENCHMARKS: dict[str, Callable[[Report], None]] = {
    "start": start.test_start,
    "embedding": embedding.test_embedding_latency,
    "batch": embedding.test_batch_embedding_efficiency,
    "mcp": mcp_call.test_mcp_call,
    "flat": flat.test_flat_scan,
    "memory_store": writing.test_memory_store,
    "search": searching.test_search_latency,
    "changing": changing.test_changing,
    "resolving": resolving.test_resolving,
    "doors": doors.test_doors,
    "context": context.test_context,
    "large_artifact": large_artifact.test_large_artifact_ingestion,
    "walk": walk.test_walk,
    "scaling": scaling.test_scaling,
    "pgvector": pgvector.test_pgvector,
}


def machine() -> dict[str, object]:
    """The machine and versions, for comparing figures of different days."""
    return {
        "cpus": os.cpu_count(),
        "load": [round(load, 1) for load in os.getloadavg()],
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*BENCHMARKS, []], help="which to run; all when none is named")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    logging.disable(logging.INFO)
    report = Report()
    before = machine()
    for name in options.name or BENCHMARKS:
        report.benchmark = name
        started = time.perf_counter()
        try:
            BENCHMARKS[name](report)
        except baselines.Skipped as reason:
            sys.stderr.write(f"{name}: skipped: {reason}\n")
        sys.stderr.write(f"{name}: {time.perf_counter() - started:.0f} s\n")
    if options.json:
        run = {"machine": before, "load_after": machine()["load"], "figures": report.as_dicts()}
        sys.stdout.write(json.dumps(run, indent=2) + "\n")
        return
    console = Console(width=160)
    console.print(report.table())
    console.print(f"machine: {before}; load after: {machine()['load']}")


if __name__ == "__main__":
    main()
