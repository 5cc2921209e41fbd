"""Judges two by two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

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
from ringtrue.judges.agreement.coefficients import pair_sums
from ringtrue.judges.agreement.results import PairAgreement
from ringtrue.judges.votes import Codes, Votes, match_pair_labels
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate
from ringtrue.stats.intervals import resample_query_counts
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import normal_quantile

Array: TypeAlias = NDArray[np.float64]
MAX_NUMBERS = 4_000_000  # in memory at once, for each array
MAX_RESAMPLED_CELLS = 2_000_000  # with very many labels, resamples × cells of a table
MIN_RESAMPLES = 100  # the least of them, however many cells


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


def _why_pair_undefined(name: str, table: Array, labels: tuple[int, ...], relevant: NDArray[np.bool_]) -> str:
    if name == "overlap" and not relevant.any():
        return "no label counts as relevant"
    if name == "overlap":
        return "neither called an item relevant that both labelled; --rel sets the lowest label that is"
    seen = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1))
    if len(seen) == 1:
        return f"both gave the label {labels[seen[0]]} throughout: agreement beyond chance cannot be told"
    return "chance alone would give as much: agreement beyond it cannot be told"
