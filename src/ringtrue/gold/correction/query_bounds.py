"""Bounds for whole queries: what labels that gold lost there could change, of runs and of differences between two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import polars as pl

from ringtrue.evaluation.measures import Measure
from ringtrue.gold.correction.results import Bounds
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments, Run

KEYS = ["query", "doc"]


def find_unknown_docs(gold: pl.DataFrame, lost: Judgments | None, listed: pl.DataFrame) -> pl.DataFrame:
    """The documents of gold's queries without a gold label: lost ones, and what others list that gold did not judge."""
    in_gold_queries = listed.join(gold, on="query", how="semi").select(KEYS)
    candidates = [in_gold_queries] if lost is None else [in_gold_queries, lost.frame.select(KEYS)]
    unknown = pl.concat(candidates).unique(maintain_order=True).join(gold, on=KEYS, how="anti", maintain_order="left")
    return unknown.join(gold, on="query", how="semi", maintain_order="left")


def bound_unknown_docs(
    unknown: pl.DataFrame,
    runs: Sequence[Run],
    measure: Measure,
    best: int,
    estimate_with: Callable[[pl.DataFrame], Estimate],
) -> Bounds | None:
    """The lowest and the highest end of the interval of a run, or of the first run less the second.

    Documents that help the first run have the best label or 0, those that help the second the other one, and those that
    neither shows, which count in the ideal ranking alone, 0 or the best: four ways, of which the extremes are taken.
    """
    helps_first = _compare_ranks(unknown, runs, measure)
    ends: list[float] = []
    for first, rest in product((0, best), repeat=2):
        label = pl.when(helps_first == 1).then(first).when(helps_first == -1).then(best - first).otherwise(rest)
        labelled = unknown.with_columns(judge=pl.lit("0"), label=pl.select(label.cast(pl.Int32)).to_series())
        estimate = estimate_with(labelled)
        ends += [end for end in (estimate.low, estimate.high) if end is not None]
    return Bounds(low=min(ends), high=max(ends)) if ends else None


def _compare_ranks(unknown: pl.DataFrame, runs: Sequence[Run], measure: Measure) -> pl.Series:
    """1 for each document that stands higher in the first run, −1 in the second, 0 where both or neither have it so."""
    ranks = []
    for run in runs:
        top = run.ranked(measure.reach) if measure.reach else run.ranked(int(run.groups.sizes.max()))
        joined = unknown.join(top.select(*KEYS, "rank"), on=KEYS, how="left", maintain_order="left")
        ranks.append(1 / joined["rank"].cast(pl.Float64).fill_null(float("inf")))
    height = ranks[0] if len(ranks) == 1 else ranks[0] - ranks[1]
    return height.sign()
