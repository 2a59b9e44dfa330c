"""Statements in texts: instructions, preferences, decisions, open questions, values. Rules, no model.

`find_statements` is linear in the text and never raises. It looks for set phrases; search still finds what it misses.
"""
