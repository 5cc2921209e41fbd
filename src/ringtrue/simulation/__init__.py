"""Seeded worlds with known truth: for the demo, for studies of coverage."""

from ringtrue.simulation.studies.agreement_coverage import (
    AgreementCoverage as AgreementCoverage,
    coverage_of_agreement as coverage_of_agreement,
    judged_labels as judged_labels,
)
from ringtrue.simulation.studies.rate_coverage import (
    NoisyScores as NoisyScores,
    RatesCoverage as RatesCoverage,
    coverage_of_rates as coverage_of_rates,
    noisy_scores as noisy_scores,
)
from ringtrue.simulation.studies.significance_errors import (
    error_rates as error_rates,
    miss_rates as miss_rates,
    paired_scores as paired_scores,
    system_scores as system_scores,
)
from ringtrue.simulation.worlds.collection import (
    Collection as Collection,
    Crowd as Crowd,
    Voters as Voters,
    simulate_collection as simulate_collection,
    simulate_crowd as simulate_crowd,
    simulate_texts as simulate_texts,
    simulate_voters as simulate_voters,
)
