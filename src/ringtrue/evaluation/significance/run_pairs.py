"""Which runs are compared, and whether they answer the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MismatchError, UsageError, did_you_mean
from ringtrue.formatting.phrases import join_first_few
from ringtrue.tables import Scores
from ringtrue.tables.scores import Cube

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def select_run_pairs(runs: Sequence[str], baselines: Sequence[str]) -> IntArray:
    """All pairs in the order given; with baselines, every other run against each, then these among themselves.

    Examples:
        >>> select_run_pairs(["x", "y", "z"], []).tolist()
        [[0, 1], [0, 2], [1, 2]]
        >>> select_run_pairs(["x", "y", "z"], ["x"]).tolist()
        [[1, 0], [2, 0]]
    """
    if len(runs) < 2:
        present_runs = f"only '{runs[0]}'" if runs else "none"
        raise UsageError(f"a comparison needs two runs or more, found {present_runs}")
    for name in baselines:
        if name not in runs:
            near = did_you_mean(name, runs) or f"; the runs are {', '.join(runs[:5])}{', …' if len(runs) > 5 else ''}"
            raise UsageError(f"no run is called '{name}', the baseline{near}")
    baseline_indices = [runs.index(name) for name in dict.fromkeys(baselines)]
    other_indices = [i for i in range(len(runs)) if i not in baseline_indices]
    against_baselines = [(run, base) for run in other_indices for base in baseline_indices] if baseline_indices else []
    return np.array([*against_baselines, *combinations(baseline_indices or range(len(runs)), 2)], dtype=np.int64)


def presence_matrix(scores: Scores, cube: Cube) -> BoolArray:
    """Which run truly has which query (runs × queries), not only a 0 for a query that it lacks."""
    column = {query: i for i, query in enumerate(cube.queries)}
    present = np.ones((len(cube.runs), len(cube.queries)), dtype=bool)
    for run, missing in scores.absent.items():
        if run in cube.runs:
            present[cube.runs.index(run), [column[query] for query in missing if query in column]] = False
    return present


def require_shared_queries(cube: Cube, present: BoolArray, pairs: IntArray) -> list[str]:
    """An error where a pair has no query in common; a note where it has few."""
    few = []
    for a, b in pairs.tolist():
        shared, either = int((present[a] & present[b]).sum()), int((present[a] | present[b]).sum())
        if not shared:
            raise MismatchError(
                f"'{cube.runs[a]}' and '{cube.runs[b]}' have no query in common: "
                f"{_describe_missing_queries(cube, present, a)}, "
                f"{_describe_missing_queries(cube, present, b)}; only --test welch compares runs over different queries"
            )
        if shared < either / 2:
            few.append((shared / either, shared, either, a, b))
    if not few:
        return []
    _, shared, either, a, b = min(few)
    more = f"; of {len(pairs)} pairs, {len(few)} share fewer than half" if len(few) > 1 else ""
    missing = f"{_describe_missing_queries(cube, present, a)}, {_describe_missing_queries(cube, present, b)}"
    return [f"'{cube.runs[a]}' and '{cube.runs[b]}' share only {shared} of {either} queries: {missing}{more}"]


def _describe_missing_queries(cube: Cube, present: BoolArray, run: int) -> str:
    missing = [cube.queries[i] for i in np.flatnonzero(~present[run])]
    if not missing:
        return f"'{cube.runs[run]}' lacks none"
    return f"'{cube.runs[run]}' lacks {join_first_few(missing)}"
