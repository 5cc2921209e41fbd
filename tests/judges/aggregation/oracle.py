"""A second implementation of the EM algorithm: loops and products, slow and plain."""

from __future__ import annotations

import math

import numpy as np

from ringtrue.judges.aggregation import Prior
from ringtrue.judges.votes import Votes

NEUTRAL = 0.5  # of a judge of whom nothing is known, how often they know the label


def expected_counts(votes: Votes, truth: list[list[float]]) -> np.ndarray:
    """[judge, true, said]"""
    wide = len(votes.labels)
    counts = np.zeros((len(votes.judges), wide, wide))
    for item, judge, label in zip(votes.item, votes.judge, votes.label, strict=True):
        for k in range(wide):
            counts[judge, k, label] += truth[item][k]
    return counts


def one_judge(method: str, counts: np.ndarray, prior: Prior, phi: list[float]) -> tuple[np.ndarray, list[float], float]:
    """The judge's matrix [true, said], MACE's parameters, and the log prior."""
    wide = len(counts)
    right = sum(counts[k, k] for k in range(wide))
    if method == "dawid-skene":
        weights = [[counts[k, s] + prior.cell + prior.diagonal * (k == s) for s in range(wide)] for k in range(wide)]
        matrix = np.array([[w / sum(row) if sum(row) else 1 / wide for w in row] for row in weights])
        pseudo = [(prior.cell + prior.diagonal * (k == s), matrix[k, s]) for k in range(wide) for s in range(wide)]
        return matrix, phi, sum(c * math.log(p) for c, p in pseudo if c)
    if method == "one-coin":
        good = right + prior.diagonal + prior.cell
        bad = counts.sum() - right + prior.cell * (wide - 1)
        accuracy = good / (good + bad) if good + bad else 0.5
        pseudo = [(prior.diagonal + prior.cell, accuracy), (prior.cell * (wide - 1), 1 - accuracy)]
        matrix = np.array(
            [[accuracy if k == s else (1 - accuracy) / (wide - 1) for s in range(wide)] for k in range(wide)]
        )
        return matrix, phi, sum(c * math.log(p) for c, p in pseudo if c)
    known = [counts[k, k] * phi[0] / (phi[0] + phi[1 + k]) if counts[k, k] else 0.0 for k in range(wide)]
    new = [sum(known) + prior.diagonal]
    new += [sum(counts[k, s] for k in range(wide)) - known[s] + prior.cell for s in range(wide)]
    phi = [max(weight, 0) / sum(new) for weight in new]
    matrix = np.array([[phi[1 + s] + phi[0] * (k == s) for s in range(wide)] for k in range(wide)])
    pseudo = [(prior.diagonal, phi[0]), *((prior.cell, one) for one in phi[1:])]
    return matrix, phi, sum(c * math.log(p) for c, p in pseudo if c)


def expectation_maximisation(
    votes: Votes, method: str, *, prior: Prior, gold: list[int], iterations: int
) -> tuple[np.ndarray, list[float], list[float]]:
    """The probabilities of the labels, the log posterior and the log likelihood after each iteration."""
    wide, items = len(votes.labels), votes.items.height
    truth = [[0.0] * wide for _ in range(items)]
    for item, label in zip(votes.item, votes.label, strict=True):
        truth[item][label] += 1
    truth = [[votes / sum(row) for votes in row] for row in truth]
    for item, label in enumerate(gold):
        if label >= 0:
            truth[item] = [float(k == label) for k in range(wide)]
    phis = [[NEUTRAL] + [(1 - NEUTRAL) / wide] * wide for _ in votes.judges]
    posterior, likelihood = [], []
    for _ in range(iterations):
        counts = expected_counts(votes, truth)
        shares = [sum(row[k] for row in truth) / items for k in range(wide)]
        fitted = [one_judge(method, counts[j], prior, phis[j]) for j in range(len(votes.judges))]
        phis = [phi for _, phi, _ in fitted]
        said = 0.0
        for item in range(items):
            row = list(shares)
            for judge, label in zip(votes.judge[votes.item == item], votes.label[votes.item == item], strict=True):
                row = [p * fitted[judge][0][k, label] for k, p in enumerate(row)]
            if gold[item] >= 0:
                said += math.log(row[gold[item]])
            else:
                said += math.log(sum(row))
                truth[item] = [p / sum(row) for p in row]
        likelihood.append(said)
        posterior.append(said + sum(one for _, _, one in fitted))
    return np.array(truth), posterior, likelihood
