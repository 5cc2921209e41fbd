"""The studies of `ringtrue simulate`."""
