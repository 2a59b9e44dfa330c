"""`nur eval`: load a data set into a temporary store, search with its questions, and score the results."""
