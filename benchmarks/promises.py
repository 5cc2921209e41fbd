"""What the README promises about speed, and whether it is kept.

Every promise is a ratio of CPU seconds taken in one run on one machine, except those about memory and permutations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.process_cost import Cost
from benchmarks.service import Load

TIMES_SLOWER = {"pytrec_eval": 2.5, "ir_measures": 4.5, "ranx": 6.0}  # at 10,000 queries
MOST_MEGABYTES = 1_100  # at 10,000 queries
TIMES_PARSING = 2.8  # at 10,000 queries
TIMES_IMPORTING = 2.0  # at 50 queries
TIMES_SLOWER_COMPARING = {"pytrec_eval": 4.0, "ranx": 10.0}  # 20 runs × 200 queries
TIMES_SLOWER_AGGREGATING = {"crowd-kit": 15.0}  # 1,000,000 labels
MOST_MEGABYTES_AGGREGATING = 60  # beside what was held before, 1,000,000 labels
MOST_SECONDS_AGGREGATING = 15.0  # of CPU, 10,000,000 labels
TIMES_SLOWER_ALPHA = {"krippendorff": 2.0}  # 500,000 labels
MOST_SECONDS_CORRECTING = {"correct": 1.0, "compare": 5.0}  # of CPU, after import, 37 runs and 300 gold labels
MOST_SECONDS_DISAGREEING = 5.0  # of CPU, 1,000 bootstrap draws on rf10
MOST_SECONDS_CEILING = 5.0  # of CPU, exact, 1,000 queries of 120 documents and 5 grades
TIMES_SLOWER_RATING = {"elo": {"evalica": 1.0}, "elo-queries": {"evalica": 5.0},
                       "bradley-terry": {"evalica": 10.0, "choix mm": 10.0, "choix opt": 10.0}}  # fmt: skip
MOST_MEGABYTES_RATING = {"bradley-terry": 50}  # beside what was held before
MOST_SECONDS_RATING = {"bootstrap": 3.0, "active": 1.0}  # of CPU
LEAST_RATIO_SERVING = 0.5  # judgments for each bare commit of a single row, 50 judges: a goal
MOST_SECONDS = {"permutation": 2.0}  # of CPU, for all 190 pairs of one measure


@dataclass(frozen=True, slots=True)
class Promise:
    """In words, and whether it is kept."""

    words: str
    kept: bool


def promise(name: str, costs: Mapping[str, Cost], *, queries: int) -> Promise | None:
    """What is promised about ringtrue beside this contestant at this size, if anything."""
    ours, theirs = costs["ringtrue"], costs[name]
    if queries == 50 and name == "importing":
        return _at_most(TIMES_IMPORTING, ours.seconds / theirs.seconds)
    if queries != 10_000:
        return None
    if name == "ringtrue":
        return Promise(f"at most {MOST_MEGABYTES:,} MB", ours.megabytes <= MOST_MEGABYTES)
    if name == "parsing":
        return _at_most(TIMES_PARSING, ours.seconds / theirs.seconds)
    return _at_least(TIMES_SLOWER[name], ours, theirs) if name in TIMES_SLOWER else None


def promise_of_correcting(task: str, seconds: float) -> Promise | None:
    """What is promised about correction by gold labels, if anything."""
    most = MOST_SECONDS_CORRECTING.get(task)
    return None if most is None else Promise(f"at most {most:g} s of CPU", seconds <= most)


def promise_of_comparing(name: str, costs: Mapping[str, Cost]) -> Promise | None:
    """What is promised about `ringtrue compare` beside this contestant, if anything."""
    least = TIMES_SLOWER_COMPARING.get(name)
    return None if least is None else _at_least(least, costs["ringtrue"], costs[name])


def promise_of_resampling(name: str, seconds: float) -> Promise | None:
    """What is promised about the tests alone, if anything."""
    most = MOST_SECONDS.get(name)
    return None if most is None else Promise(f"less than {most:g} s", seconds < most)


def promise_of_aggregating(name: str, labels: int, costs: Mapping[str, Cost]) -> Promise | None:
    """What is promised about Dawid and Skene's algorithm at this size, if anything."""
    ours = costs["ringtrue"]
    if labels == 10_000_000:
        return Promise(f"less than {MOST_SECONDS_AGGREGATING:g} s", ours.seconds < MOST_SECONDS_AGGREGATING)
    if name == "ringtrue":
        most = MOST_MEGABYTES_AGGREGATING
        return Promise(f"at most {most} MB", ours.megabytes <= most)
    least = TIMES_SLOWER_AGGREGATING.get(name)
    return None if least is None else _at_least(least, ours, costs[name])


def promise_of_alpha(name: str, seconds: Mapping[str, float]) -> Promise | None:
    """What is promised about Krippendorff's alpha beside this contestant, if anything."""
    least = TIMES_SLOWER_ALPHA.get(name)
    if least is None:
        return None
    return Promise(f"at least {least:g} × ringtrue", seconds[name] >= least * seconds["ringtrue"])


def promise_of_disagreeing(seconds: float) -> Promise:
    """What is promised about weights from disagreement."""
    return Promise(f"less than {MOST_SECONDS_DISAGREEING:g} s", seconds < MOST_SECONDS_DISAGREEING)


def promise_of_ceilings(task: str, seconds: Mapping[str, float]) -> Promise:
    """What is promised about the exact ceiling, and beside the paper's two ways."""
    if task == "exact":
        return Promise(f"less than {MOST_SECONDS_CEILING:g} s", seconds[task] < MOST_SECONDS_CEILING)
    return Promise("more than exact", seconds[task] > seconds["exact"])


def promise_of_rating(case: str, name: str, costs: Mapping[str, Cost]) -> Promise | None:
    """What is promised about ratings from votes, alone or beside this contestant, if anything."""
    ours, found = costs["ringtrue"], costs[name]
    if name.startswith("ringtrue"):
        if case in MOST_SECONDS_RATING:
            return Promise(f"less than {MOST_SECONDS_RATING[case]:g} s", found.seconds < MOST_SECONDS_RATING[case])
        megabytes = MOST_MEGABYTES_RATING.get(case)
        return None if megabytes is None else Promise(f"at most {megabytes} MB", found.megabytes <= megabytes)
    one_pool = case.startswith("elo-") and case not in TIMES_SLOWER_RATING
    least = TIMES_SLOWER_RATING["elo" if one_pool else case].get(name)
    return None if least is None else _at_least(least, ours, found)


def promise_of_serving(name: str, load: Load) -> Promise | None:
    """What is promised about many judges at once, if anything."""
    if name == "ratio":
        return Promise(f"the goal is {LEAST_RATIO_SERVING:g}", load.ratio >= LEAST_RATIO_SERVING)
    faults = {
        "errors": len(load.errors),
        "items over their cap": load.over_cap,
        "items that miscount judges": load.miscounted,
    }
    return Promise("none", not faults[name]) if name in faults else None


def _at_least(least: float, ours: Cost, theirs: Cost) -> Promise:
    return Promise(f"at least {least:g} × ringtrue", theirs.seconds >= least * ours.seconds)


def _at_most(most: float, found: float) -> Promise:
    return Promise(f"ringtrue at most {most:g} × this: {found:.2f}", found <= most)
