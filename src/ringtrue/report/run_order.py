"""Who is ahead: the order of the runs and their comparisons, as several sections need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.report.inputs import Material
from ringtrue.stats.results import Comparison, Comparisons, Estimate
from ringtrue.tables import Scores

__all__ = [
    "SAME",
    "Means",
    "Pairs",
    "all_of",
    "as_labelled",
    "at_odds",
    "best_first",
    "compared",
    "known_intervals",
    "leaders",
    "order",
    "strengths",
    "values",
]

Means: TypeAlias = Mapping[str, Mapping[str, Estimate]]
Pairs: TypeAlias = Mapping[tuple[str, str], Comparison]

SAME = 9  # digits in which values are the same that differ only by how they were added up


def best_first(means: Means, measure: str) -> tuple[str, ...]:
    """The runs by their value, the best first; those without one last."""
    return _sorted({run: row[measure].value for run, row in means.items()})


def leaders(found: Mapping[str, float | None]) -> tuple[str, ...]:
    """The runs with the highest value: more than one, where several have the same.

    Examples:
        >>> leaders({"a": 0.5, "b": 0.1 + 0.2 + 0.2, "c": None})
        ('a', 'b')
    """
    known = {run: round(value, SAME) for run, value in found.items() if value is not None}
    return tuple(run for run, value in known.items() if value == max(known.values()))


def all_of(runs: Sequence[str]) -> str:
    """All of them, in words.

    Examples:
        >>> all_of(["a", "b"]), all_of(["a", "b", "c"])
        ('both runs', 'all 3 runs')
    """
    return "both runs" if len(runs) == 2 else f"all {len(runs)} runs"


def known_intervals(means: Means) -> Means:
    """Without intervals of no length: where every query has the same value, they cannot tell what others would give."""
    return {
        run: {name: replace(one, low=None, high=None) if one.low == one.high else one for name, one in row.items()}
        for run, row in means.items()
    }


def values(material: Material) -> Means | None:
    """The value of each run, corrected where there is gold; None where gold serves for comparisons alone."""
    if material.gold is None:
        return None if material.scores is None else material.scores.means(level=material.level)
    found = material.corrected
    return None if found is None or isinstance(found, InputError) else found.corrected


def strengths(material: Material) -> dict[str, float | None]:
    """How far each run is ahead of all the others; where they cannot be compared, its value.

    Of a corrected difference more is known than of two corrected values, so that the differences have the last word.
    They need not fit together: the strengths are the values that fit them best, by least squares. Where every pair is
    compared, that is the mean of a run's differences from all, itself included.
    """
    found = material.compared
    if isinstance(found, Comparisons):
        known = [one for one in found if one.difference.value is not None]
        if known:
            return _fitted([run.name for run in material.runs], known)
    means = values(material) or {}
    return {run.name: means[run.name][material.measure].value if means else None for run in material.runs}


def order(material: Material) -> tuple[str, ...]:
    """The runs as the whole page has them, the best first by the measure of the page."""
    return _sorted(strengths(material))


def compared(material: Material) -> dict[tuple[str, str], Comparison]:
    """Every pair of runs, either way round; none where they cannot be compared."""
    every = material.compared if isinstance(material.compared, Comparisons) else ()
    found = {(one.a, one.b): one for one in every}
    return found | {(b, a): one.turned() for (a, b), one in found.items()}


def at_odds(means: Means, pairs: Pairs, measure: str) -> list[tuple[str, str]]:
    """The pairs of runs where the first has the higher value, and yet the second is ahead when they are compared."""
    found = []
    for (a, b), one in pairs.items():
        first, second, gap = means[a][measure].value, means[b][measure].value, one.difference.value
        if first is None or second is None or gap is None:
            continue
        if round(first - second, SAME) > 0 > round(gap, SAME):
            found.append((a, b))
    return found


def as_labelled(material: Material) -> tuple[Scores, str]:
    """The value of each run and query by the labels as they are, and how the measure reads them.

    Bronze labels may count as relevant from another label on than gold ones.
    """
    assert material.scores is not None
    measure, rel = material.measures[0], material.correcting.get("bronze_rel")
    if rel is None or "rel" not in measure.definition.defaults:
        return material.scores, str(measure)
    read = measure.from_label(rel)
    return evaluate(material.runs, material.judgments, read, **material.evaluating), str(read)


def _sorted(found: Mapping[str, float | None]) -> tuple[str, ...]:
    """The highest first, those without a value last, and those with the same in the order in which they came."""
    known = {run: float("-inf") if value is None else round(value, SAME) for run, value in found.items()}
    return tuple(sorted(known, key=lambda run: -known[run]))


def _fitted(names: list[str], known: list[Comparison]) -> dict[str, float | None]:
    place = {run: number for number, run in enumerate(names)}
    sides, rows = np.zeros((len(known), len(names))), np.arange(len(known))
    sides[rows, [place[one.a] for one in known]] = 1
    sides[rows, [place[one.b] for one in known]] = -1
    gaps = np.array([one.difference.value for one in known], dtype=np.float64)
    fit = np.linalg.lstsq(sides, gaps, rcond=None)[0]
    met = {run for one in known for run in (one.a, one.b)}
    return {run: float(fit[number]) if run in met else None for run, number in place.items()}
