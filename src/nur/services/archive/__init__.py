"""Export and import of all notes."""
