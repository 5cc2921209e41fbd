"""Collect judgments in a browser: the store, what an owner does with it, and the web pages and API around both."""
