"""Conformance with the Model Context Protocol, judged by its own suite and inspector. `make conformance`."""
