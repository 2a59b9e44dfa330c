"""One command a module; each has a click command named `command`."""
