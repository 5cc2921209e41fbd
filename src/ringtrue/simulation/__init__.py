"""Seeded worlds with known truth: for the demo, for studies of coverage."""

from ringtrue.simulation.collection import Collection, simulate_collection
from ringtrue.simulation.comparing import coverage, error_rates, paired_scores, system_scores

__all__ = [
    "Collection",
    "coverage",
    "error_rates",
    "paired_scores",
    "simulate_collection",
    "system_scores",
]
