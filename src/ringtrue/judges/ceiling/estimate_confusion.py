"""Labels of several judges → a confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import MismatchError, UsageError, did_you_mean
from ringtrue.evaluation.measures import FloatArray
from ringtrue.judges.votes import Repeats, Votes, align_with_gold, make_votes
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate

TESTING, TRAINING = "testing judge", "training judge"


def estimate_confusion(
    labels: object,
    *,
    testing: str | None = None,
    training: str | None = None,
    gold: object | None = None,
    repeats: Repeats | None = None,
) -> Confusion:
    """What the training judge says, given what the testing judge said of the same document.

        counts_ij = Σ_documents (ordered pairs of labels i, j of two judges) / (ordered pairs of labels of two judges)

    `labels` are many judges' labels of documents, as `agree` takes them. Of two judges by name, one is the testing
    judge and the other the training judge. Where only one is named, all others are the other side. With `gold`, the
    gold labels are the testing judge's. With none of these, every pair of judges counts both ways, and the counts are
    symmetric. Each document weighs the same, however many labelled it, so that counts are documents and need not be
    whole. A judge is never held against itself.

    Examples:
        >>> docs, judges = ["a", "a", "b", "b", "c", "c"], ["ann", "bob"] * 3
        >>> labels = {"doc": docs, "judge": judges, "label": [0, 0, 0, 1, 1, 1]}
        >>> estimate_confusion(labels).counts.tolist()
        [[1.0, 0.5], [0.5, 1.0]]
        >>> estimate_confusion(labels, testing="ann", training="bob").matrix.tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    sides = _read_sides(labels, testing=testing, training=training, gold=gold, repeats=repeats)
    if gold is None and not sides.pairs.any():
        raise MismatchError(
            f"no document was labelled by {_describe_judge_pair(testing, training)}: nothing tells how they disagree; "
            f"give labels of the same documents"
        )
    return Confusion(
        rows="gold" if gold is not None else _format_role(TESTING, testing),
        columns=_format_role(TRAINING, training),
        labels=sides.labels,
        counts=sides.confusion(),
    )


def confusion_documents(
    labels: object,
    *,
    testing: str | None = None,
    training: str | None = None,
    gold: object | None = None,
    repeats: Repeats | None = None,
) -> pl.DataFrame:
    """The documents that `estimate_confusion` counts: those with a label of each side.

    Examples:
        >>> labels = {"doc": ["a", "a", "b"], "judge": ["ann", "bob", "ann"], "label": [0, 1, 1]}
        >>> confusion_documents(labels)["doc"].to_list()
        ['a']
        >>> confusion_documents(labels, gold={"doc": ["b"], "label": [1]})["doc"].to_list()
        ['b']
    """
    sides = _read_sides(labels, testing=testing, training=training, gold=gold, repeats=repeats)
    return sides.items.filter(pl.Series(sides.pairs > 0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sides:
    """How many votes of each label an item has on either side; `own` are a judge's on both sides, about `own_item`."""

    items: pl.DataFrame
    labels: tuple[int, ...]
    testing: FloatArray
    training: FloatArray
    own: FloatArray
    own_item: NDArray[np.integer]

    @property
    def pairs(self) -> FloatArray:
        """How many pairs of votes of two judges each item has."""
        pairs: FloatArray = self.testing.sum(axis=1) * self.training.sum(axis=1)
        return pairs - np.bincount(self.own_item, weights=self.own.sum(axis=1) ** 2, minlength=len(pairs))

    def confusion(self) -> FloatArray:
        """Σ over items of all pairs but a judge's with itself, each item weighing 1."""
        pairs = self.pairs
        weight = np.divide(1.0, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
        own_pairs = (self.own * weight[self.own_item, None]).T @ self.own
        counts: FloatArray = (self.testing * weight[:, None]).T @ self.training - own_pairs
        return np.maximum(counts.round(12), 0.0)  # pairs that are not there must not leave a trace


def _read_sides(
    labels: object, *, testing: str | None, training: str | None, gold: object | None, repeats: Repeats | None
) -> _Sides:
    votes = read_document_votes(labels).resolve_repeats(repeats)
    is_training = _votes_by_judge(votes, training, TRAINING)
    if gold is not None:
        if testing is not None:
            raise UsageError(f"the testing judge is '{testing}' or gold, not both; leave one out")
        votes, truth = align_with_gold(votes, read_document_votes(gold))
        testing_counts = np.zeros((votes.items.height, len(votes.labels)))
        testing_counts[truth >= 0, truth[truth >= 0]] = 1
        own, own_item = np.zeros((0, len(votes.labels))), np.zeros(0, dtype=np.int64)
    else:
        if testing is not None and testing == training:
            raise UsageError(f"'{testing}' is named as testing and as training judge: name two, or one")
        if len(votes.judges) < 2:
            raise MismatchError(
                f"only one judge ('{votes.judges[0]}') labelled: nothing tells how judges disagree; give labels of two "
                f"judges or more, gold labels beside these (--gold), or a confusion matrix (--confusion)"
            )
        is_testing = _votes_by_judge(votes, testing, TESTING)
        testing_counts = votes.keep(is_testing).counts().astype(np.float64)
        own_item, _, pair = votes.by_judge_and_item()
        both = is_testing & is_training  # only such a judge can be held against itself
        own = cross_tabulate(pair[both], votes.label[both], len(own_item), len(votes.labels)).astype(np.float64)
    return _Sides(
        items=votes.items,
        labels=votes.labels,
        testing=testing_counts,
        training=votes.keep(is_training).counts().astype(np.float64),
        own=own,
        own_item=own_item,
    )


def read_document_votes(labels: object) -> Votes:
    """Votes about documents; preferences are refused, for they have no grades."""
    votes = make_votes(labels)
    if votes.is_pairwise:
        raise UsageError("these are preferences between documents, and a ceiling needs labels of documents")
    return votes


def _describe_judge_pair(testing: str | None, training: str | None) -> str:
    """Whose labels are held against whose."""
    named = [f"'{name}'" for name in (testing, training) if name is not None]
    return " and by ".join(named) if len(named) == 2 else f"{named[0]} and by another judge" if named else "two judges"


def _votes_by_judge(votes: Votes, name: str | None, role: str) -> NDArray[np.bool_]:
    """Which votes are those of the named judge, or of anybody."""
    if name is None:
        return np.ones(votes.size, dtype=bool)
    if name not in votes.judges:
        shown = ", ".join(votes.judges[:5]) + ", …" * (len(votes.judges) > 5)
        raise UsageError(f"no judge '{name}' to be the {role}, only {shown}{did_you_mean(name, votes.judges)}")
    by_judge: NDArray[np.bool_] = votes.judge == votes.judges.index(name)
    return by_judge


def _format_role(role: str, name: str | None) -> str:
    return role if name is None else f"{role} ({name})"
