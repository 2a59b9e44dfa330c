"""Logs and metrics: ids, sizes and timings, never contents, queries or keys."""
