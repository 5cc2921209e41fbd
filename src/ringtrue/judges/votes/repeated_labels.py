"""A judge who said two things of one item: who, of what, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import DuplicateError
from ringtrue.tables.columns import Column, which_column
from ringtrue.tables.judgments import NO_JUDGE

if TYPE_CHECKING:
    from ringtrue.judges.votes.vote_table import Votes

__all__ = ["told_twice"]

SHOWN = 4  # labels in a message
OF_LABELS = "--repeats first, --repeats last, or --repeats all (each counts as a label of its own)"
OF_VOTES = "--repeats all (each counts as a vote of its own), --repeats first, or --repeats last"


def told_twice(votes: Votes, again: NDArray[np.bool_]) -> DuplicateError:
    """The first judge who said two things of one item, in words; `again` has the votes that are not the first."""
    at = int(np.flatnonzero(again)[0])
    item, judge = int(votes.item[at]), votes.judges[votes.judge[at]]
    same = np.flatnonzero((votes.item == item) & (votes.judge == votes.judge[at]))
    said = votes.said(item, votes.label[same[:SHOWN]]) + ", …" * (len(same) > SHOWN)
    others = len(np.unique(votes.by_judge_and_item()[2][again])) - 1
    more = f", as in {others:,} other case{'s' * (others > 1)}" if others else ""
    query, doc, *_ = votes.items.row(item)
    if votes.judges == (NO_JUDGE,):
        what = "votes" if _of_pairs(votes) else "labels"
        told = f"{votes.named(item)} has {len(same)} {what} ({said}){more}, and {_by_nobody(votes)}"
    else:
        verb = "voted on" if _of_pairs(votes) else "labelled"
        told = f"judge '{judge}' {verb} {votes.named(item)} {len(same)} times ({said}){more}; {_advice(votes)}"
    return DuplicateError(told, table="judgments", query=query, doc=doc, judge=judge)


def _of_pairs(votes: Votes) -> bool:
    return len(votes.items.columns) == 3


def _by_nobody(votes: Votes) -> str:
    place = "a column 'judge'" + ", or in the second field of qrels" * (not _of_pairs(votes))
    hint = _which(votes, "judge") or f"; name the judges in {place}"
    choices = OF_VOTES if _of_pairs(votes) else OF_LABELS
    return f"nothing tells whose they are{hint}; if all are one judge's, {choices}"


def _advice(votes: Votes) -> str:
    """What to do: where no query is named, a judge's labels may belong to several, and votes on a pair surely may."""
    hint = "" if votes.has_queries else _which(votes, "query")
    if not _of_pairs(votes):
        apart = f"no column names the query{hint}; otherwise " if hint else ""
        return f"{apart}say which label counts: {OF_LABELS}"
    if not hint:
        return f"say which vote counts: {OF_VOTES}"
    return (
        f"--repeats all counts each of them; no column names the query{hint}; otherwise say which vote counts: "
        f"--repeats first, or --repeats last"
    )


def _which(votes: Votes, column: Column) -> str:
    """Which of the further columns may be the one that is missing."""
    return which_column(column, (name for name in votes.others.columns if name != "side"))
