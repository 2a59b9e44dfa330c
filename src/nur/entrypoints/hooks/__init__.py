"""Hooks: programs that a client runs when a session starts, a prompt is sent, or a turn ends.

They import only a little of the standard library, since one runs before every prompt. On any error a hook prints
nothing and exits with code 0, so that it never blocks a prompt; the reason is in `hooks.log` in the data folder.
"""
