"""The stores in a PostgreSQL database with pgvector."""
