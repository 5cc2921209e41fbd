"""How good each judge is, by the labels that were found: against the others, or against probable truth."""

from __future__ import annotations

import math

import numpy as np

from ringtrue.judges.aggregation.em import EmFit
from ringtrue.judges.aggregation.results import JudgeModel
from ringtrue.judges.votes import Codes, Votes, leave_one_out_consensus
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import estimate_share, wilson
from ringtrue.stats.results import Estimate


def estimate_judges_by_model(votes: Votes, em_fit: EmFit, *, level: float) -> tuple[JudgeModel, ...]:
    """Each judge against the probable truth: accuracy and matrix, with intervals.

    A label of an item whose truth is uncertain is worth less than one label. What is left of the information in it
    follows from T, the probabilities of the truth [Louis82]: a row k of a matrix is worth Σ T_k² labels, and of
    the judge's n labels, of accuracy a, each right with probability c, the accuracy is worth

        n − Σ c(1 − c) / a(1 − a)

    with a moved towards ½ as Wilson's interval does, so that an accuracy of 1 is no certainty. Both then get Wilson's
    interval. Labels that a judge repeated for an item count as if each had a truth of its own.

    Holds where the other judges' matrices are known well beside this one. In simulation 95% intervals held in 92 to 97%
    (cells) and 93 to 98% (accuracies) of the cases, for judges right in 60 to 90%, four labels, three or five judges
    for each item; in 86% of the accuracies where judges were wrong more often than right; in 77 and 90% with three
    judges of two labels and thousands of items; and in 44 and 64% with two judges, whom nothing tells apart.
    """
    n_labels = np.bincount(votes.judge, minlength=len(votes.judges)).astype(np.float64)
    counts, row_effective_n = em_fit.counts.transpose(0, 2, 1), em_fit.squares.sum(axis=1)
    right, right_squares = (np.trace(table, axis1=1, axis2=2) for table in (em_fit.counts, em_fit.squares))
    accuracy = np.clip(np.divide(right, n_labels, out=np.zeros(len(n_labels)), where=n_labels > 0), 0, 1)
    middle = sum(wilson(accuracy, n_labels, level=level)) / 2
    effective_n = np.maximum(n_labels - (right - right_squares) / (middle * (1 - middle)), 0)
    low, high = wilson(accuracy, effective_n, level=level)
    estimates = [
        _accuracy_estimate(*map(float, row), level=level)
        for row in zip(accuracy, effective_n, low, high, n_labels, strict=True)
    ]
    return tuple(
        JudgeModel(
            judge=name,
            labels=int(n_labels[j]),
            accuracy=estimates[j],
            rates=em_fit.rates[j].T,
            confusion=Confusion(
                rows="truth", columns=name, labels=votes.labels, counts=counts[j], worth=row_effective_n[j]
            ),
        )
        for j, name in enumerate(votes.judges)
    )


def _accuracy_estimate(
    accuracy: float, effective_n: float, low: float, high: float, n_labels: float, *, level: float
) -> Estimate:
    if not n_labels:
        return Estimate(value=None, level=level, n=0, method="wilson", notes=("there is no label of this judge",))
    se = math.sqrt(accuracy * (1 - accuracy) / effective_n) if effective_n > 0 else None
    return Estimate(value=accuracy, se=se, low=low, high=high, level=level, n=int(n_labels), method="wilson")


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
    order = np.argsort(votes.judge, kind="stable")
    ends = np.cumsum(np.bincount(votes.judge, minlength=len(votes.judges)))
    models = []
    for name, rows in zip(votes.judges, np.split(order, ends[:-1]), strict=True):
        in_matrix, checked = rows[truth[rows] >= 0], rows[~np.isnan(hit[rows])]
        table = np.bincount(
            truth[in_matrix] * n_labels + votes.label[in_matrix], minlength=n_labels * n_labels
        ).reshape(n_labels, n_labels)
        accuracy = estimate_share(
            hit[checked], cluster[votes.item[checked]], level=level, case_name="item that another judge labelled"
        )
        confusion = Confusion(rows="majority of the others", columns=name, labels=votes.labels, counts=table)
        models.append(JudgeModel(judge=name, labels=len(rows), accuracy=accuracy, confusion=confusion))
    return tuple(models)
