"""What votes are held against, gold or what most say of an item; and what is said where two labels stand for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import DuplicateError, MismatchError
from ringtrue.messages import Suggestion
from ringtrue.stats.encoding import Codes, divide_or_nan
from ringtrue.tables.columns import Column, suggest_columns
from ringtrue.tables.judgments import NO_JUDGE

if TYPE_CHECKING:
    from ringtrue.judges.votes.vote_table import Votes


TIED, NO_OTHERS = -1, -2  # no consensus: the others tie, or there are none
MAX_CELLS = 4_000_000  # cells of the largest array that is held at once
MAX_SHOWN = 4  # labels in a message
KEEP_ONE = [Suggestion(repeats="first"), Suggestion("keeps one", repeats="last")]
LABEL_CHOICES = [*KEEP_ONE, Suggestion("counts each as a label of its own", repeats="all")]
VOTE_CHOICES = [Suggestion("counts each as a vote of its own", repeats="all"), *KEEP_ONE]


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
        kinds = ["pairs of documents" if table.is_pairwise else "documents" for table in (votes, gold)]
        raise MismatchError(
            "labels-and-pairs", f"the judges labelled {kinds[0]}, gold has labels of {kinds[1]}; give both of one kind"
        )
    require_one_label_each(gold)
    votes, gold = votes.widen_scale(gold.labels), gold.widen_scale(votes.labels)
    gold_items = gold.items.with_columns(gold=pl.Series(majority(gold.counts()), dtype=pl.Int32))
    matched_items = votes.items.join(gold_items, on=votes.items.columns, how="left", maintain_order="left")
    gold_labels = matched_items["gold"].fill_null(-1).to_numpy()
    if not (gold_labels >= 0).any():
        raise _no_overlap_error(votes, gold)
    return votes, gold_labels


def _no_overlap_error(votes: Votes, gold: Votes) -> MismatchError:
    """Why gold and judges may have no item in common."""
    finding = (
        f"no gold item was labelled by the judges: gold has {gold.describe_item(0)}, "
        f"the judges {votes.describe_item(0)}"
    )
    if votes.has_queries == gold.has_queries:
        return MismatchError("gold-unlabelled", f"{finding}; do both use the same ids?")
    name_queries = [Suggestion("names them", columns={"query": "NAME"})]
    if votes.has_queries:
        return MismatchError("gold-without-queries", f"{finding}; gold has no queries", suggestions=name_queries)
    return MismatchError(
        "labels-without-queries", f"{finding}; the judges' table has no queries", suggestions=name_queries
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OthersConsensus:
    """For each vote, what the other judges said of its item.

    `label` is the label that most of them gave, as a position, or TIED or NO_OTHERS; `mean` the mean of their grades,
    NaN where there are none. `credit` is 1 for a vote that says what most of them say, a part of it where they tie
    (each of m labels that tie is worth 1/m), and NaN where there are none. `consensus_counts` sums up, for each judge,
    how often each label was what the others wanted: judges × labels. `max_others` is the largest number of others'
    votes on an item.
    """

    label: NDArray[np.int32]
    mean: NDArray[np.float64]
    credit: NDArray[np.float64]
    consensus_counts: NDArray[np.float64]
    max_others: int


def leave_one_out_consensus(votes: Votes) -> OthersConsensus:
    """The majority of the others' votes on the item of each vote; a judge's repeats are all left out together.

    Examples:
        >>> from ringtrue.judges.votes import make_votes
        >>> votes = make_votes({"item": ["a", "a", "a", "b"], "worker": ["x", "y", "z", "x"], "label": [0, 1, 1, 2]})
        >>> others = leave_one_out_consensus(votes)
        >>> others.label.tolist(), others.mean.tolist(), others.credit.tolist()
        ([1, -1, -1, -2], [1.0, 0.5, 0.5, nan], [0.0, 0.5, 0.5, nan])
    """
    n_items, n_labels = votes.items.height, len(votes.labels)
    item, judge, pair = votes.by_judge_and_item()
    counts, n_votes = votes.counts(), np.bincount(pair, minlength=len(item))
    order = np.argsort(pair, kind="stable")
    starts = np.searchsorted(pair[order], np.arange(len(item) + 1))
    label, credit = np.empty(len(item), dtype=np.int32), np.empty(votes.size)
    consensus_counts = np.zeros((len(votes.judges), n_labels))
    step = max(MAX_CELLS // n_labels, 1)
    for first in range(0, len(item), step):
        last = min(first + step, len(item))
        own_votes = order[starts[first] : starts[last]]
        other_counts = counts[item[first:last]]
        own_pairs = pair[own_votes] - first
        np.subtract.at(other_counts, (own_pairs, votes.label[own_votes]), 1)
        max_count = other_counts.max(axis=1)
        is_top = (other_counts == max_count[:, None]) & (max_count > 0)[:, None]
        n_top = is_top.sum(axis=1)
        label[first:last] = np.where(max_count == 0, NO_OTHERS, np.where(n_top > 1, TIED, other_counts.argmax(axis=1)))
        label_credit = is_top / np.maximum(n_top, 1)[:, None]
        own_credit = label_credit[own_pairs, votes.label[own_votes]]
        credit[own_votes] = np.where(max_count[own_pairs] > 0, own_credit, np.nan)
        for code in range(n_labels):
            weights = label_credit[:, code] * n_votes[first:last]
            consensus_counts[:, code] += np.bincount(judge[first:last], weights=weights, minlength=len(votes.judges))
    grade = np.array(votes.labels, dtype=np.float64)[votes.label]
    total, n = np.bincount(votes.item, weights=grade, minlength=n_items), np.bincount(votes.item, minlength=n_items)
    n_others = (n[item] - n_votes).astype(np.float64)
    others_total = total[item] - np.bincount(pair, weights=grade, minlength=len(item))
    return OthersConsensus(
        label=label[pair],
        mean=divide_or_nan(others_total, n_others)[pair],
        credit=credit,
        consensus_counts=consensus_counts,
        max_others=int(n_others.max(initial=0)),
    )


def find_isolated_judges(votes: Votes) -> NDArray[np.bool_]:
    """Which judges labelled only items that nobody else did; a judge with no label is not among them.

    Examples:
        >>> from ringtrue.judges.votes import make_votes
        >>> votes = make_votes({"item": ["a", "a", "b"], "worker": ["x", "y", "z"], "label": [0, 1, 1]})
        >>> find_isolated_judges(votes).tolist()
        [False, False, True]
    """
    any_judge = np.empty(votes.items.height, dtype=np.int32)
    any_judge[votes.item] = votes.judge
    shared = np.zeros(votes.items.height, dtype=bool)
    shared[votes.item[any_judge[votes.item] != votes.judge]] = True
    is_active, has_overlap = (
        np.bincount(judge, minlength=len(votes.judges)) > 0 for judge in (votes.judge, votes.judge[shared[votes.item]])
    )
    return is_active & ~has_overlap


def majority(counts: NDArray[np.int64], *, ties: Literal["low", "high"] = "low") -> NDArray[np.int64]:
    """The label with the most votes, as a position; of several, the lowest or the highest; −1 where there is no vote.

    Examples:
        >>> majority(np.array([[2, 1, 2], [0, 0, 0]])).tolist()
        [0, -1]
    """
    winner = counts.argmax(axis=1) if ties == "low" else counts.shape[1] - 1 - counts[:, ::-1].argmax(axis=1)
    return np.where(counts.any(axis=1), winner, -1)


def repeated_label_error(votes: Votes, is_repeat: NDArray[np.bool_]) -> DuplicateError:
    """The first judge who said two things of one item, in words; `is_repeat` has the votes that are not the first."""
    first_repeat = int(np.flatnonzero(is_repeat)[0])
    item, judge = int(votes.item[first_repeat]), votes.judges[votes.judge[first_repeat]]
    same_votes = np.flatnonzero((votes.item == item) & (votes.judge == votes.judge[first_repeat]))
    listed = votes.describe_labels(item, votes.label[same_votes[:MAX_SHOWN]]) + ", …" * (len(same_votes) > MAX_SHOWN)
    n_others = len(np.unique(votes.by_judge_and_item()[2][is_repeat])) - 1
    more = f", as in {n_others:,} other case{'s' * (n_others > 1)}" if n_others else ""
    query, doc, *_ = votes.items.row(item)
    choices = VOTE_CHOICES if votes.is_pairwise else LABEL_CHOICES
    if votes.judges == (NO_JUDGE,):
        noun = "votes" if votes.is_pairwise else "labels"
        counted = f"{votes.describe_item(item)} has {len(same_votes)} {noun} ({listed}){more}"
        name_judges = _suggest_columns(votes, "judge")
        location = "a column 'judge'" + ", or in the second field of qrels" * (not votes.is_pairwise)
        advice = "" if name_judges else f"; name them in {location}, unless they are one"
        return DuplicateError(
            "unnamed-judges",
            f"{counted}, and no column names their judges{advice}",
            table="judgments",
            query=query,
            doc=doc,
            judge=judge,
            suggestions=[*name_judges, *choices],
        )
    verb = "voted on" if votes.is_pairwise else "labelled"
    counted = f"judge '{judge}' {verb} {votes.describe_item(item)} {len(same_votes)} times ({listed}){more}"
    # Where no query is named, a judge's labels may belong to several queries, and votes on a pair surely may.
    name_queries = [] if votes.has_queries else _suggest_columns(votes, "query")
    return DuplicateError(
        "repeated-labels",
        f"{counted}, and no column names the query" if name_queries else counted,
        table="judgments",
        query=query,
        doc=doc,
        judge=judge,
        parameter="repeats",
        suggestions=[*name_queries, *choices],
    )


def _suggest_columns(votes: Votes, column: Column) -> list[Suggestion]:
    """Which of the further columns may be the one that is missing."""
    return suggest_columns(column, (name for name in votes.others.columns if name != "side"))


def require_one_label_each(votes: Votes, *, subject: str = "gold") -> None:
    """Refuse what should be known of each item, where it says two things of one.

    Examples:
        >>> from ringtrue.judges.votes import make_votes
        >>> require_one_label_each(make_votes({"item": ["a", "a"], "label": [0, 1]}), subject="traps")
        Traceback (most recent call last):
        ringtrue.errors.DuplicateError: traps: several labels (0, 1) for document 'a'; keep one for each
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
        "several-labels",
        f"several labels ({listed}) for {votes.describe_item(first)}{more}; keep one for each",
        subject=subject,
        table="judgments",
        query=query,
        doc=doc,
    )
