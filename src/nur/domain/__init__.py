"""What Nur speaks about: notes, chunks, hits and errors, in the standard library alone."""
