"""Judgments × a confusion matrix → the ceiling, and where runs stand below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import UsageError
from ringtrue.evaluation.inputs import MatchSettings, Missing, NoteCollector, match_runs_to_qrels, require_choice
from ringtrue.evaluation.measures import FloatArray, IntArray, RankedLists
from ringtrue.evaluation.measures.graded import ndcg
from ringtrue.evaluation.measures.set_based import judged_share
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.ceiling.expected_dcg import closed_form_dcg, exact_dcg, ideal_dcg, simulated_dcg
from ringtrue.judges.ceiling.inputs import (
    Gain,
    LabelCounts,
    count_labels_per_query,
    label_gains,
    measure_name,
    order_query_counts,
    ordered_confusion_matrix,
    require_matrix,
    shrink_to_pooled,
)
from ringtrue.judges.ceiling.results import Ceiling, QueryConfusions, RunCeiling
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import estimate_mean
from ringtrue.tables import Judgments

CeilingMethod: TypeAlias = Literal["exact", "simulation", "closed-form"]
LONG_LIST = 50  # documents from which the closed form is meant to hold
FEW_CASES = 50  # documents behind a row of the matrix
ROUNDING = 1e-12  # what differs from 1 or 0 by less is that
MAX_SHOWN = 5  # queries in a note
SHRINKAGE = 5.0  # cases of the pooled matrix in each row of a query's own
POOLED_NOTE = Note(
    "pooled-matrix",
    "one confusion matrix for all queries: runs can exceed this ceiling, which is no upper bound; a judge who is "
    "lenient on one query and strict on another keeps the order within each, and one matrix takes that for errors; "
    "labels of two judges for the same documents of these queries give each query a matrix of its own",
    suggestions=[Suggestion("estimates these", function="estimate_query_confusions", labels=...)],
)


def ceiling(
    judgments: object,
    confusion: Confusion | QueryConfusions,
    *,
    method: CeilingMethod = "exact",
    gain: Gain = "exp",
    k: int | None = None,
    shrinkage: float = SHRINKAGE,
    runs: object | None = None,
    missing: Missing = "zero",
    draws: int = 1000,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    covered: int | None = None,
) -> Ceiling:
    """The nDCG to expect by the testing judge of a ranker that knows all of the training judge's labels, and no more.

        E[nDCG],  documents ranked by training labels, scored by testing labels,  P(training j | testing i) = c_ij
        [Metrikov12]

    `judgments` are the testing judge's; only how many documents of each query have each label matters. The matrix has
    the testing judge in its rows and the training judge in its columns. "exact" needs no draw and no approximation;
    "simulation" draws training labels `draws` times for each query; "closed-form" takes ranks for normal, and is meant
    for 50 documents or more. `gain` is "exp" (2^label − 1), "linear" or a table of gains; `k` a cutoff. Queries in
    which nothing is worth anything are left out and counted. For `runs`, as `evaluate` takes them, it says which
    share of the ceiling each reaches. `covered` is how many of the judged documents the matrix was estimated from,
    usually taken to be its cases; a note tells where it is less than half of them.

    From `estimate_query_confusions`, each query has a matrix of its own, shrunk towards the pooled one as if each row
    had `shrinkage` more cases of that. One `Confusion` for all queries gives the pooled ceiling, which is no upper
    bound: where a judge is lenient on one query and strict on another it is too low, and runs can exceed it.

    Holds where the training judge errs as the matrix says, on each document by itself: also on those that only the
    testing judge labelled. A ranker that learned from several judges, or from more than labels, may stand above.

    Examples:
        >>> confusion = Confusion(rows="gold", columns="crowd", labels=(0, 1), counts=np.array([[80, 20], [30, 70]]))
        >>> labels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1, "c": 0}, "q3": {"a": 0}}
        >>> bound = ceiling(labels, confusion)
        >>> bound.per_query["ceiling"].round(4).to_list(), bound.queries, bound.skipped
        ([0.9077, 0.9428, None], 2, 1)
    """
    require_settings(method, k, draws)
    if not (isinstance(shrinkage, int | float) and 0 <= shrinkage < float("inf")):
        raise UsageError(
            "out-of-range",
            f"expected a finite number of at least 0, found {shrinkage!r}; `.pooled` has one matrix for all queries",
            parameter="shrinkage",
        )
    query_confusions = confusion if isinstance(confusion, QueryConfusions) else None
    confusion = confusion.pooled if isinstance(confusion, QueryConfusions) else confusion
    require_matrix(confusion)
    qrels = Judgments.of(judgments)
    query_counts = count_labels_per_query(qrels, confusion.labels)
    matrix = ordered_confusion_matrix(confusion, query_counts.counts.sum(axis=0))
    gains = label_gains(query_counts.labels, gain)
    ideal = ideal_dcg(query_counts.counts, gains, k=k)
    has_gain = ideal > 0
    rng = np.random.default_rng(0) if rng is None else rng
    counts = query_counts.counts[has_gain]
    own_counts = None
    if query_confusions is not None:
        own_counts = order_query_counts(query_confusions, query_counts.queries)[has_gain]
    own_matrices = 0 if own_counts is None else int(own_counts.any(axis=(1, 2)).sum())
    settings: dict[str, Any] = {"method": method, "k": k, "draws": draws, "rng": rng}
    if own_counts is None or not own_matrices:
        values, errors = expected_ndcg(counts, matrix, gains, **settings)
    else:
        matrices = shrink_to_pooled(own_counts, matrix, shrinkage)
        values, errors = _expected_ndcg_by_query(counts, matrices, gains, **settings)
    used, skipped = (
        [query for query, is_used in zip(query_counts.queries, rows, strict=True) if is_used]
        for rows in (has_gain, ~has_gain)
    )
    notes = [*query_counts.notes, *_ceiling_notes(confusion, query_counts.labels, counts, method, k, skipped)]
    documents = int(query_counts.counts.sum())
    covered_is_exact = covered is not None
    if covered is None and confusion.worth is None:
        covered = round(float(confusion.counts.sum()))
    by_query = dict(zip(used, values.tolist(), strict=True))
    run_ceilings, run_notes = _measure_runs(runs, qrels, by_query, gain, k, missing, level)
    query_ceilings = [by_query.get(query) for query in query_counts.queries]
    per_query = pl.DataFrame(
        [query_counts.queries, query_counts.counts.sum(axis=1), query_ceilings],
        schema={"query": pl.String, "documents": pl.Int64, "ceiling": pl.Float64},
    )
    ndcg_ceiling = Ceiling(
        estimate=estimate_mean(values, level=level),
        skipped=len(skipped),
        runs=run_ceilings,
        per_query=per_query,
        method=method,
        measure=measure_name(gain, k),
        confusion=confusion,
        simulated_se=None if errors is None or not len(values) else float(np.sqrt((errors**2).sum())) / len(values),
        documents=documents,
        covered=None if covered is None else min(covered, documents),
        own_matrices=own_matrices,
        shrinkage=float(shrinkage) if own_matrices else None,
    )
    notes += _pooled_matrix_notes(ndcg_ceiling)
    if ndcg_ceiling.is_stretched:
        notes.append(_stretched_matrix_note(ndcg_ceiling, query_counts, covered_is_exact=covered_is_exact))
    return replace(ndcg_ceiling, notes=(*notes, *run_notes, *_thinly_judged_notes(run_ceilings, k)))


def expected_ndcg(
    counts: IntArray,
    matrix: FloatArray,
    gain: FloatArray,
    *,
    method: CeilingMethod = "exact",
    k: int | None = None,
    draws: int = 1000,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray | None]:
    """The expected nDCG of lists that have some gain, and what draws leave open in each.

    Examples:
        >>> rng, matrix = np.random.default_rng(0), np.array([[0.8, 0.2], [0.3, 0.7]])
        >>> expected_ndcg(np.array([[1, 1]]), matrix, np.array([0.0, 1.0]), rng=rng)[0].round(9).item()
        0.907732438
    """
    ideal = ideal_dcg(counts, gain, k=k)
    if method == "simulation":
        mean, error = simulated_dcg(counts, matrix, gain, k=k, draws=draws, rng=rng)
        return _snap_rounding_noise(mean / ideal), error / ideal
    dcg = (exact_dcg if method == "exact" else closed_form_dcg)(counts, matrix, gain, k=k)
    return _snap_rounding_noise(dcg / ideal), None


def _expected_ndcg_by_query(
    counts: IntArray, matrices: FloatArray, gain: FloatArray, **settings: Any
) -> tuple[FloatArray, FloatArray | None]:
    """The same with a matrix for each list; lists with the same matrix are worked on together."""
    _, first, inverse = np.unique(matrices.reshape(len(matrices), -1), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
    values, errors = np.empty(len(counts)), np.zeros(len(counts))
    for place, rows in zip(first, groups, strict=True):
        values[rows], group_errors = expected_ndcg(counts[rows], matrices[place], gain, **settings)
        errors[rows] = 0.0 if group_errors is None else group_errors
    return values, errors if settings["method"] == "simulation" else None


def require_settings(method: CeilingMethod, k: int | None, draws: int = 1000) -> None:
    """Refuse a method, a cutoff or a number of draws that there cannot be."""
    require_choice("method", method, get_args(CeilingMethod))
    if k is not None and not (isinstance(k, int) and k >= 1):
        raise UsageError("out-of-range", f"expected a rank, a whole number of at least 1; found {k!r}", parameter="k")
    if not (isinstance(draws, int) and draws >= 2):
        raise UsageError("out-of-range", f"expected a whole number of at least 2, found {draws!r}", parameter="draws")


def _ceiling_notes(
    confusion: Confusion,
    labels: Sequence[int],
    counts: IntArray,
    method: CeilingMethod,
    k: int | None,
    skipped: Sequence[str],
) -> list[Note]:
    notes = []
    if skipped:
        shown = ", ".join(skipped[:MAX_SHOWN]) + ", …" * (len(skipped) > MAX_SHOWN)
        queries = format_count(len(skipped), "query")
        notes.append(Note("worthless-queries", f"{queries} in which no label is worth anything, left out: {shown}"))
    if method == "closed-form":
        if short := int((counts.sum(axis=1) < LONG_LIST).sum()):
            queries = f"{format_count(short, 'query')} with fewer than {LONG_LIST} documents"
            exact = Suggestion("is right for any number", method="exact")
            text = f"{queries}, where the closed form may be far off"
            notes.append(Note("closed-form-short-lists", text, parameter="method", suggestions=[exact]))
        if k is not None:
            exact = Suggestion("does not", method="exact")
            text = "with a cutoff the closed form errs more, by a few hundredths near the top"
            notes.append(Note("closed-form-cutoff", text, parameter="method", suggestions=[exact]))
    if confusion.worth is None:
        total = dict(zip(confusion.labels, confusion.counts.sum(axis=1).tolist(), strict=True))
        rare = [label for label, n in zip(labels, counts.sum(axis=0), strict=True) if n and total[label] < FEW_CASES]
        if rare:
            rare_labels = ", ".join(f"{label} ({total[label]:.3g})" for label in rare)
            text = (
                f"the confusion matrix rests on fewer than {FEW_CASES} cases for label {rare_labels}: the interval "
                f"covers variation between queries, not that"
            )
            notes.append(Note("few-matrix-cases", text))
    return notes


def _pooled_matrix_notes(ndcg_ceiling: Ceiling) -> list[Note]:
    """That runs can exceed a ceiling from one matrix for all queries, or for some of them."""
    without = ndcg_ceiling.queries - ndcg_ceiling.own_matrices
    if not without:
        return []
    if ndcg_ceiling.pooled:
        return [POOLED_NOTE]
    text = (
        f"{without:,} of {format_count(ndcg_ceiling.queries, 'query')} without a document that both judges labelled: "
        f"the pooled matrix stands for them, and runs can exceed their ceilings; label documents of each query twice"
    )
    return [Note("partly-pooled-matrix", text)]


def _stretched_matrix_note(ndcg_ceiling: Ceiling, query_counts: LabelCounts, *, covered_is_exact: bool) -> Note:
    """What is doubtful where a matrix of few documents is applied to many."""
    confusion, counts = ndcg_ceiling.confusion, query_counts.counts
    lowest, lowest_shares = query_counts.labels[0], ""
    if confusion.worth is None and (cases := confusion.counts.sum()) > 0:
        share, share_of_all = (
            confusion.counts[confusion.labels.index(lowest)].sum() / cases,
            counts[:, 0].sum() / counts.sum(),
        )
        lowest_shares = f" (label {lowest}: {share:.0%} of these, {share_of_all:.0%} of all)"
    covered, documents = f"{ndcg_ceiling.covered:,}", f"{ndcg_ceiling.documents:,} judged documents"
    of_cases = f"has {covered} cases, and there are {documents}"
    origin = f"comes from {covered} of {documents}" if covered_is_exact else of_cases
    return Note(
        "stretched-matrix",
        f"the confusion matrix {origin}: promising documents get a second label more often than others{lowest_shares}, "
        f"and if judges mistake a {lowest} among them more often than elsewhere, the ceiling of all is too low; take "
        f"judgments of the documents behind the matrix, or a matrix of a random sample; if it is of one, all is well",
    )


def _thinly_judged_notes(runs: Mapping[str, RunCeiling], k: int | None) -> list[Note]:
    """What is doubtful where nobody judged much of what a run found."""
    thin_runs = [f"{name} {run.judged:.0%}" for name, run in runs.items() if run.is_thinly_judged]
    if not thin_runs:
        return []
    scope = f"of the first {k} documents (Judged@{k})" if k else "of the whole list (Judged)"
    text = (
        f"documents that nobody judged count as worth nothing, and {scope} were judged: "
        f"{', '.join(thin_runs[:MAX_SHOWN])}{', …' * (len(thin_runs) > MAX_SHOWN)}; what is missing to the ceiling "
        f"may be judgments, and need not be room for a better ranker"
    )
    return [Note("thinly-judged-runs", text)]


def _snap_rounding_noise(values: FloatArray) -> FloatArray:
    """What differs from 1 or 0 by rounding alone is 1 or 0."""
    nearest = values.round()
    return np.where(np.abs(values - nearest) < ROUNDING, nearest, values)


def _measure_runs(
    runs: object | None,
    judgments: Judgments,
    ceilings: Mapping[str, float],
    gain: Gain,
    k: int | None,
    missing: Missing,
    level: float,
) -> tuple[dict[str, RunCeiling], tuple[Note, ...]]:
    """Each run on the queries that have a ceiling."""
    if runs is None:
        return {}, ()
    notes = NoteCollector()

    def formula(lists: RankedLists) -> FloatArray:
        if isinstance(gain, Mapping):
            return ndcg(lists, k=k, gains=gain)
        return ndcg(lists, k=k, dcg="exp-log2" if gain == "exp" else "log2")

    by_run = {}
    for matched in match_runs_to_qrels(runs, judgments, MatchSettings(missing=missing), notes=notes, top=k):
        judged_by_query = matched.average_over_judges(partial(judged_share, k=k))
        values, judged, is_present = (
            dict(zip(matched.queries, column.tolist(), strict=True))
            for column in (matched.average_over_judges(formula), judged_by_query, matched.present)
        )
        counted = [query for query in ceilings if missing == "zero" or is_present[query]]
        run_values, ceiling_values = (
            np.array([by_query[query] for query in counted], dtype=np.float64) for by_query in (values, ceilings)
        )
        judged_shares = [judged[query] for query in counted if is_present[query]]
        mean_ceiling = float(ceiling_values.mean()) if len(ceiling_values) else None
        run_ndcg = estimate_mean(run_values, level=level)
        by_run[matched.run.name] = RunCeiling(
            ndcg=run_ndcg,
            ceiling=mean_ceiling,
            share=run_ndcg.value / mean_ceiling if mean_ceiling and run_ndcg.value is not None else None,
            room=estimate_mean(_snap_rounding_noise(ceiling_values - run_values), level=level),
            judged=float(np.mean(judged_shares)) if judged_shares else None,
            per_query=dict(zip(counted, run_values.tolist(), strict=True)),
        )
    return by_run, notes.messages()
