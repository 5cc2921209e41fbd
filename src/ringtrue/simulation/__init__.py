"""Seeded worlds with known truth: for the demo, for studies of coverage."""

from ringtrue.simulation.collection import Collection, simulate_collection

__all__ = ["Collection", "simulate_collection"]
