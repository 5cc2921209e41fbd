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
from ringtrue.judges.agreement.bootstrap_intervals import AgreementSettings
from ringtrue.judges.agreement.judge_pairs import bootstrap_coefficients, estimate_overall, estimate_pair_agreements
from ringtrue.judges.votes import Votes, match_pair_labels
from ringtrue.stats.intervals import require_level, resample_query_counts
from ringtrue.stats.results import Estimate

Array: TypeAlias = NDArray[np.float64]
PREVALENCE = (1.2, 1.0, 0.8, 0.5)  # of grades 0 to 3: few of the best, and queries differ in what they have
NOISE_SPREAD = 0.3  # of the logarithm of the noise, over queries: some are clear, some are not
LENIENCY = 0.2  # how far the kindest judge lies above the middle, in grades
TRUTH_DOCS = 200_000  # documents that stand for all there could be


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementCoverage:
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
            "world-too-small",
            f"a world needs 2 queries or None, a document, 2 judges, missing labels from 0 to below 1 and noise from 0 "
            f"on; found {queries}, {docs}, {judges}, {missing} and {noise}",
        )
    groups, docs_each = (docs, 1) if queries is None else (queries, docs)
    steps = np.cumsum(rng.dirichlet(prevalence, groups), axis=1)[:, None, :-1]
    true_grade = (rng.random((groups, docs_each, 1)) > steps).sum(axis=2)
    query_noise = noise * np.exp(rng.normal(0, NOISE_SPREAD, (groups, 1, 1)))
    leniency = np.linspace(-LENIENCY, LENIENCY, judges)
    perceived = true_grade[..., None] + leniency + query_noise * rng.normal(size=(groups, docs_each, judges))
    labels = np.clip(np.rint(perceived), 0, len(prevalence) - 1).astype(np.int32).reshape(groups * docs_each, judges)
    item, judge = np.nonzero(rng.random(labels.shape) >= missing)
    query = np.zeros(docs, dtype=np.int64) if queries is None else np.repeat(np.arange(groups), docs_each)
    return Votes(
        items=pl.DataFrame({"query": query, "doc": np.arange(groups * docs_each)}).cast(pl.String),
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
) -> dict[str, AgreementCoverage]:
    """How often the interval of each coefficient holds its value in a world without end.

    `kappa` is that of the first two judges, and has the textbook's interval too; all others are of all judges.

    Examples:
        >>> coverages = coverage_of_agreement(np.random.default_rng(1), queries=10, docs=10, replications=50)
        >>> coverages["alpha_ordinal"].given, coverages["alpha_ordinal"].percentile
        (0.96, 0.9)
    """
    require_level(level)
    if replications < 1 or resamples < 2:
        raise UsageError(
            "study-too-small", f"a study needs a replication and 2 resamples, found {replications} and {resamples}"
        )

    def world(factor: int = 1) -> Votes:
        n_queries = None if queries is None else queries * factor
        n_docs = docs * factor if queries is None else docs
        return judged_labels(
            rng, queries=n_queries, docs=n_docs, judges=judges, missing=missing, noise=noise, prevalence=prevalence
        )

    # A hundred times as many documents: what is left of chance in the truth then costs a tenth of a percent.
    truth = _estimate_coefficients(
        world(max(100, TRUTH_DOCS // (docs * (queries or 1)))), _agreement_settings(len(prevalence), rng, 0, level)
    )
    held: dict[str, list[list[float]]] = {name: [] for name in truth}
    for _ in range(replications):
        for name, intervals in _estimate_coefficients(
            world(), _agreement_settings(len(prevalence), rng, resamples, level)
        ).items():
            held[name].append([_interval_holds(interval, truth[name][0]) for interval in intervals])
    return {name: _summarise_coverage(truth[name][0], np.array(held_rows)) for name, held_rows in held.items()}


def _summarise_coverage(truth: Estimate, held: Array) -> AgreementCoverage:
    has_interval = ~np.isnan(held)
    share = np.divide(
        np.nansum(held, axis=0),
        has_interval.sum(axis=0),
        out=np.full(held.shape[1], np.nan),
        where=has_interval.any(axis=0),
    )
    return AgreementCoverage(
        truth=np.nan if truth.value is None else truth.value,
        given=float(share[0]),
        percentile=float(share[1]),
        textbook=float(share[2]) if len(share) > 2 else None,
        none=1 - float(has_interval[:, 0].mean()),
    )


def _agreement_settings(grades: int, rng: np.random.Generator, resamples: int, level: float) -> AgreementSettings:
    relevant = np.arange(grades) > 0
    return AgreementSettings(relevant=relevant, resamples=resamples, level=level, rng=rng, progress=lambda _: None)


def _estimate_coefficients(votes: Votes, settings: AgreementSettings) -> dict[str, list[Estimate]]:
    """Each coefficient with the interval that `agree` gives, with percentiles, and kappa with the textbook's."""
    draws = bootstrap_coefficients(votes, settings)
    estimates = {
        name: [estimate, _percentile_interval(estimate, draws.resampled.get(name))]
        for name, estimate in estimate_overall(votes, settings, draws).items()
        if name != "randolph"  # Brennan and Prediger's under another name
    }
    (pair,) = estimate_pair_agreements(votes, [(0, 1)], settings)
    kappas = _resample_kappa(votes, settings) if settings.resamples else None
    return estimates | {"kappa": [pair.kappa, _percentile_interval(pair.kappa, kappas), pair.kappa_asymptotic]}


def _resample_kappa(votes: Votes, settings: AgreementSettings) -> Array:
    """Cohen's kappa of the first two judges in each resample."""
    cluster, groups, _ = votes.clusters()
    n_labels = len(votes.labels)
    ((item, first_label, second_label),) = match_pair_labels(votes, [(0, 1)])
    cell = (cluster[item] * n_labels + first_label) * n_labels + second_label
    tables = np.bincount(cell, minlength=groups * n_labels**2).reshape(groups, n_labels**2)
    (counts,) = resample_query_counts(groups, settings.resamples, batch=settings.resamples, rng=settings.rng)
    return formulas.cohen_kappa((counts @ tables).reshape(-1, n_labels, n_labels), np.eye(n_labels))


def _percentile_interval(estimate: Estimate, resampled: Array | None) -> Estimate:
    if resampled is None or np.isnan(resampled).all():
        return estimate
    low, high = np.nanquantile(resampled, [(1 - estimate.level) / 2, (1 + estimate.level) / 2])
    return Estimate(
        value=estimate.value, low=float(low), high=float(high), level=estimate.level, n=estimate.n, method="percentiles"
    )


def _interval_holds(estimate: Estimate, truth: Estimate) -> float:
    """1 or 0; NaN where there is no interval."""
    if estimate.low is None or estimate.high is None or truth.value is None:
        return np.nan
    return float(estimate.low <= truth.value <= estimate.high)
