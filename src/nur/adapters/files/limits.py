"""Limits that a parser process sets for itself before it sees a file.

Linux keeps all of them. macOS does not keep the one on memory, and Windows has none of them: there the wall clock of
the parent alone stops a file.
"""

from __future__ import annotations

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_MEGABYTE = 1024 * 1024


def limit_memory(megabytes: int) -> None:
    """Let an allocation beyond this fail with MemoryError; write no file, dump no core."""
    if resource is None:
        return
    _lower(resource.RLIMIT_AS, megabytes * _MEGABYTE)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)


def limit_cpu(seconds: float) -> None:
    """End this process when it has used so many more seconds of processor time."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds) + 1)


def _lower(what: int, wanted: int) -> None:
    _, hard = resource.getrlimit(what)
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(what, (soft, hard))
