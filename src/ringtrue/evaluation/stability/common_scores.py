"""What two sets of scores have in common: runs, queries, measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MeasureError, MismatchError, UsageError
from ringtrue.evaluation.measures import Measure, parse
from ringtrue.formatting.phrases import counted, first_few
from ringtrue.tables import Scores
from ringtrue.tables.scores import Cube

__all__ = ["shared"]

FloatArray = NDArray[np.float64]


def shared(
    scores: Scores, versus: Scores, notes: list[str]
) -> tuple[list[str], dict[str, tuple[FloatArray, FloatArray]]]:
    """The runs that both have, and for each measure the values [run, query] by either; notes tell what one has alone.

    A value is NaN where a run has none. Measures go by their names, or by their names but for `rel`.

    Examples:
        >>> from ringtrue.evaluation.evaluate import evaluate
        >>> runs = {"a": {"q1": {"d1": 2.0}}, "b": {"q1": {"d2": 2.0}}}
        >>> one, two = (evaluate(runs, {"q1": labels}, "RR") for labels in ({"d1": 1}, {"d2": 1}))
        >>> shared(one, two, [])
        (['a', 'b'], {'RR': (array([[1.], [0.]]), array([[0.], [1.]]))})
    """
    one, two = scores.cube(), versus.cube()
    runs = _in_common("run", one.runs, two.runs, notes)
    if len(runs) < 2:
        raise UsageError(f"an order needs two runs or more, found only '{runs[0]}'")
    queries = _in_common("query", one.queries, two.queries, notes)
    measures = _matched(one.measures, two.measures, notes)
    return runs, {
        measure: (_cells(one, measure, runs, queries), _cells(two, other, runs, queries))
        for measure, other in measures.items()
    }


def _cells(cube: Cube, measure: str, runs: list[str], queries: list[str]) -> FloatArray:
    """The values [run, query] of one measure, in the order of these runs and queries."""
    rows, columns = ({name: place for place, name in enumerate(names)} for names in (cube.runs, cube.queries))
    cells: FloatArray = cube.values[cube.measures.index(measure)][
        np.ix_([rows[run] for run in runs], [columns[query] for query in queries])
    ]
    return cells


def _in_common(what: str, one: tuple[str, ...], two: tuple[str, ...], notes: list[str]) -> list[str]:
    """The names that both have; a note tells the others."""
    known = set(one), set(two)
    both = [name for name in one if name in known[1]]
    if not both:
        raise MismatchError(
            f"the two judges have no {what} in common: the first has {first_few(one)}, the second has {first_few(two)}"
        )
    for which, names, others in (("first", one, known[1]), ("second", two, known[0])):
        alone = [name for name in names if name not in others]
        if alone:
            notes.append(f"{counted(len(alone), what)} of the {which} judge only, not used: {first_few(alone)}")
    return both


def _matched(one: tuple[str, ...], two: tuple[str, ...], notes: list[str]) -> dict[str, str]:
    """Which measure of the second judge belongs to which of the first: of the same name, or the same but for `rel`."""
    matched = {}
    for name in one:
        near = [name] if name in two else [other for other in two if _but_for_rel(other) == _but_for_rel(name)]
        if len(near) != 1:
            notes.append(f"{name} is of the first judge only, not used")
            continue
        matched[name] = near[0]
        if name not in near:
            notes.append(f"{name} by the first judge is held against {near[0]} by the second")
    notes += [f"{name} is of the second judge only, not used" for name in two if name not in matched.values()]
    if not matched:
        raise MismatchError(
            f"the two judges have no measure in common: the first has {first_few(one)}, the second has {first_few(two)}"
        )
    return matched


def _but_for_rel(name: str) -> Measure | str:
    try:
        measure = parse(name)
    except MeasureError:
        return name
    return replace(measure, parameters=tuple((key, value) for key, value in measure.parameters if key != "rel"))
