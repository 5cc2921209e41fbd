"""What the measures would be with a perfect judge, and how the bronze judge does by the gold labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.diagnostics import Check
from ringtrue.gold.designs import Design, Population
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.estimate_cells import collect_footnotes
from ringtrue.stats.intervals import estimate_share, wilson
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARED_CAVEAT = "holds where the judge errs on these documents"  # the note about the whole says it once


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What `correct` gives: each run and measure as bronze has it, corrected, and from gold alone where that is known.

    `methods` says how each measure was corrected and why so; `judge` has the bronze judge's rates and confusion
    matrix; `checks` what speaks for or against the gold labels.

    Examples:
        >>> import ringtrue as rt
        >>> run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(30)}
        >>> bronze = {f"q{i}": {"a": 1, "b": i % 2} for i in range(30)}
        >>> gold = {f"q{i}": {"a": int(i > 3), "b": 0} for i in range(0, 30, 3)}
        >>> correction = rt.correct(run, bronze, gold, "P@2", design="pool_random", population="these")
        >>> print(correction.raw["run"]["P@2"].value, "→", correction.corrected["run"]["P@2"])
        0.75 → 0.41 (95% CI 0.25 to 0.58)
    """

    raw: Mapping[str, Mapping[str, Estimate]]
    corrected: Mapping[str, Mapping[str, Estimate]]
    gold_only: Mapping[str, Mapping[str, Estimate]]
    methods: Mapping[str, str]
    design: Design
    population: Population
    judge: Mapping[str, object]
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{run} {name}: {estimate} (bronze says {_format_bronze(self.raw[run][name])})"
            for run, row in self.corrected.items()
            for name, estimate in row.items()
        ]
        return "\n".join([*lines, *self.methods.values(), *(check.text for check in self.checks if not check.passed)])

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
            "notes": list(self.notes),
        }


def correction_footnotes(correction: Correction) -> list[str]:
    """The notes of all corrected values; a doubt that differs only by its numbers is told once."""
    return collect_footnotes(correction.corrected, skip_prefix=SHARED_CAVEAT)


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
        return Estimate(value=None, level=level, n=0, method="wilson", notes=("there is no such gold label",))
    if queries is not None:
        estimate = estimate_share(hits, queries, level=level)
        if estimate.notes:
            note = "all of these labels are of one query: no interval can be given"
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
