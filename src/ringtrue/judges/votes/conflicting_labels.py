"""Two labels where one was expected, a judge's or gold's: of what, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import DuplicateError
from ringtrue.tables.columns import Column, suggest_column
from ringtrue.tables.judgments import NO_JUDGE

if TYPE_CHECKING:
    from ringtrue.judges.votes.vote_table import Votes

MAX_SHOWN = 4  # labels in a message
LABEL_CHOICES = "--repeats first, --repeats last, or --repeats all (each counts as a label of its own)"
VOTE_CHOICES = "--repeats all (each counts as a vote of its own), --repeats first, or --repeats last"


def repeated_label_error(votes: Votes, is_repeat: NDArray[np.bool_]) -> DuplicateError:
    """The first judge who said two things of one item, in words; `is_repeat` has the votes that are not the first."""
    first_repeat = int(np.flatnonzero(is_repeat)[0])
    item, judge = int(votes.item[first_repeat]), votes.judges[votes.judge[first_repeat]]
    same_votes = np.flatnonzero((votes.item == item) & (votes.judge == votes.judge[first_repeat]))
    listed = votes.describe_labels(item, votes.label[same_votes[:MAX_SHOWN]]) + ", …" * (len(same_votes) > MAX_SHOWN)
    n_others = len(np.unique(votes.by_judge_and_item()[2][is_repeat])) - 1
    more = f", as in {n_others:,} other case{'s' * (n_others > 1)}" if n_others else ""
    query, doc, *_ = votes.items.row(item)
    if votes.judges == (NO_JUDGE,):
        noun = "votes" if votes.is_pairwise else "labels"
        counted = f"{votes.describe_item(item)} has {len(same_votes)} {noun} ({listed}){more}"
        message = f"{counted}, and {_unnamed_judge_advice(votes)}"
    else:
        verb = "voted on" if votes.is_pairwise else "labelled"
        counted = f"judge '{judge}' {verb} {votes.describe_item(item)} {len(same_votes)} times ({listed}){more}"
        message = f"{counted}; {_repeats_advice(votes)}"
    return DuplicateError(message, table="judgments", query=query, doc=doc, judge=judge)


def _unnamed_judge_advice(votes: Votes) -> str:
    location = "a column 'judge'" + ", or in the second field of qrels" * (not votes.is_pairwise)
    hint = _column_hint(votes, "judge") or f"; name the judges in {location}"
    choices = VOTE_CHOICES if votes.is_pairwise else LABEL_CHOICES
    return f"nothing tells whose they are{hint}; if all are one judge's, {choices}"


def _repeats_advice(votes: Votes) -> str:
    """What to do: where no query is named, a judge's labels may belong to several, and votes on a pair surely may."""
    hint = "" if votes.has_queries else _column_hint(votes, "query")
    if not votes.is_pairwise:
        no_query = f"no column names the query{hint}; otherwise " if hint else ""
        return f"{no_query}say which label counts: {LABEL_CHOICES}"
    if not hint:
        return f"say which vote counts: {VOTE_CHOICES}"
    return (
        f"--repeats all counts each of them; no column names the query{hint}; otherwise say which vote counts: "
        f"--repeats first, or --repeats last"
    )


def _column_hint(votes: Votes, column: Column) -> str:
    """Which of the further columns may be the one that is missing."""
    return suggest_column(column, (name for name in votes.others.columns if name != "side"))


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
