"""Transformers that run here: model folders, and embeddings from them."""
