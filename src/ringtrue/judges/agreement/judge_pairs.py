"""Judges two by two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.agreement import coefficients as formulas
from ringtrue.judges.agreement.bootstrap_intervals import Draws, Settings, Shape, estimates, groups_to_draw
from ringtrue.judges.agreement.coefficients import pair_sums
from ringtrue.judges.agreement.results import PairAgreement
from ringtrue.judges.agreement.tallies import pair_confusions
from ringtrue.judges.votes import Votes
from ringtrue.stats.bootstrap import query_counts
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import normal_quantile

__all__ = ["agreement_of_pairs"]

Array: TypeAlias = NDArray[np.float64]
NUMBERS = 4_000_000  # in memory at once, for each array
FEWER, LEAST_RESAMPLES = 2_000_000, 100  # with very many labels, resamples × cells of a table, and the least of them


def agreement_of_pairs(votes: Votes, pairs: list[tuple[int, int]], settings: Settings) -> tuple[PairAgreement, ...]:
    """Each of these pairs of judges, without those that have no item in common; in chunks that fit the memory."""
    cells = len(votes.labels) ** 2
    settings = replace(settings, resamples=min(settings.resamples, max(LEAST_RESAMPLES, FEWER // cells)))
    cluster, groups, drawn = groups_to_draw(votes, settings)
    wide = cells * (groups if drawn == "queries" else 1)
    step = max(1, NUMBERS // max(wide, settings.resamples * cells))
    found: list[PairAgreement] = []
    for first in range(0, len(pairs), step):
        some = pairs[first : first + step]
        settings.progress(settings.resamples * votes.size * len(some) // len(pairs))
        met = [
            _Met(names=(votes.judges[one], votes.judges[other]), item=item, cell=mine * len(votes.labels) + theirs)
            for (one, other), (item, mine, theirs) in zip(some, pair_confusions(votes, some), strict=True)
            if len(item)
        ]
        if not met:
            continue
        if drawn == "queries":
            tables = np.stack([_counts(cluster[pair.item], pair.cell, groups, cells) for pair in met])
            resampled = _by_query(tables, settings.resamples, settings.rng)
            clusters = np.array([len(np.unique(cluster[pair.item])) for pair in met])
        else:
            tables = np.stack([_counts(np.zeros_like(pair.item), pair.cell, 1, cells) for pair in met])
            resampled = _by_item(tables, met, settings.resamples, settings.rng)
            clusters = np.array([pair.items for pair in met])
        found += _answers(met, tables.sum(axis=1), clusters, resampled, votes.labels, settings, drawn)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Met:
    """Two judges and every meeting of their labels: the item, and the cell of their table."""

    names: tuple[str, str]
    item: NDArray[np.int32]
    cell: NDArray[np.int32]

    @property
    def items(self) -> int:
        """How many items they met on; fewer than meetings where somebody labelled one again."""
        return len(np.unique(self.item))


def _counts(group: NDArray[np.int32], cell: NDArray[np.int32], groups: int, cells: int) -> Array:
    flat = np.bincount(group * np.int64(cells) + cell, minlength=groups * cells)
    return flat.reshape(groups, cells).astype(np.float64)


def _by_query(tables: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Resamples × pairs × cells, the queries drawn anew for all pairs alike."""
    pairs, groups, cells = tables.shape
    rows = np.swapaxes(tables, 0, 1).reshape(groups, pairs * cells)
    batch = max(1, NUMBERS // max(groups, 1))
    drawn = [counts @ rows for counts in query_counts(groups, resamples, batch=batch, rng=rng)]
    return np.concatenate(drawn).reshape(-1, pairs, cells) if drawn else np.zeros((0, pairs, cells))


def _by_item(tables: Array, met: list[_Met], resamples: int, rng: np.random.Generator) -> Array:
    """The same with items drawn anew: with one meeting an item, the cells of a pair's table are then multinomial."""
    table = tables[:, 0, :]
    n = table.sum(axis=-1)
    drawn = rng.multinomial(n.astype(np.int64), table / n[:, None], size=(resamples, len(n))).astype(np.float64)
    for row, pair in enumerate(met):
        items, item = np.unique(pair.item, return_inverse=True)
        if len(items) < len(item):
            own = _counts(item.astype(np.int32), pair.cell, len(items), table.shape[1])
            drawn[:, row] = _by_query(own[None], resamples, rng)[:, 0]
    return drawn


def _answers(
    met: list[_Met],
    flat: Array,
    clusters: NDArray[np.int64],
    resampled: Array,
    labels: tuple[int, ...],
    settings: Settings,
    drawn: str,
) -> list[PairAgreement]:
    wide, level, relevant = len(labels), settings.level, settings.relevant
    counts = flat.reshape(-1, wide, wide)
    if settings.mirrored:
        flat, resampled = ((cells + cells[..., ::-1]) / 2 for cells in (flat, resampled))
    tables = flat.reshape(-1, wide, wide)
    numbers = np.array(labels, dtype=np.float64)
    values = _coefficients(tables, numbers, relevant)
    n = counts.sum((-1, -2)).astype(np.int64)
    again = _coefficients(resampled.reshape(-1, len(met), wide, wide), numbers, relevant) if len(resampled) else {}
    items = np.array([pair.items for pair in met])
    draws = Draws(values=values, resampled=again, items=items, clusters=clusters)
    shape = Shape(level=level, drawn=drawn, undefined=lambda name, case: _why(name, tables[case], labels, relevant))
    around, null = formulas.kappa_error(tables, np.eye(wide))
    z = normal_quantile((1 + level) / 2)
    answers = []
    for case, found in enumerate(estimates(draws, shape)):
        a, b = met[case].names
        kappa, se = found["kappa"], float(around[case])
        textbook = replace(
            kappa, method="asymptotic", se=None if kappa.value is None else se, low=None, high=None
        )  # where they never differ, the large-sample error is 0 and says nothing
        if kappa.value is not None and se > 0 and met[case].items == n[case]:
            low, high = max(kappa.value - z * se, -1), min(kappa.value + z * se, 1)
            textbook = Estimate(
                value=kappa.value, se=se, low=low, high=high, level=level, n=int(n[case]), method="asymptotic"
            )
        answers.append(
            PairAgreement(
                a=a,
                b=b,
                n=int(n[case]),
                **found,
                kappa_asymptotic=textbook,
                kappa_null_se=None if np.isnan(null[case]) else float(null[case]),
                confusion=Confusion(rows=a, columns=b, labels=labels, counts=counts[case].astype(np.int64)),
            )
        )
    return answers


def _coefficients(tables: Array, labels: Array, relevant: NDArray[np.bool_]) -> dict[str, Array]:
    """Weights of kappa fall with the distance of the labels, or its square, whatever labels nobody used."""
    sums = pair_sums(tables, relevant)
    apart = np.abs(np.subtract.outer(labels, labels)) / max(np.ptp(labels), 1)
    return {
        "agreement": formulas.agreement(sums),
        "overlap": formulas.overlap(sums),
        "kappa": formulas.cohen_kappa(tables, np.eye(len(labels))),
        "kappa_linear": formulas.cohen_kappa(tables, 1 - apart),
        "kappa_quadratic": formulas.cohen_kappa(tables, 1 - apart**2),
        "scott_pi": formulas.scott_pi(sums),
        "ac1": formulas.ac1(sums),
        "alpha_ordinal": formulas.alpha(sums, labels, "ordinal"),
    }


def _why(name: str, table: Array, labels: tuple[int, ...], relevant: NDArray[np.bool_]) -> str:
    if name == "overlap" and not relevant.any():
        return "no label counts as relevant"
    if name == "overlap":
        return "neither called an item relevant that both labelled; --rel sets the lowest label that is"
    seen = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1))
    if len(seen) == 1:
        return f"both gave the label {labels[seen[0]]} throughout: agreement beyond chance cannot be told"
    return "chance alone would give as much: agreement beyond it cannot be told"
