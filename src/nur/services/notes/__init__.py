"""Use cases on notes: store, read, edit, delete."""
