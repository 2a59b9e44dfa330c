"""Resource limits that a parser process sets for itself before it reads a file.

Linux enforces all of them. macOS does not enforce the memory limit, and Windows has none: there only the parent's
timeout stops a file.
"""

from __future__ import annotations

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_MEGABYTE = 1024 * 1024


def limit_memory(megabytes: int) -> None:
    """Make allocations beyond this fail with MemoryError; forbid writing files and core dumps."""
    if resource is None:
        return
    _lower(resource.RLIMIT_AS, megabytes * _MEGABYTE)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)


def limit_cpu(seconds: float) -> None:
    """Make the system kill this process after this many more seconds of CPU time."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds) + 1)


def _lower(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (soft, hard))
