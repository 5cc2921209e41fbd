"""Labels by a vote, majority, mean or median, and each judge against the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.aggregation.results import JudgeModel
from ringtrue.judges.votes import Codes, Votes, leave_one_out_consensus
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate, rows_by_group
from ringtrue.stats.intervals import estimate_share

Ties: TypeAlias = Literal["low", "high", "random"]
TieRule: TypeAlias = Ties | Literal["middle"]  # the middle label, whichever tie: for pairs, that neither wins
Counts = NDArray[np.int64]
ROUNDING = 1e-9  # probabilities this close differ by rounding alone


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteOutcome:
    """The label of each item as a position, whether it was a tie, and the value where it is a number of its own."""

    label: NDArray[np.int64]
    tied: NDArray[np.bool_]
    value: NDArray[np.float64] | None = None


def choose_labels(weights: NDArray[np.float64] | Counts, ties: TieRule, rng: np.random.Generator) -> VoteOutcome:
    """The label with the most weight in each row; of several, as the tie rule says.

    Examples:
        >>> choose_labels(np.array([[2, 1, 2], [0, 3, 1]]), "high", np.random.default_rng(0)).label.tolist()
        [2, 1]
    """
    is_best = weights >= weights.max(axis=1, keepdims=True) - ROUNDING
    n_best = is_best.sum(axis=1)
    if ties == "low":
        label = is_best.argmax(axis=1)
    elif ties == "high":
        label = is_best.shape[1] - 1 - is_best[:, ::-1].argmax(axis=1)
    elif ties == "middle":
        label = np.where(n_best > 1, is_best.shape[1] // 2, is_best.argmax(axis=1))
    else:
        nth = rng.integers(n_best)
        label = (np.cumsum(is_best, axis=1) > nth[:, None]).argmax(axis=1)
    return VoteOutcome(label=label, tied=n_best > 1)


def majority_vote(counts: Counts, labels: tuple[int, ...], ties: TieRule, rng: np.random.Generator) -> VoteOutcome:  # noqa: ARG001
    """The label that most judges gave."""
    return choose_labels(counts, ties, rng)


def mean_vote(counts: Counts, labels: tuple[int, ...], ties: TieRule, rng: np.random.Generator) -> VoteOutcome:
    """The mean of the labels, and the label nearest to it.

    Examples:
        >>> voted = mean_vote(np.array([[1, 0, 2], [1, 1, 0]]), (0, 1, 2), "low", np.random.default_rng(0))
        >>> voted.value.round(3).tolist(), voted.label.tolist(), voted.tied.tolist()
        ([1.333, 0.5], [1, 0], [False, True])
    """
    return _choose_nearest(counts @ np.array(labels, dtype=np.int64), counts.sum(axis=1), labels, ties, rng)


def median_vote(counts: Counts, labels: tuple[int, ...], ties: TieRule, rng: np.random.Generator) -> VoteOutcome:
    """The label in the middle, or the mean of the two there, and the label nearest to it.

    Examples:
        >>> voted = median_vote(np.array([[1, 0, 2], [1, 0, 1]]), (0, 1, 2), "low", np.random.default_rng(0))
        >>> voted.value.tolist(), voted.label.tolist()
        ([2.0, 1.0], [2, 1])
    """
    running, total = np.cumsum(counts, axis=1), counts.sum(axis=1, keepdims=True)
    grades = np.array(labels, dtype=np.int64)
    low, high = ((running > middle).argmax(axis=1) for middle in ((total - 1) // 2, total // 2))
    return _choose_nearest(grades[low] + grades[high], np.full(len(counts), 2), labels, ties, rng)


def _choose_nearest(
    numerator: Counts, denominator: Counts, labels: tuple[int, ...], ties: TieRule, rng: np.random.Generator
) -> VoteOutcome:
    """The label nearest to the fraction top / bottom; in whole numbers, so that a half is a half."""
    grades = np.array(labels, dtype=np.int64)
    above = (numerator[:, None] > denominator[:, None] * grades).sum(axis=1).clip(0, len(grades) - 1)
    below = np.maximum(above - 1, 0)
    nearer = 2 * numerator - denominator * (grades[below] + grades[above])  # below 0: the lower one is nearer
    tied = (nearer == 0) & (above > below)
    goes_up = rng.random(len(numerator)) < 0.5 if ties == "random" else np.full(len(numerator), ties == "high")
    label = np.where((nearer > 0) | (tied & goes_up), above, below)
    if ties == "middle":
        label = np.where(tied, len(grades) // 2, label)
    return VoteOutcome(label=label, tied=tied, value=numerator / denominator)


def estimate_judges_by_others(votes: Votes, gold: Codes, *, level: float) -> tuple[JudgeModel, ...]:
    """Each judge against the majority of the others, and against gold where there is any.

    Labels of items that nobody else labelled count for nothing. Where the others tie between m labels, saying one of
    them is right by 1/m, and is not in the matrix. Labels of one query are taken for alike.
    """
    cluster, _, _ = votes.clusters()
    n_labels = len(votes.labels)
    others, gold_label = leave_one_out_consensus(votes), gold[votes.item]
    truth = np.where(gold_label >= 0, gold_label, others.label)
    hit = np.where(gold_label >= 0, gold_label == votes.label, others.credit)
    models = []
    for name, rows in zip(votes.judges, rows_by_group(votes.judge, len(votes.judges)), strict=True):
        in_matrix, checked = rows[truth[rows] >= 0], rows[~np.isnan(hit[rows])]
        table = cross_tabulate(truth[in_matrix], votes.label[in_matrix], n_labels, n_labels)
        accuracy = estimate_share(
            hit[checked], cluster[votes.item[checked]], level=level, case_name="item that another judge labelled"
        )
        confusion = Confusion(rows="majority of the others", columns=name, labels=votes.labels, counts=table)
        models.append(JudgeModel(judge=name, labels=len(rows), accuracy=accuracy, confusion=confusion))
    return tuple(models)
