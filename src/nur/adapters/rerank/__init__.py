"""Rerankers."""
