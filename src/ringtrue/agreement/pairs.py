"""Judges two by two."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.agreement import coefficients as formulas
from ringtrue.agreement.answer import PairAgreement
from ringtrue.agreement.coefficients import pair_sums
from ringtrue.agreement.resampling import Draws, Settings, Shape, estimates, groups_to_draw
from ringtrue.agreement.tallies import pair_confusions
from ringtrue.confusion import Confusion
from ringtrue.draws import query_counts
from ringtrue.results import Estimate
from ringtrue.student import normal_quantile
from ringtrue.votes import Votes

__all__ = ["agreement_of_pairs"]

Array: TypeAlias = NDArray[np.float64]
NUMBERS = 4_000_000  # in memory at once, for each array


def agreement_of_pairs(votes: Votes, pairs: list[tuple[int, int]], settings: Settings) -> tuple[PairAgreement, ...]:
    """Each of these pairs of judges, without those that have no item in common; in chunks that fit the memory."""
    cluster, groups, drawn = groups_to_draw(votes, settings)
    cells = len(votes.labels) ** 2
    wide = cells * (groups if drawn == "queries" else 1)
    step = max(1, NUMBERS // (max(wide, min(settings.resamples, NUMBERS // cells) * cells)))
    found: list[PairAgreement] = []
    for first in range(0, len(pairs), step):
        some = pairs[first : first + step]
        settings.progress(settings.resamples * votes.size * len(some) // len(pairs))
        meetings = list(pair_confusions(votes, some))
        met = [place for place, (item, *_) in enumerate(meetings) if len(item)]
        if not met:
            continue
        tables = np.zeros((len(met), wide // cells, cells))
        clusters = np.zeros(len(met), dtype=np.int64)
        for row, place in enumerate(met):
            item, one, other = meetings[place]
            at = cluster[item] if drawn == "queries" else np.zeros_like(item)
            flat = (at.astype(np.int64) * len(votes.labels) + one) * len(votes.labels) + other
            tables[row] = np.bincount(flat, minlength=wide).reshape(-1, cells)
            clusters[row] = len(np.unique(cluster[item] if drawn == "queries" else item))
        draw = _by_query if drawn == "queries" else _by_item
        names = [(votes.judges[some[place][0]], votes.judges[some[place][1]]) for place in met]
        resampled = draw(tables, settings.resamples, settings.rng)
        found += _answers(names, tables.sum(axis=1), clusters, resampled, votes.labels, settings, drawn)
    return tuple(found)


def _by_query(tables: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Resamples × pairs × cells, the queries drawn anew for all pairs alike."""
    pairs, groups, cells = tables.shape
    rows = np.swapaxes(tables, 0, 1).reshape(groups, pairs * cells)
    batch = max(1, NUMBERS // max(groups, 1))
    drawn = [counts @ rows for counts in query_counts(groups, resamples, batch=batch, rng=rng)]
    return np.concatenate(drawn).reshape(-1, pairs, cells) if drawn else np.zeros((0, pairs, cells))


def _by_item(tables: Array, resamples: int, rng: np.random.Generator) -> Array:
    """The same with items drawn anew: the cells of each pair's table are then multinomial."""
    table = tables[:, 0, :]
    n = table.sum(axis=-1)
    return rng.multinomial(n.astype(np.int64), table / n[:, None], size=(resamples, len(n))).astype(np.float64)


def _answers(
    names: list[tuple[str, str]],
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
    again = _coefficients(resampled.reshape(-1, len(names), wide, wide), numbers, relevant) if len(resampled) else {}
    draws = Draws(values=values, resampled=again, items=n, clusters=clusters)
    shape = Shape(level=level, drawn=drawn, undefined=lambda name, case: _why(name, tables[case], labels, relevant))
    around, null = formulas.kappa_error(tables, np.eye(wide))
    z = normal_quantile((1 + level) / 2)
    answers = []
    for case, found in enumerate(estimates(draws, shape)):
        a, b = names[case]
        kappa, se = found["kappa"], float(around[case])
        textbook = replace(
            kappa, method="asymptotic", se=None if kappa.value is None else se, low=None, high=None
        )  # where they never differ, the large-sample error is 0 and says nothing
        if kappa.value is not None and se > 0:
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
