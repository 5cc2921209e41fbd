"""The family that a comparison belongs to, and p adjusted for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import MismatchError
from ringtrue.evaluation.significance.adjustment import benjamini_hochberg, holm
from ringtrue.evaluation.significance.paired_statistics import FloatArray
from ringtrue.evaluation.significance.pairwise_tests import Setting
from ringtrue.evaluation.significance.resampling_tests import tukey
from ringtrue.evaluation.significance.run_pairs import IntArray
from ringtrue.stats.results import Comparison
from ringtrue.tables.scores import Cube

__all__ = ["Adjust", "Family", "adjusted", "by_tukey", "family_words"]

Adjust: TypeAlias = Literal["holm", "bh", "tukey", "none"]
Family: TypeAlias = Literal["measure", "all"]

STEPWISE: dict[str, tuple[str, Callable[[FloatArray], FloatArray]]] = {
    "holm": ("Holm", holm),
    "bh": ("Benjamini–Hochberg", benjamini_hochberg),
}


def adjusted(raw: list[Comparison], adjust: Adjust, family: Family) -> list[Comparison]:
    """By Holm or Benjamini–Hochberg, or not at all."""
    p = np.array([np.nan if one.p_value is None else one.p_value for one in raw])
    if adjust in STEPWISE:
        step = STEPWISE[adjust][1]
        measures = np.array([one.measure if family == "measure" else "" for one in raw])
        for measure in dict.fromkeys(measures.tolist()):
            p[measures == measure] = step(p[measures == measure])
    return _with_adjusted(raw, p)


def _with_adjusted(raw: Iterable[Comparison], p: FloatArray) -> list[Comparison]:
    return [replace(one, p_adjusted=None if np.isnan(value) else float(value))
            for one, value in zip(raw, p, strict=True)]  # fmt: skip


def by_tukey(
    raw: list[Comparison], cube: Cube, pairs: IntArray, setting: Setting
) -> tuple[list[Comparison], tuple[str, ...]]:
    """By Tukey's test over the queries that all runs have; a note says how many were left out."""
    p, rest = [], 0
    for values in cube.values:
        everyone = ~np.isnan(values).any(axis=0)
        if not everyone.any():
            raise MismatchError("no query is in all runs, and Tukey's test needs the same queries for all: use holm")
        p.append(tukey(values[:, everyone], pairs[:, 0], pairs[:, 1], resamples=setting.resamples, rng=setting.rng,
                       progress=setting.progress))  # fmt: skip
        rest = max(rest, int((~everyone).sum()))
    notes = (f"left out of Tukey's test, because not every run has them: {rest} of the queries",) if rest else ()
    return _with_adjusted(raw, np.concatenate(p)), notes


def family_words(count: int, what: str, adjust: Adjust, level: float, *, several: bool) -> str:
    """The family and the adjustment, as they are told: `several` measures, each with so many comparisons."""
    of_each = " of each measure" if several else ""
    if count == 1:
        return f"nothing to adjust for, with one comparison{of_each}"
    over = f"the {count:,} {what}{of_each}"
    if adjust == "none":
        return f"not adjusted; were all runs equal, about {count * (1 - level):.2g} of {over} would look decided"
    return f"{STEPWISE[adjust][0]} over {over}"
