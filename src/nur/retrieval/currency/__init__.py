"""Currency: put newer utterances before outdated ones, and find contradictions. Decided per question, never stored."""
