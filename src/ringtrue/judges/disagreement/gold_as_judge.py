"""Gold as one more label of each document."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.judges.disagreement.levels import Levels, coded
from ringtrue.judges.votes import Repeats, Votes, votes_of, with_gold
from ringtrue.tables.columns import free_name

__all__ = ["with_gold_as_judge"]


def with_gold_as_judge(votes: Votes, gold: object, levels: Levels, *, repeats: Repeats | None = None) -> Votes:
    """The votes and gold's; `gold` is a table, or a column that came along.

    Gold is a judge like others: where it has several labels for a document, `repeats` says which of them count, and
    without a word they are refused.

    Examples:
        >>> from ringtrue.judges.disagreement.levels import votes_on_levels
        >>> table = {"doc": ["a", "a"], "judge": ["x", "y"], "label": [0, 1], "gold": [1, None]}
        >>> votes, levels = votes_on_levels(table, levels=None, top=None, scale=None, outside="refuse")
        >>> more = with_gold_as_judge(votes, "gold", levels)
        >>> more.judges, more.label.tolist()
        (('x', 'y', 'gold'), [0, 1, 1])
    """
    known = _column(votes, gold, levels) if isinstance(gold, str) else _table(gold, levels)
    if strange := sorted(set(known.labels) - set(votes.labels)):
        raise TableError(f"gold says {strange[0]}, and no judge does; --scale declares all the labels there are")
    known = replace(known.on(votes.labels), judges=("gold",), judge=np.zeros(known.size, dtype=np.int32))
    known = _said_once(known, repeats)
    # Refuses gold of other documents, and several labels for one where nobody said which counts.
    with_gold(votes, known if repeats is None else known.settled("first"))
    known = known if repeats is None else known.settled(repeats)
    keys = votes.items.columns
    place = known.items.join(votes.items.with_row_index("place"), on=keys, how="left", maintain_order="left")["place"]
    item = place.cast(pl.Int32).fill_null(-1).to_numpy()[known.item]
    met = item >= 0
    judges = (*votes.judges, free_name("gold", votes.judges))
    return replace(
        votes,
        judges=judges,
        item=np.concatenate([votes.item, item[met]]),
        judge=np.concatenate([votes.judge, np.full(int(met.sum()), len(judges) - 1, dtype=np.int32)]),
        label=np.concatenate([votes.label, known.label[met]]),
        others=pl.DataFrame(),
    )


def _said_once(gold: Votes, repeats: Repeats | None) -> Votes:
    """Each of gold's labels of a document once: a column says the same in every row of it."""
    keys = gold.item.astype(np.int64) * len(gold.labels) + gold.label
    rows = np.zeros(gold.size, dtype=bool)
    if repeats == "first":
        rows[np.unique(keys, return_index=True)[1]] = True
    else:
        rows[gold.size - 1 - np.unique(keys[::-1], return_index=True)[1]] = True
    return gold.keep(rows)


def _column(votes: Votes, name: str, levels: Levels) -> Votes:
    if name not in votes.others.columns:
        near = did_you_mean(name, votes.others.columns) or "; there is " + (", ".join(votes.others.columns) or "none")
        raise UsageError(
            f"no column '{name}' beside the labels to take gold from{near}; a file has it with --gold FILE"
        )
    said = votes.others[name]
    written = said.is_not_null() & (said.cast(pl.String) != "")
    rows = votes.items[votes.item].with_columns(said.alias("label")).filter(written)
    if not rows.height:
        raise TableError(f"column '{name}' is empty: there is no gold")
    return _table(rows, levels)


def _table(gold: object, levels: Levels) -> Votes:
    if levels.asked is None or isinstance(gold, Votes):
        return votes_of(gold)
    if not isinstance(gold, pl.DataFrame) or "label" not in gold.columns:
        raise UsageError("with levels that are words, gold is a column of the labels; name it")
    return votes_of(gold.with_columns(label=coded(gold["label"], levels.asked)))
