"""Nur: memory for AI agents that returns the right passage with its evidence."""
