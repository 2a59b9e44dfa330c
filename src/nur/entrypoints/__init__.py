"""Doors: they translate what comes in and what goes out, and nothing else."""
