"""Judges two by two, and all of them together: every coefficient with its interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

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
from ringtrue.judges.agreement.coefficients import METRICS, AgreementSums, pair_sums, sum_by_group, unpack_sums
from ringtrue.judges.agreement.results import PairAgreement
from ringtrue.judges.votes import Codes, Votes, match_pair_labels
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate
from ringtrue.stats.intervals import normal_quantile, resample_query_counts
from ringtrue.stats.results import Estimate

Array: TypeAlias = NDArray[np.float64]
MAX_NUMBERS = 4_000_000  # in memory at once, for each array
MAX_RESAMPLED_CELLS = 2_000_000  # with very many labels, resamples × cells of a table
MIN_RESAMPLES = 100  # the least of them, however many cells
SET_REL = Suggestion("sets the lowest label that is", rel=...)
MAX_DENSE_CELLS = 5_000_000  # cells of judges' habits, above which a sparse matrix holds them


def choose_judge_pairs(votes: Votes, max_pairs: int) -> list[tuple[int, int]]:
    """All pairs of judges, or the `max_pairs` that have the most items in common, where there are more."""
    n_judges = len(votes.judges)
    if n_judges * (n_judges - 1) // 2 <= max_pairs:
        return [(a, b) for a in range(n_judges) for b in range(a + 1, n_judges)]
    return votes.overlapping_judges(max_pairs)[0] if max_pairs else []


def estimate_pair_agreements(
    votes: Votes, pairs: list[tuple[int, int]], settings: AgreementSettings
) -> tuple[PairAgreement, ...]:
    """Each of these pairs of judges, without those that have no item in common; in chunks that fit the memory."""
    n_labels, n_cells = len(votes.labels), len(votes.labels) ** 2
    settings = replace(settings, resamples=min(settings.resamples, max(MIN_RESAMPLES, MAX_RESAMPLED_CELLS // n_cells)))
    cluster, n_groups, unit = choose_resampling_groups(votes, settings)
    table_size = n_cells * (n_groups if unit == "queries" else 1)
    step = max(1, MAX_NUMBERS // max(table_size, settings.resamples * n_cells))
    agreements: list[PairAgreement] = []
    for first in range(0, len(pairs), step):
        chunk = pairs[first : first + step]
        settings.progress(settings.resamples * votes.size * len(chunk) // len(pairs))
        overlaps = [
            _JudgeOverlap(names=(votes.judges[a], votes.judges[b]), item=item, cell=label_a * n_labels + label_b)
            for (a, b), (item, label_a, label_b) in zip(chunk, match_pair_labels(votes, chunk), strict=True)
            if len(item)
        ]
        if not overlaps:
            continue
        if unit == "queries":
            tables = np.stack([_count_cells(cluster[pair.item], pair.cell, n_groups, n_cells) for pair in overlaps])
            resampled = _resample_queries(tables, settings.resamples, settings.rng)
            clusters = np.array([len(np.unique(cluster[pair.item])) for pair in overlaps])
        else:
            tables = np.stack([_count_cells(np.zeros_like(pair.item), pair.cell, 1, n_cells) for pair in overlaps])
            resampled = _resample_items(tables, overlaps, settings.resamples, settings.rng)
            clusters = np.array([pair.items for pair in overlaps])
        agreements += _make_pair_agreements(
            overlaps, tables.sum(axis=1), clusters, resampled, votes.labels, settings, unit
        )
    return tuple(agreements)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _JudgeOverlap:
    """Two judges and every meeting of their labels: the item, and the cell of their table."""

    names: tuple[str, str]
    item: NDArray[np.int32]
    cell: NDArray[np.int32]

    @property
    def items(self) -> int:
        """How many items they met on; fewer than meetings where somebody labelled one again."""
        return len(np.unique(self.item))


def _count_cells(group: Codes, cell: Codes, n_groups: int, n_cells: int) -> Array:
    return cross_tabulate(group, cell, n_groups, n_cells).astype(np.float64)


def _resample_queries(tables: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Resamples × pairs × cells, the queries drawn anew for all pairs alike."""
    pairs, groups, cells = tables.shape
    rows = np.swapaxes(tables, 0, 1).reshape(groups, pairs * cells)
    batch = max(1, MAX_NUMBERS // max(groups, 1))
    batches = [counts @ rows for counts in resample_query_counts(groups, resamples, batch=batch, rng=rng)]
    return np.concatenate(batches).reshape(-1, pairs, cells) if batches else np.zeros((0, pairs, cells))


def _resample_items(tables: Array, overlaps: list[_JudgeOverlap], resamples: int, rng: np.random.Generator) -> Array:
    """The same with items drawn anew: with one meeting an item, the cells of a pair's table are then multinomial."""
    table = tables[:, 0, :]
    n = table.sum(axis=-1)
    resampled = rng.multinomial(n.astype(np.int64), table / n[:, None], size=(resamples, len(n))).astype(np.float64)
    for row, pair in enumerate(overlaps):
        items, item = np.unique(pair.item, return_inverse=True)
        if len(items) < len(item):
            item_tables = _count_cells(item.astype(np.int32), pair.cell, len(items), table.shape[1])
            resampled[:, row] = _resample_queries(item_tables[None], resamples, rng)[:, 0]
    return resampled


def _make_pair_agreements(
    overlaps: list[_JudgeOverlap],
    flat_tables: Array,
    clusters: NDArray[np.int64],
    resampled: Array,
    labels: tuple[int, ...],
    settings: AgreementSettings,
    unit: str,
) -> list[PairAgreement]:
    n_labels, level, relevant = len(labels), settings.level, settings.relevant
    counts = flat_tables.reshape(-1, n_labels, n_labels)
    if settings.mirrored:
        flat_tables, resampled = ((cells + cells[..., ::-1]) / 2 for cells in (flat_tables, resampled))
    tables = flat_tables.reshape(-1, n_labels, n_labels)
    grades = np.array(labels, dtype=np.float64)
    values = _pair_coefficients(tables, grades, relevant)
    n = counts.sum((-1, -2)).astype(np.int64)
    resampled = resampled.reshape(-1, len(overlaps), n_labels, n_labels)
    resampled_values = _pair_coefficients(resampled, grades, relevant) if len(resampled) else {}
    items = np.array([pair.items for pair in overlaps])
    draws = BootstrapDraws(values=values, resampled=resampled_values, items=items, clusters=clusters)
    context = EstimateContext(
        level=level, unit=unit, undefined=lambda name, case: _why_pair_undefined(name, tables[case], labels, relevant)
    )
    kappa_se, null_se = formulas.kappa_standard_errors(tables, np.eye(n_labels))
    z = normal_quantile((1 + level) / 2)
    agreements = []
    for case, pair_estimates in enumerate(make_estimates(draws, context)):
        a, b = overlaps[case].names
        kappa, se = pair_estimates["kappa"], float(kappa_se[case])
        # where they never differ, the large-sample error is 0 and says nothing
        asymptotic = replace(kappa, method="asymptotic", se=None if kappa.value is None else se, low=None, high=None)
        if kappa.value is not None and se > 0 and overlaps[case].items == n[case]:
            low, high = max(kappa.value - z * se, -1), min(kappa.value + z * se, 1)
            asymptotic = Estimate(
                value=kappa.value, se=se, low=low, high=high, level=level, n=int(n[case]), method="asymptotic"
            )
        agreements.append(
            PairAgreement(
                a=a,
                b=b,
                n=int(n[case]),
                **pair_estimates,
                kappa_asymptotic=asymptotic,
                kappa_null_se=None if np.isnan(null_se[case]) else float(null_se[case]),
                confusion=Confusion(rows=a, columns=b, labels=labels, counts=counts[case].astype(np.int64)),
            )
        )
    return agreements


def _pair_coefficients(tables: Array, labels: Array, relevant: NDArray[np.bool_]) -> dict[str, Array]:
    """Weights of kappa fall with the distance of the labels, or its square, whatever labels nobody used."""
    sums = pair_sums(tables, relevant)
    distance = np.abs(np.subtract.outer(labels, labels)) / max(np.ptp(labels), 1)
    return {
        "agreement": formulas.agreement(sums),
        "overlap": formulas.overlap(sums),
        "kappa": formulas.cohen_kappa(tables, np.eye(len(labels))),
        "kappa_linear": formulas.cohen_kappa(tables, 1 - distance),
        "kappa_quadratic": formulas.cohen_kappa(tables, 1 - distance**2),
        "scott_pi": formulas.scott_pi(sums),
        "ac1": formulas.ac1(sums),
        "alpha_ordinal": formulas.alpha(sums, labels, "ordinal"),
    }


def _why_pair_undefined(name: str, table: Array, labels: tuple[int, ...], relevant: NDArray[np.bool_]) -> Note:
    if name == "overlap" and not relevant.any():
        return Note("no-relevant-label", "no label counts as relevant")
    if name == "overlap":
        text = "neither called an item relevant that both labelled"
        return Note("nothing-relevant", text, suggestions=[SET_REL])
    seen = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1))
    if len(seen) == 1:
        text = f"both gave the label {labels[seen[0]]} throughout: agreement beyond chance is undefined"
        return Note("constant-labels", text)
    return Note("chance-alone", "chance alone would give as much: agreement beyond it is undefined")


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


def _why_undefined(name: str, votes: Votes, seen: NDArray[np.int64]) -> Note:
    if not len(seen):
        return Note("no-shared-items", "no item has labels of two judges")
    if name == "conger" and len(votes.judges) == 1:
        return Note("one-judge", "there is one judge, whose habits cannot be compared")
    if name == "alpha_ratio" and min(votes.labels) < 0:
        return Note("ratio-below-zero", "labels below 0 have no ratio")
    if name == "overlap" and votes.is_pairwise:
        return Note("not-for-preferences", "of two documents one is preferred, and neither is called relevant")
    if name == "overlap":
        text = "no item that two judges labelled was called relevant"
        return Note("nothing-relevant", text, suggestions=[SET_REL])
    if len(seen) == 1:
        text = f"everybody gave the label {votes.labels[seen[0]]}: agreement beyond chance is undefined"
        return Note("constant-labels", text)
    return Note("chance-alone", "chance alone would give as much: agreement beyond it is undefined")
