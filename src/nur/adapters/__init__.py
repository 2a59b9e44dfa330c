"""Vendors behind the ports: each package speaks one engine's language and translates its errors into ours."""
