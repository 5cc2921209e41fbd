"""Tables of text, and numbers with their nouns."""
