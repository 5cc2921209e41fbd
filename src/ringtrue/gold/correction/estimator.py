"""What is to be corrected, what every estimator answers, and estimates of several runs with their covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np

from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.evaluation.significance.pairwise_tests import detectable_difference
from ringtrue.gold.correction.diagnostics import Check
from ringtrue.gold.designs import Design, Population
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import normal_quantile, t_quantile, t_tail
from ringtrue.tables import Judgments, Run

SINGLE_QUERY_NOTE = (
    "a single query says nothing about others: no interval can be given (--population these: about this one)"
)
Method: TypeAlias = Literal["difference", "confusion", "gold"]


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectionProblem:
    """Runs, bronze and gold labels, and what the interval is about. `gold` is a matrix where only that is known.

    `bronze` has the labels by which the runs are evaluated; `all_bronze`, where that is more, also those of gold
    documents from elsewhere.
    """

    runs: Sequence[Run]
    bronze: Judgments
    gold: Judgments | Confusion
    design: Design
    method: Method
    population: Population
    bronze_rel: int | None
    level: float
    rng: np.random.Generator
    all_bronze: Judgments | None = None

    @property
    def run_names(self) -> list[str]:
        """What the runs are called."""
        return [run.name for run in self.runs]

    def bronze_measure(self, measure: Measure) -> Measure:
        """The measure as it is read from bronze labels, which may count as relevant from another label on."""
        if self.bronze_rel is None or "rel" not in measure.definition.defaults:
            return measure
        return measure.from_label(self.bronze_rel)

    def bronze_threshold(self, measure: Measure) -> int:
        """From which bronze label on a document counts as relevant."""
        return self.bronze_measure(measure).rel

    def bronze_values(self, measure: Measure) -> FloatArray:
        """The measure by bronze for each run and query."""
        values: FloatArray = evaluate(self.runs, self.bronze, self.bronze_measure(measure)).cube().values[0]
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedDifference:
    """The corrected difference of two runs, p for there being none, and what such a test finds in four of five cases.

    `df` are the degrees of freedom of the test, infinite where it is a z test, and `tested_se` is the standard
    error that it takes where that is not the one of the difference.
    """

    difference: Estimate
    p_value: float | None
    test: str
    df: float
    tested_se: float | None = None

    def detectable(self, level: float) -> float | None:
        """The difference that is found in four of five tests; None where the data cannot tell."""
        se = self.difference.se if self.tested_se is None else self.tested_se
        if self.difference.value is None or not se or self.df < 1:
            return None
        return float(detectable_difference(np.array(se), self.df, level))


class Estimator(Protocol):
    """One way to correct: by documents, by whole queries, or by the judge's rates."""

    def explain_method(self, measure: Measure) -> str:
        """The method, and why it was chosen, in words."""

    def estimates(self, measure: Measure) -> list[Estimate]:
        """A corrected mean for each run."""

    def gold_only(self, measure: Measure) -> list[Estimate] | None:
        """The mean of each run from the gold labels alone; None where these are not of the runs' documents."""

    def differences(self, measure: Measure, pairs: IntArray) -> list[CorrectedDifference]:
        """The corrected difference of each pair of runs."""

    def checks(self, measure: Measure, pairs: IntArray | None = None) -> list[Check]:
        """What speaks for or against the gold labels, or against comparing these pairs of runs by them."""

    def describe_judge(self, measure: Measure) -> dict[str, object]:
        """The bronze judge by the gold labels, as plain data."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is doubtful about the whole."""
