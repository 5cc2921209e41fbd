"""Labels to be trusted, beside the votes."""

from __future__ import annotations

import numpy as np
import polars as pl

from ringtrue.errors import DuplicateError, MismatchError
from ringtrue.judges.votes.consensus import majority
from ringtrue.judges.votes.vote_table import Votes
from ringtrue.stats.encoding import Codes

__all__ = ["require_one_label_each", "with_gold"]


def with_gold(votes: Votes, gold: Votes) -> tuple[Votes, Codes]:
    """The votes on a scale that has the gold labels too, and the gold label of each item; −1 where there is none.

    The same gold label may stand there several times; two different ones for an item are refused.

    Examples:
        >>> from ringtrue.judges.votes import votes_of
        >>> votes = votes_of({"item": ["a", "b"], "worker": ["x", "x"], "label": [0, 1]})
        >>> with_gold(votes, votes_of({"item": ["b"], "label": [2]}))[1].tolist()
        [-1, 2]
    """
    if votes.items.columns != gold.items.columns:
        kinds = ["documents" if len(one.items.columns) == 2 else "pairs of documents" for one in (votes, gold)]
        raise MismatchError(f"the judges labelled {kinds[0]}, gold has labels of {kinds[1]}; give two files of a kind")
    require_one_label_each(gold)
    votes, gold = votes.on(gold.labels), gold.on(votes.labels)
    keys = votes.items.columns
    known = gold.items.with_columns(gold=pl.Series(majority(gold.counts()), dtype=pl.Int32))
    found = votes.items.join(known, on=keys, how="left", maintain_order="left")["gold"].fill_null(-1).to_numpy()
    if not (found >= 0).any():
        raise MismatchError(
            f"no gold item was labelled by the judges: gold has {gold.named(0)}, the judges {votes.named(0)}; "
            f"{_why_apart(votes, gold)}"
        )
    return votes, found


def require_one_label_each(known: Votes, *, what: str = "gold has") -> None:
    """Refuse what should be known of each item, where it says two things of one.

    Examples:
        >>> from ringtrue.judges.votes import votes_of
        >>> require_one_label_each(votes_of({"item": ["a", "a"], "label": [0, 1]}), what="the traps have")
        Traceback (most recent call last):
        ringtrue.errors.DuplicateError: the traps have several labels (0, 1) for document 'a'; keep one for each
    """
    counts = known.counts()
    twice = np.flatnonzero((counts > 0).sum(axis=1) > 1)
    if not twice.size:
        return
    first, others = int(twice[0]), len(twice) - 1
    query, doc, *_ = known.items.row(first)
    said = known.said(first, np.flatnonzero(counts[first]))
    more = f", and for {others:,} other{'s' * (others > 1)}" if others else ""
    raise DuplicateError(
        f"{what} several labels ({said}) for {known.named(first)}{more}; keep one for each",
        table="judgments", query=query, doc=doc,
    )  # fmt: skip


def _why_apart(votes: Votes, gold: Votes) -> str:
    """Why gold and judges may have no item in common."""
    if votes.has_queries == gold.has_queries:
        return "do both use the same ids?"
    without, option = ("gold", "--gold-columns") if votes.has_queries else ("the judges' table", "--columns")
    return f"{without} has no queries: which column names them? {option} query=NAME"
