"""One test, all pairs of one measure: values → comparisons, not yet adjusted for each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import MismatchError
from ringtrue.evaluation.significance import paired_statistics, resampling_tests
from ringtrue.evaluation.significance.paired_statistics import FloatArray
from ringtrue.evaluation.significance.run_pairs import BoolArray, IntArray
from ringtrue.stats.results import Comparison, Estimate
from ringtrue.stats.student_t import normal_quantile, t_quantile

__all__ = ["Setting", "Test", "detectable_difference", "pairs_tested", "smallest_p"]

Test: TypeAlias = Literal["t", "permutation", "bootstrap", "sign", "wilcoxon", "welch"]
POWER = 0.8
FEWEST_BOOTSTRAPPED = 6  # with fewer, what the interval needs lies beyond every resample
TOO_FEW = (f"fewer than {FEWEST_BOOTSTRAPPED} queries: the bootstrap can give neither an interval nor p",)
MOST_DIFFERENCES = 4_000_000  # of all pairs and queries held at once: 32 MB
MOST_MEANS = 10_000_000  # of resamples held at once: 80 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How to test. Every batch starts from the same seed, so that pairs and measures share their resamples."""

    test: Test
    level: float
    resamples: int
    seed: int
    mid_p: bool
    progress: resampling_tests.Progress = lambda _: None

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers from the start."""
        return np.random.default_rng(self.seed)

    def draws(self, queries: int) -> bool:
        """Whether p comes from random resamples, and so has a smallest value."""
        if self.test == "permutation":
            return not resampling_tests.exact(queries, self.resamples)
        return self.test == "bootstrap"


def pairs_tested(measure: str, runs: Sequence[str], values: FloatArray, pairs: IntArray,
               setting: Setting) -> list[Comparison]:  # fmt: skip
    """Every pair tested on the queries for which both runs have a value; `values` are runs × queries."""
    if setting.test == "welch":
        return [_unpaired(measure, runs, values, a, b, setting) for a, b in pairs.tolist()]
    there = ~np.isnan(values)
    shared = there[pairs[:, 0]] & there[pairs[:, 1]]
    if not shared.any(axis=1).all():
        a, b = pairs[int(np.argmin(shared.any(axis=1)))].tolist()
        raise MismatchError(f"'{runs[a]}' and '{runs[b]}' have no query in common with a value of {measure}")
    found: dict[int, Comparison] = {}
    for members, queries in _alike(shared):
        first, second = (values[pairs[members, side]][:, queries] for side in (0, 1))
        batch = _paired(
            measure, [(runs[a], runs[b]) for a, b in pairs[members]], paired_statistics.apart(first, second), setting
        )
        found |= dict(zip(members.tolist(), batch, strict=True))
    return [found[place] for place in range(len(pairs))]


def _alike(shared: BoolArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Pairs that share the same queries, tested together, so many at a time that they fit in memory."""
    groups: dict[bytes, list[int]] = {}
    for place, row in enumerate(shared):
        groups.setdefault(row.tobytes(), []).append(place)
    size = max(1, MOST_DIFFERENCES // shared.shape[1])
    for places in groups.values():
        for first in range(0, len(places), size):
            yield np.array(places[first : first + size]), shared[places[0]]


def _paired(measure: str, names: list[tuple[str, str]], d: FloatArray, setting: Setting) -> list[Comparison]:
    n = d.shape[1]
    constant = np.ptp(d, axis=1) == 0
    p = np.where(d[:, 0] == 0, 1.0, max(2.0 ** (1 - n), paired_statistics.TINY))
    mean = np.where(constant, d[:, 0], d.mean(axis=1))
    se = np.zeros(len(d)) if n == 1 else np.where(constant, 0.0, paired_statistics.standard_error(d))
    half = 0.0 if n == 1 else t_quantile((1 + setting.level) / 2, n - 1) * se
    low, high = mean - half, mean + half
    rows = np.flatnonzero(~constant | (setting.test == "sign"))
    if setting.test == "bootstrap":
        p[rows], low[rows], high[rows] = _bootstrapped(d[rows], setting)
    elif len(rows):
        p[rows] = _p(d[rows], setting)
    detectable = detectable_difference(se, n - 1, setting.level) if n > 1 else se
    favoured = np.sign(_statistic(d, setting.test))
    wins, ties, losses = ((compared(d, 0)).sum(axis=1) for compared in (np.greater, np.equal, np.less))
    method = "BCa" if setting.test == "bootstrap" else "t"
    bounded = (constant | (setting.test != "bootstrap") | (n >= FEWEST_BOOTSTRAPPED)) & (n > 1)
    return [
        Comparison(
            measure=measure,
            a=a,
            b=b,
            difference=Estimate(
                value=float(mean[i]),
                se=float(se[i]) if n > 1 else None,
                low=float(low[i]) if bounded[i] else None,
                high=float(high[i]) if bounded[i] else None,
                level=setting.level,
                n=n,
                method=method,
            ),
            p_value=float(p[i]) if bounded[i] or constant[i] else None,
            test=setting.test,
            ahead=a if favoured[i] > 0 else b if favoured[i] < 0 else None,
            effect_size=float(mean[i] / (se[i] * np.sqrt(n))) if not constant[i] else 0.0 if mean[i] == 0 else None,
            wins=int(wins[i]),
            ties=int(ties[i]),
            losses=int(losses[i]),
            detectable=float(detectable[i]) if not constant[i] else None,
            notes=_why_constant(n, float(mean[i]), setting.test) if constant[i] else () if bounded[i] else TOO_FEW,
        )
        for i, (a, b) in enumerate(names)
    ]


def _statistic(d: FloatArray, test: Test) -> FloatArray:
    """What speaks for a where it is above 0: the mean, or what the test looks at instead."""
    seen = np.sign(d) if test == "sign" else paired_statistics.signed_ranks(d) if test == "wilcoxon" else d
    mean: FloatArray = seen.mean(axis=1)
    return mean


def _p(d: FloatArray, setting: Setting) -> FloatArray:
    if setting.test == "permutation":
        return resampling_tests.permutation(d, resamples=setting.resamples, rng=setting.rng, progress=setting.progress)
    if setting.test == "sign":
        return paired_statistics.sign(d, mid_p=setting.mid_p)
    return paired_statistics.wilcoxon(d) if setting.test == "wilcoxon" else paired_statistics.t(d)


def _bootstrapped(d: FloatArray, setting: Setting) -> tuple[FloatArray, FloatArray, FloatArray]:
    """p, low and high, so many pairs at a time that their resamples fit in memory."""
    size = max(1, MOST_MEANS // setting.resamples)
    found = [np.empty((3, 0))]
    for first in range(0, len(d), size):
        part = d[first : first + size]
        means = resampling_tests.bootstrap_means(
            part, resamples=setting.resamples, rng=setting.rng, progress=setting.progress
        )
        found.append(np.array(resampling_tests.bca(means, part, level=setting.level)))
    p, low, high = np.concatenate(found, axis=1)
    return p, low, high


def _why_constant(n: int, difference: float, test: Test) -> tuple[str]:
    if n == 1:
        return ("a single query: no test can tell a difference from luck",)
    if difference == 0:
        return (f"the two runs have the same value for each of the {n} queries",)
    same = (
        f"all {n} queries differ by the same {difference:.4g}: the interval cannot show what other queries would give"
    )
    return (same if test == "sign" else f"{same}, and p is that of swapping runs at random",)


def detectable_difference(se: FloatArray, df: float, level: float) -> FloatArray:
    """The difference that a t test shows in four of five samples of queries like these; infinite df are a z test.

    Examples:
        >>> detectable_difference(np.array([0.02]), 42, 0.95).round(4)
        array([0.0574])
    """
    normal = np.isinf(df)
    return sum(normal_quantile(p) if normal else t_quantile(p, df) for p in ((1 + level) / 2, POWER)) * se


def _unpaired(measure: str, runs: Sequence[str], values: FloatArray, a: int, b: int, setting: Setting) -> Comparison:
    """Welch's test for one pair: each run over its own queries."""
    own = [paired_statistics.rounded(values[run][~np.isnan(values[run])]) for run in (a, b)]
    for run, one in zip((a, b), own, strict=True):
        if not len(one):
            raise MismatchError(f"'{runs[run]}' has no query with a value of {measure}")
    counts, means = np.array([len(one) for one in own], dtype=float), np.array([one.mean() for one in own])
    difference = float(paired_statistics.apart(means[:1], means[1:])[0])
    both = ~np.isnan(values[a]) & ~np.isnan(values[b])
    notes: tuple[str, ...] = (f"queries: {len(own[0])} of '{runs[a]}', {len(own[1])} of '{runs[b]}', unpaired",)
    if both.sum() > counts.min() / 2:
        notes += (f"{both.sum()} of them are in both: a paired test on these would see more",)
    p = se = low = high = effect = detectable = None
    if counts.min() < 2:
        notes += ("a single query has no spread: no test can be made",)
    elif all(np.ptp(one) == 0 for one in own):
        notes += ("neither run's values vary: no test can be made",)
        p = 1.0 if difference == 0 else None
    else:
        variances = np.array([one.var(ddof=1) for one in own])
        found, error, freedom = paired_statistics.welch(means, variances, counts)
        p, se, df = float(found), float(error), float(freedom)
        half = t_quantile((1 + setting.level) / 2, df) * se
        low, high = difference - half, difference + half
        effect = difference / float(np.sqrt(variances.mean()))
        detectable = float(detectable_difference(np.array(se), df, setting.level))
    estimate = Estimate(
        value=difference, se=se, low=low, high=high, level=setting.level, n=int(counts.sum()), method="Welch"
    )
    ahead = paired_statistics.apart(values[a, both], values[b, both])
    return Comparison(
        measure=measure, a=runs[a], b=runs[b], difference=estimate, p_value=p, test="welch",
        ahead=runs[a] if difference > 0 else runs[b] if difference < 0 else None, effect_size=effect,
        wins=int((ahead > 0).sum()), ties=int((ahead == 0).sum()), losses=int((ahead < 0).sum()),
        detectable=detectable, notes=notes,
    )  # fmt: skip


def smallest_p(one: Comparison, setting: Setting) -> float:
    """The smallest p that this test can give for as many queries, however far apart the runs lie."""
    n, untied = one.difference.n, one.wins + one.losses
    if setting.test == "bootstrap":
        return resampling_tests.smallest_bootstrap_p(n, setting.resamples) if n > 1 else 1.0
    if setting.draws(n):
        return 1 / (setting.resamples + 1)
    few = setting.test == "wilcoxon" and untied <= paired_statistics.ENUMERATED_RANKS
    if few or setting.test in ("permutation", "sign"):
        least = 2.0 ** (1 - untied)
        return least / 2 if setting.mid_p else least
    return 0.0
