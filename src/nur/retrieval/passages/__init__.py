"""Passages: the sentences, rows or lines of a note that answer a question."""
