"""Implementations of the ports: each package wraps one engine or format and translates its errors into ours."""
