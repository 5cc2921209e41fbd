"""The difference estimator: what is predicted of every document, corrected by what gold says of a sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.gain_regression import Fit, Predictors, fitted
from ringtrue.gold.correction.joint_estimate import Joint, Population
from ringtrue.gold.correction.pool import Pool

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["GoldSample", "corrected_means", "gold_only"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldSample:
    """Documents of a pool with a gold label: their places there, the labels, and how probable it was to draw each.

    `spread` says that the sample was drawn evenly over the queries, as many from each as the probabilities add up to,
    and in each over what is alike (`Pool.alike`).
    """

    places: IntArray
    labels: IntArray
    prob: FloatArray
    spread: bool = False

    def __len__(self) -> int:
        return len(self.places)


def corrected_means(
    pool: Pool,
    predictors: Predictors,
    weights: csr_array,
    sample: GoldSample,
    gains: FloatArray,
    *,
    population: Population,
    gain_range: float,
) -> Joint:
    """The mean of a linear measure for each run, as gold would have it.

        θ = Σ_i W_i μ_{−i} + Σ_S W_i (g_i − μ_{−i}) / π_i    [Angelopoulos23, Sarndal92]

    with W_i what document i adds to the run's mean for each unit of gain, and μ_{−i} its gain predicted without its own
    gold label. Unbiased for any judge where each document was drawn by itself with the known probability π.

    *These queries*: θ = Σ_S a_i g_i is linear in the gold gains, and V = Σ_S (1 − π_i) a_i² r_i², with r the residual
    of the prediction without the document; of a sample that was spread over queries, see `_between_neighbours`.
    *Queries like these*: V = Q/(Q−1) Σ_q (T_q − T̄)², T_q being what query q adds to θ, and Student's t with Q − 1.

    To either comes what could still be hidden where few labels of a bronze level were seen and all fit: the squared
    residuals of a level with n of them count as no less than (range of the gains)² / 4(n + 1) on average. A level
    without any adds (range · Σ W)² / 4.
    """
    fit = fitted(predictors, sample.places, gains)
    shown = weights[:, sample.places].toarray()
    drawn = shown / sample.prob
    values, own = _linear_in_gold(predictors, weights, fit, shown, drawn)
    estimates = values @ gains
    hidden = _hidden(pool.level[sample.places], fit.left_out, gain_range)
    missed = 1 - sample.prob
    covariance = (drawn * (missed * hidden)) @ drawn.T
    unseen = _of_unseen_levels(pool, weights, sample.places)
    covariance = covariance + gain_range**2 / 4 * unseen @ unseen.T
    if population == "these":
        if sample.spread:
            covariance = covariance + _between_neighbours(pool, sample, fit, values)
        else:
            covariance = covariance + (values * (missed * fit.left_out**2)) @ values.T
        freedom = np.inf
    else:
        parts = _by_query(pool, weights, fit.predict(predictors, gains))
        parts += _summed(drawn * fit.left_out, pool.query[sample.places], len(pool.queries))
        freedom = len(pool.queries) - 1
        apart = parts - parts.mean(axis=1, keepdims=True)
        covariance = covariance + len(pool.queries) / max(freedom, 1) * apart @ apart.T
    return Joint(values=estimates, covariance=covariance, freedom=freedom, labels=own)


def gold_only(
    pool: Pool, weights: csr_array, sample: GoldSample, gains: FloatArray, *, population: Population
) -> Joint:
    """The same mean from the gold labels alone: each run's own, weighted by 1/π [Hajek71].

        θ = Σ_i W_i · Σ_S (W_i/π_i) g_i / Σ_S (W_i/π_i)

    Nearly unbiased, and the fair alternative: what the bronze labels add is what the intervals shrink by.
    """
    shown = weights[:, sample.places].toarray()
    drawn = shown / sample.prob
    whole, seen = np.asarray(weights.sum(axis=1)).ravel(), drawn.sum(axis=1)
    own = np.count_nonzero(shown, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (drawn @ gains) / seen
        apart = drawn * (gains - mean[:, None]) * (whole / seen)[:, None]
        if population == "these":
            more = own / (own - 1.0)
            covariance = (apart * (1 - sample.prob)) @ apart.T * np.sqrt(np.outer(more, more))
            freedom = np.inf
        else:
            parts = _summed(apart, pool.query[sample.places], len(pool.queries))
            queries = len(np.unique(pool.query[sample.places]))
            freedom = max(queries - 1, 1)
            covariance = queries / freedom * parts @ parts.T
            alone = (_summed(shown, pool.query[sample.places], len(pool.queries)) > 0).sum(axis=1) < 2
            covariance[alone] = covariance[:, alone] = np.nan  # residuals of one query add up to 0
    return Joint(values=mean * whole, covariance=covariance, freedom=freedom, labels=own)


def _linear_in_gold(
    predictors: Predictors, weights: csr_array, fit: Fit, shown: FloatArray, drawn: FloatArray
) -> tuple[FloatArray, IntArray]:
    """What each gold gain adds to each run's value, by itself and through every prediction; and how many each run has.

    a_i = W_i/π_i + Σ_j (W_j − [j in S] W_j/π_j) ∂μ_{−j}/∂g_i
    """
    every = np.asarray((weights @ predictors.values)[:, fit.used].toarray())
    left = (shown - drawn) / (1 - fit.leverage)
    through = (every + (left - shown) @ fit.design) @ fit.operator
    return drawn + through - left * fit.leverage, np.count_nonzero(shown, axis=1)


def _between_neighbours(pool: Pool, sample: GoldSample, fit: Fit, values: FloatArray) -> FloatArray:
    """The covariance of a sample that has so many labels from each query, and like next to like.

    V = Σ_q [ ½ Σ (e_i − e_{i+1})² + Σ c_i² / n_q ],   e = √(1 − π) a r/√(1 − h),   c = √(1 − π) a r/(1 − h)

    A document could have been drawn in its neighbour's place, so that chance moves the answer by how much the two
    differ, not by what they have in common [Wolter07]. n labels of a query have n − 1 pairs of neighbours; for the one
    that lacks, the mean of the squares. r is the residual of the prediction with the document, h its leverage.
    Documents that are equally alike have no order, and the first sum is its mean over all their orders: for m of them
    Σ (e − ē)², and between two such groups ½ (ē − ē')² and half of each one's mean square.
    """
    by_chance = np.flatnonzero(sample.prob < 1)
    by_chance = by_chance[np.lexsort((pool.alike[sample.places[by_chance]], pool.query[sample.places[by_chance]]))]
    query, alike = (kind[sample.places[by_chance]] for kind in (pool.query, pool.alike))
    moved = values[:, by_chance] * np.sqrt(1 - sample.prob[by_chance])
    alone = moved * fit.left_out[by_chance] / np.sqrt(np.bincount(query)[query])
    if not len(by_chance):
        return alone @ alone.T
    evened = moved * np.sqrt(fit.kept * fit.left_out)[by_chance] * np.sign(fit.kept[by_chance])
    first = np.flatnonzero(np.diff(query, prepend=-1) | np.diff(alike, prepend=-1))
    size = np.diff(first, append=len(query))
    group = np.repeat(np.arange(len(first)), size)
    mean = np.add.reduceat(evened, first, axis=1) / size
    meets = query[first][1:] == query[first][:-1]  # the group before in the same query
    neighbours = np.append(meets, False).astype(np.int64) + np.append(False, meets)
    within = (evened - mean[:, group]) * np.sqrt(1 + neighbours / 2 / size)[group]
    between = np.diff(mean, axis=1)[:, meets] / np.sqrt(2)
    covariance: FloatArray = within @ within.T + between @ between.T + alone @ alone.T
    return covariance


def _hidden(level: IntArray, residual: FloatArray, gain_range: float) -> FloatArray:
    """What the squared residuals of each document's bronze level lack to what so few labels can rule out."""
    seen = np.bincount(level)
    squares = np.bincount(level, weights=residual**2) / np.maximum(seen, 1)
    lacking: FloatArray = np.maximum(gain_range**2 / 4 / (seen + 1) - squares, 0.0)
    return lacking[level]


def _of_unseen_levels(pool: Pool, weights: csr_array, places: IntArray) -> FloatArray:
    """What the documents of each bronze level without a gold label add to each run: their gain is a guess for all."""
    from scipy.sparse import csr_array

    one_of = csr_array((np.ones(len(pool)), (np.arange(len(pool)), pool.level)), shape=(len(pool), len(pool.levels)))
    unseen = np.setdiff1d(np.arange(len(pool.levels)), pool.level[places])
    return np.asarray((weights @ one_of)[:, unseen].toarray())


def _by_query(pool: Pool, weights: csr_array, gain: FloatArray) -> FloatArray:
    """What the predicted gains of each query's documents add to each run: runs × queries."""
    cells = weights.tocoo()
    runs, queries = len(pool.runs), len(pool.queries)
    where = cells.coords[0].astype(np.int64) * queries + pool.query[cells.coords[1]]
    total = np.bincount(where, weights=cells.data * gain[cells.coords[1]], minlength=runs * queries)
    return total.reshape(runs, queries).astype(np.float64)


def _summed(parts: FloatArray, query: IntArray, queries: int) -> FloatArray:
    """Columns added up by query."""
    from scipy.sparse import csr_array

    columns = np.arange(parts.shape[1])
    one_of = csr_array((np.ones(len(columns)), (columns, query)), shape=(len(columns), queries))
    return np.asarray(parts @ one_of)
