"""Worlds of runs whose true difference is known, and how often each test finds it, or finds it where it is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.evaluation.significance.paired_statistics import welch_test
from ringtrue.evaluation.significance.pairwise_tests import ComparisonSettings, Test, compare_pairs
from ringtrue.stats.results import Comparison

FloatArray = NDArray[np.float64]
MeasureKind: TypeAlias = Literal["nDCG", "AP", "P@10", "RR"]

BATCH_ROWS = 2_500  # replications tested at a time; with 2,000 resamples a batch takes some 150 MB
HELPED_SHARE, HELP_GAIN = 0.1, 0.8  # a lopsided run closes this much of the gap to 1, for this share of the queries

# What `compare` calls each test, and whether the mid-p value is asked for.
TESTS: dict[str, tuple[Test, bool]] = {
    "t": ("t", False),
    "permutation": ("permutation", False),
    "bootstrap": ("bootstrap", False),
    "wilcoxon": ("wilcoxon", False),
    "sign": ("sign", False),
    "sign, mid-p": ("sign", True),
    "welch": ("welch", False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreShape:
    """How the values of a measure look: their mean and sd, the correlation of two runs, and the values that occur."""

    mean: float
    sd: float
    correlation: float
    grid: FloatArray


# Like the 37 runs of TREC Deep Learning 2019: hard and easy queries, more or less the same ones for every run.
SCORE_SHAPES: dict[MeasureKind, ScoreShape] = {
    "nDCG": ScoreShape(mean=0.6, sd=0.24, correlation=0.7, grid=np.linspace(0, 1, 10_001)),
    "AP": ScoreShape(mean=0.35, sd=0.25, correlation=0.75, grid=np.linspace(0, 1, 10_001)),
    "P@10": ScoreShape(mean=0.55, sd=0.3, correlation=0.8, grid=np.linspace(0, 1, 11)),
    "RR": ScoreShape(mean=0.75, sd=0.3, correlation=0.4, grid=np.append(0, 1 / np.arange(10, 0, -1))),
}


class PairedWorld(TypedDict):
    """What `paired_scores` takes: a study of pairs passes it on."""

    queries: int
    replications: int
    effect: NotRequired[float]
    kind: NotRequired[MeasureKind]
    lopsided: NotRequired[bool]


def paired_scores(
    rng: np.random.Generator,
    *,
    queries: int,
    replications: int,
    effect: float = 0.0,
    kind: MeasureKind = "nDCG",
    lopsided: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Two runs over the same queries, many times: the values of each, replications × queries.

    The mean over all queries that there could be is higher by exactly `effect` for the first run. With no effect the
    two could be swapped at random for each query without anybody noticing, which is what most tests take for granted
    under "no difference". With `lopsided` they could not: the first run then helps a tenth of the queries much and
    hurts all the others a little, and the means differ by `effect` all the same.

    Examples:
        >>> first, second = paired_scores(np.random.default_rng(1), queries=50, replications=2_000, effect=0.05)
        >>> first.shape, round(float((first - second).mean()), 3)
        ((2000, 50), 0.05)
    """
    difficulty = _draw_difficulty(rng, kind, queries, replications)
    expected = np.repeat(difficulty, 2, axis=1)
    if lopsided:
        mean = SCORE_SHAPES[kind].mean
        hurt = HELPED_SHARE * HELP_GAIN * (1 - mean) / ((1 - HELPED_SHARE) * mean)
        helped = rng.random((replications, queries)) < HELPED_SHARE
        expected[:, 0] = np.where(
            helped, expected[:, 0] + HELP_GAIN * (1 - expected[:, 0]), expected[:, 0] * (1 - hurt)
        )
    values = _draw_values(rng, _add_effects(expected, (effect, 0.0), kind), kind)
    return values[:, 0], values[:, 1]


def system_scores(
    rng: np.random.Generator, *, queries: int, replications: int, effects: Sequence[float], kind: MeasureKind = "nDCG"
) -> FloatArray:
    """Several runs over the same queries, many times: replications × runs × queries.

    The true mean of each run lies by its effect above that of a run with effect 0. Runs with the same effect could be
    swapped at random for each query.

    Examples:
        >>> values = system_scores(np.random.default_rng(1), queries=50, replications=2_000, effects=(0, 0, 0.1))
        >>> values.shape, values.mean(axis=(0, 2)).round(2)
        ((2000, 3, 50), array([0.6, 0.6, 0.7]))
    """
    expected = np.repeat(_draw_difficulty(rng, kind, queries, replications), len(effects), axis=1)
    return _draw_values(rng, _add_effects(expected, effects, kind), kind)


def error_rates(
    rng: np.random.Generator,
    *,
    tests: Iterable[str] = tuple(TESTS),
    resamples: int = 2_000,
    level: float = 0.95,
    **world: Unpack[PairedWorld],
) -> dict[str, float]:
    """How often each test says that two runs of a world differ: falsely, with no effect; else that is its power.

    Welch's test gets what it is made for: the second run over other queries, as many as the first has.

    Examples:
        >>> rates = error_rates(np.random.default_rng(1), queries=20, replications=2_000, tests=("t", "sign"))
        >>> {test: round(share, 3) for test, share in rates.items()}
        {'t': 0.052, 'sign': 0.043}
    """
    first, second = paired_scores(rng, **world)
    seed = int(rng.integers(2**32))
    rates = {}
    for test in tests:
        _require_known_name("test", test, TESTS)
        if test == "welch":
            p_values = _welch_p_values(first, np.roll(second, 1, axis=0))  # the queries of another replication
        else:
            comparisons = _compare_in_batches(first, second, test, resamples, level, seed)
            p_values = np.array(
                [1.0 if comparison.p_value is None else comparison.p_value for comparison in comparisons]
            )
        rates[test] = float((p_values < 1 - level).mean())
    return rates


def miss_rates(
    rng: np.random.Generator, *, resamples: int = 2_000, level: float = 0.95, **world: Unpack[PairedWorld]
) -> dict[str, tuple[float, float]]:
    """How often the interval of the difference misses the truth: how often it ends below, and begins above it.

    For the interval by t, and the one by the bootstrap (BCa).

    Examples:
        >>> miss_rates(np.random.default_rng(1), queries=50, replications=1_000, resamples=500)["t"]
        (0.021, 0.026)
    """
    first, second = paired_scores(rng, **world)
    seed = int(rng.integers(2**32))
    effect, missed = world.get("effect", 0.0), {}
    for method, test in (("t", "t"), ("BCa", "bootstrap")):
        differences = [
            comparison.difference for comparison in _compare_in_batches(first, second, test, resamples, level, seed)
        ]
        below = np.mean([difference.high is not None and difference.high < effect for difference in differences])
        above = np.mean([difference.low is not None and difference.low > effect for difference in differences])
        missed[method] = (float(below), float(above))
    return missed


def _compare_in_batches(
    first: FloatArray, second: FloatArray, test: str, resamples: int, level: float, seed: int
) -> Iterator[Comparison]:
    """Each replication as `compare` tests it, in batches that draw anew."""
    name, mid_p = TESTS[test]
    for batch, start in enumerate(range(0, len(first), BATCH_ROWS)):
        stacked = np.concatenate([first[start : start + BATCH_ROWS], second[start : start + BATCH_ROWS]])
        count = len(stacked) // 2
        pairs = np.column_stack([np.arange(count), np.arange(count) + count])
        setting = ComparisonSettings(test=name, level=level, resamples=resamples, seed=seed + batch, mid_p=mid_p)
        yield from compare_pairs(name, [""] * len(stacked), stacked, pairs, setting)


def _welch_p_values(first: FloatArray, second: FloatArray) -> FloatArray:
    stacked = np.stack([first, second], axis=1)
    means, variances = stacked.mean(axis=2), stacked.var(axis=2, ddof=1)
    p, _, _ = welch_test(means, variances, np.full(means.shape, float(first.shape[1])))
    return p


def _require_known_name(noun: str, name: str, choices: Iterable[str]) -> None:
    names = list(choices)
    if name not in names:
        suggestion = did_you_mean(name, names) or f"; there is {', '.join(names)}"
        raise UsageError("unknown-choice", f"no {noun} '{name}'{suggestion}")


def _draw_difficulty(rng: np.random.Generator, kind: MeasureKind, queries: int, replications: int) -> FloatArray:
    """What runs with no effect can expect of each query: replications × 1 × queries."""
    _require_known_name("kind", kind, SCORE_SHAPES)
    if queries < 2 or replications < 1:
        raise UsageError(
            "study-too-small", f"a test needs two queries and a replication, found {queries} and {replications}"
        )
    shape = SCORE_SHAPES[kind]
    concentration = 1 / _variance_shares(shape)[0] - 1
    return rng.beta(shape.mean * concentration, (1 - shape.mean) * concentration, (replications, 1, queries))


def _add_effects(expected: FloatArray, effects: Sequence[float], kind: MeasureKind) -> FloatArray:
    """Each run's expected values moved towards 1 by the same share of what is missing, so that the mean is right."""
    headroom = 1 - SCORE_SHAPES[kind].mean
    if min(effects) < 0 or max(effects) >= headroom:
        raise UsageError(
            "effect-out-of-range", f"an effect on {kind} must lie between 0 and {headroom:.2g}, found {list(effects)}"
        )
    share = np.array(effects)[:, None] / headroom
    return expected + (1 - expected) * share


def _draw_values(rng: np.random.Generator, expected: FloatArray, kind: MeasureKind) -> FloatArray:
    """Values that occur, drawn around those expected: between two neighbours of the grid, chance keeps the mean."""
    shape = SCORE_SHAPES[kind]
    # by query: heavy tails
    dispersion = 2 * _variance_shares(shape)[1] * rng.random((len(expected), 1, expected.shape[2]))
    concentration = 1 / np.maximum(dispersion, 1e-6) - 1
    continuous = rng.beta(np.maximum(expected * concentration, 1e-9), np.maximum((1 - expected) * concentration, 1e-9))
    lower_index = np.clip(np.searchsorted(shape.grid, continuous, side="right") - 1, 0, len(shape.grid) - 2)
    low, high = shape.grid[lower_index], shape.grid[lower_index + 1]
    rounds_up = rng.random(continuous.shape) * (high - low) < continuous - low
    return np.where(rounds_up, high, low)


def _variance_shares(shape: ScoreShape) -> tuple[float, float]:
    """Of μ (1 − μ), how much the difficulty of queries varies; of that at a given difficulty, how much values do."""
    total = shape.sd**2 / (shape.mean * (1 - shape.mean))
    common = total * shape.correlation
    return common, (total - common) / (1 - common)
