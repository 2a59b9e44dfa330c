"""The steps of `nur ingest`: find files, send them, report."""
