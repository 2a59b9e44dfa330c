"""What `nur ingest` does: find files, send them, report."""
