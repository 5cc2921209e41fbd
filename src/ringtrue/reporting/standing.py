"""Who is ahead: the order of the runs and their comparisons, as several sections need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ringtrue.errors import InputError
from ringtrue.evaluation import evaluate
from ringtrue.reporting.material import Material
from ringtrue.results import Comparison, Estimate
from ringtrue.tables import Scores

__all__ = ["Means", "as_labelled", "best_first", "compared", "order", "values"]

Means: TypeAlias = Mapping[str, Mapping[str, Estimate]]


def best_first(means: Means, measure: str) -> tuple[str, ...]:
    """The runs by their value, the best first; those without one last."""
    found = {run: row[measure].value for run, row in means.items()}
    return tuple(sorted(found, key=lambda run: -(float("-inf") if found[run] is None else found[run] or 0.0)))


def values(material: Material) -> Means | None:
    """The value of each run, corrected where there is gold; None where gold serves for comparisons alone."""
    if material.gold is None:
        return None if material.scores is None else material.scores.means(level=material.level)
    try:
        return None if material.correction is None else material.correction.corrected
    except InputError:
        return None


def order(material: Material) -> tuple[str, ...]:
    """The runs, the best first by the measure of the page: by their values, or else by their differences."""
    found = values(material)
    if found is not None:
        return best_first(found, material.measure)
    ahead = dict.fromkeys((run.name for run in material.runs), 0.0)
    for one in material.comparisons or ():
        ahead[one.a] += one.difference.value or 0.0
        ahead[one.b] -= one.difference.value or 0.0
    return tuple(sorted(ahead, key=lambda run: -ahead[run]))


def compared(material: Material) -> dict[tuple[str, str], Comparison]:
    """Every pair of runs, either way round."""
    found = {(one.a, one.b): one for one in material.comparisons or ()}
    return found | {(b, a): one.turned() for (a, b), one in found.items()}


def as_labelled(material: Material) -> tuple[Scores, str]:
    """The value of each run and query by the labels as they are, and how the measure reads them.

    Bronze labels may count as relevant from another label on than gold ones.
    """
    assert material.scores is not None
    measure, rel = material.measures[0], material.correcting.get("bronze_rel")
    if rel is None or "rel" not in measure.definition.defaults:
        return material.scores, str(measure)
    read = measure.from_label(rel)
    return evaluate(material.runs, material.judgments, read), str(read)
