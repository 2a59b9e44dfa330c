"""Text: analysis, tokens and sentences."""
