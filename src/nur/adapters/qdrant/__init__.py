"""Qdrant, as a server or inside this process. The only package that imports qdrant_client."""
