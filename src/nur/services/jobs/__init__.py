"""Background jobs: housekeeping, backups and re-embedding."""
