"""Worlds in which plans are carried out, to see whether they achieve what they promise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.gold.correction.rate_inversion import invert_rates
from ringtrue.gold.planning import Plans, plan
from ringtrue.stats.intervals import normal_quantile, t_quantile

Array: TypeAlias = NDArray[np.float64]
MANY_QUERIES = 200_000  # queries that stand for all there could be
LEVEL = 0.95
MAX_DOCS = 1_000_000  # documents


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSetting:
    """A world, and what is asked of it: a half-width, or a difference to be found with a power.

    `prevalence` is the share of relevant documents, by gold; `icc` is how alike those of a query are (their
    intraclass correlation); `accuracy` the bronze judge's on relevant documents and on others. With `moods` the
    accuracy is higher for some queries than for others, so that errors are alike in the same sense.
    """

    name: str
    half_width: float | None = None
    difference: float | None = None
    power: float = 0.8
    queries: int | None = None
    prevalence: float = 0.4
    icc: float = 0.2
    accuracy: tuple[float, float] = (0.85, 0.9)
    moods: float = 0.0
    k: int = 10
    cost_gold: float = 20.0


SETTINGS = (
    PlanSetting(name="usual judge", half_width=0.05),
    PlanSetting(name="weak judge", half_width=0.04, accuracy=(0.7, 0.8), prevalence=0.5),
    PlanSetting(name="good judge, k = 5", half_width=0.03, accuracy=(0.95, 0.97), prevalence=0.25, k=5, cost_gold=50),
    PlanSetting(name="moody judge, queries far apart", half_width=0.05, icc=0.4, moods=0.2),
    PlanSetting(name="100 queries", half_width=0.07, icc=0.15, queries=100),
    PlanSetting(name="a difference, usual judge", difference=0.05),
    PlanSetting(name="a difference, weak judge", difference=0.06, accuracy=(0.7, 0.8), prevalence=0.5, moods=0.1),
)


def planned_against_achieved(
    rng: np.random.Generator, *, settings: Sequence[PlanSetting] = SETTINGS, replications: int = 1000
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
        raise UsageError("study-too-small", f"a study needs 2 replications, found {replications}")
    rows: list[dict[str, str | float]] = []
    for setting in settings:
        goal = setting.half_width if setting.difference is None else setting.power
        carry_out = _achieved_half_width if setting.difference is None else _achieved_power
        for plan_of_method in _make_plans(rng, setting):
            method, queries, gold = plan_of_method.method, plan_of_method.queries, plan_of_method.gold
            if plan_of_method.reached and queries is not None and gold is not None and goal is not None:
                achieved = carry_out(rng, setting, method, queries, gold, replications)
                ratio = achieved / goal
                rows.append(
                    {"setting": setting.name, "method": method, "asked": goal, "achieved": achieved, "ratio": ratio}
                )
    return rows


def _make_plans(rng: np.random.Generator, setting: PlanSetting) -> Plans:
    """The plan for a world of which all is known, as from many queries."""
    inputs = {
        "accuracy": setting.accuracy,
        "prevalence": setting.prevalence,
        "k": setting.k,
        "queries": setting.queries,
        "cost_bronze": 1.0,
        "cost_gold": setting.cost_gold,
        "level": LEVEL,
    }
    score = setting.prevalence * setting.accuracy[0] + (1 - setting.prevalence) * (1 - setting.accuracy[1])
    if setting.difference is None:
        gold, right, wrong = _draw_counts(rng, setting, (MANY_QUERIES,))
        bronze = (right + wrong) / setting.k
        return plan(
            half_width=setting.half_width,
            score=score,
            sd=float(bronze.std()),
            gold_sd=float((gold / setting.k).std()),
            **inputs,  # type: ignore[arg-type]
        )
    gold_sd, bronze_sd = (
        float((labels @ _run_signs(setting) / setting.k).std())
        for labels in _draw_labels(rng, setting, (1, MANY_QUERIES))
    )
    return plan(
        difference=setting.difference,
        power=setting.power,
        score=score,
        unshared=setting.k,
        difference_sd=bronze_sd,
        gold_sd=gold_sd,
        **inputs,  # type: ignore[arg-type]
    )


def _draw_counts(rng: np.random.Generator, setting: PlanSetting, shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """For each query: the relevant documents, those of them that bronze calls so, and the others that it does."""
    share = _draw_beta_shares(rng, setting.prevalence, setting.icc, shape)
    right, wrong = (_draw_beta_shares(rng, rate, setting.moods, shape) for rate in setting.accuracy)
    gold = rng.binomial(setting.k, share)
    hits, false = rng.binomial(gold, right), rng.binomial(setting.k - gold, 1 - wrong)
    return gold.astype(np.float64), hits.astype(np.float64), false.astype(np.float64)


def _draw_beta_shares(rng: np.random.Generator, mean: float, icc: float, shape: tuple[int, ...]) -> Array:
    """Shares with this mean, and the variance that makes draws from one of them so much alike."""
    if icc == 0:
        return np.full(shape, mean)
    concentration = 1 / icc - 1
    return rng.beta(mean * concentration, (1 - mean) * concentration, shape)


def _achieved_half_width(
    rng: np.random.Generator, setting: PlanSetting, method: str, queries: int, gold: int, replications: int
) -> float:
    """The half-width that a method's plan achieves: the quantile times the sd of the estimates."""
    estimates = ESTIMATORS[method](rng, setting, queries, gold, replications)
    level = (1 + LEVEL) / 2
    quantile = normal_quantile(level) if method == "confusion" else t_quantile(level, queries - 1)
    return quantile * float(np.std(estimates, ddof=1))


def _estimate_whole_queries(
    rng: np.random.Generator,
    setting: PlanSetting,
    queries: int,
    gold: int,  # noqa: ARG001 - as the others
    replications: int,
) -> Array:
    relevant, _, _ = _draw_counts(rng, setting, (replications, queries))
    return np.asarray(relevant.mean(axis=1) / setting.k, dtype=np.float64)


def _estimate_gold_sample(
    rng: np.random.Generator, setting: PlanSetting, queries: int, gold: int, replications: int
) -> Array:
    relevant, _, _ = _draw_counts(rng, setting, (replications, queries))
    labels = _labels_per_query(queries, gold)
    relevant_drawn = rng.hypergeometric(
        relevant.astype(np.int64), (setting.k - relevant).astype(np.int64), labels[None, :]
    )
    return np.asarray((relevant_drawn / labels).mean(axis=1), dtype=np.float64)


def _labels_per_query(queries: int, gold: int) -> NDArray[np.int64]:
    """As many labels of each query as of the other, or one more."""
    return gold // queries + (np.arange(queries) < gold % queries)


def _estimate_by_stratum(
    rng: np.random.Generator, setting: PlanSetting, queries: int, gold: int, replications: int, *, stratified: bool
) -> Array:
    """Gold at random among all documents, or apart by what bronze says; j P + (1−j) Q."""
    relevant, hits, false = (
        part.sum(axis=1).astype(np.int64) for part in _draw_counts(rng, setting, (replications, queries))
    )
    documents = queries * setting.k
    called, missed = hits + false, relevant - hits
    if stratified:
        first_gold = np.minimum(_gold_of_called(setting, gold), called)
    else:
        first_gold = rng.hypergeometric(called, documents - called, gold)
    second_gold = gold - first_gold
    right = rng.hypergeometric(hits, false, first_gold) / np.maximum(first_gold, 1)
    wrong = rng.hypergeometric(missed, documents - called - missed, second_gold) / np.maximum(second_gold, 1)
    score = called / documents
    return np.asarray(score * right + (1 - score) * wrong, dtype=np.float64)


def _gold_of_called(setting: PlanSetting, gold: int) -> int:
    """How much of the gold goes to what bronze calls relevant."""
    right, wrong = setting.accuracy
    score = setting.prevalence * right + (1 - setting.prevalence) * (1 - wrong)
    called, missed = setting.prevalence * right / score, setting.prevalence * (1 - right) / (1 - score)
    return _neyman_allocation(gold, (score, called), (1 - score, missed))


def _neyman_allocation(gold: int, *strata: tuple[float, float]) -> int:
    """Neyman's: the first of two strata's gold, by their sizes and rates; at least a label for either."""
    first, second = (size * np.sqrt(rate * (1 - rate)) for size, rate in strata)
    share = first / (first + second) if first + second else 0.5
    return min(max(round(gold * float(share)), 1), gold - 1)


def _estimate_by_inversion(
    rng: np.random.Generator, setting: PlanSetting, queries: int, gold: int, replications: int
) -> Array:
    """The judge's rates from documents elsewhere, and the bronze score turned round by them."""
    right, wrong = setting.accuracy
    relevant = _neyman_allocation(gold, (setting.prevalence, right), (1 - setting.prevalence, wrong))
    _, hits, false = _draw_counts(rng, setting, (replications, queries))
    score = (hits + false).mean(axis=1) / setting.k
    rates = [rng.binomial(n, rate, replications) / n for n, rate in ((relevant, right), (gold - relevant, wrong))]
    return invert_rates(score, *rates)


ESTIMATORS: dict[str, Callable[[np.random.Generator, PlanSetting, int, int, int], Array]] = {
    "gold": _estimate_whole_queries,
    "gold sample": _estimate_gold_sample,
    "difference": partial(_estimate_by_stratum, stratified=False),
    "stratified": partial(_estimate_by_stratum, stratified=True),
    "confusion": _estimate_by_inversion,
}


def _run_signs(setting: PlanSetting) -> Array:
    """Of k unshared documents, the first half is the first run's."""
    return np.repeat([1.0, -1.0], setting.k // 2)


def _draw_labels(rng: np.random.Generator, setting: PlanSetting, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Gold and bronze labels of the unshared documents: replications × queries × documents."""
    assert setting.difference is not None
    means = (setting.prevalence + setting.difference, setting.prevalence - setting.difference)
    shares = np.stack([_draw_beta_shares(rng, mean, setting.icc, shape) for mean in means], axis=-1)
    gold = rng.random((*shape, setting.k)) < np.repeat(shares, setting.k // 2, axis=-1)
    right, wrong = (_draw_beta_shares(rng, rate, setting.moods, shape)[..., None] for rate in setting.accuracy)
    bronze = rng.random(gold.shape) < np.where(gold, right, 1 - wrong)
    return gold.astype(np.float64), bronze.astype(np.float64)


def _achieved_power(
    rng: np.random.Generator, setting: PlanSetting, method: str, queries: int, gold: int, replications: int
) -> float:
    """How often the paired t test on what each query adds to the estimate finds the difference."""
    batch = max(1, MAX_DOCS // (queries * setting.k))
    critical = t_quantile((1 + LEVEL) / 2, queries - 1)
    hits = 0
    for start in range(0, replications, batch):
        labels = _draw_labels(rng, setting, (min(batch, replications - start), queries))
        values = _query_contributions(rng, setting, method, gold, *labels)
        se = values.std(axis=1, ddof=1) / np.sqrt(queries)
        hits += int((values.mean(axis=1) > critical * se).sum())
    return hits / replications


def _query_contributions(
    rng: np.random.Generator, setting: PlanSetting, method: str, budget: int, gold: Array, bronze: Array
) -> Array:
    """What each query adds to the estimate of the difference, from so many gold labels: replications × queries."""
    sign = _run_signs(setting) / setting.k
    if method in ("gold", "shared judge"):
        return np.asarray((gold if method == "gold" else bronze) @ sign, dtype=np.float64)
    if method == "gold sample":
        labels = _labels_per_query(gold.shape[1], budget)
        order = rng.random(gold.shape).argsort(axis=2).argsort(axis=2)
        weights = (order < labels[:, None]) * (setting.k / labels[:, None])
        return np.asarray((gold * weights) @ sign, dtype=np.float64)
    called = bronze.reshape(len(bronze), -1) > 0
    strata = [(np.ones_like(called), budget)]
    if method == "stratified":
        first = _gold_of_called(setting, budget)
        strata = [(called, first), (~called, budget - first)]
    weights = np.sum([_draw_weights(rng, in_stratum, size) for in_stratum, size in strata], axis=0)
    inverse_probability = weights.reshape(gold.shape)
    predicted = _predict_gold(gold, bronze, inverse_probability)
    return np.asarray((predicted + inverse_probability * (gold - predicted)) @ sign, dtype=np.float64)


def _draw_weights(rng: np.random.Generator, in_stratum: NDArray[np.bool_], size: int) -> Array:
    """For each document that is there, the inverse of the probability to be drawn if it was, and 0 otherwise."""
    keys = np.where(in_stratum, rng.random(in_stratum.shape), 2.0)
    threshold = np.partition(keys, size - 1, axis=1)[:, size - 1 : size]
    stratum_size = in_stratum.sum(axis=1, keepdims=True)
    return np.asarray(
        ((keys <= threshold) & in_stratum) * (stratum_size / np.minimum(size, stratum_size)), dtype=np.float64
    )


def _predict_gold(gold: Array, bronze: Array, inverse: Array) -> Array:
    """The share that is relevant by gold, among the drawn documents of the same bronze label."""
    shares = []
    for in_stratum in (bronze, 1 - bronze):
        weight = in_stratum * inverse
        total = weight.sum(axis=(1, 2))
        shares.append((weight * gold).sum(axis=(1, 2)) / np.where(total > 0, total, 1))
    called_share, other_share = (share[:, None, None] for share in shares)
    return np.asarray(np.where(bronze > 0, called_share, other_share), dtype=np.float64)
