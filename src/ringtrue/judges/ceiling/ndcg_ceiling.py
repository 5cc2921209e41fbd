"""Judgments × a confusion matrix → the ceiling, and where runs stand below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import UsageError
from ringtrue.evaluation.inputs import Missing, Notes, line_up, require_choice
from ringtrue.evaluation.measures import FloatArray, IntArray, RankedLists
from ringtrue.evaluation.measures.graded import ndcg
from ringtrue.evaluation.measures.set_based import judged_share
from ringtrue.judges.ceiling.exact import exact_dcg
from ringtrue.judges.ceiling.label_counts import (
    Gain,
    gains_of,
    ideal_dcg,
    label_counts,
    measure_name,
    require_matrix,
    shares_of,
)
from ringtrue.judges.ceiling.monte_carlo import simulated_dcg
from ringtrue.judges.ceiling.normal_approximation import closed_form_dcg
from ringtrue.judges.ceiling.results import Ceiling, RunCeiling
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import mean_estimate
from ringtrue.tables import Judgments

__all__ = ["Method", "ceiling", "expected_ndcg", "require_settings"]

Method: TypeAlias = Literal["exact", "simulation", "closed-form"]
LONG = 50  # documents from which the closed form is meant to hold
FEW = 50  # documents behind a row of the matrix
ROUNDING = 1e-12  # what differs from 1 or 0 by less is that
SHOWN = 5  # queries in a note


def ceiling(
    judgments: object,
    confusion: Confusion,
    *,
    method: Method = "exact",
    gain: Gain = "exp",
    k: int | None = None,
    runs: object | None = None,
    missing: Missing = "zero",
    draws: int = 1000,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    covered: int | None = None,
) -> Ceiling:
    """The best nDCG that a ranker can reach by the testing judge, if all it knows are the training judge's labels.

        E[nDCG],  documents ranked by training labels, scored by testing labels,  P(training j | testing i) = c_ij
        [Metrikov12]

    `judgments` are the testing judge's; only how many documents of each query have each label matters. The matrix has
    the testing judge in its rows and the training judge in its columns. "exact" needs no draw and no approximation;
    "simulation" draws training labels `draws` times for each query; "closed-form" takes ranks for normal, and is meant
    for 50 documents or more. `gain` is "exp" (2^label − 1), "linear" or a table of gains; `k` a cutoff. Queries in
    which nothing is worth anything are left out and counted. For `runs`, as `evaluate` takes them, it says which
    share of the ceiling each reaches. `covered` is how many of the judged documents the matrix was estimated from,
    usually taken to be its cases; a note tells where it is less than half of them.

    Holds where the training judge errs as the matrix says, on each document by itself: also on those that only the
    testing judge labelled. A ranker that learned from several judges, or from more than labels, may stand above.

    Examples:
        >>> known = Confusion(rows="gold", columns="crowd", labels=(0, 1), counts=np.array([[80, 20], [30, 70]]))
        >>> labels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1, "c": 0}, "q3": {"a": 0}}
        >>> found = ceiling(labels, known)
        >>> found.per_query["ceiling"].round(4).to_list(), found.queries, found.skipped
        ([0.9077, 0.9428, None], 2, 1)
    """
    require_settings(method, k, draws)
    require_matrix(confusion)
    labelled = Judgments.of(judgments)
    found = label_counts(labelled, confusion.labels)
    matrix, worth = shares_of(confusion, found.counts.sum(axis=0)), gains_of(found.labels, gain)
    ideal = ideal_dcg(found.counts, worth, k=k)
    used = ideal > 0
    rng = np.random.default_rng(0) if rng is None else rng
    counts = found.counts[used]
    values, errors = expected_ndcg(counts, matrix, worth, method=method, k=k, draws=draws, rng=rng)
    left = tuple(query for query, kept in zip(found.queries, used, strict=True) if not kept)
    notes = [*found.notes, *_doubts(confusion, found.labels, counts, method, k, left)]
    documents = int(found.counts.sum())
    exactly = covered is not None
    if covered is None and confusion.worth is None:
        covered = round(float(confusion.counts.sum()))
    by_query = dict(zip((query for query in found.queries if query not in set(left)), values.tolist(), strict=True))
    standing, more = _standing(runs, labelled, by_query, gain, k, missing, level)
    per_query = pl.DataFrame(
        {
            "query": found.queries,
            "documents": found.counts.sum(axis=1),
            "ceiling": [by_query.get(query) for query in found.queries],
        },
        schema={"query": pl.String, "documents": pl.Int64, "ceiling": pl.Float64},
    )
    answer = Ceiling(
        estimate=mean_estimate(values, level=level),
        skipped=len(left),
        runs=standing,
        per_query=per_query,
        method=method,
        measure=measure_name(gain, k),
        confusion=confusion,
        simulated_se=None if errors is None or not len(values) else float(np.sqrt((errors**2).sum())) / len(values),
        documents=documents,
        covered=None if covered is None else min(covered, documents),
    )
    if answer.is_stretched:
        notes.append(_stretched(answer, found.labels, found.counts, exactly=exactly))
    return replace(answer, notes=(*notes, *more, *_thin(standing, k)))


def expected_ndcg(
    counts: IntArray, matrix: FloatArray, gain: FloatArray, *, method: Method = "exact", k: int | None = None,
    draws: int = 1000, rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray | None]:  # fmt: skip
    """The expected nDCG of lists that have some gain, and what draws leave open in each.

    Examples:
        >>> rng, matrix = np.random.default_rng(0), np.array([[0.8, 0.2], [0.3, 0.7]])
        >>> expected_ndcg(np.array([[1, 1]]), matrix, np.array([0.0, 1.0]), rng=rng)[0].round(9).item()
        0.907732438
    """
    ideal = ideal_dcg(counts, gain, k=k)
    if method == "simulation":
        mean, error = simulated_dcg(counts, matrix, gain, k=k, draws=draws, rng=rng)
        return _without_rounding(mean / ideal), error / ideal
    dcg = (exact_dcg if method == "exact" else closed_form_dcg)(counts, matrix, gain, k=k)
    return _without_rounding(dcg / ideal), None


def require_settings(method: Method, k: int | None, draws: int = 1000) -> None:
    """Refuse a method, a cutoff or a number of draws that there cannot be."""
    require_choice("method", method, get_args(Method))
    if k is not None and not (isinstance(k, int) and k >= 1):
        raise UsageError(f"k is a rank, a whole number of at least 1; found {k!r}")
    if not (isinstance(draws, int) and draws >= 2):
        raise UsageError(f"draws is a whole number of at least 2; found {draws!r}")


def _doubts(
    confusion: Confusion, labels: Sequence[int], counts: IntArray, method: Method, k: int | None, left: Sequence[str]
) -> list[str]:
    notes = []
    if left:
        shown = ", ".join(left[:SHOWN]) + ", …" * (len(left) > SHOWN)
        notes.append(f"{_queries(len(left))} in which no label is worth anything, left out: {shown}")
    if method == "closed-form":
        if short := int((counts.sum(axis=1) < LONG).sum()):
            notes.append(
                f"{_queries(short)} with fewer than {LONG} documents, where the closed form may be far off; "
                f"method exact is right for any number"
            )
        if k is not None:
            notes.append("with a cutoff the closed form errs more, by a few hundredths near the top; exact does not")
    if confusion.worth is None:
        total = dict(zip(confusion.labels, confusion.counts.sum(axis=1).tolist(), strict=True))
        rare = [label for label, n in zip(labels, counts.sum(axis=0), strict=True) if n and total[label] < FEW]
        if rare:
            said = ", ".join(f"{label} ({total[label]:.3g})" for label in rare)
            notes.append(
                f"the confusion matrix rests on fewer than {FEW} cases for label {said}: the interval knows of the "
                f"queries, not of that"
            )
    return notes


def _stretched(found: Ceiling, labels: Sequence[int], counts: IntArray, *, exactly: bool) -> str:
    """What is doubtful where a matrix of few documents is applied to many."""
    lowest, told = labels[0], ""
    if found.confusion.worth is None and (cases := found.confusion.counts.sum()) > 0:
        of_these = found.confusion.counts[found.confusion.labels.index(lowest)].sum() / cases
        told = f" (label {lowest}: {of_these:.0%} of these, {counts[:, 0].sum() / counts.sum():.0%} of all)"
    few, all_of_them = f"{found.covered:,}", f"{found.documents:,} judged documents"
    whence = f"comes from {few} of {all_of_them}" if exactly else f"has {few} cases, and there are {all_of_them}"
    return (
        f"the confusion matrix {whence}: promising documents get a second label more often than others{told}, and if "
        f"judges mistake a {lowest} among them more often than elsewhere, the ceiling of all is too low; take "
        f"judgments of the documents behind the matrix (with --labels: --only-labelled), or a matrix (--labels) of a "
        f"random sample; if it is of one, all is well"
    )


def _thin(runs: Mapping[str, RunCeiling], k: int | None) -> list[str]:
    """What is doubtful where nobody judged much of what a run found."""
    some = [f"{name} {one.judged:.0%}" for name, one in runs.items() if one.is_thinly_judged]
    if not some:
        return []
    where = f"of the first {k} documents (Judged@{k})" if k else "of the whole list (Judged)"
    told = (
        f"documents that nobody judged count as worth nothing, and {where} were judged: {', '.join(some[:SHOWN])}"
        f"{', …' * (len(some) > SHOWN)}; what is missing to the ceiling may be judgments, and need not be room for a "
        f"better ranker"
    )
    return [told]


def _without_rounding(values: FloatArray) -> FloatArray:
    """What differs from 1 or 0 by rounding alone is 1 or 0."""
    whole = values.round()
    return np.where(np.abs(values - whole) < ROUNDING, whole, values)


def _standing(
    runs: object | None, judgments: Judgments, ceilings: Mapping[str, float], gain: Gain, k: int | None,
    missing: Missing, level: float,
) -> tuple[dict[str, RunCeiling], tuple[str, ...]]:  # fmt: skip
    """Each run on the queries that have a ceiling."""
    if runs is None:
        return {}, ()
    notes = Notes()

    def formula(lists: RankedLists) -> FloatArray:
        if isinstance(gain, Mapping):
            return ndcg(lists, k=k, gains=gain)
        return ndcg(lists, k=k, dcg="exp-log2" if gain == "exp" else "log2")

    found = {}
    for entry in line_up(
        runs,
        judgments,
        notes=notes,
        missing=missing,
        judges="one",
        depth=None,
        compat=None,
        collection_size=None,
        top=k,
    ):
        values = dict(zip(entry.queries, entry.averaged(formula).tolist(), strict=True))
        has = dict(zip(entry.queries, entry.present.tolist(), strict=True))
        counted = [query for query in ceilings if missing == "zero" or has[query]]
        mine, best = (np.array([of[query] for query in counted], dtype=np.float64) for of in (values, ceilings))
        judged = dict(zip(entry.queries, entry.averaged(partial(judged_share, k=k)).tolist(), strict=True))
        seen = [judged[query] for query in counted if has[query]]
        mean = float(best.mean()) if len(best) else None
        reached = mean_estimate(mine, level=level)
        found[entry.run.name] = RunCeiling(
            ndcg=reached,
            ceiling=mean,
            share=reached.value / mean if mean and reached.value is not None else None,
            room=mean_estimate(_without_rounding(best - mine), level=level),
            judged=float(np.mean(seen)) if seen else None,
            per_query=dict(zip(counted, mine.tolist(), strict=True)),
        )
    return found, notes.told()


def _queries(n: int) -> str:
    return f"{n:,} quer{'y' if n == 1 else 'ies'}"
