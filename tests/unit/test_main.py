from __future__ import annotations

import os
import subprocess
import sys

ASK = "import nur.__main__ as m, os; m.run = lambda: print(os.environ['OPENBLAS_NUM_THREADS']); m.main()"


def threads(**environment: str) -> str:
    told = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | environment
    return subprocess.run([sys.executable, "-c", ASK], env=told, capture_output=True, text=True, check=True).stdout


def test_a_scan_is_done_by_one_thread_unless_somebody_says_otherwise() -> None:
    assert threads().strip() == "1"
    assert threads(OPENBLAS_NUM_THREADS="4").strip() == "4"
