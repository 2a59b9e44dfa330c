"""The search pipeline and its log."""
