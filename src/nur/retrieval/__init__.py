"""Retrieval: text analysis, chunking, ranking, passages and times, as functions without I/O."""
