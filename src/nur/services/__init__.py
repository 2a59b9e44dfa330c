"""Use cases, one a module, each a verb: they decide what happens in which order and leave the how to ports."""
