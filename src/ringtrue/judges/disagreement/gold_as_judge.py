"""Gold as one more label of each document."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.judges.disagreement.levels import Levels, encode_levels
from ringtrue.judges.votes import Repeats, Votes, align_with_gold, make_votes
from ringtrue.tables.columns import find_free_name


def add_gold_as_judge(votes: Votes, gold: object, levels: Levels, *, repeats: Repeats | None = None) -> Votes:
    """The votes and gold's; `gold` is a table, or a column that came along.

    Gold is a judge like others: where it has several labels for a document, `repeats` says which of them count, and
    without a word they are refused.

    Examples:
        >>> from ringtrue.judges.disagreement.levels import read_votes_on_levels
        >>> table = {"doc": ["a", "a"], "judge": ["x", "y"], "label": [0, 1], "gold": [1, None]}
        >>> votes, levels = read_votes_on_levels(table, levels=None, top=None, scale=None, outside="refuse")
        >>> more = add_gold_as_judge(votes, "gold", levels)
        >>> more.judges, more.label.tolist()
        (('x', 'y', 'gold'), [0, 1, 1])
    """
    gold_votes = _gold_from_column(votes, gold, levels) if isinstance(gold, str) else _gold_from_table(gold, levels)
    if unknown := sorted(set(gold_votes.labels) - set(votes.labels)):
        raise TableError(f"gold says {unknown[0]}, and no judge does; --scale declares all the labels there are")
    gold_votes = replace(
        gold_votes.widen_scale(votes.labels), judges=("gold",), judge=np.zeros(gold_votes.size, dtype=np.int32)
    )
    gold_votes = _deduplicate_gold(gold_votes, repeats)
    # Refuses gold of other documents, and several labels for one where nobody said which counts.
    align_with_gold(votes, gold_votes if repeats is None else gold_votes.resolve_repeats("first"))
    gold_votes = gold_votes if repeats is None else gold_votes.resolve_repeats(repeats)
    keys = votes.items.columns
    item_index = gold_votes.items.join(votes.items.with_row_index("place"), on=keys, how="left", maintain_order="left")[
        "place"
    ]
    item = item_index.cast(pl.Int32).fill_null(-1).to_numpy()[gold_votes.item]
    matched = item >= 0
    judges = (*votes.judges, find_free_name("gold", votes.judges))
    return replace(
        votes,
        judges=judges,
        item=np.concatenate([votes.item, item[matched]]),
        judge=np.concatenate([votes.judge, np.full(int(matched.sum()), len(judges) - 1, dtype=np.int32)]),
        label=np.concatenate([votes.label, gold_votes.label[matched]]),
        others=pl.DataFrame(),
    )


def _deduplicate_gold(gold: Votes, repeats: Repeats | None) -> Votes:
    """Each of gold's labels of a document once: a column says the same in every row of it."""
    keys = gold.item.astype(np.int64) * len(gold.labels) + gold.label
    rows = np.zeros(gold.size, dtype=bool)
    if repeats == "first":
        rows[np.unique(keys, return_index=True)[1]] = True
    else:
        rows[gold.size - 1 - np.unique(keys[::-1], return_index=True)[1]] = True
    return gold.keep(rows)


def _gold_from_column(votes: Votes, name: str, levels: Levels) -> Votes:
    if name not in votes.others.columns:
        near = did_you_mean(name, votes.others.columns) or "; there is " + (", ".join(votes.others.columns) or "none")
        raise UsageError(
            f"no column '{name}' beside the labels to take gold from{near}; a file has it with --gold FILE"
        )
    cells = votes.others[name]
    filled = cells.is_not_null() & (cells.cast(pl.String) != "")
    rows = votes.items[votes.item].with_columns(cells.alias("label")).filter(filled)
    if not rows.height:
        raise TableError(f"column '{name}' is empty: there is no gold")
    return _gold_from_table(rows, levels)


def _gold_from_table(gold: object, levels: Levels) -> Votes:
    if levels.words is None or isinstance(gold, Votes):
        return make_votes(gold)
    if not isinstance(gold, pl.DataFrame) or "label" not in gold.columns:
        raise UsageError("with levels that are words, gold is a column of the labels; name it")
    return make_votes(gold.with_columns(label=encode_levels(gold["label"], levels.words)))
