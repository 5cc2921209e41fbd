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

__all__ = ["Fit", "Predictors", "fitted", "predictors"]

# Penalties; see docs/decisions/0007-correction.md.
OVERALL, LEVEL, POPULAR, RUN, QUERY, SLOPE = 1e-3, 0.2, 1.0, 0.5, 4.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictors:
    """What is known of every document (documents × predictors), and the penalty of each predictor."""

    values: csr_array
    penalty: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Predictions from the gold labels of the documents `sampled`.

    `left_out` is the gold gain less its prediction from all *other* gold labels, `kept` less the one from all;
    `leverage` says how far a document's own label moves its prediction. `operator` times the gains gives the
    coefficients of the predictors in `used`.
    """

    sampled: IntArray
    design: FloatArray
    used: IntArray
    operator: FloatArray
    coefficients: FloatArray
    leverage: FloatArray
    left_out: FloatArray
    kept: FloatArray

    def predict(self, predictors: Predictors, gains: FloatArray) -> FloatArray:
        """The gain of every document, of a sampled one without its own label."""
        all_of_them = np.zeros(predictors.values.shape[1])
        all_of_them[self.used] = self.coefficients
        found: FloatArray = predictors.values @ all_of_them
        found[self.sampled] = gains - self.left_out
        return found


def predictors(pool: Pool) -> Predictors:
    """The bronze level, how many runs show the document (apart for each level), which do and how high, the query.

    And what a higher bronze label means in this query: a slope of its own.

    Examples:
        >>> from ringtrue.gold.correction.pool import pooled
        >>> from ringtrue.tables import Judgments, Run
        >>> pool = pooled([Run.of({"q": {"a": 2.0, "b": 1.0}})], Judgments.of({"q": {"a": 1, "b": 0}}), depth=10)
        >>> predictors(pool).values.toarray().round(2).tolist()
        [[1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0, 0.0, 0.63, 1.0, -1.0]]
    """
    from scipy.sparse import csr_array, hstack

    n, place = len(pool), np.arange(len(pool))
    popular = np.log(pool.found_by)
    popular = _scaled(popular - popular.mean())
    attention = 1 / np.log2(pool.rank + 1) / np.sqrt(len(pool.runs))
    of_level, of_query = (len(pool.levels), pool.level), (len(pool.queries), pool.query)
    parts = [
        (OVERALL, csr_array(np.ones((n, 1)))),
        (LEVEL, _one_of(place, *of_level, np.ones(n))),
        (POPULAR, _one_of(place, *of_level, popular)),
        (RUN, csr_array((attention, (pool.shown, pool.run)), shape=(n, len(pool.runs)))),
        (QUERY, _one_of(place, *of_query, np.ones(n))),
        (SLOPE, _one_of(place, *of_query, _scaled(_above_the_query(pool)))),
    ]
    penalty = np.concatenate([np.full(part.shape[1], held) for held, part in parts])
    return Predictors(values=csr_array(hstack([part for _, part in parts])), penalty=penalty)


def fitted(predictors: Predictors, sampled: IntArray, gains: FloatArray) -> Fit:
    """Ridge regression of the gains of the sampled documents, each left out in turn without fitting anew.

    β = (X'X + Λ)⁻¹ X'y,   y_i − ŷ_{−i} = (y_i − ŷ_i) / (1 − h_i),   h = diag X (X'X + Λ)⁻¹ X'
    """
    rows = predictors.values[sampled].toarray()
    used = np.flatnonzero(rows.any(axis=0))
    rows = rows[:, used]
    operator = np.linalg.solve(rows.T @ rows + np.diag(predictors.penalty[used]), rows.T)
    coefficients = operator @ gains
    leverage = np.einsum("ij,ji->i", rows, operator)
    kept = gains - rows @ coefficients
    return Fit(
        sampled=sampled,
        design=rows,
        used=used,
        operator=operator,
        coefficients=coefficients,
        leverage=leverage,
        left_out=kept / (1 - leverage),
        kept=kept,
    )


def _above_the_query(pool: Pool) -> FloatArray:
    """How far each document's bronze label lies above the mean of its query; 0 where there is none."""
    label = np.array(pool.levels, dtype=np.float64)[pool.level]
    told = label != NO_LABEL
    count = np.bincount(pool.query[told], minlength=len(pool.queries))
    mean = np.bincount(pool.query[told], weights=label[told], minlength=len(pool.queries)) / np.maximum(count, 1)
    return np.where(told, label - mean[pool.query], 0.0)


def _scaled(values: FloatArray) -> FloatArray:
    spread = values.std()
    return values / spread if spread > 1e-12 else np.zeros(len(values))


def _one_of(place: IntArray, kinds: int, kind: IntArray, value: FloatArray) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array((value, (place, kind)), shape=(len(place), kinds))
