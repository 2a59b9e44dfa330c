"""Briefs: context that an agent reads before its first task."""
