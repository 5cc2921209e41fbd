"""The published simulation of a score by a judge who errs, as it is and corrected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.gold.correction.rate_inversion import adjusted_interval, inversion_variance, invert_rates
from ringtrue.stats.intervals import require_level
from ringtrue.stats.student_t import normal_quantile, t_quantile

Array: TypeAlias = NDArray[np.float64]
SHARES = tuple(0.49 - 0.02 * rank for rank in range(10))  # of relevant documents at each rank
MAX_LABELS = 1_000_000  # labels drawn at a time
BIN_WIDTH = 0.01
SCORE_RANGE = (-0.2, 1.2)  # with a bad judge, corrected scores lie anywhere


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyScores:
    """Scores of many simulated experiments, and how often the interval of each kind holds the truth.

    `coverage` has "naive", mean ± t·s/√n of the bronze scores; "wald", the corrected score with the published standard
    error; and "fieller", what `correct_score` gives. `refused` is the share of experiments where that had no answer.
    """

    truth: float
    level: float
    naive: Array
    corrected: Array
    coverage: dict[str, float]
    refused: float

    @property
    def defined(self) -> Array:
        """The corrected scores of experiments in which the judge was not seen to guess exactly."""
        return self.corrected[np.isfinite(self.corrected)]

    def histogram(self) -> tuple[list[float], list[int], list[int]]:
        """Edges of bins that hold both kinds of score, and how many of each there are.

        A score that lies on an edge but for rounding belongs to the bin above; one far out, to the last bin.
        """
        clipped = (np.clip(scores, *SCORE_RANGE) for scores in (self.naive, self.defined))
        bins = [np.floor(scores / BIN_WIDTH + 1e-9).astype(int) for scores in clipped]
        first, last = min(map(np.min, bins)), max(map(np.max, bins))
        naive, corrected = (np.bincount(positions - first, minlength=last - first + 1).tolist() for positions in bins)
        return [round(position * BIN_WIDTH, 10) for position in range(first, last + 2)], naive, corrected

    def as_dict(self) -> dict[str, object]:
        """The study as plain data."""
        edges, naive, corrected = self.histogram()
        return {
            "truth": self.truth,
            "level": self.level,
            "replications": len(self.naive),
            "coverage": self.coverage,
            "refused": self.refused,
            "mean": {"naive": float(self.naive.mean()), "corrected": float(self.defined.mean())},
            "histogram": {"edges": edges, "naive": naive, "corrected": corrected},
        }


def noisy_scores(
    rng: np.random.Generator,
    *,
    replications: int = 10_000,
    shares: Sequence[float] = SHARES,
    relevant: float = 0.9,
    nonrelevant: float = 0.8,
    relevant_labels: int = 250,
    nonrelevant_labels: int = 250,
    queries: int = 50,
    level: float = 0.95,
    progress: Callable[[int], None] = lambda _: None,
) -> NoisyScores:
    """Algorithm 2 of [Goldberg17]: P@k by a judge who errs, and corrected, in many experiments.

    `shares` are those of relevant documents at each rank, `relevant` and `nonrelevant` how often the judge is right,
    and the labels on how many gold documents of each kind that is measured. The published "10 numbers" of which the
    naive standard error is taken are the scores of the queries: with 10 documents of 50 queries there are 50.

    Examples:
        >>> scores = noisy_scores(np.random.default_rng(1), replications=2_000)
        >>> {kind: round(share, 2) for kind, share in scores.coverage.items()}
        {'naive': 0.06, 'wald': 0.95, 'fieller': 0.95}
    """
    require_level(level)
    if replications < 1 or queries < 2 or not shares or min(relevant_labels, nonrelevant_labels) < 1:
        raise UsageError(
            f"a study needs a replication, 2 queries, a rank and a gold label of each kind; found {replications}, "
            f"{queries}, {len(shares)}, {relevant_labels} and {nonrelevant_labels}"
        )
    if not all(0 <= share <= 1 for share in (*shares, relevant, nonrelevant)):
        outside = ", ".join(f"{share:g}" for share in (*shares, relevant, nonrelevant) if not 0 <= share <= 1)
        raise UsageError(f"shares and rates lie between 0 and 1, found {outside}")
    truth, k = float(np.mean(shares)), len(shares)
    means, variances = [], []
    batch = max(1, MAX_LABELS // (queries * k))
    for start in range(0, replications, batch):
        shape = (min(batch, replications - start), queries, k)
        gold = rng.random(shape) < np.asarray(shares)
        bronze = rng.random(shape) < np.where(gold, relevant, 1 - nonrelevant)
        scores = bronze.mean(axis=2)
        means.append(scores.mean(axis=1))
        variances.append(scores.var(axis=1, ddof=1))
        progress(gold.size)
    naive, variance = np.concatenate(means), np.concatenate(variances) / queries
    sensitivity = rng.binomial(relevant_labels, relevant, replications) / relevant_labels
    specificity = rng.binomial(nonrelevant_labels, nonrelevant, replications) / nonrelevant_labels
    rates = (sensitivity, relevant_labels), (specificity, nonrelevant_labels)
    z = normal_quantile((1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):  # a judge seen to guess
        corrected = invert_rates(naive, sensitivity, specificity)
        wald = np.abs(corrected - truth) <= z * np.sqrt(inversion_variance(naive, variance, *rates))
        effective_n = np.where(variance > 0, naive * (1 - naive) / variance, queries * k)
    low, high, refused = adjusted_interval(naive, effective_n, *rates, z=z)
    naive_holds = np.abs(naive - truth) <= t_quantile((1 + level) / 2, queries - 1) * np.sqrt(variance)
    coverage = {"naive": naive_holds, "wald": wald, "fieller": (low <= truth) & (truth <= high)}
    return NoisyScores(
        truth=truth,
        level=level,
        naive=naive,
        corrected=corrected,
        coverage={kind: float(share.mean()) for kind, share in coverage.items()},
        refused=float(refused.mean()),
    )
