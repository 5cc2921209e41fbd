"""Expectation and maximisation over votes, for every model of the judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringtrue.judges.aggregation.judge_models import ErrorModel, FloatArray
from ringtrue.judges.votes import Codes, Votes

BATCH_ITEMS = 1 << 13  # items at once, so that they stay in the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class EmStart:
    """Where to begin: the probability of each label for each item, and the judges' rates [judge, said, true]."""

    truth: FloatArray
    rates: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class EmFit:
    """Where it ended. `counts` and `squares` are Σ T and Σ T² over the votes, [judge, said, true]."""

    truth: FloatArray
    shares: FloatArray
    rates: FloatArray
    counts: FloatArray
    squares: FloatArray
    objective: tuple[float, ...]
    log_likelihood: float
    converged: bool


def fit_em(
    votes_matrix: Any,
    model: ErrorModel,
    start: EmStart,
    *,
    gold: Codes,
    max_iterations: int,
    tolerance: float,
    progress: Callable[[int], None],
    pairs: bool = False,
) -> EmFit:
    """Labels and judges that explain each other best, found by turns from the `incidence_matrix` of votes.

        T[i, k] ∝ share[k] · Π_{v of item i} π[judge, k, said]        N[j, k, l] = Σ_{v: j says l} T[item, k]

    where π follows from N as the model says, and share[k] is the mean of T. `gold` has the known label of an item,
    or −1; known ones stay. The log posterior (log likelihood + log prior) of each turn never falls. It ends when no
    T moves by more than the tolerance.

    A pair of documents has no first one, so with `pairs` every vote counts half as it is and half the other way round:
    the same as if each item stood there a second time with its documents swapped, and all were halved in the end.
    """
    n_judges, n_labels, _ = start.rates.shape
    symmetrise = symmetrise_labels if pairs else (lambda table: table)
    truth, parameters = start.truth, model.parameters(start.rates)
    objective: list[float] = []
    likelihood, converged = 0.0, False
    for _ in range(max_iterations):
        parameters = model.fit(symmetrise((votes_matrix.T @ truth).reshape(n_judges, n_labels, n_labels)), parameters)
        rates, shares = model.rates(parameters, n_labels), symmetrise(_column_means(truth))
        likelihood, moved = expectation_step(truth, votes_matrix, rates, shares, gold)
        objective.append(likelihood + model.log_prior(parameters, n_labels))
        progress(votes_matrix.nnz * n_labels)
        if converged := moved <= tolerance:
            break
    squares = np.zeros((n_judges * n_labels, n_labels))
    for begin in range(0, len(truth), 8 * BATCH_ITEMS):
        rows = slice(begin, begin + 8 * BATCH_ITEMS)
        squares += votes_matrix[rows].T @ np.square(truth[rows])
    return EmFit(
        truth=truth,
        shares=shares,
        rates=rates,
        counts=symmetrise((votes_matrix.T @ truth).reshape(n_judges, n_labels, n_labels)),
        squares=symmetrise(squares.reshape(n_judges, n_labels, n_labels)),
        objective=tuple(objective),
        log_likelihood=likelihood,
        converged=converged,
    )


def expectation_step(
    truth: FloatArray, votes_matrix: Any, rates: FloatArray, shares: FloatArray, gold: Codes
) -> tuple[float, float]:
    """Put into `truth` what follows from rates and shares; the log likelihood, and the most that anything moved.

    A gold label has probability 1, and counts with its joint likelihood.
    """
    n_judges, n_labels, _ = rates.shape
    logs, log_shares = log_or_minus_inf(rates).reshape(n_judges * n_labels, n_labels), log_or_minus_inf(shares)[:, None]
    likelihood = moved = 0.0
    for start in range(0, len(truth), BATCH_ITEMS):
        rows = slice(start, start + BATCH_ITEMS)
        # labels × items: few are slow to go along, many fast
        batch = np.ascontiguousarray((votes_matrix[rows] @ logs).T)
        batch += log_shares
        gold_items = np.flatnonzero(gold[rows] >= 0)
        gold_labels = gold[rows][gold_items]
        gold_logs = batch[gold_labels, gold_items]
        top = batch.max(axis=0)
        batch -= top
        np.exp(batch, out=batch)
        total = batch.sum(axis=0)
        batch /= total
        batch[:, gold_items] = 0
        batch[gold_labels, gold_items] = 1
        item_logs = top + np.log(total)
        item_logs[gold_items] = gold_logs
        likelihood += float(item_logs.sum())
        moved = max(moved, float(np.abs(batch - truth[rows].T).max()))
        truth[rows] = batch.T
    return likelihood, moved


def has_pairs(votes: Votes) -> bool:
    """Whether the items are pairs of documents: query, first, second."""
    return votes.is_pairwise


def symmetrise_labels(table: FloatArray) -> FloatArray:
    """The mean of shares [label], or of rates or counts [judge, said, true], and of what they are with labels reversed.

    Examples:
        >>> symmetrise_labels(np.array([0.5, 0.25, 0.25])).tolist()
        [0.375, 0.25, 0.375]
    """
    return (table + (table[::-1] if table.ndim == 1 else table[:, ::-1, ::-1])) / 2


def vote_shares(votes_matrix: Any, n_labels: int, gold: Codes) -> FloatArray:
    """The share of each of the `n_labels` labels among an item's votes; the gold label alone where there is one."""
    shares: FloatArray = votes_matrix @ np.tile(np.eye(n_labels), (votes_matrix.shape[1] // n_labels, 1))
    shares /= shares.sum(axis=1, keepdims=True)
    gold_items = np.flatnonzero(gold >= 0)
    shares[gold_items] = 0
    shares[gold_items, gold[gold_items]] = 1
    return shares


def incidence_matrix(votes: Votes) -> Any:
    """How often each item was labelled so by whom: a sparse matrix, items × (judge, label)."""
    from scipy import sparse

    n_labels = len(votes.labels)
    columns = votes.judge * np.int32(n_labels)
    columns += votes.label
    shape = (votes.items.height, len(votes.judges) * n_labels)
    return sparse.csr_array((np.ones(votes.size), (votes.item, columns)), shape=shape)


def log_or_minus_inf(values: FloatArray) -> FloatArray:
    """Logarithms, where that of 0 is −∞: a label that nothing allows gets probability 0."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def _column_means(truth: FloatArray) -> FloatArray:
    """The mean of each column; faster for few columns than `mean`, and without the threads of a product."""
    return np.asarray(np.einsum("ik->k", truth) / len(truth))
