"""Seeded worlds with known truth."""
