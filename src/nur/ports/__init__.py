"""What Nur needs of the outside, as Protocols. Each has an in-memory twin in `nur.adapters.in_memory`."""
