"""Did gold judge whole queries: each as probable as any other, and all that the runs show of them?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from ringtrue.errors import InputError, MismatchError
from ringtrue.evaluation.measures import Measure
from ringtrue.gold.correction.gold_sample import compare_ids
from ringtrue.gold.correction.query_bounds import KEYS
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.results import Estimate
from ringtrue.tables import Run

DEFAULT_DEPTH = 10  # where a measure looks at the whole list: what has to be judged at the least
MIN_JUDGED_IN_TOP = 0.8  # of what a run shows


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedTops:
    """What gold judged of the tops of the runs in its queries: `gold_rows` are its labels.

    Runs, and pairs of them, are numbers of `runs`.
    """

    runs: Sequence[Run]
    gold_rows: pl.DataFrame
    _counts: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # of a run, to a depth

    def unjudged_reason(self, measure: Measure, runs: Iterable[int]) -> Note | None:
        """That gold judged too little of what one of these runs shows; None where it judged enough."""
        depth = judged_depth(measure)
        for run in runs:
            if (run, depth) not in self._counts:
                self._counts[run, depth] = count_judged_in_top(self.runs[run], self.gold_rows, depth)
            judged, shown = self._counts[run, depth]
            if judged < MIN_JUDGED_IN_TOP * shown:
                return Note(
                    "top-not-judged",
                    f"gold judged {judged:,} of the {shown:,} documents that '{self.runs[run].name}' has in the top "
                    f"{depth} of the gold queries",
                    suggestions=[
                        Suggestion(
                            "lists what has to be judged",
                            function="sample_queries",
                            already=...,
                            queries=0,
                            measures=f"{measure}",
                        )
                    ],
                )
        return None

    def require_some(self, measure: Measure, rows: Sequence[Sequence[int]]) -> None:
        """Refuse gold that judged too little for each of these runs, or pairs of runs."""
        reasons = [self.unjudged_reason(measure, row) for row in rows]
        if reasons and reasons[0] is not None and all(reasons):
            self.require_shared_documents(measure)
            raise InputError(
                "no-whole-queries",
                f"{reasons[0].text}: these are not whole queries",
                suggestions=reasons[0].suggestions,
            )

    def require_shared_documents(self, measure: Measure) -> None:
        """Refuse gold none of whose documents a run shows: ids of another kind, or the labels of something else."""
        depth = judged_depth(measure)
        shown = pl.concat([run.ranked(depth).select(KEYS) for run in self.runs])
        if not shown.join(self.gold_rows, on=KEYS, how="semi").height:
            ids = compare_ids(self.gold_rows, shown, "the runs")
            raise MismatchError(
                "gold-outside-runs",
                f"no gold document is in any run's top {depth}: {ids}; are the ids of the same kind?",
            )

    def withhold_unjudged(self, estimate: Estimate, measure: Measure, *runs: int) -> Estimate:
        """Without a value where gold judged too little of what a run shows."""
        reason = self.unjudged_reason(measure, runs)
        if reason is None:
            return estimate
        return replace(estimate, value=None, se=None, low=None, high=None, notes=(reason,))

    def unjudged_docs(self, measure: Measure) -> pl.DataFrame:
        """The documents without a gold label that runs with a value show in the gold queries."""
        depth, queries = judged_depth(measure), self.gold_rows["query"].unique().implode()
        tops = [
            run.ranked(depth).filter(pl.col("query").is_in(queries)).select(KEYS)
            for index, run in enumerate(self.runs)
            if self.unjudged_reason(measure, [index]) is None
        ]
        if not tops:
            return self.gold_rows.select(KEYS).clear()
        return pl.concat(tops).unique(maintain_order=True).join(self.gold_rows, on=KEYS, how="anti")


def judged_depth(measure: Measure) -> int:
    """Down to which rank gold has to judge what a run shows."""
    return measure.reach or DEFAULT_DEPTH


def count_judged_in_top(run: Run, gold_rows: pl.DataFrame, depth: int) -> tuple[int, int]:
    """How many documents of a run's tops gold judged, in the queries that it judged, and how many there are."""
    top = run.ranked(depth).filter(pl.col("query").is_in(gold_rows["query"].unique().implode()))
    return top.join(gold_rows, on=KEYS, how="semi").height, top.height


def require_one_probability(gold_rows: pl.DataFrame) -> None:
    """Refuse gold whose queries were not equally probable."""
    prob = gold_rows["prob"].to_numpy() if "prob" in gold_rows.columns else np.ones(1)
    if np.ptp(prob) > 0:
        raise InputError(
            "unequal-probabilities",
            f"the gold queries have different probabilities in column prob ({prob.min():g} to {prob.max():g}): "
            f"whole queries should be drawn at random, each as probable as any other",
        )
