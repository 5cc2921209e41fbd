"""Bootstrap intervals for coefficients of agreement: queries, or items where there is one query, are drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.votes import Codes, Votes
from ringtrue.messages import Note
from ringtrue.stats.intervals import t_quantile, wilson
from ringtrue.stats.results import Estimate

Array: TypeAlias = NDArray[np.float64]
SHARE_STATISTICS = ("agreement", "overlap")  # never below 0
FEW_CLUSTERS, MIN_CLUSTERS = 10, 3  # clusters, below which an interval is told with a doubt, or not at all
MAX_UNDEFINED_SHARE = 0.05  # of the resamples
MAX_GROUPS, MIN_GROUPS = 2_000, 50
MAX_EXPONENT = 500.0  # of an exponent; beyond it an interval has no end anyway
MAX_CELLS = 20_000_000  # of all groups' tables of label by label
ROUNDING = 1e-12  # resamples that differ by less are the same


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapSettings:
    """How often to draw queries anew, and how sure intervals should be."""

    resamples: int
    level: float
    rng: np.random.Generator
    progress: Callable[[int], None] = lambda _: None

    def spawn(self) -> Self:
        """The same with draws of its own, so that an answer does not depend on what else was asked."""
        return replace(self, rng=self.rng.spawn(1)[0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AgreementSettings(BootstrapSettings):
    """Which labels are relevant, too.

    Of two documents neither is the first by nature: `mirrored` counts every vote the other way round too, by half.
    """

    relevant: NDArray[np.bool_]
    mirrored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateContext:
    """What an estimate says of itself: its level, what was drawn anew, and why it is undefined where it is."""

    level: float
    unit: str
    undefined: Callable[[str, int], Note]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapDraws:
    """Coefficients of several cases at once: `values` by name, `resampled` with a row for each resample.

    `items` is the number of items with two labels, `clusters` of those that were drawn anew, for each case.
    """

    values: Mapping[str, Array]
    resampled: Mapping[str, Array]
    items: NDArray[np.int64]
    clusters: NDArray[np.int64]


def choose_resampling_groups(votes: Votes, settings: BootstrapSettings) -> tuple[Codes, int, str]:
    """What is drawn anew: the group of each item, how many groups, and what they are made of, queries or items.

    Many queries or items are thrown together by chance into some hundreds of groups, which tell as much about the
    spread and cost less time and memory. Where nothing is drawn, all are one group.
    """
    cluster, n_clusters, unit = votes.clusters()
    if not settings.resamples:
        return np.zeros_like(cluster), 1, unit
    max_groups = min(MAX_GROUPS, max(MIN_GROUPS, MAX_CELLS // len(votes.labels) ** 2))
    if n_clusters <= max_groups:
        return cluster, n_clusters, unit
    return (settings.rng.permutation(n_clusters)[cluster] % max_groups).astype(np.int32), max_groups, unit


def make_estimates(draws: BootstrapDraws, context: EstimateContext) -> list[dict[str, Estimate]]:
    """Each coefficient of each case with its interval.

        1 − c stretched by exp(± t_{G−1} · s),    s² = G/(G−1) · var*(log(1 − c* + 1/2n))

    Coefficients end at 1, and near it their distribution is lopsided: on the scale of log(1 − c) it is not. The term
    1/2n, half an item, keeps the logarithm finite where a resample agrees perfectly. With few clusters this covers
    where percentiles fall short: see `docs/ideas/agreement.md`.
    """
    estimates_by_case: list[dict[str, Estimate]] = [{} for _ in draws.items]
    method = f"bootstrap over {context.unit}"
    for name, values in draws.values.items():
        interval = _log_scale_interval(name, values, draws.resampled.get(name), draws, context.level)
        for case, coefficient in enumerate(values.tolist()):
            make_estimate = partial(Estimate, level=context.level, n=int(draws.items[case]))
            if np.isnan(coefficient):
                estimate = make_estimate(value=None, method=method, notes=(context.undefined(name, case),))
            elif interval is None:
                estimate = make_estimate(value=coefficient, method="no interval asked")
            else:
                se, low, high, undefined_share = (float(bound[case]) for bound in interval)
                notes = _interval_notes(se, undefined_share, int(draws.clusters[case]), context.unit)
                ends = (None, None, None) if np.isnan(low) else (se, low, high)
                estimate = make_estimate(
                    value=coefficient, se=ends[0], low=ends[1], high=ends[2], method=method, notes=notes
                )
            estimates_by_case[case][name] = estimate
    return estimates_by_case


def _interval_notes(se: float, undefined_share: float, n_clusters: int, unit: str) -> tuple[Note, ...]:
    if n_clusters < MIN_CLUSTERS or np.isnan(se):
        origin = f"one of the {unit}" if n_clusters < 2 else f"{n_clusters} {unit}"
        return (Note("too-few-clusters", f"all of it from {origin}: no interval can be given"),)
    notes = []
    if se == 0:
        text = f"the same in every resample: the interval cannot show what other {unit} would give"
        notes.append(Note("constant-resamples", text))
    elif n_clusters < FEW_CLUSTERS:
        notes.append(Note("few-clusters", f"only {n_clusters} {unit}: trust the interval with care"))
    if undefined_share > MAX_UNDEFINED_SHARE:
        text = f"undefined in {100 * undefined_share:.0f}% of the resamples, which were left out"
        notes.append(Note("undefined-resamples", text))
    return tuple(notes)


def _log_scale_interval(
    name: str, values: Array, resampled: Array | None, draws: BootstrapDraws, level: float
) -> tuple[Array, Array, Array, Array] | None:
    """Standard error, low and high end, and the share of resamples in which it was undefined.

    Where every resample gives the same, a share has Wilson's interval for as many clusters; others have none.
    """
    if resampled is None:
        return None
    half_item = 0.5 / np.maximum(draws.items, 1)
    undefined_share = np.isnan(resampled).mean(axis=0)
    groups = np.maximum(draws.clusters, 2)
    correction = np.sqrt(groups / (groups - 1))
    t = np.array([t_quantile((1 + level) / 2, int(g) - 1) for g in groups])
    defined = (~np.isnan(resampled)).sum(axis=0) > 1
    usable = np.where(defined, resampled, 0.0)
    logs = np.log(np.maximum(1 - usable, 0) + half_item)
    stretch = t * correction * np.where(defined, np.nanstd(logs, axis=0, ddof=1), np.nan)
    se = correction * np.where(defined, np.nanstd(usable, axis=0, ddof=1), np.nan)
    shortfall = 1 - values + half_item
    # Items with a single label, which count for chance alone, can push a kappa below −1.
    floor = 0.0 if name in SHARE_STATISTICS else np.where(values < -1, -np.inf, -1.0)
    low = np.maximum(1 + half_item - shortfall * np.exp(np.minimum(stretch, MAX_EXPONENT)), floor)
    high = np.minimum(1 + half_item - shortfall * np.exp(-stretch), 1.0)
    is_constant = se < ROUNDING
    undefined = np.full_like(values, np.nan)
    lowest, highest = (
        wilson(values, draws.clusters, level=level) if name in SHARE_STATISTICS else (undefined, undefined)
    )
    low, high = np.where(is_constant, lowest, low), np.where(is_constant, highest, high)
    too_few = draws.clusters < np.where(is_constant & (name in SHARE_STATISTICS), 2, MIN_CLUSTERS)
    return (
        np.where(is_constant, 0.0, se),
        np.where(too_few, np.nan, low),
        np.where(too_few, np.nan, high),
        undefined_share,
    )
