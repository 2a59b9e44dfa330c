"""Ports: Protocols for everything outside the core, such as stores, indexes, models and the clock."""
