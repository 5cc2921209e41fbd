"""Many comparisons at once: the family that each belongs to, and p adjusted for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import MismatchError
from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.evaluation.significance.pairwise_tests import ComparisonSettings
from ringtrue.evaluation.significance.resampling_tests import tukey_hsd
from ringtrue.stats.results import Comparison
from ringtrue.tables.scores import Cube

Adjust: TypeAlias = Literal["holm", "bh", "tukey", "none"]
Family: TypeAlias = Literal["measure", "all"]


def holm(p: FloatArray) -> FloatArray:
    """Holm's step-down: the chance of any false finding in the family stays below the level [Holm79].

        p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) · p_(j))

    Holds however the comparisons hang together. What is undefined (NaN) stays so, and is not counted.

    Examples:
        >>> holm(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.06, 0.06])
    """
    return _stepwise(p, lambda p_ascending: np.maximum.accumulate(np.arange(len(p_ascending), 0, -1) * p_ascending))


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Benjamini and Hochberg's step-up: of all findings, the expected share of false ones stays below the level.

        p̃_(i) = min_{j ≥ i} min(1, m / j · p_(j))    [Benjamini95]

    Proven for independent comparisons and for those that lean the same way; for all pairs of runs it held in our
    simulations. What is undefined (NaN) stays so, and is not counted.

    Examples:
        >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.04, 0.04])
    """
    return _stepwise(
        p,
        lambda p_ascending: np.minimum.accumulate(
            (p_ascending * len(p_ascending) / np.arange(1, len(p_ascending) + 1))[::-1]
        )[::-1],
    )


def _stepwise(p: FloatArray, step: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """What a step makes of the known p in rising order, at most 1, each back in its place."""
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(step(p[order]), 1.0)
    return adjusted


STEPWISE: dict[str, tuple[str, Callable[[FloatArray], FloatArray]]] = {
    "holm": ("Holm", holm),
    "bh": ("Benjamini–Hochberg", benjamini_hochberg),
}


def adjust_p_values(raw: list[Comparison], adjust: Adjust, family: Family) -> list[Comparison]:
    """By Holm or Benjamini–Hochberg, or not at all."""
    p = np.array([np.nan if comparison.p_value is None else comparison.p_value for comparison in raw])
    if adjust in STEPWISE:
        step = STEPWISE[adjust][1]
        measures = np.array([comparison.measure if family == "measure" else "" for comparison in raw])
        for measure in dict.fromkeys(measures.tolist()):
            p[measures == measure] = step(p[measures == measure])
    return _set_p_adjusted(raw, p)


def _set_p_adjusted(raw: Iterable[Comparison], p: FloatArray) -> list[Comparison]:
    return [
        replace(comparison, p_adjusted=None if np.isnan(p_adjusted) else float(p_adjusted))
        for comparison, p_adjusted in zip(raw, p, strict=True)
    ]


def adjust_by_tukey(
    raw: list[Comparison], cube: Cube, pairs: IntArray, settings: ComparisonSettings
) -> tuple[list[Comparison], tuple[str, ...]]:
    """By Tukey's test over the queries that all runs have; a note says how many were left out."""
    test = partial(tukey_hsd, resamples=settings.resamples, progress=settings.progress)
    p, left_out = [], 0
    for values in cube.values:
        complete = ~np.isnan(values).any(axis=0)
        if not complete.any():
            raise MismatchError("no query is in all runs, and Tukey's test needs the same queries for all: use holm")
        p.append(test(values[:, complete], *pairs.T, rng=settings.rng))
        left_out = max(left_out, int((~complete).sum()))
    notes = (
        (f"left out of Tukey's test, because not every run has them: {left_out} of the queries",) if left_out else ()
    )
    return _set_p_adjusted(raw, np.concatenate(p)), notes


def describe_family(count: int, unit: str, adjust: Adjust, level: float, *, several: bool) -> str:
    """The family and the adjustment, as they are told: `several` measures, each with so many comparisons."""
    of_each = " of each measure" if several else ""
    if count == 1:
        return f"nothing to adjust for, with one comparison{of_each}"
    members = f"the {count:,} {unit}{of_each}"
    if adjust == "none":
        return f"not adjusted; were all runs equal, about {count * (1 - level):.2g} of {members} would look decided"
    return f"{STEPWISE[adjust][0]} over {members}"
