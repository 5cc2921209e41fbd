"""The judge's pages: the question on the screen, the answer to it, and the end of a task."""
