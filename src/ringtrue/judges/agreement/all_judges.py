"""All judges together: every coefficient with its interval."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.agreement import coefficients as formulas
from ringtrue.judges.agreement.bootstrap_intervals import Draws, Settings, Shape, estimates, groups_to_draw
from ringtrue.judges.agreement.coefficients import METRICS, Sums
from ringtrue.judges.agreement.tallies import sums_of, total_sums
from ringtrue.stats.bootstrap import query_counts

if TYPE_CHECKING:
    from ringtrue.judges.votes import Votes
    from ringtrue.stats.results import Estimate

__all__ = ["drawn_anew", "overall"]

Array: TypeAlias = NDArray[np.float64]
NUMBERS = 4_000_000  # in memory at once, for each array
DENSE = 5_000_000  # cells of judges' habits, above which a sparse matrix holds them


def overall(votes: Votes, settings: Settings, draws: Draws | None = None) -> dict[str, Estimate]:
    """Every statistic of all judges' votes, from these draws or from new ones."""
    draws = drawn_anew(votes, settings) if draws is None else draws
    counts = votes.counts()
    seen = np.flatnonzero(counts[counts.sum(axis=1) > 1].sum(axis=0))
    shape = Shape(level=settings.level, drawn=votes.clusters()[2], undefined=lambda name, _: _why(name, votes, seen))
    (found,) = estimates(draws, shape)
    return found


def drawn_anew(votes: Votes, settings: Settings) -> Draws:
    """Every statistic of the votes, and of as many resamples as were asked for."""
    cluster, groups, _ = groups_to_draw(votes, settings)
    counts = votes.counts()
    rows = total_sums(counts, settings.relevant, group=cluster, groups=groups)
    labels = np.array(votes.labels, dtype=np.float64)
    habits = _habits(votes, cluster, groups)
    by_judge = votes.tally(votes.judge, len(votes.judges)).astype(np.float64)
    if settings.mirrored:
        turned = replace(votes, label=np.int32(len(labels) - 1) - votes.label)
        rows = (rows + total_sums(counts[:, ::-1], settings.relevant, group=cluster, groups=groups)) / 2
        habits = (habits + _habits(turned, cluster, groups)) / 2
        by_judge = (by_judge + by_judge[:, ::-1]) / 2
    whole = rows.sum(axis=0)
    values = _coefficients(sums_of(whole, len(labels)), labels, by_judge)
    collected: dict[str, list[Array]] = {name: [] for name in values}
    batch = max(1, NUMBERS // max(groups, rows.shape[1], by_judge.size))
    for drawn_counts in query_counts(groups, settings.resamples, batch=batch, rng=settings.rng):
        again = (drawn_counts @ habits).reshape(-1, *by_judge.shape)
        found = _coefficients(sums_of(drawn_counts @ rows, len(labels)), labels, again)
        for name, value in found.items():
            collected[name].append(value)
        settings.progress(len(drawn_counts) * votes.size)
    pairable = counts.sum(axis=1) > 1
    return Draws(
        values={name: np.atleast_1d(value) for name, value in values.items()},
        resampled={name: np.concatenate(some)[:, None] for name, some in collected.items() if some},
        items=np.array([pairable.sum()]),
        clusters=np.array([len(np.unique(cluster[pairable]))]),
    )


def _coefficients(sums: Sums, labels: Array, by_judge: Array) -> dict[str, Array]:
    free = formulas.brennan_prediger(sums)
    return {
        "agreement": formulas.agreement(sums),
        "overlap": formulas.overlap(sums),
        "fleiss_kappa": formulas.fleiss_kappa(sums),
        **{f"alpha_{metric}": formulas.alpha(sums, labels, metric) for metric in METRICS},
        "scott_pi": formulas.scott_pi(sums),
        "ac1": formulas.ac1(sums),
        "conger": formulas.conger(sums, by_judge),
        "brennan_prediger": free,
        "randolph": free,  # the same formula, under the name it has for many judges
    }


def _habits(votes: Votes, cluster: NDArray[np.int32], groups: int) -> Any:
    """How often each judge gave each label in each cluster: clusters × (judges · labels), dense where that is small."""
    wide = len(votes.judges) * len(votes.labels)
    column = votes.judge.astype(np.int64) * len(votes.labels) + votes.label
    row = cluster[votes.item]
    if groups * wide <= DENSE:
        return np.bincount(row * np.int64(wide) + column, minlength=groups * wide).reshape(groups, wide).astype(float)
    from scipy.sparse import csr_array

    return csr_array((np.ones(votes.size), (row, column)), shape=(groups, wide))


def _why(name: str, votes: Votes, seen: NDArray[np.int64]) -> str:
    if not len(seen):
        return "no item has labels of two judges"
    if name == "conger" and len(votes.judges) == 1:
        return "there is one judge, whose habits cannot be compared"
    if name == "alpha_ratio" and min(votes.labels) < 0:
        return "labels below 0 have no ratio"
    if name == "overlap" and "first" in votes.items.columns:
        return "of two documents one is preferred, and neither is called relevant"
    if name == "overlap":
        return "no item that two judges labelled was called relevant; --rel sets the lowest label that is"
    if len(seen) == 1:
        return f"everybody gave the label {votes.labels[seen[0]]}: agreement beyond chance cannot be told"
    return "chance alone would give as much: agreement beyond it cannot be told"
