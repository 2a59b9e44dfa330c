"""Ranking: from a question and its candidates to an ordered list of hits."""
