"""Statements in texts: instructions, preferences, decisions, open questions, values. Rules, no model.

`find_statements` is linear in the text and never raises. The rules look for set phrases; what they miss stays findable
by search.
"""
