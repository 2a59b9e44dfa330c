"""Reading files: one parser per format, run in a child process with limits on time and memory."""
