"""Runs jobs in forked children, as many at a time as there are workers."""

from __future__ import annotations

import os
import resource
import signal
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PAUSE_SECONDS = 0.02
BROKEN = 99  #: exit code of a job that raised


@dataclass(frozen=True, slots=True)
class Job:
    """One job of a child process."""

    name: str
    run: Callable[[], int]  #: returns the exit code
    cpu_seconds: int  #: a child that computes for longer is killed
    wall_seconds: float  #: so is one that waits for longer


def outcomes(jobs: Iterable[Job], workers: int) -> Iterator[tuple[str, int]]:
    """The name and the exit code of each job, as they end; negative codes are signals."""
    waiting = iter(jobs)
    running: dict[int, tuple[str, float]] = {}
    while True:
        while len(running) < workers and (job := next(waiting, None)):
            running[_forked(job)] = job.name, time.monotonic() + job.wall_seconds
        if not running:
            return
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            yield running.pop(pid)[0], os.waitstatus_to_exitcode(status)
            continue
        for late in [pid for pid, (_, until) in running.items() if time.monotonic() > until]:
            os.killpg(late, signal.SIGKILL)  # also kills what it started
        time.sleep(PAUSE_SECONDS)


def _forked(job: Job) -> int:
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    silence, errors = os.open(os.devnull, os.O_WRONLY), os.dup(2)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (job.cpu_seconds, job.cpu_seconds + 1))
    try:
        code = job.run()
    except BaseException:  # noqa: BLE001  # whatever it is, a child must not go on as its parent
        os.write(errors, f"{job.name}\n{traceback.format_exc()}".encode())
        code = BROKEN
    os._exit(code)
