"""Copying a whole store from one database to another: SQLite to PostgreSQL, or back."""
