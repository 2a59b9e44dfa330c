"""Hooks: what a client runs when a session starts, a prompt is sent, or a turn ends.

Standard library only, and little of it: a hook runs before every prompt. Whatever goes wrong, it ends with exit code 0
and prints nothing, so that no prompt is ever held up; `hooks.log` in the data folder has the reason.
"""
