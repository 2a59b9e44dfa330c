"""Domain types and rules: notes, chunks, searches, errors. Uses the standard library only."""
