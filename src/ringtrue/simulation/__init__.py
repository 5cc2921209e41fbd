"""Seeded worlds with known truth: for the demo, for studies of coverage."""
