"""What graded lists are worth to the gold judge, from bronze labels and how bronze confuses the grades."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import InputError, UsageError
from ringtrue.gold.correction.graded_inputs import BronzeLists, Grades
from ringtrue.messages import Note
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import require_level, resample_query_counts, t_quantile
from ringtrue.stats.results import Estimate

Array: TypeAlias = NDArray[np.float64]
ASSUMPTION = Note("same-error-rates", "holds where the judge errs on these documents as on those of the gold sample")
MIN_QUERIES = 20
MAX_QUERY_GROUPS = 2_000  # of queries to draw from; more would tell no more about the spread
MAX_CELLS = 1_000_000  # drawn at a time
ROUNDING = 1e-12
BARRIER_FACTOR = 0.1  # of the distance from the edges, after each turn
MAX_STEP = 0.995  # of the way to the nearest edge is as far as a step may go
TINY = 1e-300  # keeps a division by 0 from being one


def remap_gains(confusion: Confusion, gains: ArrayLike) -> Array:
    """What each bronze label is worth, so that bronze lists have the mean gain that gold would give them.

        w = C⁻¹ v    [Goldberg17]

    The rows of C are gold's labels and the columns bronze's, and v is what each gold label is worth. A bronze label
    can be worth more than the best gold label, or less than nothing: it pays back what other documents were given.

    Examples:
        >>> rates = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.02, 0.08, 0.9]])
        >>> confusion = Confusion(rows="gold", columns="bronze", labels=(2, 1, 0), counts=rates)
        >>> remap_gains(confusion, [1, 0.5, 0]).round(6)
        array([ 1.16277 ,  0.488309, -0.069245])
    """
    grades = Grades.of(confusion, gains)
    if grades.matrix.shape[0] != grades.matrix.shape[1]:
        raise UsageError(
            "matrix-not-square",
            f"only a square confusion matrix has an inverse, found {grades.size}",
            parameter="confusion",
        )
    if grades.undetermined is not None:
        raise InputError("grades-undetermined", grades.undetermined.text)
    return np.asarray(np.linalg.solve(grades.matrix, grades.gains))


def correct_gain(
    labels: ArrayLike,
    discounts: ArrayLike,
    gold: Confusion,
    gains: ArrayLike,
    *,
    rng: np.random.Generator,
    bronze_labels: Sequence[int] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    max_iterations: int = 100,
    progress: Callable[[int], None] | None = None,
) -> Estimate:
    """The mean over queries of Σ discount · gain that the gold judge would give: DCG, CG, P@k, RBP.

        θ = Σ_b J_b w_b,  w = C⁻¹ v,  J_b = mean over queries of Σ_{ranks where bronze says b} discount    [Goldberg17]

    `labels` has a row for each query and a column for each rank, with the position of the bronze label among the
    columns of `gold`, or −1 where the list is shorter; `discounts` are by rank. `gold` has counts of gold label (rows)
    by bronze label, `gains` what each gold label is worth. `bronze_labels` names the columns where bronze has another
    scale. Rows of infinite worth are known exactly, and then counts may be shares.

    C is inverted where its condition number is below 10 and each gold label occurs 30 times. Elsewhere inverting
    magnifies noise, and θ = Σ_b J_b · Σ_g p_g v_g, with p ≥ 0 the shares of gold labels that make J most likely.
    J is weighed by the discounts and p holds for the lists as a whole: with a p for each rank, cutting noise off at 0
    at every rank adds up, and rare grades are found too often (by half the value in the worst of our simulations).

    The interval is about queries like these. Whole queries are drawn with replacement, for documents of one query
    are alike: drawing single documents covers 80 to 90% where this covers 95%. Each row of C is drawn anew from a
    Dirichlet distribution with its counts, 1/columns added to each, for two labels Jeffreys' prior [Jeffreys46]: a
    multinomial takes errors that were never seen for impossible, and covers 70% where a good judge meets 30 gold labels
    of each. The ends are percentiles of the draws, moved out for few queries [Hesterberg15], for the few draws in which
    C has nearly no inverse make a normal interval far too wide; `se` is half the width of the middle 68%. A search for
    the likeliest p ends after `max_iterations`, and a note tells how many had not found it. `progress` is told how many
    resamples were done.

    Holds where the judge errs on these documents as on those of the gold sample. Where the gold sample leaves open
    that the judge is no better than chance, or grades cannot be told apart, there is no value, and a note says why.

    Examples:
        >>> rates = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.02, 0.08, 0.9]])
        >>> exact = Confusion(rows="gold", columns="bronze", labels=(2, 1, 0), counts=rates, worth=np.full(3, np.inf))
        >>> lists, discounts = [[2, 0], [1, 2]], 1 / np.log2([2, 3])
        >>> estimate = correct_gain(lists, discounts, exact, [1, 0.5, 0], rng=np.random.default_rng(1))
        >>> round(estimate.value, 6), estimate.method
        (0.554501, 'confusion, inverted')
        >>> print(estimate.notes[1])
        corrected shares of grades are negative, and kept so, since cutting them off would bias the mean: label 2 at 1
        of 2 ranks (lowest -0.086 at rank 1), label 1 at 1 of 2 ranks (lowest -0.17 at rank 2)
    """
    require_level(level)
    if resamples < 1:
        raise UsageError(
            "bad-resamples",
            f"an interval needs at least 1 resample, found {resamples}; 10000 is usual",
            parameter="resamples",
        )
    grades = Grades.of(gold, gains, bronze_labels)
    lists = BronzeLists.of(labels, discounts, grades)
    no_value = Estimate(value=None, level=level, n=lists.queries, method="confusion")
    if not lists.attention.any():
        return replace(no_value, notes=(Note("no-documents-shown", "there is no document to be worth anything"),))
    possible_gains = np.outer(lists.attention.sum(axis=1), grades.gains)
    lowest, highest = float(possible_gains.min()), float(possible_gains.max())
    reason = grades.why_uncorrectable(level) or grades.undetermined
    if reason is not None:
        return replace(no_value, low=lowest, high=highest, notes=(reason,))
    value, unconverged = _corrected_gains(lists.mean_attention[None], grades.matrix[None], grades, max_iterations)
    estimate = replace(
        no_value,
        value=float(value[0]),
        method="confusion, maximum likelihood" if grades.why_not_inverted else "confusion, inverted",
        notes=(ASSUMPTION, *_graded_caveats(lists, grades)),
    )
    if lists.queries == 1:
        single_query_notes = (
            Note("single-query", "a single query: no interval can be given"),
            *_note_outside_possible(estimate, lowest, highest),
            *_unconverged_note(unconverged, 0),
        )
        return replace(estimate, notes=(*estimate.notes, *single_query_notes))
    resampled = np.empty(resamples)
    finished = 0
    for means, matrices in _resample(lists, grades, resamples, rng):
        resampled[finished : finished + len(means)], batch_unconverged = _corrected_gains(
            means, matrices, grades, max_iterations
        )
        finished, unconverged = finished + len(means), unconverged + batch_unconverged
        if progress is not None:
            progress(len(means))
    estimate = _add_interval(estimate, resampled, min(lists.queries, MAX_QUERY_GROUPS)).within(lowest, highest)
    return replace(
        estimate,
        notes=(
            *estimate.notes,
            *_note_outside_possible(estimate, lowest, highest),
            *_unconverged_note(unconverged, resamples),
        ),
    )


def _corrected_gains(means: Array, matrices: Array, grades: Grades, max_iterations: int) -> tuple[Array, int]:
    """The corrected gain for each J and its C, and how many searches for shares did not come to their end."""
    if grades.why_not_inverted is None:
        label_gains = np.linalg.solve(
            matrices, np.broadcast_to(grades.gains[:, None], (len(matrices), len(grades.gains), 1))
        )
        return (means[:, None, :] @ label_gains)[:, 0, 0], 0
    fit = fit_grade_shares(means, matrices, max_iterations=max_iterations)
    return means.sum(axis=1) * (fit.shares @ grades.gains), int((~fit.converged).sum())


def _resample(
    lists: BronzeLists, grades: Grades, resamples: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """J and C of each resample of queries and of the gold sample, a batch at a time."""
    attention, sizes = lists.attention, np.ones(lists.queries)
    if lists.queries > MAX_QUERY_GROUPS:
        group = rng.permutation(lists.queries) % MAX_QUERY_GROUPS
        attention, sizes = np.zeros((MAX_QUERY_GROUPS, attention.shape[1])), np.bincount(group).astype(np.float64)
        np.add.at(attention, group, lists.attention)
    batch = max(1, MAX_CELLS // max(len(attention), 4 * grades.matrix.size))
    for counts in resample_query_counts(len(attention), resamples, batch=batch, rng=rng):
        yield counts @ attention / (counts @ sizes)[:, None], grades.resample(len(counts), rng)


def _add_interval(estimate: Estimate, resampled: Array, queries: int) -> Estimate:
    """Percentiles of the draws, as far out as Student's t goes for so few queries; the value is never outside."""
    normal, inflation = NormalDist(), math.sqrt(queries / (queries - 1))
    upper = normal.cdf(inflation * t_quantile((1 + estimate.level) / 2, queries - 1))
    middle = normal.cdf(inflation)
    low, high, below, above = (float(bound) for bound in np.quantile(resampled, [1 - upper, upper, 1 - middle, middle]))
    assert estimate.value is not None
    return replace(estimate, se=(above - below) / 2, low=min(low, estimate.value), high=max(high, estimate.value))


def _note_outside_possible(estimate: Estimate, lowest: float, highest: float) -> tuple[Note, ...]:
    """What a value or an interval means that lies where no list can be."""
    assert estimate.value is not None
    slack = ROUNDING * max(abs(lowest), abs(highest))
    if lowest - slack <= estimate.value <= highest + slack:
        return ()
    side = f"below {lowest:.4g}, the least" if estimate.value < lowest else f"above {highest:.4g}, the most"
    if estimate.low is not None and estimate.high is not None and (estimate.high < lowest or estimate.low > highest):
        text = f"the whole interval lies {side} that a list could be worth: this is not how the judge errs here"
        return (Note("interval-outside-possible", text),)
    note = Note(
        "value-outside-possible",
        f"the corrected value {estimate.value:.4g} lies {side} that a list could be worth: by chance, or because the "
        f"confusion matrix does not fit",
    )
    return (note,)


def _graded_caveats(lists: BronzeLists, grades: Grades) -> tuple[Note, ...]:
    notes: list[Note] = []
    if grades.why_not_inverted is not None:
        text = f"shares of grades by maximum likelihood, not by inverting: {grades.why_not_inverted}"
        notes.append(Note("matrix-not-inverted", text))
    else:
        notes += _negative_share_notes(lists, grades)
    if lists.queries > 1 and (lists.attention == lists.attention[0]).all():
        text = f"all {lists.queries:,} queries have the same labels: the interval knows only of the gold sample"
        notes.append(Note("all-queries-alike", text))
    elif 1 < lists.queries < MIN_QUERIES:
        text = f"only {lists.queries} queries: how far they differ is known poorly, and the interval may be short"
        notes.append(Note("few-queries", text))
    if np.isinf(grades.effective_n).all():
        text = "the confusion matrix is taken for exactly known; counts would give a wider interval"
        notes.append(Note("rates-taken-as-known", text))
    return tuple(notes)


def _negative_share_notes(lists: BronzeLists, grades: Grades) -> list[Note]:
    """Shares of grades below 0, by rank: they are what inverting gives, and are reported, never cut off."""
    shares = np.linalg.solve(grades.matrix.T, lists.shares_by_rank.T).T
    negatives = []
    for label, column in zip(grades.labels, shares.T, strict=True):
        below = column < -ROUNDING
        if below.any():
            negatives.append(
                f"label {label} at {below.sum()} of {len(column)} ranks (lowest {column.min():.2g} at rank "
                f"{int(lists.ranks[column.argmin()])})"
            )
    if not negatives:
        return []
    text = "corrected shares of grades are negative, and kept so, since cutting them off would bias the mean"
    return [Note("negative-shares", f"{text}: {', '.join(negatives)}")]


def _unconverged_note(unconverged: int, resamples: int) -> tuple[Note, ...]:
    if not unconverged:
        return ()
    text = f"in {unconverged:,} of {resamples + 1:,} searches the likeliest shares were not found in time"
    return (Note("search-not-finished", text),)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradeShares:
    """The share of each gold label, in the last axis, and whether the search came to its end."""

    shares: Array
    converged: NDArray[np.bool_]


def fit_grade_shares(
    counts: ArrayLike, matrix: ArrayLike, *, tolerance: float = 1e-12, max_iterations: int = 100
) -> GradeShares:
    """The gold shares p ≥ 0, Σp = 1, under which bronze counts ~ multinomial(p C) are most likely.

        max Σ_b n_b log (pC)_b,    D_g = Σ_b n_b/n · C_gb / (pC)_b = 1 where p_g > 0, and ≤ 1 where p_g = 0

    `counts` are (…, bronze), `matrix` (…, gold, bronze) with rows that sum to 1: each set of counts may have a matrix
    of its own, and all are solved at once. Counts need not be whole. The EM algorithm, p_g ← p_g D_g [Dempster77],
    climbs to the same maximum, but takes thousands of turns where two grades look alike; Newton's method from inside
    [Koenker14] takes some twenty. The mean log likelihood lies below its maximum by max D − 1 at most [Lindsay83]:
    the search ends where that is no more than the tolerance.

    Examples:
        >>> matrix = [[0.8, 0.2], [0.1, 0.9]]
        >>> (fit_grade_shares([[45, 55], [5, 95]], matrix).shares.round(6) + 0).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    counts, matrix = np.asarray(counts, dtype=np.float64), np.asarray(matrix, dtype=np.float64)
    if counts.shape[-1] != matrix.shape[-1]:
        raise UsageError(
            "matrix-shape",
            f"counts of {counts.shape[-1]} bronze labels do not fit a matrix with {matrix.shape[-1]} columns",
            parameter="counts",
        )
    shape = np.broadcast_shapes(counts.shape[:-1], matrix.shape[:-2])
    grades, labels = matrix.shape[-2:]
    bronze_shares = np.broadcast_to(counts, (*shape, labels)).reshape(-1, labels)
    bronze_shares = bronze_shares / np.maximum(bronze_shares.sum(axis=1, keepdims=True), TINY)
    rates = np.broadcast_to(matrix, (*shape, grades, labels)).reshape(-1, grades, labels)
    if ((rates.sum(axis=1) <= 0) & (bronze_shares > 0)).any():
        raise UsageError(
            "impossible-bronze-label",
            "a bronze label was counted that no gold label gives rise to: its column of the matrix is 0",
            parameter="counts",
        )
    shares, slack = np.full((len(bronze_shares), grades), 1 / grades), np.ones((len(bronze_shares), grades))
    best_shares, converged = shares.copy(), np.zeros(len(bronze_shares), dtype=bool)
    active = np.arange(len(bronze_shares))  # where the search still goes on
    for _ in range(max_iterations):
        mixture = np.maximum((shares[:, None, :] @ rates)[:, 0], TINY)
        ratio = bronze_shares / mixture
        gradient = (rates @ ratio[:, :, None])[:, :, 0]
        total = shares.sum(axis=1, keepdims=True)
        finished = (gradient * total).max(axis=1) - 1 <= tolerance
        best_shares[active] = shares / total
        converged[active] = finished
        if finished.all():
            break
        hessian = (rates * (ratio / mixture)[:, None, :]) @ rates.swapaxes(1, 2)
        unfinished = ~finished
        active, bronze_shares, rates = active[unfinished], bronze_shares[unfinished], rates[unfinished]
        shares, slack = _newton_step(shares[unfinished], slack[unfinished], gradient[unfinished], hessian[unfinished])
    return GradeShares(shares=best_shares.reshape(*shape, grades), converged=converged.reshape(shape))


def _newton_step(shares: Array, slack: Array, gradient: Array, hessian: Array) -> tuple[Array, Array]:
    """The shares and what their slopes lack of 1, after a step of Newton's method towards p_g (1 − D_g) = μ, a tenth
    of what it was."""
    target = BARRIER_FACTOR * (shares * slack).mean(axis=1, keepdims=True) / shares
    ratio = slack / shares
    curvature = hessian + ratio[:, :, None] * np.eye(shares.shape[1])
    step = np.linalg.solve(curvature, (gradient - 1 + target)[:, :, None])[:, :, 0]
    slack_step = target - slack - ratio * step
    return shares + _step_length(shares, step) * step, slack + _step_length(slack, slack_step) * slack_step


def _step_length(current: Array, step: Array) -> Array:
    """How far along the step one may go without leaving the inside; all of it at most."""
    steepest = (-step / current).max(axis=1, keepdims=True)
    return np.asarray(MAX_STEP / np.maximum(steepest, MAX_STEP))
