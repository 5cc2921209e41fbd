"""Votes on documents with several labels → what p and the weights are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.agreement.bootstrap_intervals import BootstrapSettings
from ringtrue.judges.disagreement.ratio_estimates import Ratios, estimate_ratios
from ringtrue.judges.disagreement.user_weights import UserShare

if TYPE_CHECKING:
    from ringtrue.judges.votes import Votes

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledDocuments:
    """Documents with enough labels: their `votes`, and how many each has for each level, documents × levels."""

    votes: Votes
    counts: NDArray[np.int64]
    top: NDArray[np.bool_]

    @property
    def label_totals(self) -> NDArray[np.int64]:
        """How many labels each document has."""
        totals: NDArray[np.int64] = self.counts.sum(axis=1)
        return totals

    @property
    def label_shares(self) -> Array:
        """How likely a label that is drawn from a document is of each level: documents × levels."""
        shares: Array = self.counts / self.label_totals[:, None]
        return shares

    @property
    def other_top_labels(self) -> NDArray[np.int64]:
        """How many of a document's labels are of the top, other than one that was drawn: documents × levels."""
        other_top: NDArray[np.int64] = self.counts[:, self.top].sum(axis=1)[:, None] - self.top
        return other_top

    @property
    def cases(self) -> NDArray[np.int64]:
        """How many ordered pairs of labels begin with each level."""
        pair_counts: NDArray[np.int64] = (self.counts * (self.label_totals - 1)[:, None]).sum(axis=0)
        return pair_counts


def select_labelled_documents(votes: Votes, top: NDArray[np.bool_], min_labels: int) -> LabelledDocuments:
    """The documents with at least so many labels."""
    enough = np.bincount(votes.item, minlength=votes.items.height) >= min_labels
    new_index = (np.cumsum(enough) - 1).astype(np.int32)
    selected = votes.keep(enough[votes.item])
    selected = replace(selected, items=votes.items.filter(enough), item=new_index[selected.item])
    return LabelledDocuments(votes=selected, counts=selected.counts(), top=top)


def top_given_label(documents: LabelledDocuments, bootstrap: BootstrapSettings) -> Ratios:
    """How likely another user says the top, given a label of each level.

        p_{T|i} = Σ_d n_i/n · (n_T − [i = T])/(n − 1)  /  Σ_d n_i/n    [Demeester14]

    What comes of drawing a document, one of its n labels and then another, again and again: each document weighs the
    same, and two judges are asked in both directions.
    """
    other_top = np.where(documents.counts > 0, documents.other_top_labels, 0)
    numerators = documents.label_shares * other_top / (documents.label_totals - 1)[:, None]
    return estimate_ratios(
        documents.votes, numerators, documents.label_shares, bootstrap, item=np.arange(len(documents.counts))
    )


def observed_top_shares(documents: LabelledDocuments, shares: list[UserShare], bootstrap: BootstrapSettings) -> Ratios:
    """How often at least M of N labels of a document are of the top, one of the N being the given one.

        Σ_d n_i/n · P(at least M − [i = T] of the N − 1 others, drawn from the n − 1, are T)  /  Σ_d n_i/n

    Every way to draw them counts, none is drawn. The ratios stand share by share, level by level.
    """
    labels_and_top = np.stack([documents.label_totals, documents.counts[:, documents.top].sum(axis=1)])
    distinct, inverse = np.unique(labels_and_top, axis=1, return_inverse=True)
    columns = []
    for least, users in shares:
        chances = np.array(
            [
                [_hypergeometric_tail(least - top, n - 1, all_top - top, users - 1) for top in (False, True)]
                for n, all_top in distinct.T.tolist()
            ]
        )
        columns.append(np.where(documents.counts > 0, chances[inverse.ravel()][:, documents.top.astype(int)], 0))
    numerators = np.hstack([documents.label_shares * chance for chance in columns])
    denominators = np.hstack([documents.label_shares] * len(columns))
    return estimate_ratios(documents.votes, numerators, denominators, bootstrap, item=np.arange(len(documents.counts)))


def _hypergeometric_tail(least: int, labels: int, top: int, drawn: int) -> float:
    """How likely at least so many of the labels drawn without putting back are of the top."""
    if top < 0 or top > labels:  # no such label can have been given
        return 0.0
    ways = sum(
        math.comb(top, hits) * math.comb(labels - top, drawn - hits)
        for hits in range(max(least, 0), min(top, drawn) + 1)
    )
    return ways / math.comb(labels, drawn)
