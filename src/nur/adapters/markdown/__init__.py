"""Notes as Markdown files with YAML front matter."""
