"""One test, all pairs of one measure: values → comparisons, not yet adjusted for each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import MismatchError
from ringtrue.evaluation.measures import BoolArray, FloatArray, IntArray
from ringtrue.evaluation.significance import paired_statistics as paired
from ringtrue.messages import Note
from ringtrue.stats.intervals import normal_quantile, t_quantile
from ringtrue.stats.results import Comparison, Estimate

Test: TypeAlias = Literal["t", "permutation", "bootstrap", "sign", "wilcoxon", "welch"]
POWER = 0.8
MIN_BOOTSTRAP_QUERIES = 6  # with fewer, what the interval needs lies beyond every resample
TOO_FEW_FOR_BOOTSTRAP = Note(
    "too-few-queries", f"fewer than {MIN_BOOTSTRAP_QUERIES} queries: the bootstrap can give neither an interval nor p"
)
MAX_DIFFERENCES = 4_000_000  # of all pairs and queries held at once: 32 MB
MAX_MEANS = 10_000_000  # of resamples held at once: 80 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSettings:
    """How to test. Every batch starts from the same seed, so that pairs and measures share their resamples."""

    test: Test
    level: float
    resamples: int
    seed: int
    mid_p: bool
    progress: paired.Progress = lambda _: None

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers from the start."""
        return np.random.default_rng(self.seed)

    def is_resampled(self, queries: int) -> bool:
        """Whether p comes from random resamples, and so has a smallest value."""
        if self.test == "permutation":
            return not paired.is_exact(queries, self.resamples)
        return self.test == "bootstrap"


def compare_pairs(
    measure: str, runs: Sequence[str], values: FloatArray, pairs: IntArray, settings: ComparisonSettings
) -> list[Comparison]:
    """Every pair tested on the queries for which both runs have a value; `values` are runs × queries."""
    if settings.test == "welch":
        return [_compare_unpaired(measure, runs, values, a, b, settings) for a, b in pairs.tolist()]
    has_value = ~np.isnan(values)
    shared = has_value[pairs[:, 0]] & has_value[pairs[:, 1]]
    if not shared.any(axis=1).all():
        a, b = pairs[int(np.argmin(shared.any(axis=1)))].tolist()
        raise MismatchError(
            "no-common-query", f"'{runs[a]}' and '{runs[b]}' have no query in common with a value of {measure}"
        )
    comparisons: dict[int, Comparison] = {}
    for members, queries in _group_by_shared_queries(shared):
        first, second = (values[pairs[members, side]][:, queries] for side in (0, 1))
        names = [(runs[a], runs[b]) for a, b in pairs[members]]
        batch = _compare_paired(measure, names, paired.paired_differences(first, second), settings)
        comparisons |= dict(zip(members.tolist(), batch, strict=True))
    return [comparisons[i] for i in range(len(pairs))]


def _group_by_shared_queries(shared: BoolArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Pairs that share the same queries, tested together, so many at a time that they fit in memory."""
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(shared):
        groups.setdefault(row.tobytes(), []).append(i)
    size = max(1, MAX_DIFFERENCES // shared.shape[1])
    for members in groups.values():
        for first in range(0, len(members), size):
            yield np.array(members[first : first + size]), shared[members[0]]


def _compare_paired(
    measure: str, names: list[tuple[str, str]], d: FloatArray, settings: ComparisonSettings
) -> list[Comparison]:
    n = d.shape[1]
    constant = np.ptp(d, axis=1) == 0
    p = np.where(d[:, 0] == 0, 1.0, max(2.0 ** (1 - n), paired.TINY))
    mean = np.where(constant, d[:, 0], d.mean(axis=1))
    se = np.zeros(len(d)) if n == 1 else np.where(constant, 0.0, paired.standard_error(d))
    half_width = 0.0 if n == 1 else t_quantile((1 + settings.level) / 2, n - 1) * se
    low, high = mean - half_width, mean + half_width
    rows = np.flatnonzero(~constant | (settings.test == "sign"))
    if settings.test == "bootstrap":
        p[rows], low[rows], high[rows] = _bootstrap_p_and_bounds(d[rows], settings)
    elif len(rows):
        p[rows] = _p_values(d[rows], settings)
    detectable = detectable_difference(se, n - 1, settings.level) if n > 1 else se
    favoured = np.sign(_test_statistic(d, settings.test))
    wins, ties, losses = ((compared(d, 0)).sum(axis=1) for compared in (np.greater, np.equal, np.less))
    method = "BCa" if settings.test == "bootstrap" else "t"
    has_interval = (constant | (settings.test != "bootstrap") | (n >= MIN_BOOTSTRAP_QUERIES)) & (n > 1)

    def notes_on(i: int) -> tuple[Note, ...]:
        if constant[i]:
            return (_constant_difference_note(n, float(mean[i]), settings.test),)
        return () if has_interval[i] else (TOO_FEW_FOR_BOOTSTRAP,)

    return [
        Comparison(
            measure=measure,
            a=a,
            b=b,
            difference=Estimate(
                value=float(mean[i]),
                se=float(se[i]) if n > 1 else None,
                low=float(low[i]) if has_interval[i] else None,
                high=float(high[i]) if has_interval[i] else None,
                level=settings.level,
                n=n,
                method=method,
            ),
            p_value=float(p[i]) if has_interval[i] or constant[i] else None,
            test=settings.test,
            ahead=a if favoured[i] > 0 else b if favoured[i] < 0 else None,
            effect_size=float(mean[i] / (se[i] * np.sqrt(n))) if not constant[i] else 0.0 if mean[i] == 0 else None,
            wins=int(wins[i]),
            ties=int(ties[i]),
            losses=int(losses[i]),
            detectable=float(detectable[i]) if not constant[i] else None,
            notes=notes_on(i),
        )
        for i, (a, b) in enumerate(names)
    ]


def _test_statistic(d: FloatArray, test: Test) -> FloatArray:
    """What speaks for a where it is above 0: the mean, or what the test looks at instead."""
    scores = np.sign(d) if test == "sign" else paired.signed_ranks(d) if test == "wilcoxon" else d
    mean: FloatArray = scores.mean(axis=1)
    return mean


def _p_values(d: FloatArray, settings: ComparisonSettings) -> FloatArray:
    if settings.test == "permutation":
        return paired.permutation_test(d, resamples=settings.resamples, rng=settings.rng, progress=settings.progress)
    if settings.test == "sign":
        return paired.sign_test(d, mid_p=settings.mid_p)
    return paired.wilcoxon_test(d) if settings.test == "wilcoxon" else paired.t_test(d)


def _bootstrap_p_and_bounds(d: FloatArray, settings: ComparisonSettings) -> tuple[FloatArray, FloatArray, FloatArray]:
    """p, low and high, so many pairs at a time that their resamples fit in memory."""
    size = max(1, MAX_MEANS // settings.resamples)
    batches = [np.empty((3, 0))]
    for first in range(0, len(d), size):
        batch = d[first : first + size]
        means = paired.bootstrap_means(
            batch, resamples=settings.resamples, rng=settings.rng, progress=settings.progress
        )
        batches.append(np.array(paired.bca(means, batch, level=settings.level)))
    p, low, high = np.concatenate(batches, axis=1)
    return p, low, high


def _constant_difference_note(n: int, difference: float, test: Test) -> Note:
    if n == 1:
        return Note("single-query", "a single query: no test can tell a difference from luck")
    if difference == 0:
        return Note("equal-runs", f"the two runs have the same value for each of the {n} queries")
    text = (
        f"all {n} queries differ by the same {difference:.4g}: the interval cannot show what other queries would give"
    )
    return Note("equal-values", text if test == "sign" else f"{text}, and p is that of swapping runs at random")


def detectable_difference(se: FloatArray, df: float, level: float) -> FloatArray:
    """The difference that a t test shows in four of five samples of queries like these; infinite df are a z test.

    Examples:
        >>> detectable_difference(np.array([0.02]), 42, 0.95).round(4)
        array([0.0574])
    """
    normal = np.isinf(df)
    return sum(normal_quantile(p) if normal else t_quantile(p, df) for p in ((1 + level) / 2, POWER)) * se


def _compare_unpaired(
    measure: str, runs: Sequence[str], values: FloatArray, a: int, b: int, settings: ComparisonSettings
) -> Comparison:
    """Welch's test for one pair: each run over its own queries."""
    samples = [paired.strip_rounding_noise(values[run][~np.isnan(values[run])]) for run in (a, b)]
    for run, sample in zip((a, b), samples, strict=True):
        if not len(sample):
            raise MismatchError("no-queries", f"'{runs[run]}' has no query with a value of {measure}")
    counts = np.array([len(sample) for sample in samples], dtype=float)
    means = np.array([sample.mean() for sample in samples])
    difference = float(paired.paired_differences(means[:1], means[1:])[0])
    both = ~np.isnan(values[a]) & ~np.isnan(values[b])
    counted = f"queries: {len(samples[0])} of '{runs[a]}', {len(samples[1])} of '{runs[b]}', unpaired"
    notes = [Note("unpaired-queries", counted)]
    if both.sum() > counts.min() / 2:
        text = f"{both.sum()} of them are in both: a paired test on these would see more"
        notes.append(Note("paired-sees-more", text))
    p = se = low = high = effect = detectable = None
    if counts.min() < 2:
        notes.append(Note("single-query", "a single query has no spread: no test can be made"))
    elif all(np.ptp(sample) == 0 for sample in samples):
        notes.append(Note("equal-values", "neither run's values vary: no test can be made"))
        p = 1.0 if difference == 0 else None
    else:
        variances = np.array([sample.var(ddof=1) for sample in samples])
        welch_p, welch_se, welch_df = paired.welch_test(means, variances, counts)
        p, se, df = float(welch_p), float(welch_se), float(welch_df)
        half_width = t_quantile((1 + settings.level) / 2, df) * se
        low, high = difference - half_width, difference + half_width
        effect = difference / float(np.sqrt(variances.mean()))
        detectable = float(detectable_difference(np.array(se), df, settings.level))
    estimate = Estimate(
        value=difference, se=se, low=low, high=high, level=settings.level, n=int(counts.sum()), method="Welch"
    )
    differences = paired.paired_differences(values[a, both], values[b, both])
    return Comparison(
        measure=measure,
        a=runs[a],
        b=runs[b],
        difference=estimate,
        p_value=p,
        test="welch",
        ahead=runs[a] if difference > 0 else runs[b] if difference < 0 else None,
        effect_size=effect,
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
        detectable=detectable,
        notes=tuple(notes),
    )


def smallest_p(comparison: Comparison, settings: ComparisonSettings) -> float:
    """The smallest p that this test can give for as many queries, however far apart the runs lie."""
    n, untied = comparison.difference.n, comparison.wins + comparison.losses
    if settings.test == "bootstrap":
        return paired.smallest_bootstrap_p(n, settings.resamples) if n > 1 else 1.0
    if settings.is_resampled(n):
        return 1 / (settings.resamples + 1)
    enumerated = settings.test == "wilcoxon" and untied <= paired.ENUMERATED_RANKS
    if enumerated or settings.test in ("permutation", "sign"):
        min_p = 2.0 ** (1 - untied)
        return min_p / 2 if settings.mid_p else min_p
    return 0.0
