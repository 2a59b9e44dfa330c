"""Everything out and back: export and import."""
