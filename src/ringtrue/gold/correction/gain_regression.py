"""The gold gain of a document predicted from what is known of every document, and from gold labels of others.

A ridge regression with one penalty for each kind of predictor, which is the posterior mean of a model in which bronze
levels, runs and queries each shift the gain a little. The penalties are how many gold labels an effect is held back by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.pool import NO_LABEL, Pool

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Penalties; see docs/decisions/0007-correction.md.
INTERCEPT_PENALTY, LEVEL_PENALTY, POPULARITY_PENALTY, RUN_PENALTY, QUERY_PENALTY, SLOPE_PENALTY = (
    1e-3,
    0.2,
    1.0,
    0.5,
    4.0,
    10.0,
)


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
