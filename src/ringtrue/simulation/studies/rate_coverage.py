"""How often intervals of a score corrected by rates hold the truth, in many worlds and in the published simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.gold.correction.rate_inversion import adjusted_interval, inversion_variance, invert_rates
from ringtrue.stats.intervals import normal_quantile, require_level, t_quantile

Array: TypeAlias = NDArray[np.float64]
MAX_DRAWS = 2_000_000  # bootstrap draws held at once
SHARES = tuple(0.49 - 0.02 * rank for rank in range(10))  # of relevant documents at each rank
MAX_LABELS = 1_000_000  # labels drawn at a time
BIN_WIDTH = 0.01
SCORE_RANGE = (-0.2, 1.2)  # with a bad judge, corrected scores lie anywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class RateWorld:
    """What is true: the share of relevant documents, the judge's rates, how many gold labels of each kind, queries.

    `alike` is how far the documents of one query are alike (their intraclass correlation): shares of queries come from
    a beta distribution around `share`.
    """

    share: float
    relevant: float
    nonrelevant: float
    relevant_labels: int
    nonrelevant_labels: int
    queries: int
    k: int
    alike: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesCoverage:
    """How often each interval held the truth in one world.

    Experiments without an answer count as held, since 0 to 1 holds everything: `refused` is their share, and
    `answered` how often Fieller's interval held the truth in the others; None where there are none.
    """

    world: RateWorld
    fieller: float
    wald: float
    bootstrap: float
    refused: float
    answered: float | None

    def as_dict(self) -> dict[str, object]:
        """The world and the shares as plain data, side by side."""
        payload = asdict(self)
        world: dict[str, object] = payload.pop("world")
        return world | payload


def make_worlds(
    *,
    shares: Iterable[float],
    rates: Iterable[tuple[float, float]],
    labels: Iterable[tuple[int, int]],
    queries: Iterable[int],
    documents: Iterable[tuple[int, float]],
) -> list[RateWorld]:
    """Every combination; `documents` are (k, alike), rates and labels (on relevant, on others).

    Examples:
        >>> len(make_worlds(shares=(0.1, 0.5), rates=[(0.9, 0.8)], labels=[(50, 50)], queries=(50, 200),
        ...                 documents=[(1, 0)]))
        4
    """
    return [
        RateWorld(
            share=share,
            relevant=sensitivity,
            nonrelevant=specificity,
            relevant_labels=n_relevant,
            nonrelevant_labels=n_nonrelevant,
            queries=n,
            k=k,
            alike=alike,
        )
        for (k, alike), n, share, (sensitivity, specificity), (n_relevant, n_nonrelevant) in product(
            documents, queries, shares, rates, labels
        )
    ]


# Rare and common relevance, bad and good judges, few and many labels, one document and lists of like ones.
USUAL_WORLDS = make_worlds(
    shares=(0.02, 0.1, 0.3, 0.6, 0.9, 0.98),
    rates=((0.6, 0.7), (0.7, 0.8), (0.9, 0.8), (0.95, 0.95), (0.99, 0.9)),
    labels=((15, 15), (30, 120), (120, 30), (250, 250)),
    queries=(25, 100, 1000),
    documents=((1, 0.0), (3, 0.2), (10, 0.05), (10, 0.3)),
)
# Where the spread over queries is hardly known: very few queries, or queries that are all good or all bad.
HARDER_WORLDS = make_worlds(
    shares=(0.02, 0.1, 0.5, 0.9, 0.98),
    rates=((0.7, 0.8), (0.95, 0.95), (1.0, 0.9)),
    labels=((30, 30), (1000, 1000)),
    queries=(10, 50),
    documents=((10, 0.3), (10, 0.6)),
)


def coverage_of_rates(
    rng: np.random.Generator,
    worlds: Sequence[RateWorld] = tuple(USUAL_WORLDS),
    *,
    replications: int = 5_000,
    resamples: int = 1_000,
    level: float = 0.95,
    progress: Callable[[int], None] = lambda _: None,
) -> list[RatesCoverage]:
    """How often the intervals of `correct_score` hold the true share, in each world.

    Every experiment draws the queries, their bronze labels and the gold labels anew. "bootstrap" is Algorithm 1 of
    [Goldberg17], its interval the middle of `resamples` draws, which experiments of one world share where they found
    the same rate. Where the rates allow a judge no better than chance there is no answer, whatever the interval.

    Examples:
        >>> few = make_worlds(shares=[0.1], rates=[(0.95, 0.95)], labels=[(15, 15)], queries=[100],
        ...                   documents=[(10, 0.3)])
        >>> (coverage,) = coverage_of_rates(np.random.default_rng(1), few, replications=2_000)
        >>> round(coverage.fieller, 2), round(coverage.wald, 2)
        (0.99, 0.69)
    """
    require_level(level)
    if replications < 1 or resamples < 1:
        raise UsageError(
            "study-too-small", f"a study needs a replication and a resample, found {replications} and {resamples}"
        )
    coverages = []
    for world in worlds:
        coverages.append(_simulate_world(world, rng, replications, resamples, level))
        progress(replications * resamples)
    return coverages


def _simulate_world(
    world: RateWorld, rng: np.random.Generator, replications: int, resamples: int, level: float
) -> RatesCoverage:
    scores, variance = _draw_scores(world, rng, replications)
    labels, truths = (world.relevant_labels, world.nonrelevant_labels), (world.relevant, world.nonrelevant)
    sensitivity, specificity = (rng.binomial(n, rate, replications) / n for n, rate in zip(labels, truths, strict=True))
    rates = (sensitivity, labels[0]), (specificity, labels[1])
    _, held, refused = _correct_scores(
        scores, variance, rates, documents=world.queries * world.k, truth=world.share, level=level
    )
    refused |= sensitivity + specificity <= 1
    below = _share_below_truth(world, scores, variance, (sensitivity, specificity), resamples, rng)
    held["bootstrap"] = np.abs(below - 0.5) <= level / 2
    shares = {name: float((share | refused).mean()) for name, share in held.items()}
    answered = None if refused.all() else float(held["fieller"][~refused].mean())
    return RatesCoverage(world=world, refused=float(refused.mean()), answered=answered, **shares)


def _correct_scores(
    scores: Array,
    variance: Array,
    rates: tuple[tuple[Array, int], tuple[Array, int]],
    *,
    documents: int,
    truth: float,
    level: float,
) -> tuple[Array, dict[str, NDArray[np.bool_]], NDArray[np.bool_]]:
    """The corrected score of each experiment, which intervals hold the truth, and which have no answer."""
    z = normal_quantile((1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):  # a judge seen to guess, or queries that are all alike
        corrected = invert_rates(scores, *(rate for rate, _ in rates))
        wald = np.abs(corrected - truth) <= z * np.sqrt(inversion_variance(scores, variance, *rates))
        effective_n = np.where(variance > 0, scores * (1 - scores) / variance, documents)
    low, high, refused = adjusted_interval(scores, effective_n, *rates, z=z)
    return corrected, {"wald": wald, "fieller": (low <= truth) & (truth <= high)}, refused


def _draw_scores(world: RateWorld, rng: np.random.Generator, replications: int) -> tuple[Array, Array]:
    """The mean over queries in each experiment, and the variance that it is given.

    A query's score is one of k + 1 values: how many queries have each is one multinomial draw, however many there are.
    """
    counts = rng.multinomial(world.queries, _score_distribution(world), replications)
    values = np.arange(world.k + 1) / world.k
    means = counts @ values / world.queries
    if world.k == 1:
        return means, means * (1 - means) / world.queries
    score_variance = np.maximum(counts @ values**2 / world.queries - means**2, 0) * world.queries / (world.queries - 1)
    all_equal = (counts == world.queries).any(axis=1)  # rounding would leave a trace of a spread
    return means, np.where(all_equal, 0.0, score_variance / world.queries)


def _score_distribution(world: RateWorld) -> Array:
    """How many of the queries have 0, 1, … k documents that bronze calls relevant.

    A mixture of binomials over the beta distribution of shares; each is a polynomial of degree k in the share, for
    which Gauss–Jacobi quadrature with k/2 + 1 nodes is exact.
    """
    from scipy.special import roots_jacobi
    from scipy.stats import binom

    nodes, weights = np.array([world.share]), np.array([1.0])
    if world.alike:
        concentration = 1 / world.alike - 1
        nodes, weights = roots_jacobi(
            world.k // 2 + 1, (1 - world.share) * concentration - 1, world.share * concentration - 1
        )
        nodes, weights = (nodes + 1) / 2, weights / weights.sum()
    bronze = nodes * world.relevant + (1 - nodes) * (1 - world.nonrelevant)
    shares = binom.pmf(np.arange(world.k + 1)[:, None], world.k, bronze) @ weights
    normalised: Array = shares / shares.sum()
    return normalised


def _share_below_truth(
    world: RateWorld,
    scores: Array,
    variance: Array,
    rates: tuple[Array, Array],
    resamples: int,
    rng: np.random.Generator,
) -> Array:
    """The share of each experiment's bootstrap draws that lie below the truth, ties by half.

    The truth lies in the middle of the draws where that share does: no quantile need be taken.
    """
    sensitivity, specificity = (
        _resample_rates(observed, n, resamples, rng)
        for observed, n in zip(rates, (world.relevant_labels, world.nonrelevant_labels), strict=True)
    )
    bronze = _resample_rates(scores, world.queries, resamples, rng) if world.k == 1 else None
    normal = rng.standard_normal(resamples)
    below = np.empty(len(scores))
    batch = max(1, MAX_DRAWS // resamples)
    for start in range(0, len(scores), batch):
        rows = slice(start, start + batch)
        resampled_scores = (
            bronze[0][bronze[1][rows]] if bronze else scores[rows, None] + np.sqrt(variance[rows, None]) * normal
        )
        m_r, m_n = sensitivity[0][sensitivity[1][rows]], specificity[0][specificity[1][rows]]
        # θ* ≤ θ where top ≤ θ·bottom, and the other way round where the bottom is below 0.
        bottom = m_r + m_n - 1
        excess = (resampled_scores - 1 + m_n - world.share * bottom) * np.sign(bottom)
        below[rows] = (excess < 0).mean(axis=1) + (np.abs(excess) < 1e-12).mean(axis=1) / 2
    return below


def _resample_rates(rates: Array, n: int, resamples: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
    """Draws around each different rate that was found, and which of them each experiment found."""
    distinct, position = np.unique(rates, return_inverse=True)
    return rng.binomial(n, distinct[:, None], (len(distinct), resamples)) / n, position


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
            "study-too-small",
            f"a study needs a replication, 2 queries, a rank and a gold label of each kind; found {replications}, "
            f"{queries}, {len(shares)}, {relevant_labels} and {nonrelevant_labels}",
        )
    if not all(0 <= share <= 1 for share in (*shares, relevant, nonrelevant)):
        outside = ", ".join(f"{share:g}" for share in (*shares, relevant, nonrelevant) if not 0 <= share <= 1)
        raise UsageError("not-a-share", f"shares and rates lie between 0 and 1, found {outside}")
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
    corrected, held, refused = _correct_scores(naive, variance, rates, documents=queries * k, truth=truth, level=level)
    naive_holds = np.abs(naive - truth) <= t_quantile((1 + level) / 2, queries - 1) * np.sqrt(variance)
    coverage = {"naive": naive_holds, **held}
    return NoisyScores(
        truth=truth,
        level=level,
        naive=naive,
        corrected=corrected,
        coverage={kind: float(share.mean()) for kind, share in coverage.items()},
        refused=float(refused.mean()),
    )
