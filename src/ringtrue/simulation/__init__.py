"""Seeded worlds with known truth: for the demo, for studies of coverage."""

from ringtrue.simulation.studies.agreement_coverage import AgreementCoverage, coverage_of_agreement, judged_labels
from ringtrue.simulation.studies.goldberg import NoisyScores, noisy_scores
from ringtrue.simulation.studies.rate_coverage import RatesCoverage, coverage_of_rates
from ringtrue.simulation.studies.significance_errors import error_rates, miss_rates, paired_scores, system_scores
from ringtrue.simulation.worlds.collection import Collection, simulate_collection
from ringtrue.simulation.worlds.crowd import Crowd, Voters, simulate_crowd, simulate_voters
from ringtrue.simulation.worlds.texts import simulate_texts

__all__ = [
    "AgreementCoverage",
    "Collection",
    "Crowd",
    "NoisyScores",
    "RatesCoverage",
    "Voters",
    "coverage_of_agreement",
    "coverage_of_rates",
    "error_rates",
    "judged_labels",
    "miss_rates",
    "noisy_scores",
    "paired_scores",
    "simulate_collection",
    "simulate_crowd",
    "simulate_texts",
    "simulate_voters",
    "system_scores",
]
