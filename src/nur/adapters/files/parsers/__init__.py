"""One module per format: `parse(file)` yields the file's documents. Packages of an extra are imported here alone."""
