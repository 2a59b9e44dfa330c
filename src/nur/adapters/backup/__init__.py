"""Backup files: several files in one, with a manifest of hashes, encrypted where a passphrase is given."""
