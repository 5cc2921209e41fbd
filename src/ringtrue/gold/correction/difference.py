"""The difference estimator: what is predicted of every document, corrected by what gold says of a sample of them.

The prediction is a ridge regression with one penalty for each kind of predictor, which is the posterior mean of a model
in which bronze levels, runs and queries each shift the gain a little. The penalties are how many gold labels an effect
is held back by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import NO_LABEL, Pool
from ringtrue.gold.correction.results import JointEstimate
from ringtrue.gold.designs import Population

if TYPE_CHECKING:
    from scipy.sparse import csr_array


# Penalties; see docs/decisions/0007-correction.md.
INTERCEPT_PENALTY, LEVEL_PENALTY, POPULARITY_PENALTY = 1e-3, 0.2, 1.0
RUN_PENALTY, QUERY_PENALTY, SLOPE_PENALTY = 0.5, 4.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictors:
    """What is known of every document (documents × predictors), and the penalty of each predictor."""

    values: csr_array
    penalty: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Predictions from the gold labels of the documents `sampled`.

    `loo_residual` is the gold gain less its prediction from all *other* gold labels, `residual` less the one from all;
    `leverage` says how far a document's own label moves its prediction. `operator` times the gains gives the
    coefficients of the predictors in `used`.
    """

    sampled: IntArray
    design: FloatArray
    used: IntArray
    operator: FloatArray
    coefficients: FloatArray
    leverage: FloatArray
    loo_residual: FloatArray
    residual: FloatArray

    def predict(self, predictors: Predictors, gains: FloatArray) -> FloatArray:
        """The gain of every document, of a sampled one without its own label."""
        coefficients = np.zeros(predictors.values.shape[1])
        coefficients[self.used] = self.coefficients
        predictions: FloatArray = predictors.values @ coefficients
        predictions[self.sampled] = gains - self.loo_residual
        return predictions


def build_predictors(pool: Pool) -> Predictors:
    """The bronze level, how many runs show the document (apart for each level), which do and how high, the query.

    And what a higher bronze label means in this query: a slope of its own.

    Examples:
        >>> from ringtrue.gold.correction.pool import build_pool
        >>> from ringtrue.tables import Judgments, Run
        >>> pool = build_pool([Run.of({"q": {"a": 2.0, "b": 1.0}})], Judgments.of({"q": {"a": 1, "b": 0}}), depth=10)
        >>> build_predictors(pool).values.toarray().round(2).tolist()
        [[1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0, 0.0, 0.63, 1.0, -1.0]]
    """
    from scipy.sparse import csr_array, hstack

    n, index = len(pool), np.arange(len(pool))
    popularity = np.log(pool.runs_per_doc)
    popularity = _unit_variance(popularity - popularity.mean())
    attention = 1 / np.log2(pool.rank + 1) / np.sqrt(len(pool.runs))
    of_level, of_query = (len(pool.levels), pool.level), (len(pool.queries), pool.query)
    blocks = [
        (INTERCEPT_PENALTY, csr_array(np.ones((n, 1)))),
        (LEVEL_PENALTY, _one_hot(index, *of_level, np.ones(n))),
        (POPULARITY_PENALTY, _one_hot(index, *of_level, popularity)),
        (RUN_PENALTY, csr_array((attention, (pool.doc_index, pool.run)), shape=(n, len(pool.runs)))),
        (QUERY_PENALTY, _one_hot(index, *of_query, np.ones(n))),
        (SLOPE_PENALTY, _one_hot(index, *of_query, _unit_variance(_label_above_query_mean(pool)))),
    ]
    penalty = np.concatenate([np.full(block.shape[1], strength) for strength, block in blocks])
    return Predictors(values=csr_array(hstack([block for _, block in blocks])), penalty=penalty)


def fit_gains(predictors: Predictors, sampled: IntArray, gains: FloatArray) -> Fit:
    """Ridge regression of the gains of the sampled documents, each left out in turn without fitting anew.

    β = (X'X + Λ)⁻¹ X'y,   y_i − ŷ_{−i} = (y_i − ŷ_i) / (1 − h_i),   h = diag X (X'X + Λ)⁻¹ X'
    """
    design = predictors.values[sampled].toarray()
    used = np.flatnonzero(design.any(axis=0))
    design = design[:, used]
    operator = np.linalg.solve(design.T @ design + np.diag(predictors.penalty[used]), design.T)
    coefficients = operator @ gains
    leverage = np.einsum("ij,ji->i", design, operator)
    residuals = gains - design @ coefficients
    return Fit(
        sampled=sampled,
        design=design,
        used=used,
        operator=operator,
        coefficients=coefficients,
        leverage=leverage,
        loo_residual=residuals / (1 - leverage),
        residual=residuals,
    )


def _label_above_query_mean(pool: Pool) -> FloatArray:
    """How far each document's bronze label lies above the mean of its query; 0 where there is none."""
    label = np.array(pool.levels, dtype=np.float64)[pool.level]
    labelled = label != NO_LABEL
    count = np.bincount(pool.query[labelled], minlength=len(pool.queries))
    mean = np.bincount(pool.query[labelled], weights=label[labelled], minlength=len(pool.queries)) / np.maximum(
        count, 1
    )
    return np.where(labelled, label - mean[pool.query], 0.0)


def _unit_variance(values: FloatArray) -> FloatArray:
    sd = values.std()
    return values / sd if sd > 1e-12 else np.zeros(len(values))


def _one_hot(index: IntArray, columns: int, column: IntArray, value: FloatArray) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array((value, (index, column)), shape=(len(index), columns))


def correct_means(
    pool: Pool,
    predictors: Predictors,
    weights: csr_array,
    sample: GoldSample,
    gains: FloatArray,
    *,
    population: Population,
    gain_range: float,
) -> JointEstimate:
    """The mean of a linear measure for each run, as gold would have it.

        θ = Σ_i W_i μ_{−i} + Σ_S W_i (g_i − μ_{−i}) / π_i    [Angelopoulos23, Sarndal92]

    with W_i what document i adds to the run's mean for each unit of gain, and μ_{−i} its gain predicted without its own
    gold label. Unbiased for any judge where each document was drawn by itself with the known probability π.

    *These queries*: θ = Σ_S a_i g_i is linear in the gold gains, and V = Σ_S (1 − π_i) a_i² r_i², with r the residual
    of the prediction without the document. Of a sample that was spread over queries, the mean of this and of
    `_neighbour_covariance`: what neighbours have in common cancels, but on some collections not all of it. An extended
    sample has neighbours of two pools; there it is the mean with r √(1 − h), h being the leverage of the document.
    *Queries like these*: V = Q/(Q−1) Σ_q (T_q − T̄)², T_q being what query q adds to θ, and Student's t with Q − 1.

    To either comes what could still be hidden where few labels of a bronze level were seen and all fit: the squared
    residuals of a level with n of them count as no less than (range of the gains)² / 4(n + 1) on average. A level
    without any adds (range · Σ W)² / 4.
    """
    fit = fit_gains(predictors, sample.positions, gains)
    sample_weights = weights[:, sample.positions].toarray()
    expanded = sample_weights / sample.prob
    coefficients, label_counts = _gold_coefficients(predictors, weights, fit, sample_weights, expanded)
    estimates = coefficients @ gains
    unseen_variance = _unseen_variance(pool.level[sample.positions], fit.loo_residual, gain_range)
    unsampled = 1 - sample.prob
    covariance = (expanded * (unsampled * unseen_variance)) @ expanded.T
    unseen_levels = _weights_of_unseen_levels(pool, weights, sample.positions)
    covariance = covariance + gain_range**2 / 4 * unseen_levels @ unseen_levels.T
    if population == "these":
        sampling = (coefficients * (unsampled * fit.loo_residual**2)) @ coefficients.T
        if sample.balanced:
            sampling = (sampling + _neighbour_covariance(pool, sample, fit, coefficients)) / 2
        elif sample.extended:
            evened = (coefficients * (unsampled * fit.residual * fit.loo_residual)) @ coefficients.T
            sampling = (sampling + evened) / 2
        covariance = covariance + sampling
        df = np.inf
    else:
        query_parts = _predicted_by_query(pool, weights, fit.predict(predictors, gains))
        query_parts += _sum_by_query(expanded * fit.loo_residual, pool.query[sample.positions], len(pool.queries))
        df = len(pool.queries) - 1
        deviations = query_parts - query_parts.mean(axis=1, keepdims=True)
        covariance = covariance + len(pool.queries) / max(df, 1) * deviations @ deviations.T
    return JointEstimate(values=estimates, covariance=covariance, df=df, labels=label_counts, coefficients=coefficients)


def gold_only_means(
    pool: Pool, weights: csr_array, sample: GoldSample, gains: FloatArray, *, population: Population
) -> JointEstimate:
    """The same mean from the gold labels alone: each run's own, weighted by 1/π [Hajek71].

        θ = Σ_i W_i · Σ_S (W_i/π_i) g_i / Σ_S (W_i/π_i)

    Nearly unbiased, and the fair alternative: what the bronze labels add is what the intervals shrink by.
    """
    sample_weights = weights[:, sample.positions].toarray()
    expanded = sample_weights / sample.prob
    totals, covered = np.asarray(weights.sum(axis=1)).ravel(), expanded.sum(axis=1)
    label_counts = np.count_nonzero(sample_weights, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (expanded @ gains) / covered
        deviations = expanded * (gains - mean[:, None]) * (totals / covered)[:, None]
        if population == "these":
            bessel_factor = label_counts / (label_counts - 1.0)
            covariance = (
                (deviations * (1 - sample.prob)) @ deviations.T * np.sqrt(np.outer(bessel_factor, bessel_factor))
            )
            df = np.inf
        else:
            query_parts = _sum_by_query(deviations, pool.query[sample.positions], len(pool.queries))
            queries = len(np.unique(pool.query[sample.positions]))
            df = max(queries - 1, 1)
            covariance = queries / df * query_parts @ query_parts.T
            single_query = (_sum_by_query(sample_weights, pool.query[sample.positions], len(pool.queries)) > 0).sum(
                axis=1
            ) < 2
            covariance[single_query] = covariance[:, single_query] = np.nan  # residuals of one query add up to 0
    return JointEstimate(values=mean * totals, covariance=covariance, df=df, labels=label_counts)


def _gold_coefficients(
    predictors: Predictors, weights: csr_array, fit: Fit, sample_weights: FloatArray, expanded: FloatArray
) -> tuple[FloatArray, IntArray]:
    """What each gold gain adds to each run's value, by itself and through every prediction; and how many each run has.

    a_i = W_i/π_i + Σ_j (W_j − [j in S] W_j/π_j) ∂μ_{−j}/∂g_i
    """
    predictor_weights = np.asarray((weights @ predictors.values)[:, fit.used].toarray())
    loo_weights = (sample_weights - expanded) / (1 - fit.leverage)
    indirect = (predictor_weights + (loo_weights - sample_weights) @ fit.design) @ fit.operator
    return expanded + indirect - loo_weights * fit.leverage, np.count_nonzero(sample_weights, axis=1)


def _neighbour_covariance(pool: Pool, sample: GoldSample, fit: Fit, coefficients: FloatArray) -> FloatArray:
    """The covariance of a sample that has so many labels from each query, and like next to like.

    V = Σ_q [ ½ Σ (e_i − e_{i+1})² + Σ c_i² / n_q ],   e = √(1 − π) a r/√(1 − h),   c = √(1 − π) a r/(1 − h)

    A document could have been drawn in its neighbour's place, so that chance moves the answer by how much the two
    differ, not by what they have in common [Wolter07]. n labels of a query have n − 1 pairs of neighbours; for the one
    that lacks, the mean of the squares. r is the residual of the prediction with the document, h its leverage.
    Documents that are equally alike have no order, and the first sum is its mean over all their orders: for m of them
    Σ (e − ē)², and between two such groups ½ (ē − ē')² and half of each one's mean square.
    """
    by_chance = np.flatnonzero(sample.prob < 1)
    by_chance = by_chance[
        np.lexsort((pool.similarity_key[sample.positions[by_chance]], pool.query[sample.positions[by_chance]]))
    ]
    query, similarity = (codes[sample.positions[by_chance]] for codes in (pool.query, pool.similarity_key))
    scaled = coefficients[:, by_chance] * np.sqrt(1 - sample.prob[by_chance])
    unpaired = scaled * fit.loo_residual[by_chance] / np.sqrt(np.bincount(query)[query])
    if not len(by_chance):
        return unpaired @ unpaired.T
    residuals = scaled * np.sqrt(fit.residual * fit.loo_residual)[by_chance] * np.sign(fit.residual[by_chance])
    first = np.flatnonzero(np.diff(query, prepend=-1) | np.diff(similarity, prepend=-1))
    size = np.diff(first, append=len(query))
    group = np.repeat(np.arange(len(first)), size)
    mean = np.add.reduceat(residuals, first, axis=1) / size
    same_query = query[first][1:] == query[first][:-1]  # the group before in the same query
    neighbours = np.append(same_query, False).astype(np.int64) + np.append(False, same_query)
    within = (residuals - mean[:, group]) * np.sqrt(1 + neighbours / 2 / size)[group]
    between = np.diff(mean, axis=1)[:, same_query] / np.sqrt(2)
    covariance: FloatArray = within @ within.T + between @ between.T + unpaired @ unpaired.T
    return covariance


def _unseen_variance(level: IntArray, residual: FloatArray, gain_range: float) -> FloatArray:
    """What the squared residuals of each document's bronze level lack to what so few labels can rule out."""
    counts = np.bincount(level)
    mean_squares = np.bincount(level, weights=residual**2) / np.maximum(counts, 1)
    shortfall: FloatArray = np.maximum(gain_range**2 / 4 / (counts + 1) - mean_squares, 0.0)
    return shortfall[level]


def _weights_of_unseen_levels(pool: Pool, weights: csr_array, positions: IntArray) -> FloatArray:
    """What the documents of each bronze level without a gold label add to each run: their gain is a guess for all."""
    from scipy.sparse import csr_array

    indicator = csr_array((np.ones(len(pool)), (np.arange(len(pool)), pool.level)), shape=(len(pool), len(pool.levels)))
    unseen = np.setdiff1d(np.arange(len(pool.levels)), pool.level[positions])
    return np.asarray((weights @ indicator)[:, unseen].toarray())


def _predicted_by_query(pool: Pool, weights: csr_array, gain: FloatArray) -> FloatArray:
    """What the predicted gains of each query's documents add to each run: runs × queries."""
    cells = weights.tocoo()
    runs, queries = len(pool.runs), len(pool.queries)
    cell_index = cells.coords[0].astype(np.int64) * queries + pool.query[cells.coords[1]]
    total = np.bincount(cell_index, weights=cells.data * gain[cells.coords[1]], minlength=runs * queries)
    return total.reshape(runs, queries).astype(np.float64)


def _sum_by_query(parts: FloatArray, query: IntArray, queries: int) -> FloatArray:
    """Columns added up by query."""
    from scipy.sparse import csr_array

    columns = np.arange(parts.shape[1])
    indicator = csr_array((np.ones(len(columns)), (columns, query)), shape=(len(columns), queries))
    return np.asarray(parts @ indicator)
