"""A circuit breaker for remote embedders: one call waits for a failing provider, later searches fail at once."""
