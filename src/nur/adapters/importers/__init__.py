"""Imports from other memory programs: one module per format."""
