"""Bootstrap intervals for coefficients of agreement: queries, or items where there is one query, are drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.votes import Codes, Votes
from ringtrue.stats.intervals import wilson
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import t_quantile

__all__ = ["FEW", "Draws", "Settings", "Shape", "estimates", "groups_to_draw"]

Array: TypeAlias = NDArray[np.float64]
SHARES = ("agreement", "overlap")  # never below 0
FEW, LEAST = 10, 3  # clusters, below which an interval is told with a doubt, or not at all
OFTEN = 0.05  # of the resamples
MOST_GROUPS, LEAST_GROUPS = 2_000, 50
LARGEST = 500.0  # of an exponent; beyond it an interval has no end anyway
CELLS = 20_000_000  # of all groups' tables of label by label
ROUNDING = 1e-12  # resamples that differ by less are the same


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settings:
    """Which labels are relevant, how often to draw anew, and how sure intervals should be.

    Of two documents neither is the first by nature: `mirrored` counts every vote the other way round too, by half.
    """

    relevant: NDArray[np.bool_]
    resamples: int
    level: float
    rng: np.random.Generator
    progress: Callable[[int], None]
    mirrored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What an estimate says of itself: its level, what was drawn anew, and why it is undefined where it is."""

    level: float
    drawn: str
    undefined: Callable[[str, int], str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws:
    """Coefficients of several cases at once: `values` by name, `resampled` with a row for each resample.

    `items` is the number of items with two labels, `clusters` of those that were drawn anew, for each case.
    """

    values: Mapping[str, Array]
    resampled: Mapping[str, Array]
    items: NDArray[np.int64]
    clusters: NDArray[np.int64]


def groups_to_draw(votes: Votes, settings: Settings) -> tuple[Codes, int, str]:
    """What is drawn anew: the group of each item, how many groups, and what they are made of, queries or items.

    Many queries or items are thrown together by chance into some hundreds of groups, which tell as much about the
    spread and cost less time and memory. Where nothing is drawn, all are one group.
    """
    cluster, clusters, drawn = votes.clusters()
    if not settings.resamples:
        return np.zeros_like(cluster), 1, drawn
    most = min(MOST_GROUPS, max(LEAST_GROUPS, CELLS // len(votes.labels) ** 2))
    if clusters <= most:
        return cluster, clusters, drawn
    return (settings.rng.permutation(clusters)[cluster] % most).astype(np.int32), most, drawn


def estimates(draws: Draws, shape: Shape) -> list[dict[str, Estimate]]:
    """Each coefficient of each case with its interval.

        1 − c stretched by exp(± t_{G−1} · s),    s² = G/(G−1) · var*(log(1 − c* + 1/2n))

    Coefficients end at 1, and near it their distribution is lopsided: on the scale of log(1 − c) it is not. The term
    1/2n, half an item, keeps the logarithm finite where a resample agrees perfectly. With few clusters this covers
    where percentiles fall short: see `docs/ideas/agreement.md`.
    """
    cases = len(draws.items)
    found: list[dict[str, Estimate]] = [{} for _ in range(cases)]
    method = f"bootstrap over {shape.drawn}"
    for name, values in draws.values.items():
        ends = _ends(name, values, draws.resampled.get(name), draws, shape.level)
        for case in range(cases):
            n, clusters = int(draws.items[case]), int(draws.clusters[case])
            value = float(values[case])
            if np.isnan(value):
                note = shape.undefined(name, case)
                found[case][name] = Estimate(value=None, level=shape.level, n=n, method=method, notes=(note,))
                continue
            if ends is None:
                found[case][name] = Estimate(value=value, level=shape.level, n=n, method="no interval asked")
                continue
            se, low, high, lost = (float(end[case]) for end in ends)
            notes = _doubts(se, lost, clusters, shape.drawn)
            kept = not np.isnan(low)
            found[case][name] = Estimate(
                value=value, se=se if kept else None, low=low if kept else None, high=high if kept else None,
                level=shape.level, n=n, method=method, notes=notes,
            )  # fmt: skip
    return found


def _doubts(se: float, lost: float, clusters: int, drawn: str) -> tuple[str, ...]:
    if clusters < LEAST or np.isnan(se):
        few = f"one of the {drawn}" if clusters < 2 else f"{clusters} {drawn}"
        return (f"all of it from {few}: no interval can be given",)
    notes = []
    if se == 0:
        notes.append(f"the same in every resample: it cannot be told what other {drawn} would give")
    elif clusters < FEW:
        notes.append(f"only {clusters} {drawn}: trust the interval with care")
    if lost > OFTEN:
        notes.append(f"undefined in {100 * lost:.0f}% of the resamples, which were left out")
    return tuple(notes)


def _ends(
    name: str, values: Array, resampled: Array | None, draws: Draws, level: float
) -> tuple[Array, Array, Array, Array] | None:
    """Standard error, low and high end, and the share of resamples in which it was undefined.

    Where every resample gives the same, a share has Wilson's interval for as many clusters; others have none.
    """
    if resampled is None:
        return None
    half_item = 0.5 / np.maximum(draws.items, 1)
    lost = np.isnan(resampled).mean(axis=0)
    groups = np.maximum(draws.clusters, 2)
    few = np.sqrt(groups / (groups - 1))
    t = np.array([t_quantile((1 + level) / 2, int(g) - 1) for g in groups])
    defined = (~np.isnan(resampled)).sum(axis=0) > 1
    usable = np.where(defined, resampled, 0.0)
    logs = np.log(np.maximum(1 - usable, 0) + half_item)
    stretch = t * few * np.where(defined, np.nanstd(logs, axis=0, ddof=1), np.nan)
    se = few * np.where(defined, np.nanstd(usable, axis=0, ddof=1), np.nan)
    rest = 1 - values + half_item
    # Items with a single label, which count for chance alone, can push a kappa below −1.
    floor = 0.0 if name in SHARES else np.where(values < -1, -np.inf, -1.0)
    low = np.maximum(1 + half_item - rest * np.exp(np.minimum(stretch, LARGEST)), floor)
    high = np.minimum(1 + half_item - rest * np.exp(-stretch), 1.0)
    still = se < ROUNDING
    unknown = np.full_like(values, np.nan)
    lowest, highest = wilson(values, draws.clusters, level=level) if name in SHARES else (unknown, unknown)
    low, high = np.where(still, lowest, low), np.where(still, highest, high)
    alone = draws.clusters < np.where(still & (name in SHARES), 2, LEAST)
    return np.where(still, 0.0, se), np.where(alone, np.nan, low), np.where(alone, np.nan, high), lost
