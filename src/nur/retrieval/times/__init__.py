"""Times that a text names, as days on the calendar: rules and tables, no model, no input or output.

`find_times` is linear in the text, never raises, and never guesses: what could mean two things is left out.
"""
