"""Estimates and what they are made with: intervals, Student's t, the bootstrap, ties, rank correlation, confusion."""
