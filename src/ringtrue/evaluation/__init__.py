"""Tables × measures → scores, and what follows from them: significance, stability, curves."""
