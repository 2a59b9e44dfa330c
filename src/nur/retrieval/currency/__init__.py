"""Currency: put newer statements before outdated ones, and find contradictions. Decided per question, never stored."""
