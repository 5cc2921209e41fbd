"""Probabilities that are ratios of two sums over documents, with intervals from queries drawn anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.agreement.bootstrap_intervals import FEW, Settings, groups_to_draw
from ringtrue.stats.bootstrap import query_counts
from ringtrue.stats.intervals import wilson
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import normal_quantile, t_quantile

if TYPE_CHECKING:
    from ringtrue.judges.votes import Votes

__all__ = ["Drawing", "Ratios", "ratios_of", "transformed"]

Array: TypeAlias = NDArray[np.float64]
NUMBERS = 4_000_000  # in memory at once
STILL = 1e-12  # resamples that differ by less are the same
OFTEN = 0.05  # of the resamples


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """How often to draw queries anew, and how sure intervals should be."""

    resamples: int
    level: float
    rng: np.random.Generator
    progress: Callable[[int], None] = lambda _: None

    def again(self) -> Drawing:
        """The same with draws of its own, so that an answer does not depend on what else was asked."""
        return Drawing(resamples=self.resamples, level=self.level, rng=self.rng.spawn(1)[0], progress=self.progress)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratios:
    """Several ratios: their `values`, `resampled` with a row for each resample, and what each rests on.

    `documents` and `clusters` count those with a case, `alike` the clusters of equal size that would tell as much.
    """

    values: Array
    resampled: Array
    documents: NDArray[np.int64]
    clusters: NDArray[np.int64]
    alike: Array
    drawn: str
    level: float

    def estimate(self, place: int, undefined: str) -> Estimate:
        """One of them with its interval.

            Wilson's interval for p of n_eff cases,    n_eff = p(1−p)/V · (z / t_{G−1})²    [Korn98]

        V is the variance over the resamples, times G/(G−1), for the G queries with a case. Where every resample gives
        the same, each query counts as a case.
        """
        value, n = float(self.values[place]), int(self.documents[place])
        method = f"bootstrap over {self.drawn}"
        if np.isnan(value):
            return Estimate(value=None, level=self.level, n=n, method=method, notes=(undefined,))
        if not len(self.resampled):
            return Estimate(value=value, level=self.level, n=n, method="no interval asked")
        groups = int(self.clusters[place])
        if groups < 2:
            note = f"all of it from one of the {self.drawn}: no interval can be given"
            return Estimate(value=value, level=self.level, n=n, method=method, notes=(note,))
        se, lost = self._spread(self.resampled[:, place], groups)
        worth = float(self.alike[place])
        if se > STILL and 0 < value < 1:
            narrow = normal_quantile((1 + self.level) / 2) / t_quantile((1 + self.level) / 2, groups - 1)
            worth = value * (1 - value) / se**2 * narrow**2
        low, high = wilson(value, worth, level=self.level)
        notes = [f"only {groups} {self.drawn}: trust the interval with care"] if groups < FEW else []
        if se <= STILL:
            notes.append(f"the same in every resample: each of the {self.drawn} counts as one case")
        if lost > OFTEN:
            notes.append(f"undefined in {100 * lost:.0f}% of the resamples, which were left out")
        return Estimate(
            value=value, se=se, low=float(low), high=float(high), level=self.level, n=n, method=method,
            notes=tuple(notes),
        )  # fmt: skip

    def _spread(self, resampled: Array, groups: int) -> tuple[float, float]:
        """The standard error, and the share of the resamples that were undefined."""
        defined = resampled[~np.isnan(resampled)]
        few = np.sqrt(groups / (groups - 1))
        se = float(few * np.std(defined, ddof=1)) if len(defined) > 1 else 0.0
        return se, 1 - len(defined) / len(resampled)

    def standard_error(self, place: int, change: Callable[[Array], Array]) -> float | None:
        """That of one of them after a change of scale."""
        groups = int(self.clusters[place])
        if not len(self.resampled) or groups < 2:
            return None
        return self._spread(change(self.resampled[:, place]), groups)[0]


def ratios_of(votes: Votes, upper: Array, lower: Array, drawing: Drawing, *, item: NDArray[np.int64]) -> Ratios:
    """The sums of `upper` over those of `lower`, whose rows belong to the items `item`, column by column."""
    settings = Settings(
        relevant=np.zeros(len(votes.labels), dtype=bool), resamples=drawing.resamples, level=drawing.level,
        rng=drawing.rng, progress=drawing.progress,
    )  # fmt: skip
    group, groups, drawn = groups_to_draw(votes, settings)
    wide = upper.shape[1]
    rows = np.zeros((groups, 2 * wide))
    np.add.at(rows, group[item], np.hstack([upper, lower]))
    cases = lower > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        values = rows[:, :wide].sum(axis=0) / rows[:, wide:].sum(axis=0)
        alike = rows[:, wide:].sum(axis=0) ** 2 / (rows[:, wide:] ** 2).sum(axis=0)
        again = []
        for counts in query_counts(groups, drawing.resamples, batch=max(1, NUMBERS // groups), rng=drawing.rng):
            sums = counts @ rows
            again.append(sums[:, :wide] / sums[:, wide:])
            drawing.progress(len(counts) * votes.size)
    cluster, _, _ = votes.clusters()
    return Ratios(
        values=values,
        resampled=np.concatenate(again) if again else np.empty((0, wide)),
        documents=np.array([len(np.unique(item[some])) for some in cases.T]),
        clusters=np.array([len(np.unique(cluster[item[some]])) for some in cases.T]),
        alike=alike,
        drawn=drawn,
        level=drawing.level,
    )


def transformed(one: Estimate, change: Callable[[Array], Array], se: float | None) -> Estimate:
    """An estimate on another scale: a rising function takes the ends of the interval along."""

    def moved(number: float | None) -> float | None:
        return None if number is None else float(change(np.array(number)))

    return Estimate(
        value=moved(one.value), se=None if one.value is None else se, low=moved(one.low), high=moved(one.high),
        level=one.level, n=one.n, method=one.method, notes=one.notes,
    )  # fmt: skip
