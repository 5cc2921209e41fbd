"""Collect judgments in a browser: pages, forms, and who may see and send them."""
