"""Seeded worlds with known truth: for the demo, for studies of coverage."""

from ringtrue.simulation.agreeing import Coverage, coverage_of_agreement, judged_labels
from ringtrue.simulation.collection import Collection, simulate_collection
from ringtrue.simulation.comparing import coverage, error_rates, paired_scores, system_scores
from ringtrue.simulation.crowd import Crowd, Voters, simulate_crowd, simulate_voters
from ringtrue.simulation.goldberg import NoisyScores, noisy_scores
from ringtrue.simulation.rates import RatesCoverage, coverage_of_rates
from ringtrue.simulation.texts import simulate_texts

__all__ = [
    "Collection",
    "Coverage",
    "Crowd",
    "NoisyScores",
    "RatesCoverage",
    "Voters",
    "coverage",
    "coverage_of_agreement",
    "coverage_of_rates",
    "error_rates",
    "judged_labels",
    "noisy_scores",
    "paired_scores",
    "simulate_collection",
    "simulate_crowd",
    "simulate_texts",
    "simulate_voters",
    "system_scores",
]
