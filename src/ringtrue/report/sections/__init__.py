"""One module for each section of the page: from what was given to figures with their numbers and sentences."""
