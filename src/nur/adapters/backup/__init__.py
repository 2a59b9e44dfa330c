"""Backup files: one archive with a manifest of hashes, encrypted if a passphrase is given."""
