"""The family that a comparison belongs to, and p adjusted for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import MismatchError
from ringtrue.evaluation.significance.adjustment import benjamini_hochberg, holm
from ringtrue.evaluation.significance.paired_statistics import FloatArray
from ringtrue.evaluation.significance.pairwise_tests import ComparisonSettings
from ringtrue.evaluation.significance.resampling_tests import tukey_hsd
from ringtrue.evaluation.significance.run_pairs import IntArray
from ringtrue.stats.results import Comparison
from ringtrue.tables.scores import Cube

Adjust: TypeAlias = Literal["holm", "bh", "tukey", "none"]
Family: TypeAlias = Literal["measure", "all"]

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
    p, left_out = [], 0
    for values in cube.values:
        complete = ~np.isnan(values).any(axis=0)
        if not complete.any():
            raise MismatchError("no query is in all runs, and Tukey's test needs the same queries for all: use holm")
        p.append(
            tukey_hsd(
                values[:, complete],
                pairs[:, 0],
                pairs[:, 1],
                resamples=settings.resamples,
                rng=settings.rng,
                progress=settings.progress,
            )
        )
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
