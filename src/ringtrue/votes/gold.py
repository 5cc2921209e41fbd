"""Labels to be trusted, beside the votes."""

from __future__ import annotations

import numpy as np
import polars as pl

from ringtrue.encoding import Codes
from ringtrue.errors import DuplicateError, MismatchError
from ringtrue.votes.consensus import majority
from ringtrue.votes.table import Votes

__all__ = ["with_gold"]


def with_gold(votes: Votes, gold: Votes) -> tuple[Votes, Codes]:
    """The votes on a scale that has the gold labels too, and the gold label of each item; −1 where there is none.

    The same gold label may stand there several times; two different ones for an item are refused.

    Examples:
        >>> from ringtrue.votes import votes_of
        >>> votes = votes_of({"item": ["a", "b"], "worker": ["x", "x"], "label": [0, 1]})
        >>> with_gold(votes, votes_of({"item": ["b"], "label": [2]}))[1].tolist()
        [-1, 2]
    """
    if votes.items.columns != gold.items.columns:
        kinds = ["documents" if len(one.items.columns) == 2 else "pairs of documents" for one in (votes, gold)]
        raise MismatchError(f"the judges labelled {kinds[0]}, gold has labels of {kinds[1]}; give two files of a kind")
    votes, gold = votes.on(gold.labels), gold.on(votes.labels)
    counts = gold.counts()
    if (twice := np.flatnonzero((counts > 0).sum(axis=1) > 1)).size:
        query, doc, *_ = gold.items.row(int(twice[0]))
        said = gold.said(int(twice[0]), np.flatnonzero(counts[twice[0]]))
        others = len(twice) - 1
        more = f", and for {others:,} other{'s' * (others > 1)}" if others else ""
        raise DuplicateError(
            f"gold has several labels ({said}) for {gold.named(int(twice[0]))}{more}; keep one for each",
            table="judgments", query=query, doc=doc,
        )  # fmt: skip
    keys = votes.items.columns
    known = gold.items.with_columns(gold=pl.Series(majority(counts), dtype=pl.Int32))
    found = votes.items.join(known, on=keys, how="left", maintain_order="left")["gold"].fill_null(-1).to_numpy()
    if not (found >= 0).any():
        raise MismatchError(
            f"no gold item was labelled by the judges: gold has {gold.named(0)}, the judges {votes.named(0)}; "
            f"do both use the same ids?"
        )
    return votes, found
