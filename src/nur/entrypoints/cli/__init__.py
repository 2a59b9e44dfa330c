"""The command line. Each command is a module, imported only when it runs."""
