"""Benchmarks: figures as ratios in one run, printed, never asserted. `python -m tests.benchmarks [name …]`."""
