"""Test doubles of ports: a clock, an embedder and an index in memory."""
