"""Worlds of judges who agree as far as they are known to, and how often intervals hold that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.judges.agreement import coefficients as formulas
from ringtrue.judges.agreement.all_judges import drawn_anew, overall
from ringtrue.judges.agreement.bootstrap_intervals import Settings
from ringtrue.judges.agreement.judge_pairs import agreement_of_pairs
from ringtrue.judges.agreement.tallies import pair_confusions
from ringtrue.judges.votes import Votes
from ringtrue.stats.bootstrap import query_counts
from ringtrue.stats.intervals import require_level
from ringtrue.stats.results import Estimate

__all__ = ["Coverage", "coverage_of_agreement", "judged_labels"]

Array: TypeAlias = NDArray[np.float64]
PREVALENCE = (1.2, 1.0, 0.8, 0.5)  # of grades 0 to 3: few of the best, and queries differ in what they have
SPREAD = 0.3  # of the logarithm of the noise, over queries: some are clear, some are not
LENIENCY = 0.2  # how far the kindest judge lies above the middle, in grades
TRUTH = 200_000  # documents that stand for all there could be


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How often intervals held the true value: those that `agree` gives, percentiles of resamples, the textbook's.

    `none` is the share of experiments in which `agree` gave no interval, but a note why; `given` is about the others.
    """

    truth: float
    given: float
    percentile: float
    textbook: float | None = None
    none: float = 0.0


def judged_labels(
    rng: np.random.Generator,
    *,
    queries: int | None,
    docs: int,
    judges: int = 3,
    missing: float = 0.2,
    noise: float = 0.5,
    prevalence: Sequence[float] = PREVALENCE,
) -> Votes:
    """Labels of `docs` documents for each query by judges who see the true grade through noise.

    Queries differ in how many good documents they have and in how hard they are to judge; judges differ in how kind
    they are. A share of the labels is missing. With no queries, each document is drawn by itself. `prevalence` has the
    Dirichlet parameter of each grade, from which each query draws its shares.

    Examples:
        >>> votes = judged_labels(np.random.default_rng(1), queries=5, docs=10)
        >>> votes.items.height, votes.judges, votes.labels
        (50, ('j1', 'j2', 'j3'), (0, 1, 2, 3))
    """
    if (queries is not None and queries < 2) or docs < 1 or judges < 2 or not 0 <= missing < 1 or noise < 0:
        raise UsageError(
            f"a world needs 2 queries or None, a document, 2 judges, missing labels from 0 to below 1 and noise from 0 "
            f"on; found {queries}, {docs}, {judges}, {missing} and {noise}"
        )
    groups, each = (docs, 1) if queries is None else (queries, docs)
    steps = np.cumsum(rng.dirichlet(prevalence, groups), axis=1)[:, None, :-1]
    true = (rng.random((groups, each, 1)) > steps).sum(axis=2)
    hard = noise * np.exp(rng.normal(0, SPREAD, (groups, 1, 1)))
    kind = np.linspace(-LENIENCY, LENIENCY, judges)
    seen = true[..., None] + kind + hard * rng.normal(size=(groups, each, judges))
    labels = np.clip(np.rint(seen), 0, len(prevalence) - 1).astype(np.int32).reshape(groups * each, judges)
    item, judge = np.nonzero(rng.random(labels.shape) >= missing)
    query = np.zeros(docs, dtype=np.int64) if queries is None else np.repeat(np.arange(groups), each)
    return Votes(
        items=pl.DataFrame({"query": query, "doc": np.arange(groups * each)}).cast(pl.String),
        judges=tuple(f"j{number}" for number in range(1, judges + 1)),
        labels=tuple(range(len(prevalence))),
        item=item.astype(np.int32),
        judge=judge.astype(np.int32),
        label=labels[item, judge],
        others=pl.DataFrame(),
    )


def coverage_of_agreement(
    rng: np.random.Generator,
    *,
    queries: int | None,
    docs: int,
    replications: int,
    judges: int = 3,
    missing: float = 0.2,
    noise: float = 0.5,
    prevalence: Sequence[float] = PREVALENCE,
    resamples: int = 500,
    level: float = 0.95,
) -> dict[str, Coverage]:
    """How often the interval of each coefficient holds its value in a world without end.

    `kappa` is that of the first two judges, and has the textbook's interval too; all others are of all judges.

    Examples:
        >>> found = coverage_of_agreement(np.random.default_rng(1), queries=10, docs=10, replications=200)
        >>> found["alpha_ordinal"].given, found["alpha_ordinal"].percentile
        (0.95, 0.91)
    """
    require_level(level)
    if replications < 1 or resamples < 2:
        raise UsageError(f"a study needs a replication and 2 resamples, found {replications} and {resamples}")

    def world(larger: int = 1) -> Votes:
        many = None if queries is None else queries * larger
        size = docs * larger if queries is None else docs
        return judged_labels(
            rng, queries=many, docs=size, judges=judges, missing=missing, noise=noise, prevalence=prevalence
        )

    # A hundred times as many documents: what is left of chance in the truth then costs a tenth of a percent.
    truth = _answers(world(max(100, TRUTH // (docs * (queries or 1)))), _settings(len(prevalence), rng, 0, level))
    held: dict[str, list[list[float]]] = {name: [] for name in truth}
    for _ in range(replications):
        for name, intervals in _answers(world(), _settings(len(prevalence), rng, resamples, level)).items():
            held[name].append([_holds(one, truth[name][0]) for one in intervals])
    return {name: _coverage(truth[name][0], np.array(some)) for name, some in held.items()}


def _coverage(truth: Estimate, held: Array) -> Coverage:
    told = ~np.isnan(held)
    share = np.divide(
        np.nansum(held, axis=0), told.sum(axis=0), out=np.full(held.shape[1], np.nan), where=told.any(axis=0)
    )
    return Coverage(
        truth=np.nan if truth.value is None else truth.value,
        given=float(share[0]),
        percentile=float(share[1]),
        textbook=float(share[2]) if len(share) > 2 else None,
        none=1 - float(told[:, 0].mean()),
    )


def _settings(grades: int, rng: np.random.Generator, resamples: int, level: float) -> Settings:
    relevant = np.arange(grades) > 0
    return Settings(relevant=relevant, resamples=resamples, level=level, rng=rng, progress=lambda _: None)


def _answers(votes: Votes, settings: Settings) -> dict[str, list[Estimate]]:
    """Each coefficient with the interval that `agree` gives, with percentiles, and kappa with the textbook's."""
    draws = drawn_anew(votes, settings)
    found = {
        name: [one, _percentiles(one, draws.resampled.get(name))]
        for name, one in overall(votes, settings, draws).items()
        if name != "randolph"  # Brennan and Prediger's under another name
    }
    (pair,) = agreement_of_pairs(votes, [(0, 1)], settings)
    kappas = _pair_resampled(votes, settings) if settings.resamples else None
    return found | {"kappa": [pair.kappa, _percentiles(pair.kappa, kappas), pair.kappa_asymptotic]}


def _pair_resampled(votes: Votes, settings: Settings) -> Array:
    """Cohen's kappa of the first two judges in each resample."""
    cluster, groups, _ = votes.clusters()
    wide = len(votes.labels)
    ((item, one, other),) = pair_confusions(votes, [(0, 1)])
    cell = (cluster[item] * wide + one) * wide + other
    tables = np.bincount(cell, minlength=groups * wide**2).reshape(groups, wide**2)
    (counts,) = query_counts(groups, settings.resamples, batch=settings.resamples, rng=settings.rng)
    return formulas.cohen_kappa((counts @ tables).reshape(-1, wide, wide), np.eye(wide))


def _percentiles(one: Estimate, resampled: Array | None) -> Estimate:
    if resampled is None or np.isnan(resampled).all():
        return one
    low, high = np.nanquantile(resampled, [(1 - one.level) / 2, (1 + one.level) / 2])
    return Estimate(value=one.value, low=float(low), high=float(high), level=one.level, n=one.n, method="percentiles")


def _holds(one: Estimate, truth: Estimate) -> float:
    """1 or 0; NaN where there is no interval."""
    if one.low is None or one.high is None or truth.value is None:
        return np.nan
    return float(one.low <= truth.value <= one.high)
