"""Passages: the sentences of a chunk that answer a question."""
