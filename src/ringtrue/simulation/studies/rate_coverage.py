"""How often the intervals of a corrected score hold the truth, over many worlds of judges, queries and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.gold.correction.rate_inversion import adjusted_interval, inverted, inverted_variance
from ringtrue.stats.intervals import require_level
from ringtrue.stats.student_t import normal_quantile

__all__ = ["HARDER", "USUAL", "RatesCoverage", "World", "coverage_of_rates", "worlds"]

Array: TypeAlias = NDArray[np.float64]
AT_A_TIME = 2_000_000  # bootstrap draws held at once


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
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

    world: World
    fieller: float
    wald: float
    bootstrap: float
    refused: float
    answered: float | None

    def as_dict(self) -> dict[str, object]:
        """The world and the shares as plain data, side by side."""
        plain = asdict(self)
        world: dict[str, object] = plain.pop("world")
        return world | plain


def worlds(
    *,
    shares: Iterable[float],
    rates: Iterable[tuple[float, float]],
    labels: Iterable[tuple[int, int]],
    queries: Iterable[int],
    documents: Iterable[tuple[int, float]],
) -> list[World]:
    """Every combination; `documents` are (k, alike), rates and labels (on relevant, on others).

    Examples:
        >>> len(worlds(shares=(0.1, 0.5), rates=[(0.9, 0.8)], labels=[(50, 50)], queries=(50, 200), documents=[(1, 0)]))
        4
    """
    return [
        World(share=share, relevant=right, nonrelevant=wrong, relevant_labels=some, nonrelevant_labels=others,
              queries=n, k=k, alike=alike)
        for (k, alike), n, share, (right, wrong), (some, others) in product(documents, queries, shares, rates, labels)
    ]  # fmt: skip


# Rare and common relevance, bad and good judges, few and many labels, one document and lists of like ones.
USUAL = worlds(
    shares=(0.02, 0.1, 0.3, 0.6, 0.9, 0.98),
    rates=((0.6, 0.7), (0.7, 0.8), (0.9, 0.8), (0.95, 0.95), (0.99, 0.9)),
    labels=((15, 15), (30, 120), (120, 30), (250, 250)),
    queries=(25, 100, 1000),
    documents=((1, 0.0), (3, 0.2), (10, 0.05), (10, 0.3)),
)
# Where the spread over queries is hardly known: very few queries, or queries that are all good or all bad.
HARDER = worlds(
    shares=(0.02, 0.1, 0.5, 0.9, 0.98),
    rates=((0.7, 0.8), (0.95, 0.95), (1.0, 0.9)),
    labels=((30, 30), (1000, 1000)),
    queries=(10, 50),
    documents=((10, 0.3), (10, 0.6)),
)


def coverage_of_rates(
    rng: np.random.Generator,
    some: Sequence[World] = tuple(USUAL),
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
        >>> few = worlds(shares=[0.1], rates=[(0.95, 0.95)], labels=[(15, 15)], queries=[100], documents=[(10, 0.3)])
        >>> (found,) = coverage_of_rates(np.random.default_rng(1), few, replications=2_000)
        >>> round(found.fieller, 2), round(found.wald, 2)
        (0.99, 0.69)
    """
    require_level(level)
    if replications < 1 or resamples < 1:
        raise UsageError(f"a study needs a replication and a resample, found {replications} and {resamples}")
    found = []
    for world in some:
        found.append(_covered(world, rng, replications, resamples, level))
        progress(replications * resamples)
    return found


def _covered(world: World, rng: np.random.Generator, replications: int, resamples: int, level: float) -> RatesCoverage:
    scores, variance = _scores(world, rng, replications)
    labels, truths = (world.relevant_labels, world.nonrelevant_labels), (world.relevant, world.nonrelevant)
    right, wrong = (rng.binomial(n, rate, replications) / n for n, rate in zip(labels, truths, strict=True))
    rates = (right, labels[0]), (wrong, labels[1])
    z, truth = normal_quantile((1 + level) / 2), world.share
    spread = np.where(variance > 0, variance, 1.0)
    worth = np.where(variance > 0, scores * (1 - scores) / spread, world.queries * world.k)
    low, high, hopeless = adjusted_interval(scores, worth, *rates, z=z)
    hopeless |= right + wrong <= 1
    with np.errstate(divide="ignore", invalid="ignore"):  # a judge seen to guess
        value = inverted(scores, right, wrong)
        wald = np.abs(value - truth) <= z * np.sqrt(inverted_variance(scores, variance, *rates))
    below = _bootstrapped_below(world, scores, variance, (right, wrong), resamples, rng)
    bootstrap = np.abs(below - 0.5) <= level / 2
    held = {"fieller": (low <= truth) & (truth <= high), "wald": wald, "bootstrap": bootstrap}
    shares = {name: float((share | hopeless).mean()) for name, share in held.items()}
    answered = None if hopeless.all() else float(held["fieller"][~hopeless].mean())
    return RatesCoverage(world=world, refused=float(hopeless.mean()), answered=answered, **shares)


def _scores(world: World, rng: np.random.Generator, replications: int) -> tuple[Array, Array]:
    """The mean over queries in each experiment, and the variance that it is given.

    A query's score is one of k + 1 values: how many queries have each is one multinomial draw, however many there are.
    """
    counts = rng.multinomial(world.queries, _score_shares(world), replications)
    values = np.arange(world.k + 1) / world.k
    means = counts @ values / world.queries
    if world.k == 1:
        return means, means * (1 - means) / world.queries
    apart = np.maximum(counts @ values**2 / world.queries - means**2, 0) * world.queries / (world.queries - 1)
    alone = (counts == world.queries).any(axis=1)  # rounding would leave a trace of a spread
    return means, np.where(alone, 0.0, apart / world.queries)


def _score_shares(world: World) -> Array:
    """How many of the queries have 0, 1, … k documents that bronze calls relevant.

    A mixture of binomials over the beta distribution of shares; each is a polynomial of degree k in the share, for
    which Gauss–Jacobi quadrature with k/2 + 1 nodes is exact.
    """
    from scipy.special import roots_jacobi
    from scipy.stats import binom

    nodes, weights = np.array([world.share]), np.array([1.0])
    if world.alike:
        size = 1 / world.alike - 1
        nodes, weights = roots_jacobi(world.k // 2 + 1, (1 - world.share) * size - 1, world.share * size - 1)
        nodes, weights = (nodes + 1) / 2, weights / weights.sum()
    bronze = nodes * world.relevant + (1 - nodes) * (1 - world.nonrelevant)
    shares = binom.pmf(np.arange(world.k + 1)[:, None], world.k, bronze) @ weights
    normalised: Array = shares / shares.sum()
    return normalised


def _bootstrapped_below(
    world: World,
    scores: Array,
    variance: Array,
    rates: tuple[Array, Array],
    resamples: int,
    rng: np.random.Generator,
) -> Array:
    """The share of each experiment's bootstrap draws that lie below the truth, ties by half.

    The truth lies in the middle of the draws where that share does: no quantile need be taken.
    """
    right, wrong = (
        _redrawn(found, n, resamples, rng)
        for found, n in zip(rates, (world.relevant_labels, world.nonrelevant_labels), strict=True)
    )
    bronze = _redrawn(scores, world.queries, resamples, rng) if world.k == 1 else None
    normal = rng.standard_normal(resamples)
    below = np.empty(len(scores))
    size = max(1, AT_A_TIME // resamples)
    for first in range(0, len(scores), size):
        rows = slice(first, first + size)
        drawn = bronze[0][bronze[1][rows]] if bronze else scores[rows, None] + np.sqrt(variance[rows, None]) * normal
        m_r, m_n = right[0][right[1][rows]], wrong[0][wrong[1][rows]]
        # θ* ≤ θ where top ≤ θ·bottom, and the other way round where the bottom is below 0.
        bottom = m_r + m_n - 1
        excess = (drawn - 1 + m_n - world.share * bottom) * np.sign(bottom)
        below[rows] = (excess < 0).mean(axis=1) + (np.abs(excess) < 1e-12).mean(axis=1) / 2
    return below


def _redrawn(found: Array, n: int, resamples: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
    """Draws around each different rate that was found, and which of them each experiment found."""
    values, place = np.unique(found, return_inverse=True)
    return rng.binomial(n, values[:, None], (len(values), resamples)) / n, place
