"""Labels to be trusted, beside the votes."""

from __future__ import annotations

import numpy as np
import polars as pl

from ringtrue.errors import DuplicateError, MismatchError
from ringtrue.judges.votes.consensus import majority
from ringtrue.judges.votes.vote_table import Votes
from ringtrue.stats.encoding import Codes


def align_with_gold(votes: Votes, gold: Votes) -> tuple[Votes, Codes]:
    """The votes on a scale that has the gold labels too, and the gold label of each item; −1 where there is none.

    The same gold label may stand there several times; two different ones for an item are refused.

    Examples:
        >>> from ringtrue.judges.votes import make_votes
        >>> votes = make_votes({"item": ["a", "b"], "worker": ["x", "x"], "label": [0, 1]})
        >>> align_with_gold(votes, make_votes({"item": ["b"], "label": [2]}))[1].tolist()
        [-1, 2]
    """
    if votes.items.columns != gold.items.columns:
        kinds = ["documents" if len(table.items.columns) == 2 else "pairs of documents" for table in (votes, gold)]
        raise MismatchError(f"the judges labelled {kinds[0]}, gold has labels of {kinds[1]}; give two files of a kind")
    require_one_label_each(gold)
    votes, gold = votes.widen_scale(gold.labels), gold.widen_scale(votes.labels)
    keys = votes.items.columns
    gold_items = gold.items.with_columns(gold=pl.Series(majority(gold.counts()), dtype=pl.Int32))
    gold_labels = (
        votes.items.join(gold_items, on=keys, how="left", maintain_order="left")["gold"].fill_null(-1).to_numpy()
    )
    if not (gold_labels >= 0).any():
        raise MismatchError(
            f"no gold item was labelled by the judges: gold has {gold.describe_item(0)}, "
            f"the judges {votes.describe_item(0)}; {_no_overlap_hint(votes, gold)}"
        )
    return votes, gold_labels


def require_one_label_each(votes: Votes, *, subject: str = "gold has") -> None:
    """Refuse what should be known of each item, where it says two things of one.

    Examples:
        >>> from ringtrue.judges.votes import make_votes
        >>> require_one_label_each(make_votes({"item": ["a", "a"], "label": [0, 1]}), subject="the traps have")
        Traceback (most recent call last):
        ringtrue.errors.DuplicateError: the traps have several labels (0, 1) for document 'a'; keep one for each
    """
    counts = votes.counts()
    ambiguous = np.flatnonzero((counts > 0).sum(axis=1) > 1)
    if not ambiguous.size:
        return
    first, n_others = int(ambiguous[0]), len(ambiguous) - 1
    query, doc, *_ = votes.items.row(first)
    listed = votes.describe_labels(first, np.flatnonzero(counts[first]))
    more = f", and for {n_others:,} other{'s' * (n_others > 1)}" if n_others else ""
    raise DuplicateError(
        f"{subject} several labels ({listed}) for {votes.describe_item(first)}{more}; keep one for each",
        table="judgments",
        query=query,
        doc=doc,
    )


def _no_overlap_hint(votes: Votes, gold: Votes) -> str:
    """Why gold and judges may have no item in common."""
    if votes.has_queries == gold.has_queries:
        return "do both use the same ids?"
    table, option = ("gold", "--gold-columns") if votes.has_queries else ("the judges' table", "--columns")
    return f"{table} has no queries: which column names them? {option} query=NAME"
