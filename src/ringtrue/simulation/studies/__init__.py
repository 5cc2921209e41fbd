"""How often intervals and tests keep their promise in such worlds, and on real judges."""
