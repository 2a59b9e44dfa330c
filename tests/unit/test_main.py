from __future__ import annotations

import os
import subprocess
import sys

import pytest

ASK = (
    "import nur.__main__ as m, nur.entrypoints.cli.app as a, os; "
    "a.run = lambda **_: print(os.environ['OPENBLAS_NUM_THREADS']); m.main()"
)


def threads(**environment: str) -> str:
    told = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | environment
    return subprocess.run([sys.executable, "-c", ASK], env=told, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("program", "environment", "called"),
    [
        ("/usr/bin/nur", {}, "nur"),
        ("/usr/bin/nur-memory", {}, "nur-memory"),
        ("/cache/nur-memory", {"UV": "/usr/bin/uv"}, "uvx nur-memory"),
        ("/app/nur/__main__.py", {"UV": "/usr/bin/uv"}, "nur"),
    ],
)
def test_hints_repeat_how_the_program_was_called(program: str, environment: dict[str, str], called: str) -> None:
    ask = (
        "import nur.__main__ as m, nur.entrypoints.cli.app as a, sys; "
        f"sys.argv[0] = {program!r}; a.run = lambda called: print(called); m.main()"
    )
    told = {name: value for name, value in os.environ.items() if name != "UV"} | environment
    shown = subprocess.run([sys.executable, "-c", ask], env=told, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == called


def test_a_scan_is_done_by_one_thread_unless_somebody_says_otherwise() -> None:
    assert threads().strip() == "1"
    assert threads(OPENBLAS_NUM_THREADS="4").strip() == "4"
