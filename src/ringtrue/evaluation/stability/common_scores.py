"""What two sets of scores have in common: runs, queries, measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MeasureError, MismatchError, UsageError
from ringtrue.evaluation.measures import Measure, parse
from ringtrue.formatting.phrases import format_count, join_first_few
from ringtrue.tables import Scores
from ringtrue.tables.scores import Cube

FloatArray = NDArray[np.float64]


def align_scores(
    scores: Scores, versus: Scores, notes: list[str]
) -> tuple[list[str], dict[str, tuple[FloatArray, FloatArray]]]:
    """The runs that both have, and for each measure the values [run, query] by either; notes tell what one has alone.

    A value is NaN where a run has none. Measures go by their names, or by their names but for `rel`.

    Examples:
        >>> from ringtrue.evaluation.evaluate import evaluate
        >>> runs = {"a": {"q1": {"d1": 2.0}}, "b": {"q1": {"d2": 2.0}}}
        >>> first, second = (evaluate(runs, {"q1": labels}, "RR") for labels in ({"d1": 1}, {"d2": 1}))
        >>> align_scores(first, second, [])
        (['a', 'b'], {'RR': (array([[1.], [0.]]), array([[0.], [1.]]))})
    """
    first_cube, second_cube = scores.cube(), versus.cube()
    runs = _common_names("run", first_cube.runs, second_cube.runs, notes)
    if len(runs) < 2:
        raise UsageError(f"an order needs two runs or more, found only '{runs[0]}'")
    queries = _common_names("query", first_cube.queries, second_cube.queries, notes)
    measures = _match_measures(first_cube.measures, second_cube.measures, notes)
    return runs, {
        measure: (
            _score_matrix(first_cube, measure, runs, queries),
            _score_matrix(second_cube, versus_measure, runs, queries),
        )
        for measure, versus_measure in measures.items()
    }


def _score_matrix(cube: Cube, measure: str, runs: list[str], queries: list[str]) -> FloatArray:
    """The values [run, query] of one measure, in the order of these runs and queries."""
    rows, columns = ({name: i for i, name in enumerate(names)} for names in (cube.runs, cube.queries))
    cells: FloatArray = cube.values[cube.measures.index(measure)][
        np.ix_([rows[run] for run in runs], [columns[query] for query in queries])
    ]
    return cells


def _common_names(kind: str, first: tuple[str, ...], second: tuple[str, ...], notes: list[str]) -> list[str]:
    """The names that both have; a note tells the others."""
    name_sets = set(first), set(second)
    common = [name for name in first if name in name_sets[1]]
    if not common:
        raise MismatchError(
            f"the two judges have no {kind} in common: the first has {join_first_few(first)}, "
            f"the second has {join_first_few(second)}"
        )
    for which, names, other_names in (("first", first, name_sets[1]), ("second", second, name_sets[0])):
        unshared = [name for name in names if name not in other_names]
        if unshared:
            notes.append(
                f"{format_count(len(unshared), kind)} of the {which} judge only, not used: {join_first_few(unshared)}"
            )
    return common


def _match_measures(first: tuple[str, ...], second: tuple[str, ...], notes: list[str]) -> dict[str, str]:
    """Which measure of the second judge belongs to which of the first: of the same name, or the same but for `rel`."""
    matched = {}
    for name in first:
        candidates = (
            [name]
            if name in second
            else [candidate for candidate in second if _without_rel(candidate) == _without_rel(name)]
        )
        if len(candidates) != 1:
            notes.append(f"{name} is of the first judge only, not used")
            continue
        matched[name] = candidates[0]
        if name not in candidates:
            notes.append(f"{name} by the first judge is held against {candidates[0]} by the second")
    notes += [f"{name} is of the second judge only, not used" for name in second if name not in matched.values()]
    if not matched:
        raise MismatchError(
            f"the two judges have no measure in common: the first has {join_first_few(first)}, "
            f"the second has {join_first_few(second)}"
        )
    return matched


def _without_rel(name: str) -> Measure | str:
    try:
        measure = parse(name)
    except MeasureError:
        return name
    return replace(measure, parameters=tuple((key, value) for key, value in measure.parameters if key != "rel"))
