"""Tables → curves: precision against recall, and ROC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.inputs import (
    Judges,
    MatchedRun,
    MatchSettings,
    Missing,
    NoteCollector,
    match_runs_to_qrels,
    require_choice,
)
from ringtrue.evaluation.measures import Compat, FloatArray, RankedLists
from ringtrue.evaluation.measures.binary import (
    ELEVEN_POINTS,
    RECALL_LEVELS,
    average_precision,
    eleven_points,
    interpolated_average,
    precision_recall,
)
from ringtrue.evaluation.measures.catalogue import PARAMETERS
from ringtrue.evaluation.measures.set_based import FALLOUT_LEVELS, area_under_roc, num_nonrelevant, roc
from ringtrue.stats.results import Curve, Curves

CurveKind: TypeAlias = Literal["pr", "roc", "11pt"]


Formula: TypeAlias = Callable[..., FloatArray]
# Of each kind the levels, and for each list the value at each of them and the area.
CURVE_FORMULAS: dict[CurveKind, tuple[tuple[float, ...], Formula, Formula]] = {
    "pr": (RECALL_LEVELS, precision_recall, average_precision),
    "roc": (FALLOUT_LEVELS, roc, area_under_roc),
    "11pt": (ELEVEN_POINTS, eleven_points, interpolated_average),
}


def curve(
    runs: object,
    judgments: object,
    *,
    kind: CurveKind = "pr",
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
    require_choice("kind", kind, get_args(CurveKind))
    if not PARAMETERS["rel"].accepts(rel):
        raise UsageError("out-of-range", f"expected {PARAMETERS['rel'].expected}; found {rel!r}", parameter="rel")
    settings = MatchSettings(
        missing=missing, judges=judges, depth=depth, compat=compat, collection_size=collection_size
    )
    notes, curves = NoteCollector(), dict[str, Curve]()
    for matched in match_runs_to_qrels(runs, judgments, settings, notes=notes):
        _add_curve_notes(notes, matched, kind, rel)
        curves[matched.run.name] = _mean_curve(matched, kind, rel, missing)
    return Curves(kind=kind, runs=curves, notes=notes.messages())


def _mean_curve(matched: MatchedRun, kind: CurveKind, rel: int, missing: Missing) -> Curve:
    """The mean over the queries that count and have such a curve."""
    levels, values_of, area_of = CURVE_FORMULAS[kind]

    def curve_rows(lists: RankedLists) -> FloatArray:
        """The values at every level and the area behind them, for each query; NaN where it has no curve."""
        values_and_area = np.column_stack([values_of(lists, rel=rel), area_of(lists, rel=rel)])
        if kind == "roc":
            values_and_area[(lists.relevant(rel) == 0) | (num_nonrelevant(lists, rel=rel) == 0)] = np.nan
        return values_and_area

    values = matched.average_over_judges(curve_rows)
    counted = ~np.isnan(values[:, -1])
    if missing == "skip":
        counted &= matched.present
    if not counted.any():
        return Curve(x=(), y=(), area=None, n=0)
    # Each level in one piece, as evaluate has its values: sums of floats depend on their order.
    *y, area = np.ascontiguousarray(values[counted].T).mean(axis=1).tolist()
    return Curve(x=levels, y=tuple(y), area=area, n=int(counted.sum()))


def _add_curve_notes(notes: NoteCollector, matched: MatchedRun, kind: CurveKind, rel: int) -> None:
    """What is doubtful about this kind of curve of this run."""
    if kind != "roc":
        notes.add_no_relevant_note(matched, rel=rel, treatment="where the curve is 0")
        return
    treatment = "where there is no ROC curve, left out of the mean"
    notes.add_no_relevant_note(matched, rel=rel, treatment=treatment)
    notes.add_no_nonrelevant_note(matched, count=lambda lists: num_nonrelevant(lists, rel=rel), treatment=treatment)
    notes.add_collection_note(matched)
