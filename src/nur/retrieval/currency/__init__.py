"""Which of several statements holds now: newer values first, and what disagrees. Decided per question, never stored."""
