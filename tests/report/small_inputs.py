"""Small material for reports: made by hand, or simulated with known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

from ringtrue.evaluation.measures import parse_all
from ringtrue.gold.sampling import sample, sample_queries
from ringtrue.report.inputs import ReportInputs
from ringtrue.simulation import simulate_collection, simulate_crowd, simulate_voters
from ringtrue.tables import Judgments, Run

LAST = 10  # ranks of every list


def by_hand(ranks: Mapping[str, Sequence[int]], **changes: Any) -> ReportInputs:
    """Runs with one relevant document a query, at these ranks: q1, q2, …; RR is one divided by the rank.

    Beyond rank 10 it is not found. Every document at ranks 1 to 10 has a label.
    """
    runs = tuple(Run.of({f"q{q}": _found(rank) for q, rank in enumerate(row, start=1)}, name=name)
                 for name, row in ranks.items())  # fmt: skip
    queries = len(next(iter(ranks.values())))
    labels = {"hit": 1} | {f"miss{place}": 0 for place in range(1, LAST + 1)}
    judgments = Judgments.of({f"q{q}": labels for q in range(1, queries + 1)})
    known = {"runs": runs, "judgments": judgments, "measures": tuple(parse_all(["RR"]))}
    return ReportInputs(**(known | changes))


def _found(rank: int) -> dict[str, float]:
    return {"hit" if place == rank else f"miss{place}": -float(place) for place in range(1, LAST + 1)}


@cache
def noisy(seed: int, *, runs: int = 4, queries: int = 12, gold: int = 6, **changes: Any) -> ReportInputs:
    """Lists, bronze labels and some queries of gold by lot: each pair has a slope of its own, and so values and
    differences sometimes disagree about the runs: of 156 and 190, about the best.

    Do not change it: several tests share it.
    """
    rng = np.random.default_rng(seed)
    docs = [f"d{place}" for place in range(8)]
    lists = {
        f"r{run}": {f"q{q}": dict(zip(docs, rng.random(8).tolist(), strict=True)) for q in range(queries)}
        for run in range(runs)
    }
    bronze = {f"q{q}": dict(zip(docs, rng.integers(0, 2, 8).tolist(), strict=True)) for q in range(queries)}
    drawn = rng.choice(queries, gold, replace=False).tolist()
    trusted = {f"q{q}": dict(zip(docs, rng.integers(0, 2, 8).tolist(), strict=True)) for q in drawn}
    known = {
        "runs": tuple(Run.of(ranked, name=name) for name, ranked in lists.items()),
        "judgments": Judgments.of(bronze),
        "gold": Judgments.of(trusted),
        "measures": tuple(parse_all(["P@3"])),
        "correction_options": {"design": "whole_queries"},
    }
    return ReportInputs(**(known | changes))


@cache
def simulated(
    gold: Literal["none", "documents", "whole queries"] = "documents", *, queries: int = 40, seed: int = 1
) -> ReportInputs:
    """Three runs, a bronze judge, gold as `sample` draws it, a crowd with traps, and preferences.

    Do not change it: several tests share it, and what it has worked out. `dataclasses.replace` makes another one.
    """
    world = simulate_collection(rng=np.random.default_rng(seed), queries=queries)
    crowd = simulate_crowd(world, rng=np.random.default_rng([seed, 1]))
    voters = simulate_voters(world, rng=np.random.default_rng([seed, 2]), judges=12)
    measure = "nDCG@10" if gold == "whole queries" else "P(rel=2)@10"
    trusted = None
    if gold != "none":
        rng = np.random.default_rng([seed, 3])
        draw = (
            sample(world.runs, world.bronze, measure, budget=150, rng=rng)
            if gold == "documents"
            else sample_queries(world.runs, world.bronze, measure, queries=queries // 2, rng=rng)
        )
        labels = world.gold.frame.select("query", "doc", "label")
        trusted = Judgments.of(draw.frame.join(labels, on=["query", "doc"], maintain_order="left"))
    return ReportInputs(
        runs=world.runs, judgments=world.bronze, measures=tuple(parse_all([measure])), gold=trusted,
        labels=crowd.labels, traps=crowd.traps, preferences=voters.preferences,
    )  # fmt: skip


@cache
def compared(seed: int = 1) -> ReportInputs:
    """The same runs and judges, and gold drawn to compare runs."""
    world = simulate_collection(rng=np.random.default_rng(seed), queries=40)
    draw = sample(world.runs, world.bronze, "P@10", budget=100, compare=True, rng=np.random.default_rng([seed, 3]))
    labels = world.gold.frame.select("query", "doc", "label")
    gold = Judgments.of(draw.frame.join(labels, on=["query", "doc"], maintain_order="left"))
    return ReportInputs(runs=world.runs, judgments=world.bronze, measures=tuple(parse_all(["P@10"])), gold=gold)
