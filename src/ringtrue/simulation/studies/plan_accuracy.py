"""Worlds in which plans are carried out, to see whether they achieve what they promise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.gold.planning import Plan, Plans, plan
from ringtrue.stats.student_t import normal_quantile, t_quantile

__all__ = ["SETTINGS", "Setting", "planned_against_achieved"]

Array: TypeAlias = NDArray[np.float64]
LARGE = 200_000  # queries that stand for all there could be
LEVEL = 0.95
AT_ONCE = 1_000_000  # documents


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A world, and what is asked of it: a half-width, or a difference to be found with a power.

    `prevalence` is the share of relevant documents, by gold; `alike` is how alike those of a query are (their
    intraclass correlation); `accuracy` the bronze judge's on relevant documents and on others. With `moods` the
    accuracy is higher for some queries than for others, so that errors are alike in the same sense.
    """

    name: str
    half_width: float | None = None
    difference: float | None = None
    power: float = 0.8
    queries: int | None = None
    prevalence: float = 0.4
    alike: float = 0.2
    accuracy: tuple[float, float] = (0.85, 0.9)
    moods: float = 0.0
    k: int = 10
    cost_gold: float = 20.0


SETTINGS = (
    Setting(name="usual judge", half_width=0.05),
    Setting(name="weak judge", half_width=0.04, accuracy=(0.7, 0.8), prevalence=0.5),
    Setting(name="good judge, k = 5", half_width=0.03, accuracy=(0.95, 0.97), prevalence=0.25, k=5, cost_gold=50),
    Setting(name="moody judge, queries far apart", half_width=0.05, alike=0.4, moods=0.2),
    Setting(name="100 queries", half_width=0.07, alike=0.15, queries=100),
    Setting(name="a difference, usual judge", difference=0.05),
    Setting(name="a difference, weak judge", difference=0.06, accuracy=(0.7, 0.8), prevalence=0.5, moods=0.1),
)


def planned_against_achieved(
    rng: np.random.Generator, *, settings: Sequence[Setting] = SETTINGS, replications: int = 1000
) -> list[dict[str, str | float]]:
    """Carry out the plan of every method in every setting many times, and compare what it achieved with what was asked.

    Achieved is the quantile that the interval takes times the sd of the estimates, or the share of paired t tests that
    found the difference. A row for each: setting, method, asked, achieved and ratio.

    Examples:
        >>> rows = planned_against_achieved(np.random.default_rng(1), settings=SETTINGS[:1], replications=400)
        >>> [(row["method"], round(row["ratio"], 1)) for row in rows][:3]
        [('gold', 1.0), ('gold sample', 1.0), ('difference', 1.0)]
    """
    if replications < 2:
        raise UsageError(f"a study needs 2 replications, found {replications}")
    rows: list[dict[str, str | float]] = []
    for one in settings:
        asked = one.half_width if one.difference is None else one.power
        carried_out = _half_widths if one.difference is None else _powers
        for method, achieved in carried_out(rng, one, _planned(rng, one), replications).items():
            assert asked is not None
            rows.append({"setting": one.name, "method": method, "asked": asked, "achieved": achieved,
                         "ratio": achieved / asked})  # fmt: skip
    return rows


def _planned(rng: np.random.Generator, one: Setting) -> Plans:
    """The plan for a world of which all is known, as from many queries."""
    known = {
        "accuracy": one.accuracy, "prevalence": one.prevalence, "k": one.k, "queries": one.queries, "cost_bronze": 1.0,
        "cost_gold": one.cost_gold, "level": LEVEL,
    }  # fmt: skip
    score = one.prevalence * one.accuracy[0] + (1 - one.prevalence) * (1 - one.accuracy[1])
    if one.difference is None:
        gold, right, wrong = _counts(rng, one, (LARGE,))
        bronze = (right + wrong) / one.k
        return plan(half_width=one.half_width, score=score, sd=float(bronze.std()), gold_sd=float((gold / one.k).std()),
                    **known)  # type: ignore[arg-type]  # fmt: skip
    gold_sd, bronze_sd = (float((labels @ _sign(one) / one.k).std()) for labels in _labels(rng, one, (1, LARGE)))
    return plan(difference=one.difference, power=one.power, score=score, unshared=one.k, difference_sd=bronze_sd,
                gold_sd=gold_sd, **known)  # type: ignore[arg-type]  # fmt: skip


def _counts(rng: np.random.Generator, one: Setting, shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """For each query: the relevant documents, those of them that bronze calls so, and the others that it does."""
    share = _around(rng, one.prevalence, one.alike, shape)
    right, wrong = (_around(rng, rate, one.moods, shape) for rate in one.accuracy)
    gold = rng.binomial(one.k, share)
    hits, false = rng.binomial(gold, right), rng.binomial(one.k - gold, 1 - wrong)
    return gold.astype(np.float64), hits.astype(np.float64), false.astype(np.float64)


def _around(rng: np.random.Generator, mean: float, alike: float, shape: tuple[int, ...]) -> Array:
    """Shares with this mean, and the variance that makes draws from one of them so much alike."""
    if alike == 0:
        return np.full(shape, mean)
    size = 1 / alike - 1
    return rng.beta(mean * size, (1 - mean) * size, shape)


def _half_widths(rng: np.random.Generator, one: Setting, plans: Plans, replications: int) -> dict[str, float]:
    """The half-width that each method's plan achieves: the quantile times the sd of the estimates."""
    found = {}
    for each in plans:
        if each.reached and each.queries is not None:
            estimates = ESTIMATES[each.method](rng, one, each, replications)
            level = (1 + LEVEL) / 2
            quantile = normal_quantile(level) if each.method == "confusion" else t_quantile(level, each.queries - 1)
            found[each.method] = quantile * float(np.std(estimates, ddof=1))
    return found


def _whole(rng: np.random.Generator, one: Setting, each: Plan, replications: int) -> Array:
    gold, _, _ = _counts(rng, one, (replications, each.queries or 0))
    return np.asarray(gold.mean(axis=1) / one.k, dtype=np.float64)


def _sampled(rng: np.random.Generator, one: Setting, each: Plan, replications: int) -> Array:
    """As many labels of each query as of the other, or one more."""
    assert each.queries is not None
    assert each.gold is not None
    gold, _, _ = _counts(rng, one, (replications, each.queries))
    labels = each.gold // each.queries + (np.arange(each.queries) < each.gold % each.queries)
    drawn = rng.hypergeometric(gold.astype(np.int64), (one.k - gold).astype(np.int64), labels[None, :])
    return np.asarray((drawn / labels).mean(axis=1), dtype=np.float64)


def _by_stratum(rng: np.random.Generator, one: Setting, each: Plan, replications: int) -> Array:
    """Gold at random among all documents, or apart by what bronze says; j P + (1−j) Q."""
    assert each.queries is not None
    assert each.gold is not None
    gold, hits, false = (part.sum(axis=1) for part in _counts(rng, one, (replications, each.queries)))
    documents = each.queries * one.k
    called, missed = hits + false, gold - hits
    if each.method == "difference":
        first = rng.hypergeometric(called.astype(np.int64), (documents - called).astype(np.int64), each.gold)
    else:
        share = _share_of_first(one)
        wanted = np.full(replications, round(each.gold * share))
        first = np.minimum(wanted, called.astype(np.int64))
    rest = each.gold - first
    right = rng.hypergeometric(hits.astype(np.int64), false.astype(np.int64), first) / first
    wrong = rng.hypergeometric(missed.astype(np.int64), (documents - called - missed).astype(np.int64), rest) / rest
    score = called / documents
    return np.asarray(score * right + (1 - score) * wrong, dtype=np.float64)


def _share_of_first(one: Setting) -> float:
    """Neyman's: how much of the gold goes to what bronze calls relevant."""
    right, wrong = one.accuracy
    score = one.prevalence * right + (1 - one.prevalence) * (1 - wrong)
    called, missed = one.prevalence * right / score, one.prevalence * (1 - right) / (1 - score)
    doubts = score * np.sqrt(called * (1 - called)), (1 - score) * np.sqrt(missed * (1 - missed))
    return float(doubts[0] / sum(doubts))


def _inverted(rng: np.random.Generator, one: Setting, each: Plan, replications: int) -> Array:
    """The judge's rates from documents elsewhere, and the bronze score turned round by them."""
    assert each.queries is not None
    assert each.gold is not None
    right, wrong = one.accuracy
    doubts = one.prevalence * np.sqrt(right * (1 - right)), (1 - one.prevalence) * np.sqrt(wrong * (1 - wrong))
    relevant = round(each.gold * float(doubts[0] / sum(doubts)))
    _, hits, false = _counts(rng, one, (replications, each.queries))
    score = (hits + false).mean(axis=1) / one.k
    rates = [
        rng.binomial(n, rate, replications) / n
        for n, rate in ((relevant, right), (each.gold - relevant, wrong))
    ]  # fmt: skip
    return np.asarray((score - 1 + rates[1]) / (rates[0] + rates[1] - 1), dtype=np.float64)


ESTIMATES: dict[str, Callable[[np.random.Generator, Setting, Plan, int], Array]] = {
    "gold": _whole,
    "gold sample": _sampled,
    "difference": _by_stratum,
    "stratified": _by_stratum,
    "confusion": _inverted,
}


def _sign(one: Setting) -> Array:
    """Of k unshared documents, the first half is the first run's."""
    return np.repeat([1.0, -1.0], one.k // 2)


def _labels(rng: np.random.Generator, one: Setting, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Gold and bronze labels of the unshared documents: replications × queries × documents."""
    assert one.difference is not None
    means = (one.prevalence + one.difference, one.prevalence - one.difference)
    shares = np.stack([_around(rng, mean, one.alike, shape) for mean in means], axis=-1)
    gold = rng.random((*shape, one.k)) < np.repeat(shares, one.k // 2, axis=-1)
    right, wrong = (_around(rng, rate, one.moods, shape)[..., None] for rate in one.accuracy)
    bronze = rng.random(gold.shape) < np.where(gold, right, 1 - wrong)
    return gold.astype(np.float64), bronze.astype(np.float64)


def _powers(rng: np.random.Generator, one: Setting, plans: Plans, replications: int) -> dict[str, float]:
    """How often the paired t test on what each query adds to the estimate finds the difference."""
    found = {}
    for each in plans:
        if not each.reached or each.queries is None:
            continue
        batch = max(1, AT_ONCE // (each.queries * one.k))
        needed = t_quantile((1 + LEVEL) / 2, each.queries - 1)
        hits = 0
        for first in range(0, replications, batch):
            gold, bronze = _labels(rng, one, (min(batch, replications - first), each.queries))
            values = _values(rng, one, each, gold, bronze)
            se = values.std(axis=1, ddof=1) / np.sqrt(each.queries)
            hits += int((values.mean(axis=1) > needed * se).sum())
        found[each.method] = hits / replications
    return found


def _values(rng: np.random.Generator, one: Setting, each: Plan, gold: Array, bronze: Array) -> Array:
    """What each query adds to the estimate of the difference: replications × queries."""
    sign = _sign(one) / one.k
    if each.method in ("gold", "shared judge"):
        return np.asarray((gold if each.method == "gold" else bronze) @ sign, dtype=np.float64)
    assert each.queries is not None
    assert each.gold is not None
    if each.method == "gold sample":
        labels = each.gold // each.queries + (np.arange(each.queries) < each.gold % each.queries)
        order = rng.random(gold.shape).argsort(axis=2).argsort(axis=2)
        drawn = (order < labels[:, None]) * (one.k / labels[:, None])
        return np.asarray((gold * drawn) @ sign, dtype=np.float64)
    called = bronze.reshape(len(bronze), -1) > 0
    strata = [np.ones_like(called)] if each.method == "difference" else [called, ~called]
    first = round(each.gold * _share_of_first(one))
    sizes = [each.gold] if each.method == "difference" else [first, each.gold - first]
    drawn = np.sum([_drawn(rng, there, size) for there, size in zip(strata, sizes, strict=True)], axis=0)
    inverse = drawn.reshape(gold.shape)
    rest = _predicted(gold, bronze, inverse)
    return np.asarray((rest + inverse * (gold - rest)) @ sign, dtype=np.float64)


def _drawn(rng: np.random.Generator, there: NDArray[np.bool_], size: int) -> Array:
    """For each document that is there, the inverse of the probability to be drawn if it was, and 0 otherwise."""
    keys = np.where(there, rng.random(there.shape), 2.0)
    last = np.partition(keys, size - 1, axis=1)[:, size - 1 : size]
    many = there.sum(axis=1, keepdims=True)
    return np.asarray(((keys <= last) & there) * (many / np.minimum(size, many)), dtype=np.float64)


def _predicted(gold: Array, bronze: Array, inverse: Array) -> Array:
    """The share that is relevant by gold, among the drawn documents of the same bronze label."""
    shares = []
    for said in (bronze, 1 - bronze):
        weight = said * inverse
        shares.append((weight * gold).sum(axis=(1, 2)) / weight.sum(axis=(1, 2)))
    called, rest = (share[:, None, None] for share in shares)
    return np.asarray(np.where(bronze > 0, called, rest), dtype=np.float64)
