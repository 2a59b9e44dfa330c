"""Embeddings without a provider: no key, no download."""
