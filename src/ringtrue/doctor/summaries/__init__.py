"""What there is to say about one file alone."""
