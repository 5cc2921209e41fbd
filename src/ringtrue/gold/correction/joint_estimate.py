"""Estimates for several runs at once, with their covariance: what intervals and comparisons are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import normal_quantile, t_quantile, t_tail

Population: TypeAlias = Literal["these", "like-these"]

SINGLE_QUERY_NOTE = (
    "a single query says nothing about others: no interval can be given (--population these: about this one)"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointEstimate:
    """A value for each run, the covariance of their errors, and its degrees of freedom (infinite: normal).

    `labels` counts the gold labels that each value rests on.
    """

    values: FloatArray
    covariance: FloatArray
    df: float
    labels: IntArray

    def estimate(self, run: int, *, level: float, method: str, notes: tuple[str, ...] = ()) -> Estimate:
        """The value of one run with its interval."""
        return self._estimate(self.values[run], self.covariance[run, run], int(self.labels[run]), level, method, notes)

    def difference(self, a: int, b: int, *, level: float, method: str, notes: tuple[str, ...] = ()) -> Estimate:
        """How much higher a is than b, with its interval; `n` counts the gold labels of the one that has fewer."""
        variance = self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b]
        labels = int(min(self.labels[a], self.labels[b]))
        return self._estimate(self.values[a] - self.values[b], variance, labels, level, method, notes)

    def p_value(self, difference: Estimate) -> float | None:
        """Two-sided, for a difference of 0; None where the standard error is unknown, or 0 with a difference."""
        if difference.value is None or difference.se is None:
            return None
        if difference.se == 0:
            return 1.0 if difference.value == 0 else None
        return max(2 * float(t_tail(abs(difference.value) / difference.se, min(self.df, 1e9))), 5e-324)

    def _estimate(
        self, value: float, variance: float, labels: int, level: float, method: str, notes: tuple[str, ...]
    ) -> Estimate:
        if self.df < 1:
            return Estimate(value=float(value), level=level, n=labels, method=method, notes=(*notes, SINGLE_QUERY_NOTE))
        se = float(np.sqrt(max(variance, 0.0)))
        probability = (1 + level) / 2
        half_width = (t_quantile(probability, self.df) if np.isfinite(self.df) else normal_quantile(probability)) * se
        return Estimate(
            value=float(value),
            se=se,
            low=float(value - half_width),
            high=float(value + half_width),
            level=level,
            n=labels,
            method=method,
            notes=notes,
        )
