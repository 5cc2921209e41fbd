"""Labels by a vote: majority, mean and median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rule", "Ties", "Voted", "chosen", "majority_vote", "mean_vote", "median_vote"]

Ties: TypeAlias = Literal["low", "high", "random"]
Rule: TypeAlias = Ties | Literal["middle"]  # the middle label, whichever tie: for pairs, that neither wins
Counts = NDArray[np.int64]
SAME = 1e-9  # probabilities this close differ by rounding alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted:
    """The label of each item as a position, whether it was a tie, and the value where it is a number of its own."""

    label: NDArray[np.int64]
    tied: NDArray[np.bool_]
    value: NDArray[np.float64] | None = None


def chosen(weights: NDArray[np.float64] | Counts, ties: Rule, rng: np.random.Generator) -> Voted:
    """The label with the most weight in each row; of several, as the tie rule says.

    Examples:
        >>> chosen(np.array([[2, 1, 2], [0, 3, 1]]), "high", np.random.default_rng(0)).label.tolist()
        [2, 1]
    """
    best = weights >= weights.max(axis=1, keepdims=True) - SAME
    many = best.sum(axis=1)
    if ties == "low":
        label = best.argmax(axis=1)
    elif ties == "high":
        label = best.shape[1] - 1 - best[:, ::-1].argmax(axis=1)
    elif ties == "middle":
        label = np.where(many > 1, best.shape[1] // 2, best.argmax(axis=1))
    else:
        nth = rng.integers(many)
        label = (np.cumsum(best, axis=1) > nth[:, None]).argmax(axis=1)
    return Voted(label=label, tied=many > 1)


def majority_vote(counts: Counts, labels: tuple[int, ...], ties: Rule, rng: np.random.Generator) -> Voted:  # noqa: ARG001
    """The label that most judges gave."""
    return chosen(counts, ties, rng)


def mean_vote(counts: Counts, labels: tuple[int, ...], ties: Rule, rng: np.random.Generator) -> Voted:
    """The mean of the labels, and the label nearest to it.

    Examples:
        >>> voted = mean_vote(np.array([[1, 0, 2], [1, 1, 0]]), (0, 1, 2), "low", np.random.default_rng(0))
        >>> voted.value.round(3).tolist(), voted.label.tolist(), voted.tied.tolist()
        ([1.333, 0.5], [1, 0], [False, True])
    """
    return _nearest(counts @ np.array(labels, dtype=np.int64), counts.sum(axis=1), labels, ties, rng)


def median_vote(counts: Counts, labels: tuple[int, ...], ties: Rule, rng: np.random.Generator) -> Voted:
    """The label in the middle, or the mean of the two there, and the label nearest to it.

    Examples:
        >>> voted = median_vote(np.array([[1, 0, 2], [1, 0, 1]]), (0, 1, 2), "low", np.random.default_rng(0))
        >>> voted.value.tolist(), voted.label.tolist()
        ([2.0, 1.0], [2, 1])
    """
    running, total = np.cumsum(counts, axis=1), counts.sum(axis=1, keepdims=True)
    grades = np.array(labels, dtype=np.int64)
    low, high = ((running > middle).argmax(axis=1) for middle in ((total - 1) // 2, total // 2))
    return _nearest(grades[low] + grades[high], np.full(len(counts), 2), labels, ties, rng)


def _nearest(top: Counts, bottom: Counts, labels: tuple[int, ...], ties: Rule, rng: np.random.Generator) -> Voted:
    """The label nearest to the fraction top / bottom; in whole numbers, so that a half is a half."""
    grades = np.array(labels, dtype=np.int64)
    above = (top[:, None] > bottom[:, None] * grades).sum(axis=1).clip(0, len(grades) - 1)
    below = np.maximum(above - 1, 0)
    nearer = 2 * top - bottom * (grades[below] + grades[above])  # below 0: the lower one is nearer
    tied = (nearer == 0) & (above > below)
    up = rng.random(len(top)) < 0.5 if ties == "random" else np.full(len(top), ties == "high")
    label = np.where((nearer > 0) | (tied & up), above, below)
    if ties == "middle":
        label = np.where(tied, len(grades) // 2, label)
    return Voted(label=label, tied=tied, value=top / bottom)
