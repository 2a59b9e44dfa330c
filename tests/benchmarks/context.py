"""Cost of a brief over 10,000 notes, a third of them quotable, and of a hook process."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from nur.domain.briefs import BriefRequest
from nur.domain.notes import Kind, NoteMetadata
from tests.benchmarks import store
from tests.benchmarks.figures import median_ms
from tests.callers import LOCAL_CALLER

if TYPE_CHECKING:
    from nur.bootstrap import Services
    from tests.benchmarks.figures import Report

NOTES = 10_000
ROUNDS = 9
STATED = (
    "Always check valve {0} before starting machine {0}.",
    "I prefer the {0}th way of folding napkins.",
    "We decided to move shelf {0} next to the door.",
)


def test_context(report: Report) -> None:
    """CPU of an uncached brief; and of a hook process without a server, against a bare Python process."""
    asyncio.run(_brief(report))
    with tempfile.TemporaryDirectory() as folder:
        given = json.dumps({"session_id": "s", "cwd": folder, "prompt": "short"})
        hook = [sys.executable, "-m", "nur", "hook", "claude-code", "UserPromptSubmit", "--data-dir", folder]
        bare = [sys.executable, "-c", "import json, http.client"]
        costs = [_child_cpu(hook, given) for _ in range(ROUNDS)]
        beside = [_child_cpu(bare, "") for _ in range(ROUNDS)]
    report.add(
        "hook, CPU", median_ms(costs), beside=median_ms(beside), yardstick="Python, json, http", target="≤ 150 ms"
    )


async def _brief(report: Report) -> None:
    async with store.opened() as services:
        for start in range(0, NOTES, 100):
            await asyncio.gather(*(_store(services, place) for place in range(start, start + 100)))
        request = BriefRequest(caller=LOCAL_CALLER)
        samples = []
        for place in range(ROUNDS):
            asked = replace(request, max_tokens=800 + place)  # a different brief each time, so that none is cached
            started = time.process_time()
            await services.make_brief(asked)
            samples.append(time.process_time() - started)
    report.add("brief of 10,000 notes, CPU", median_ms(samples), target="≤ 30 ms")


async def _store(services: Services, place: int) -> None:
    texts = (*STATED, *(["Shelf {0} holds {0} jars of plums and a lamp."] * 6))
    text = texts[place % len(texts)].format(place)
    await services.remember.store(Kind.MEMORY, text, NoteMetadata(type="fact"), LOCAL_CALLER, store.REJECT)


def _child_cpu(command: list[str], given: str) -> float:
    """CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=given, text=True, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
