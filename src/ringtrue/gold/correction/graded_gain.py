"""What graded lists are worth to the gold judge, from bronze labels and how bronze confuses the grades."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import InputError, UsageError
from ringtrue.gold.correction.graded_inputs import BronzeLists, Grades
from ringtrue.gold.correction.mixture_ml import grade_shares
from ringtrue.stats.bootstrap import query_counts
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import require_level
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import t_quantile

__all__ = ["corrected_gain", "remapped_gains"]

Array: TypeAlias = NDArray[np.float64]
ASSUMED = "holds where the judge errs on these documents as on those of the gold sample"
FEW_QUERIES = 20
GROUPS = 2_000  # of queries to draw from; more would tell no more about the spread
CELLS = 1_000_000  # drawn at a time
ROUNDING = 1e-12


def remapped_gains(confusion: Confusion, gains: ArrayLike) -> Array:
    """What each bronze label is worth, so that bronze lists have the mean gain that gold would give them.

        w = C⁻¹ v    [Goldberg17]

    The rows of C are gold's labels and the columns bronze's, and v is what each gold label is worth. A bronze label
    can be worth more than the best gold label, or less than nothing: it pays back what other documents were given.

    Examples:
        >>> rates = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.02, 0.08, 0.9]])
        >>> confusion = Confusion(rows="gold", columns="bronze", labels=(2, 1, 0), counts=rates)
        >>> remapped_gains(confusion, [1, 0.5, 0]).round(6)
        array([ 1.16277 ,  0.488309, -0.069245])
    """
    grades = Grades.of(confusion, gains)
    if grades.matrix.shape[0] != grades.matrix.shape[1]:
        raise UsageError(f"only a square confusion matrix has an inverse, found {grades.size}")
    if grades.undetermined is not None:
        raise InputError(grades.undetermined)
    return np.asarray(np.linalg.solve(grades.matrix, grades.gains))


def corrected_gain(
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
        >>> known = Confusion(rows="gold", columns="bronze", labels=(2, 1, 0), counts=rates, worth=np.full(3, np.inf))
        >>> lists, discounts = [[2, 0], [1, 2]], 1 / np.log2([2, 3])
        >>> found = corrected_gain(lists, discounts, known, [1, 0.5, 0], rng=np.random.default_rng(1))
        >>> round(found.value, 6), found.method
        (0.554501, 'confusion, inverted')
        >>> print(found.notes[1])
        corrected shares of grades are negative, and kept so, since cutting them off would bias the mean: label 2 at 1
        of 2 ranks (lowest -0.086 at rank 1), label 1 at 1 of 2 ranks (lowest -0.17 at rank 2)
    """
    require_level(level)
    if resamples < 1:
        raise UsageError(f"an interval needs at least 1 resample, found {resamples}; 10000 is usual")
    grades = Grades.of(gold, gains, bronze_labels)
    lists = BronzeLists.of(labels, discounts, grades)
    nothing = Estimate(value=None, level=level, n=lists.queries, method="confusion")
    if not lists.attention.any():
        return replace(nothing, notes=("there is no document to be worth anything",))
    possible = np.outer(lists.attention.sum(axis=1), grades.gains)
    lowest, highest = float(possible.min()), float(possible.max())
    why_unknown = grades.hopeless(level) or grades.undetermined
    if why_unknown is not None:
        return replace(nothing, low=lowest, high=highest, notes=(why_unknown,))
    value, lost = _gain(lists.mean[None], grades.matrix[None], grades, max_iterations)
    found = replace(
        nothing,
        value=float(value[0]),
        method="confusion, maximum likelihood" if grades.why_not_inverted else "confusion, inverted",
        notes=(ASSUMED, *_doubts(lists, grades)),
    )
    if lists.queries == 1:
        alone = ("a single query: no interval can be given", *_outside(found, lowest, highest), *_unfinished(lost, 0))
        return replace(found, notes=(*found.notes, *alone))
    drawn = np.empty(resamples)
    done = 0
    for means, matrices in _redrawn(lists, grades, resamples, rng):
        drawn[done : done + len(means)], more_lost = _gain(means, matrices, grades, max_iterations)
        done, lost = done + len(means), lost + more_lost
        if progress is not None:
            progress(len(means))
    found = _cut(_with_interval(found, drawn, min(lists.queries, GROUPS)), lowest, highest)
    return replace(found, notes=(*found.notes, *_outside(found, lowest, highest), *_unfinished(lost, resamples)))


def _gain(means: Array, matrices: Array, grades: Grades, max_iterations: int) -> tuple[Array, int]:
    """The corrected gain for each J and its C, and how many searches for shares did not come to their end."""
    if grades.why_not_inverted is None:
        worth = np.linalg.solve(matrices, np.broadcast_to(grades.gains[:, None], (len(matrices), len(grades.gains), 1)))
        return (means[:, None, :] @ worth)[:, 0, 0], 0
    found = grade_shares(means, matrices, max_iterations=max_iterations)
    return means.sum(axis=1) * (found.shares @ grades.gains), int((~found.converged).sum())


def _redrawn(
    lists: BronzeLists, grades: Grades, resamples: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """J and C of each resample of queries and of the gold sample, a batch at a time."""
    attention, sizes = lists.attention, np.ones(lists.queries)
    if lists.queries > GROUPS:
        group = rng.permutation(lists.queries) % GROUPS
        attention, sizes = np.zeros((GROUPS, attention.shape[1])), np.bincount(group).astype(np.float64)
        np.add.at(attention, group, lists.attention)
    batch = max(1, CELLS // max(len(attention), 4 * grades.matrix.size))
    for counts in query_counts(len(attention), resamples, batch=batch, rng=rng):
        yield counts @ attention / (counts @ sizes)[:, None], grades.redrawn(len(counts), rng)


def _with_interval(found: Estimate, drawn: Array, queries: int) -> Estimate:
    """Percentiles of the draws, as far out as Student's t goes for so few queries; the value is never outside."""
    normal, wider = NormalDist(), math.sqrt(queries / (queries - 1))
    far = normal.cdf(wider * t_quantile((1 + found.level) / 2, queries - 1))
    middle = normal.cdf(wider)
    low, high, below, above = (float(end) for end in np.quantile(drawn, [1 - far, far, 1 - middle, middle]))
    assert found.value is not None
    return replace(found, se=(above - below) / 2, low=min(low, found.value), high=max(high, found.value))


def _cut(found: Estimate, lowest: float, highest: float) -> Estimate:
    """No mean lies beyond the worst and the best that a list could be worth; an interval may, altogether."""
    assert found.low is not None
    assert found.high is not None
    if found.high < lowest or found.low > highest:
        return found
    return replace(found, low=max(found.low, lowest), high=min(found.high, highest))


def _outside(found: Estimate, lowest: float, highest: float) -> tuple[str, ...]:
    """What a value or an interval means that lies where no list can be."""
    assert found.value is not None
    slack = ROUNDING * max(abs(lowest), abs(highest))
    if lowest - slack <= found.value <= highest + slack:
        return ()
    side = f"below {lowest:.4g}, the least" if found.value < lowest else f"above {highest:.4g}, the most"
    if found.low is not None and found.high is not None and (found.high < lowest or found.low > highest):
        return (f"the whole interval lies {side} that a list could be worth: this is not how the judge errs here",)
    note = f"the corrected value {found.value:.4g} lies {side} that a list could be worth: by chance, or because the "
    return (note + "confusion matrix does not fit",)


def _doubts(lists: BronzeLists, grades: Grades) -> tuple[str, ...]:
    notes = []
    if grades.why_not_inverted is not None:
        notes.append(f"shares of grades by maximum likelihood, not by inverting: {grades.why_not_inverted}")
    else:
        notes += _negative(lists, grades)
    if lists.queries > 1 and (lists.attention == lists.attention[0]).all():
        notes.append(f"all {lists.queries:,} queries have the same labels: the interval knows only of the gold sample")
    elif 1 < lists.queries < FEW_QUERIES:
        notes.append(f"only {lists.queries} queries: how far they differ is known badly, and the interval may be short")
    if np.isinf(grades.worth).all():
        notes.append("the confusion matrix is taken for exactly known; counts would give a wider interval")
    return tuple(notes)


def _negative(lists: BronzeLists, grades: Grades) -> list[str]:
    """Shares of grades below 0, by rank: they are what inverting gives, and are told, never cut off."""
    shares = np.linalg.solve(grades.matrix.T, lists.shares_by_rank.T).T
    told = []
    for label, column in zip(grades.labels, shares.T, strict=True):
        below = column < -ROUNDING
        if below.any():
            told.append(
                f"label {label} at {below.sum()} of {len(column)} ranks (lowest {column.min():.2g} at rank "
                f"{int(lists.ranks[column.argmin()])})"
            )
    note = "corrected shares of grades are negative, and kept so, since cutting them off would bias the mean: "
    return [note + ", ".join(told)] if told else []


def _unfinished(lost: int, resamples: int) -> tuple[str, ...]:
    if not lost:
        return ()
    return (f"in {lost:,} of {resamples + 1:,} searches the likeliest shares were not found in time",)
