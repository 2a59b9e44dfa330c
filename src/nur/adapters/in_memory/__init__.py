"""Each port in a form that lives and dies with the process: for tests, and for trying things out."""
