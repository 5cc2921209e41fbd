"""Votes on documents with several labels → what p and the weights are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.disagreement.ratio_estimates import Drawing, Ratios, ratios_of
from ringtrue.judges.disagreement.user_weights import Share

if TYPE_CHECKING:
    from ringtrue.judges.votes import Votes

__all__ = ["Counted", "counted", "experimental", "top_given_label"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """Documents with enough labels: their `votes`, and how many each has for each level, documents × levels."""

    votes: Votes
    counts: NDArray[np.int64]
    top: NDArray[np.bool_]

    @property
    def labels(self) -> NDArray[np.int64]:
        """How many labels each document has."""
        found: NDArray[np.int64] = self.counts.sum(axis=1)
        return found

    @property
    def given(self) -> Array:
        """How likely a label that is drawn from a document is of each level: documents × levels."""
        found: Array = self.counts / self.labels[:, None]
        return found

    @property
    def others(self) -> NDArray[np.int64]:
        """How many of a document's labels are of the top, other than one that was drawn: documents × levels."""
        found: NDArray[np.int64] = self.counts[:, self.top].sum(axis=1)[:, None] - self.top
        return found

    @property
    def cases(self) -> NDArray[np.int64]:
        """How many ordered pairs of labels begin with each level."""
        found: NDArray[np.int64] = (self.counts * (self.labels - 1)[:, None]).sum(axis=0)
        return found


def counted(votes: Votes, top: NDArray[np.bool_], least: int) -> Counted:
    """The documents with at least so many labels."""
    enough = np.bincount(votes.item, minlength=votes.items.height) >= least
    place = (np.cumsum(enough) - 1).astype(np.int32)
    kept = votes.keep(enough[votes.item])
    kept = replace(kept, items=votes.items.filter(enough), item=place[kept.item])
    return Counted(votes=kept, counts=kept.counts(), top=top)


def top_given_label(found: Counted, drawing: Drawing) -> Ratios:
    """How likely another user says the top, given a label of each level.

        p_{T|i} = Σ_d n_i/n · (n_T − [i = T])/(n − 1)  /  Σ_d n_i/n    [Demeester14]

    What comes of drawing a document, one of its n labels and then another, again and again: each document weighs the
    same, and two judges are asked in both directions.
    """
    others = np.where(found.counts > 0, found.others, 0)
    upper = found.given * others / (found.labels - 1)[:, None]
    return ratios_of(found.votes, upper, found.given, drawing, item=np.arange(len(found.counts)))


def experimental(found: Counted, shares: list[Share], drawing: Drawing) -> Ratios:
    """How often at least M of N labels of a document are of the top, one of the N being the given one.

        Σ_d n_i/n · P(at least M − [i = T] of the N − 1 others, drawn from the n − 1, are T)  /  Σ_d n_i/n

    Every way to draw them counts, none is drawn. The ratios stand share by share, level by level.
    """
    labels_and_top = np.stack([found.labels, found.counts[:, found.top].sum(axis=1)])
    kinds, kind = np.unique(labels_and_top, axis=1, return_inverse=True)
    columns = []
    for least, users in shares:
        chances = np.array(
            [
                [_at_least(least - top, n - 1, all_top - top, users - 1) for top in (False, True)]
                for n, all_top in kinds.T.tolist()
            ]
        )
        columns.append(np.where(found.counts > 0, chances[kind.ravel()][:, found.top.astype(int)], 0))
    upper = np.hstack([found.given * chance for chance in columns])
    lower = np.hstack([found.given] * len(columns))
    return ratios_of(found.votes, upper, lower, drawing, item=np.arange(len(found.counts)))


def _at_least(least: int, labels: int, top: int, drawn: int) -> float:
    """How likely at least so many of the labels drawn without putting back are of the top."""
    if top < 0 or top > labels:  # no such label can have been given
        return 0.0
    ways = sum(
        math.comb(top, hits) * math.comb(labels - top, drawn - hits)
        for hits in range(max(least, 0), min(top, drawn) + 1)
    )
    return ways / math.comb(labels, drawn)
