"""Servers for tests, on loopback."""
