"""Benchmarks: print figures as ratios within one run, and assert nothing. `python -m tests.benchmarks [name …]`."""
