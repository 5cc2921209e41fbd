"""Which runs are compared, and whether they answer the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MismatchError, UsageError, did_you_mean
from ringtrue.formatting.phrases import first_few
from ringtrue.tables import Scores
from ringtrue.tables.scores import Cube

__all__ = ["chosen_pairs", "presence", "require_shared_queries"]

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def chosen_pairs(runs: Sequence[str], baselines: Sequence[str]) -> IntArray:
    """All pairs in the order given; with baselines, every other run against each, then these among themselves.

    Examples:
        >>> chosen_pairs(["x", "y", "z"], []).tolist()
        [[0, 1], [0, 2], [1, 2]]
        >>> chosen_pairs(["x", "y", "z"], ["x"]).tolist()
        [[1, 0], [2, 0]]
    """
    if len(runs) < 2:
        found = f"only '{runs[0]}'" if runs else "none"
        raise UsageError(f"a comparison needs two runs or more, found {found}")
    for name in baselines:
        if name not in runs:
            near = did_you_mean(name, runs) or f"; the runs are {', '.join(runs[:5])}{', …' if len(runs) > 5 else ''}"
            raise UsageError(f"no run is called '{name}', the baseline{near}")
    places = [runs.index(name) for name in dict.fromkeys(baselines)]
    others = [place for place in range(len(runs)) if place not in places]
    chosen = [(run, base) for run in others for base in places] if places else []
    return np.array([*chosen, *combinations(places or range(len(runs)), 2)], dtype=np.int64)


def presence(scores: Scores, cube: Cube) -> BoolArray:
    """Which run truly has which query (runs × queries), not only a 0 for a query that it lacks."""
    code = {query: place for place, query in enumerate(cube.queries)}
    there = np.ones((len(cube.runs), len(cube.queries)), dtype=bool)
    for run, lacking in scores.absent.items():
        if run in cube.runs:
            there[cube.runs.index(run), [code[query] for query in lacking if query in code]] = False
    return there


def require_shared_queries(cube: Cube, there: BoolArray, pairs: IntArray) -> list[str]:
    """An error where a pair has no query in common; a note where it has few."""
    few = []
    for a, b in pairs.tolist():
        shared, either = int((there[a] & there[b]).sum()), int((there[a] | there[b]).sum())
        if not shared:
            raise MismatchError(
                f"'{cube.runs[a]}' and '{cube.runs[b]}' have no query in common: {_lacking(cube, there, a)}, "
                f"{_lacking(cube, there, b)}; only --test welch compares runs over different queries"
            )
        if shared < either / 2:
            few.append((shared / either, shared, either, a, b))
    if not few:
        return []
    _, shared, either, a, b = min(few)
    more = f"; of {len(pairs)} pairs, {len(few)} share fewer than half" if len(few) > 1 else ""
    lacking = f"{_lacking(cube, there, a)}, {_lacking(cube, there, b)}"
    return [f"'{cube.runs[a]}' and '{cube.runs[b]}' share only {shared} of {either} queries: {lacking}{more}"]


def _lacking(cube: Cube, there: BoolArray, run: int) -> str:
    missing = [cube.queries[place] for place in np.flatnonzero(~there[run])]
    if not missing:
        return f"'{cube.runs[run]}' lacks none"
    return f"'{cube.runs[run]}' lacks {first_few(missing)}"
