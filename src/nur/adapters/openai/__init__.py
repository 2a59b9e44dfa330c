"""Embeddings from OpenAI, or from any server with a compatible API."""
