"""What is to be corrected, what every estimator answers, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np

from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.evaluation.significance.pairwise_tests import detectable_difference
from ringtrue.gold.correction.bronze_worth import BronzeWorth
from ringtrue.gold.correction.diagnostics import Check, failed_checks
from ringtrue.gold.correction.sampling_frame import SamplingFrame
from ringtrue.gold.designs import Design, Population
from ringtrue.messages import Note, Suggestion, notes_as_dict
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import estimate_share, normal_quantile, t_quantile, t_tail, wilson
from ringtrue.stats.results import Estimate, collect_footnotes
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray


SINGLE_QUERY_NOTE = Note(
    "single-query",
    "a single query says nothing about others: no interval can be given",
    suggestions=[Suggestion("asks about this one alone", population="these")],
)
Method: TypeAlias = Literal["difference", "confusion", "gold"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointEstimate:
    """A value for each run, the covariance of their errors, and its degrees of freedom (infinite: normal).

    `labels` counts the gold labels that each value rests on; `coefficients` say what each gold gain adds to each value,
    where the values are sums of them.
    """

    values: FloatArray
    covariance: FloatArray
    df: float
    labels: IntArray
    coefficients: FloatArray | None = None

    def estimate(self, run: int, *, level: float, method: str, notes: tuple[Note, ...] = ()) -> Estimate:
        """The value of one run with its interval."""
        return self._estimate(self.values[run], self.covariance[run, run], int(self.labels[run]), level, method, notes)

    def difference(self, a: int, b: int, *, level: float, method: str, notes: tuple[Note, ...] = ()) -> Estimate:
        """How much higher a is than b, with its interval; `n` counts the gold labels of the one that has fewer."""
        variance = self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b]
        labels = int(min(self.labels[a], self.labels[b]))
        return self._estimate(self.values[a] - self.values[b], variance, labels, level, method, notes)

    def contrast_variances(self, contrasts: FloatArray) -> FloatArray:
        """The variance of each row's combination of the values."""
        variances: FloatArray = np.einsum("ij,jk,ik->i", contrasts, self.covariance, contrasts)
        return variances

    def quantile(self, level: float) -> float:
        """How many standard errors half of the interval is long."""
        probability = (1 + level) / 2
        return t_quantile(probability, self.df) if np.isfinite(self.df) else normal_quantile(probability)

    def p_value(self, difference: Estimate) -> float | None:
        """Two-sided, for a difference of 0; None where the standard error is unknown, or 0 with a difference."""
        if difference.value is None or difference.se is None:
            return None
        if difference.se == 0:
            return 1.0 if difference.value == 0 else None
        return max(2 * float(t_tail(abs(difference.value) / difference.se, min(self.df, 1e9))), 5e-324)

    def _estimate(
        self, value: float, variance: float, labels: int, level: float, method: str, notes: tuple[Note, ...]
    ) -> Estimate:
        if self.df < 1:
            return Estimate(value=float(value), level=level, n=labels, method=method, notes=(*notes, SINGLE_QUERY_NOTE))
        se = float(np.sqrt(max(variance, 0.0)))
        half_width = self.quantile(level) * se
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The ends of an interval whatever lost labels, and documents that the sample could not draw, may be."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.3f} to {self.high:.3f}"

    def around(self, estimate: Estimate, lowest: float = -np.inf, highest: float = np.inf) -> Bounds | None:
        """Bounds that hold the interval too, within what is possible; None where they say no more than it does."""
        if estimate.low is None or estimate.high is None:
            return None
        low, high = max(min(self.low, estimate.low), lowest), min(max(self.high, estimate.high), highest)
        tolerance = 1e-9 * max(abs(low), abs(high), 1.0)
        if low >= estimate.low - tolerance and high <= estimate.high + tolerance:
            return None
        return Bounds(low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectionProblem:
    """Runs, bronze and gold labels, and what the interval is about. `gold` is a matrix where only that is known.

    `bronze` has the labels by which the runs are evaluated; `all_bronze`, where that is more, also those of gold
    documents from elsewhere. `lost` has the drawn documents without a gold label, `sampling_frame` all that could be
    drawn, where that is known.
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
    lost: Judgments | None = None
    sampling_frame: SamplingFrame | None = None

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
    error that it takes where that is not the one of the difference. `bounds` hold whatever is not known may be.
    """

    difference: Estimate
    p_value: float | None
    test: str
    df: float
    tested_se: float | None = None
    bounds: Bounds | None = None

    def detectable(self, level: float) -> float | None:
        """The difference that is found in four of five tests; None where the data cannot tell."""
        se = self.difference.se if self.tested_se is None else self.tested_se
        if self.difference.value is None or not se or self.df < 1:
            return None
        return float(detectable_difference(np.array(se), self.df, level))


class Estimator(Protocol):
    """One way to correct: by documents, by whole queries, or by the judge's rates."""

    def explain_method(self, measure: Measure) -> Note:
        """The method, and why it was chosen, in words."""

    def estimates(self, measure: Measure) -> list[Estimate]:
        """A corrected mean for each run."""

    def gold_only(self, measure: Measure) -> list[Estimate] | None:
        """The mean of each run from the gold labels alone; None where these are not of the runs' documents."""

    def differences(self, measure: Measure, pairs: IntArray) -> list[CorrectedDifference]:
        """The corrected difference of each pair of runs."""

    def bounds(self, measure: Measure) -> list[Bounds | None]:
        """For each run, its interval whatever is not known may be; None where that changes nothing."""

    def bronze_worth(self, measure: Measure, pairs: IntArray | None = None) -> BronzeWorth | None:
        """What the bronze labels added to the gold ones for the runs, or these pairs; None where gold says no more."""

    def checks(self, measure: Measure, pairs: IntArray | None = None) -> list[Check]:
        """What speaks for or against the gold labels, or against comparing these pairs of runs by them."""

    def describe_judge(self, measure: Measure) -> dict[str, object]:
        """The bronze judge by the gold labels, as plain data."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is doubtful about the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What `correct` gives: each run and measure as bronze has it, corrected, and from gold alone where that is known.

    `methods` says how each measure was corrected and why so; `judge` has the bronze judge's rates and confusion
    matrix; `checks` what speaks for or against the gold labels. Where gold labels were lost, or a run shows documents
    that could not be drawn, `bounds` are the ends of the interval whatever these may be; `bronze_worth` says for each
    measure what the bronze labels added.

    Examples:
        >>> import ringtrue as rt
        >>> run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(30)}
        >>> bronze = {f"q{i}": {"a": 1, "b": i % 2} for i in range(30)}
        >>> gold = {f"q{i}": {"a": int(i > 3), "b": 0} for i in range(0, 30, 3)}
        >>> correction = rt.correct(run, bronze, gold, "P@2", design="pool_random", population="these")
        >>> print(correction.raw["run"]["P@2"].value, "→", correction.corrected["run"]["P@2"])
        0.75 → 0.40 (95% CI 0.24 to 0.56)
    """

    raw: Mapping[str, Mapping[str, Estimate]]
    corrected: Mapping[str, Mapping[str, Estimate]]
    gold_only: Mapping[str, Mapping[str, Estimate]]
    methods: Mapping[str, Note]
    design: Design
    population: Population
    judge: Mapping[str, object]
    checks: tuple[Check, ...]
    bounds: Mapping[str, Mapping[str, Bounds]]
    bronze_worth: Mapping[str, BronzeWorth]
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{run} {name}: {estimate} (bronze says {_format_bronze(self.raw[run][name])})"
            for run, row in self.corrected.items()
            for name, estimate in row.items()
        ]
        worth = [f"{name}: {worth}" for name, worth in self.bronze_worth.items()]
        return "\n".join([*lines, *self.methods.values(), *worth, *failed_checks(self.checks)])

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        return {
            "runs": _estimates_as_dicts(self.raw),
            "corrected": _estimates_as_dicts(self.corrected),
            "gold_only": _estimates_as_dicts(self.gold_only),
            "methods": dict(self.methods),
            "design": self.design,
            "population": self.population,
            "judge": dict(self.judge),
            "checks": [check.as_dict() for check in self.checks],
            "bounds": {
                run: {name: {"low": bounds.low, "high": bounds.high} for name, bounds in row.items()}
                for run, row in self.bounds.items()
            },
            "bronze_worth": {name: worth.as_dict() for name, worth in self.bronze_worth.items()},
            **notes_as_dict(self.notes),
        }


def correction_footnotes(correction: Correction) -> list[Note]:
    """The notes of all corrected values; a doubt that differs only by its numbers is told once.

    What the correction takes for granted is left out: the notes about the whole have it.
    """
    return collect_footnotes(correction.corrected, skip={"same-error-rates"})


def _estimates_as_dicts(table: Mapping[str, Mapping[str, Estimate]]) -> dict[str, dict[str, dict[str, object]]]:
    return {run: {name: estimate.as_dict() for name, estimate in row.items()} for run, row in table.items()}


def _format_bronze(estimate: Estimate) -> str:
    return "nothing" if estimate.value is None else f"{estimate.value:.3f}"


def count_confusion(gold: IntArray, bronze: IntArray, weight: FloatArray | None = None) -> Confusion:
    """How often bronze says each label where gold says another; documents without a bronze label are left out."""
    labels = sorted({*gold.tolist(), *bronze[bronze >= 0].tolist()})
    index_of = {label: index for index, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)))
    for gold_label, bronze_label, label_weight in zip(
        gold.tolist(), bronze.tolist(), np.ones(len(gold)) if weight is None else weight, strict=True
    ):
        if bronze_label >= 0:
            counts[index_of[gold_label], index_of[bronze_label]] += label_weight
    if weight is None:
        counts = counts.astype(np.int64)
    return Confusion(rows="gold", columns="bronze", labels=tuple(labels), counts=counts)


def weighted_rate(
    hits: NDArray[np.bool_], weight: FloatArray, level: float, queries: IntArray | None = None
) -> Estimate:
    """The weighted share of hits, with Wilson's interval for as many labels as the weights are worth.

    Where gold judged whole queries, `queries` has that of each label: labels of one query are alike, and the interval
    is about queries like these, as `estimate_share` has it. One query alone tells nothing about others.

    Examples:
        >>> hits, query = np.array([True] * 90 + [False] * 10), np.repeat(np.arange(10), 10)
        >>> print(weighted_rate(hits, np.ones(100), 0.95), weighted_rate(hits, np.ones(100), 0.95, query), sep="; ")
        0.90 (95% CI 0.83 to 0.94); 0.9 (95% CI 0.4 to 1.0)
    """
    if not len(hits):
        note = Note("no-gold-of-a-kind", "there is no such gold label")
        return Estimate(value=None, level=level, n=0, method="wilson", notes=(note,))
    if queries is not None:
        estimate = estimate_share(hits, queries, level=level)
        if estimate.notes:
            note = Note("single-query", "all of these labels are of one query: no interval can be given")
            return Estimate(value=estimate.value, level=level, n=len(hits), method="wilson", notes=(note,))
        return estimate
    share = float((weight * hits).sum() / weight.sum())
    effective_n = float(weight.sum()) ** 2 / float((weight**2).sum())
    low, high = wilson(share, effective_n, level=level)
    se = float(np.sqrt(share * (1 - share) / effective_n))
    return Estimate(value=share, se=se, low=float(low), high=float(high), level=level, n=len(hits), method="wilson")


def summarise_judge(
    gold: IntArray,
    bronze: IntArray,
    relevant: NDArray[np.bool_],
    bronze_relevant: NDArray[np.bool_],
    weight: FloatArray,
    level: float,
    queries: IntArray | None = None,
) -> dict[str, object]:
    """The confusion matrix of the gold labels, and how often bronze is right on relevant and on other documents.

    The rates stand for the whole pool: a label counts as often as documents it was drawn for. `queries` are those of
    the labels, where gold judged whole ones.
    """
    on_relevant, on_nonrelevant = (
        weighted_rate(
            (relevant == bronze_relevant)[selected],
            weight[selected],
            level,
            None if queries is None else queries[selected],
        )
        for selected in (relevant, ~relevant)
    )
    both_known = None not in (on_relevant.value, on_nonrelevant.value)
    return {
        "relevant": on_relevant.as_dict(),
        "nonrelevant": on_nonrelevant.as_dict(),
        "youden": (on_relevant.value or 0) + (on_nonrelevant.value or 0) - 1 if both_known else None,
        "confusion": count_confusion(gold, bronze).as_dict(),
    }
