"""Cheap labels corrected by trusted ones: which to draw, how to correct, and how many to plan for."""
