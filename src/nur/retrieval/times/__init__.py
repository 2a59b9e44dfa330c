"""Times mentioned in a text, as ranges of calendar days. Rules and tables; no model, no I/O.

`find_times` is linear in the text, never raises and never guesses: ambiguous dates are left out.
"""
