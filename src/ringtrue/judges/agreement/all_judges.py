"""All judges together: every coefficient with its interval."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.agreement import coefficients as formulas
from ringtrue.judges.agreement.bootstrap_intervals import (
    AgreementSettings,
    BootstrapDraws,
    EstimateContext,
    choose_resampling_groups,
    make_estimates,
)
from ringtrue.judges.agreement.coefficients import METRICS, AgreementSums, sum_by_group, unpack_sums
from ringtrue.stats.encoding import cross_tabulate
from ringtrue.stats.intervals import resample_query_counts

if TYPE_CHECKING:
    from ringtrue.judges.votes import Votes
    from ringtrue.stats.results import Estimate

Array: TypeAlias = NDArray[np.float64]
MAX_NUMBERS = 4_000_000  # in memory at once, for each array
MAX_DENSE_CELLS = 5_000_000  # cells of judges' habits, above which a sparse matrix holds them


def estimate_overall(
    votes: Votes, settings: AgreementSettings, draws: BootstrapDraws | None = None
) -> dict[str, Estimate]:
    """Every statistic of all judges' votes, from these draws or from new ones."""
    draws = bootstrap_coefficients(votes, settings) if draws is None else draws
    counts = votes.counts()
    seen = np.flatnonzero(counts[counts.sum(axis=1) > 1].sum(axis=0))
    context = EstimateContext(
        level=settings.level, unit=votes.clusters()[2], undefined=lambda name, _: _why_undefined(name, votes, seen)
    )
    return make_estimates(draws, context)[0]


def bootstrap_coefficients(votes: Votes, settings: AgreementSettings) -> BootstrapDraws:
    """Every statistic of the votes, and of as many resamples as were asked for."""
    cluster, n_groups, _ = choose_resampling_groups(votes, settings)
    counts = votes.counts()
    rows = sum_by_group(counts, settings.relevant, group=cluster, n_groups=n_groups)
    labels = np.array(votes.labels, dtype=np.float64)
    habits = _judge_label_counts(votes, cluster, n_groups)
    by_judge = votes.tally(votes.judge, len(votes.judges)).astype(np.float64)
    if settings.mirrored:
        swapped = replace(votes, label=np.int32(len(labels) - 1) - votes.label)
        rows = (rows + sum_by_group(counts[:, ::-1], settings.relevant, group=cluster, n_groups=n_groups)) / 2
        habits = (habits + _judge_label_counts(swapped, cluster, n_groups)) / 2
        by_judge = (by_judge + by_judge[:, ::-1]) / 2
    total = rows.sum(axis=0)
    values = _overall_coefficients(unpack_sums(total, len(labels)), labels, by_judge)
    collected: dict[str, list[Array]] = {name: [] for name in values}
    batch = max(1, MAX_NUMBERS // max(n_groups, rows.shape[1], by_judge.size))
    for drawn_counts in resample_query_counts(n_groups, settings.resamples, batch=batch, rng=settings.rng):
        resampled_habits = (drawn_counts @ habits).reshape(-1, *by_judge.shape)
        resampled = _overall_coefficients(unpack_sums(drawn_counts @ rows, len(labels)), labels, resampled_habits)
        for name, coefficient in resampled.items():
            collected[name].append(coefficient)
        settings.progress(len(drawn_counts) * votes.size)
    pairable = counts.sum(axis=1) > 1
    return BootstrapDraws(
        values={name: np.atleast_1d(coefficient) for name, coefficient in values.items()},
        resampled={name: np.concatenate(batches)[:, None] for name, batches in collected.items() if batches},
        items=np.array([pairable.sum()]),
        clusters=np.array([len(np.unique(cluster[pairable]))]),
    )


def _overall_coefficients(sums: AgreementSums, labels: Array, by_judge: Array) -> dict[str, Array]:
    uniform_kappa = formulas.brennan_prediger(sums)
    return {
        "agreement": formulas.agreement(sums),
        "overlap": formulas.overlap(sums),
        "fleiss_kappa": formulas.fleiss_kappa(sums),
        **{f"alpha_{metric}": formulas.alpha(sums, labels, metric) for metric in METRICS},
        "scott_pi": formulas.scott_pi(sums),
        "ac1": formulas.ac1(sums),
        "conger": formulas.conger_kappa(sums, by_judge),
        "brennan_prediger": uniform_kappa,
        "randolph": uniform_kappa,  # the same formula, under the name it has for many judges
    }


def _judge_label_counts(votes: Votes, cluster: NDArray[np.int32], n_groups: int) -> Any:
    """How often each judge gave each label in each cluster: clusters × (judges · labels), dense where that is small."""
    n_columns = len(votes.judges) * len(votes.labels)
    column = votes.judge.astype(np.int64) * len(votes.labels) + votes.label
    row = cluster[votes.item]
    if n_groups * n_columns <= MAX_DENSE_CELLS:
        return cross_tabulate(row, column, n_groups, n_columns).astype(float)
    from scipy.sparse import csr_array

    return csr_array((np.ones(votes.size), (row, column)), shape=(n_groups, n_columns))


def _why_undefined(name: str, votes: Votes, seen: NDArray[np.int64]) -> str:
    if not len(seen):
        return "no item has labels of two judges"
    if name == "conger" and len(votes.judges) == 1:
        return "there is one judge, whose habits cannot be compared"
    if name == "alpha_ratio" and min(votes.labels) < 0:
        return "labels below 0 have no ratio"
    if name == "overlap" and votes.is_pairwise:
        return "of two documents one is preferred, and neither is called relevant"
    if name == "overlap":
        return "no item that two judges labelled was called relevant; --rel sets the lowest label that is"
    if len(seen) == 1:
        return f"everybody gave the label {votes.labels[seen[0]]}: agreement beyond chance cannot be told"
    return "chance alone would give as much: agreement beyond it cannot be told"
