"""Expectation and maximisation over votes, for every model of the judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringtrue.judges.aggregation.judge_models import FloatArray, Model
from ringtrue.judges.votes import Codes, Votes

__all__ = ["Fit", "Start", "are_pairs", "both_ways", "expect", "fit", "incidence", "vote_shares"]

PIECE = 1 << 13  # items at once, so that they stay in the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where to begin: the probability of each label for each item, and the judges' rates [judge, said, true]."""

    truth: FloatArray
    rates: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Where it ended. `counts` and `squares` are Σ T and Σ T² over the votes, [judge, said, true]."""

    truth: FloatArray
    shares: FloatArray
    rates: FloatArray
    counts: FloatArray
    squares: FloatArray
    objective: tuple[float, ...]
    log_likelihood: float
    converged: bool


def fit(
    said: Any,
    model: Model,
    start: Start,
    *,
    gold: Codes,
    max_iterations: int,
    tolerance: float,
    progress: Callable[[int], None],
    pairs: bool = False,
) -> Fit:
    """Labels and judges that explain each other best, found by turns from the `incidence` of votes.

        T[i, k] ∝ share[k] · Π_{v of item i} π[judge, k, said]        N[j, k, l] = Σ_{v: j says l} T[item, k]

    where π follows from N as the model says, and share[k] is the mean of T. `gold` has the known label of an item,
    or −1; known ones stay. The log posterior (log likelihood + log prior) of each turn never falls. It ends when no
    T moves by more than the tolerance.

    A pair of documents has no first one, so with `pairs` every vote counts half as it is and half the other way round:
    the same as if each item stood there a second time with its documents swapped, and all were halved in the end.
    """
    judges, wide, _ = start.rates.shape
    fair = both_ways if pairs else (lambda table: table)
    truth, parameters = start.truth, model.parameters(start.rates)
    objective: list[float] = []
    likelihood, converged = 0.0, False
    for _ in range(max_iterations):
        parameters = model.fitted(fair((said.T @ truth).reshape(judges, wide, wide)), parameters)
        rates, shares = model.rates(parameters, wide), fair(_shares(truth))
        likelihood, moved = expect(truth, said, rates, shares, gold)
        objective.append(likelihood + model.log_prior(parameters, wide))
        progress(said.nnz * wide)
        if converged := moved <= tolerance:
            break
    squares = np.zeros((judges * wide, wide))
    for begin in range(0, len(truth), 8 * PIECE):
        rows = slice(begin, begin + 8 * PIECE)
        squares += said[rows].T @ np.square(truth[rows])
    return Fit(
        truth=truth, shares=shares, rates=rates, counts=fair((said.T @ truth).reshape(judges, wide, wide)),
        squares=fair(squares.reshape(judges, wide, wide)), objective=tuple(objective), log_likelihood=likelihood,
        converged=converged,
    )  # fmt: skip


def expect(truth: FloatArray, said: Any, rates: FloatArray, shares: FloatArray, gold: Codes) -> tuple[float, float]:
    """Put into `truth` what follows from rates and shares; the log likelihood, and the most that anything moved.

    A gold label has probability 1, and counts with its joint likelihood.
    """
    judges, wide, _ = rates.shape
    logs, common = logs_of(rates).reshape(judges * wide, wide), logs_of(shares)[:, None]
    likelihood = moved = 0.0
    for start in range(0, len(truth), PIECE):
        rows = slice(start, start + PIECE)
        piece = np.ascontiguousarray((said[rows] @ logs).T)  # labels × items: few are slow to go along, many fast
        piece += common
        known = np.flatnonzero(gold[rows] >= 0)
        right = gold[rows][known]
        certain = piece[right, known]
        top = piece.max(axis=0)
        piece -= top
        np.exp(piece, out=piece)
        total = piece.sum(axis=0)
        piece /= total
        piece[:, known] = 0
        piece[right, known] = 1
        told = top + np.log(total)
        told[known] = certain
        likelihood += float(told.sum())
        moved = max(moved, float(np.abs(piece - truth[rows].T).max()))
        truth[rows] = piece.T
    return likelihood, moved


def are_pairs(votes: Votes) -> bool:
    """Whether the items are pairs of documents: query, first, second."""
    return len(votes.items.columns) == 3


def both_ways(table: FloatArray) -> FloatArray:
    """The mean of shares [label], or of rates or counts [judge, said, true], and of what they are with labels reversed.

    Examples:
        >>> both_ways(np.array([0.5, 0.25, 0.25])).tolist()
        [0.375, 0.25, 0.375]
    """
    return (table + (table[::-1] if table.ndim == 1 else table[:, ::-1, ::-1])) / 2


def vote_shares(said: Any, wide: int, gold: Codes) -> FloatArray:
    """The share of each of the `wide` labels among an item's votes; the gold label alone where there is one."""
    shares: FloatArray = said @ np.tile(np.eye(wide), (said.shape[1] // wide, 1))
    shares /= shares.sum(axis=1, keepdims=True)
    known = np.flatnonzero(gold >= 0)
    shares[known] = 0
    shares[known, gold[known]] = 1
    return shares


def incidence(votes: Votes) -> Any:
    """How often each item was labelled so by whom: a sparse matrix, items × (judge, label)."""
    from scipy import sparse

    wide = len(votes.labels)
    columns = votes.judge * np.int32(wide)
    columns += votes.label
    shape = (votes.items.height, len(votes.judges) * wide)
    return sparse.csr_array((np.ones(votes.size), (votes.item, columns)), shape=shape)


def logs_of(values: FloatArray) -> FloatArray:
    """Logarithms, where that of 0 is −∞: a label that nothing allows gets probability 0."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def _shares(truth: FloatArray) -> FloatArray:
    """The mean of each column; faster for few columns than `mean`, and without the threads of a product."""
    return np.asarray(np.einsum("ik->k", truth) / len(truth))
