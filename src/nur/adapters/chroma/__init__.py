"""Chroma, embedded or as a server. The only package that imports chromadb."""
