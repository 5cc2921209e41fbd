"""Which commands the files at hand can be given to."""
