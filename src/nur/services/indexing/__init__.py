"""From a note's text to chunks, vectors and index records."""
