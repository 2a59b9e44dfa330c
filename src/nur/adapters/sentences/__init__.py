"""Sentence embeddings on this machine, from the model files of the package `nur-memory-models`."""
