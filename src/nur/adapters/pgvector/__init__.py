"""The vector index inside PostgreSQL."""
