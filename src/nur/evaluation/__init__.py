"""`nur eval`: load a data set into a temporary store, ask its questions, measure the answers."""
