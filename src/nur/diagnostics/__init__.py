"""What `nur doctor` looks at: this machine, and a running server through its own doors."""
