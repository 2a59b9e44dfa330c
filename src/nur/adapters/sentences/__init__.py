"""Local sentence embeddings in numpy, with the model files of the package `nur-memory-models`."""
