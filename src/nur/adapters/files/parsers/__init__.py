"""One module per format: `parse(file)` yields the file's documents. Only these modules import optional packages."""
