"""Tables → curves: precision against recall, and ROC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.inputs import Entry, Judges, Missing, Notes, line_up, require_choice
from ringtrue.evaluation.measures import Compat, FloatArray, RankedLists
from ringtrue.evaluation.measures.binary import average_precision, interpolated_average
from ringtrue.evaluation.measures.catalogue import PARAMETERS
from ringtrue.evaluation.measures.curve_points import (
    ELEVEN_POINTS,
    FALLOUT_LEVELS,
    RECALL_LEVELS,
    area_under_roc,
    eleven_points,
    nonrelevant,
    precision_recall,
    roc,
)
from ringtrue.stats.results import Curve, Curves

__all__ = ["Kind", "curve"]

Kind: TypeAlias = Literal["pr", "roc", "11pt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A kind of curve: its levels, and for each list the value at each of them and the area."""

    levels: tuple[float, ...]
    values: Callable[..., FloatArray]
    area: Callable[..., FloatArray]


SHAPES: dict[Kind, _Shape] = {
    "pr": _Shape(levels=RECALL_LEVELS, values=precision_recall, area=average_precision),
    "roc": _Shape(levels=FALLOUT_LEVELS, values=roc, area=area_under_roc),
    "11pt": _Shape(levels=ELEVEN_POINTS, values=eleven_points, area=interpolated_average),
}


def curve(
    runs: object,
    judgments: object,
    *,
    kind: Kind = "pr",
    rel: int = 1,
    missing: Missing = "zero",
    judges: Judges = "one",
    depth: int | None = None,
    compat: Compat | None = None,
    collection_size: int | None = None,
) -> Curves:
    """The curve of each run, averaged over the judged queries at fixed levels.

    - "pr": precision where a recall is first reached, or 0 where it never is, at 101 levels. The area under it
      is mean average precision, exactly.
    - "11pt": interpolated precision, the best at a recall or any higher one, at 11 levels. The area is their
      mean, the 11-point average.
    - "roc": recall against fallout, at 110 levels that are dense near 0. The area is the mean probability
      that a relevant document stands above another, ties half. A query without a relevant document, or with
      nothing else, has no such curve; it is left out, and a note says so.

    All else is as in `evaluate`: `rel` is the lowest label that counts as relevant, and what `missing`,
    `judges`, `depth`, `compat` and `collection_size` mean is the same there.

    Examples:
        >>> run = {"q1": {"d1": 4.0, "d2": 3.0, "d3": 2.0, "d4": 1.0}}
        >>> pr = curve(run, {"q1": {"d1": 1, "d4": 1}}).runs["run"]
        >>> pr.x[50], pr.y[50], pr.x[51], pr.y[51], pr.area
        (0.5, 1.0, 0.51, 0.5, 0.75)
    """
    require_choice("kind", kind, get_args(Kind))
    if not PARAMETERS["rel"].accepts(rel):
        raise UsageError(f"rel is {PARAMETERS['rel'].expected}; found {rel!r}")
    notes = Notes()
    entries = line_up(
        runs,
        judgments,
        notes=notes,
        missing=missing,
        judges=judges,
        depth=depth,
        compat=compat,
        collection_size=collection_size,
    )
    drawn: dict[str, Curve] = {}
    for entry in entries:
        _note(notes, entry, kind, rel)
        drawn[entry.run.name] = _mean(entry, kind, rel, missing)
    return Curves(kind=kind, runs=drawn, notes=notes.told())


def _mean(entry: Entry, kind: Kind, rel: int, missing: Missing) -> Curve:
    """The mean over the queries that count and have such a curve."""
    shape = SHAPES[kind]

    def rows(lists: RankedLists) -> FloatArray:
        """The values at every level and the area behind them, for each query; NaN where it has no curve."""
        both = np.column_stack([shape.values(lists, rel=rel), shape.area(lists, rel=rel)])
        if kind == "roc":
            both[(lists.relevant(rel) == 0) | (nonrelevant(lists, rel=rel) == 0)] = np.nan
        return both

    values = entry.averaged(rows)
    counted = ~np.isnan(values[:, -1])
    if missing == "skip":
        counted &= entry.present
    if not counted.any():
        return Curve(x=(), y=(), area=None, n=0)
    # Each level in one piece, as evaluate has its values: sums of floats depend on their order.
    *y, area = np.ascontiguousarray(values[counted].T).mean(axis=1).tolist()
    return Curve(x=shape.levels, y=tuple(y), area=area, n=int(counted.sum()))


def _note(notes: Notes, entry: Entry, kind: Kind, rel: int) -> None:
    """What is doubtful about this kind of curve of this run."""
    if kind != "roc":
        notes.of_relevant(entry, rel=rel, done="where the curve is 0")
        return
    left_out = "where there is no ROC curve, left out of the mean"
    notes.of_relevant(entry, rel=rel, done=left_out)
    notes.of_nonrelevant(entry, count=lambda lists: nonrelevant(lists, rel=rel), done=left_out)
    notes.of_collection(entry)
