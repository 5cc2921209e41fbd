"""Probabilities that are ratios of two sums over documents, with intervals from queries drawn anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.agreement.bootstrap_intervals import FEW_CLUSTERS, BootstrapSettings, choose_resampling_groups
from ringtrue.stats.intervals import normal_quantile, resample_query_counts, t_quantile, wilson
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from ringtrue.judges.votes import Votes

Array: TypeAlias = NDArray[np.float64]
MAX_CELLS = 4_000_000  # in memory at once
CONSTANT_SE = 1e-12  # resamples that differ by less are the same
MAX_UNDEFINED_SHARE = 0.05  # of the resamples


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratios:
    """Several ratios: their `values`, `resampled` with a row for each resample, and what each rests on.

    `documents` and `clusters` count those with a case, `effective_clusters` the clusters of equal size that would
    tell as much.
    """

    values: Array
    resampled: Array
    documents: NDArray[np.int64]
    clusters: NDArray[np.int64]
    effective_clusters: Array
    unit: str
    level: float

    def estimate(self, i: int, undefined: str) -> Estimate:
        """One of them with its interval.

            Wilson's interval for p of n_eff cases,    n_eff = p(1−p)/V · (z / t_{G−1})²    [Korn98]

        V is the variance over the resamples, times G/(G−1), for the G queries with a case. Where every resample gives
        the same, each query counts as a case.
        """
        value, clusters, method = float(self.values[i]), int(self.clusters[i]), f"bootstrap over {self.unit}"
        make_estimate = partial(Estimate, level=self.level, n=int(self.documents[i]))
        if np.isnan(value):
            return make_estimate(value=None, method=method, notes=(undefined,))
        if not len(self.resampled):
            return make_estimate(value=value, method="no interval asked")
        if clusters < 2:
            note = f"all of it from one of the {self.unit}: no interval can be given"
            return make_estimate(value=value, method=method, notes=(note,))
        se, undefined_share = self._spread(self.resampled[:, i], clusters)
        effective_n = float(self.effective_clusters[i])
        if se > CONSTANT_SE and 0 < value < 1:
            t_correction = normal_quantile((1 + self.level) / 2) / t_quantile((1 + self.level) / 2, clusters - 1)
            effective_n = value * (1 - value) / se**2 * t_correction**2
        low, high = wilson(value, effective_n, level=self.level)
        notes = [f"only {clusters} {self.unit}: trust the interval with care"] if clusters < FEW_CLUSTERS else []
        if se <= CONSTANT_SE:
            notes.append(f"the same in every resample: each of the {self.unit} counts as one case")
        if undefined_share > MAX_UNDEFINED_SHARE:
            notes.append(f"undefined in {100 * undefined_share:.0f}% of the resamples, which were left out")
        return make_estimate(value=value, se=se, low=float(low), high=float(high), method=method, notes=tuple(notes))

    def _spread(self, resampled: Array, clusters: int) -> tuple[float, float]:
        """The standard error, and the share of the resamples that were undefined."""
        defined = resampled[~np.isnan(resampled)]
        small_sample_factor = np.sqrt(clusters / (clusters - 1))
        se = float(small_sample_factor * np.std(defined, ddof=1)) if len(defined) > 1 else 0.0
        return se, 1 - len(defined) / len(resampled)

    def standard_error(self, i: int, transform: Callable[[Array], Array]) -> float | None:
        """That of one of them after a change of scale."""
        clusters = int(self.clusters[i])
        if not len(self.resampled) or clusters < 2:
            return None
        return self._spread(transform(self.resampled[:, i]), clusters)[0]


def estimate_ratios(
    votes: Votes, numerators: Array, denominators: Array, bootstrap: BootstrapSettings, *, item: NDArray[np.int64]
) -> Ratios:
    """The sums of `numerators` over those of `denominators`, whose rows belong to the items `item`, by column."""
    group, groups, unit = choose_resampling_groups(votes, bootstrap)
    width = numerators.shape[1]
    rows = np.zeros((groups, 2 * width))
    np.add.at(rows, group[item], np.hstack([numerators, denominators]))
    cases = denominators > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        values = rows[:, :width].sum(axis=0) / rows[:, width:].sum(axis=0)
        effective_clusters = rows[:, width:].sum(axis=0) ** 2 / (rows[:, width:] ** 2).sum(axis=0)
        resampled = []
        batch = max(1, MAX_CELLS // groups)
        for counts in resample_query_counts(groups, bootstrap.resamples, batch=batch, rng=bootstrap.rng):
            sums = counts @ rows
            resampled.append(sums[:, :width] / sums[:, width:])
            bootstrap.progress(len(counts) * votes.size)
    cluster, _, _ = votes.clusters()
    return Ratios(
        values=values,
        resampled=np.concatenate(resampled) if resampled else np.empty((0, width)),
        documents=np.array([len(np.unique(item[has_case])) for has_case in cases.T]),
        clusters=np.array([len(np.unique(cluster[item[has_case]])) for has_case in cases.T]),
        effective_clusters=effective_clusters,
        unit=unit,
        level=bootstrap.level,
    )


def transform_estimate(estimate: Estimate, transform: Callable[[Array], Array], se: float | None) -> Estimate:
    """An estimate on another scale: a rising function takes the ends of the interval along."""

    def transform_number(number: float | None) -> float | None:
        return None if number is None else float(transform(np.array(number)))

    return replace(
        estimate,
        value=transform_number(estimate.value),
        se=None if estimate.value is None else se,
        low=transform_number(estimate.low),
        high=transform_number(estimate.high),
    )
