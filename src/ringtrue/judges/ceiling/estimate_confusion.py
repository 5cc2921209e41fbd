"""Labels of several judges → a confusion matrix."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import MismatchError, UsageError, did_you_mean
from ringtrue.evaluation.measures import FloatArray
from ringtrue.judges.votes import Repeats, Votes, align_with_gold, make_votes
from ringtrue.stats.confusion import Confusion

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
    votes = read_document_votes(labels).resolve_repeats(repeats)
    training_votes = _votes_by_judge(votes, training, TRAINING)
    if gold is not None:
        if testing is not None:
            raise UsageError(f"the testing judge is '{testing}' or gold, not both; leave one out")
        rescaled, truth = align_with_gold(votes, read_document_votes(gold))
        testing_counts = np.zeros((votes.items.height, len(rescaled.labels)))
        testing_counts[truth >= 0, truth[truth >= 0]] = 1
        training_counts = rescaled.keep(training_votes).counts().astype(np.float64)
        counts = _weighted_confusion(
            testing_counts, training_counts, np.zeros_like(testing_counts[:0]), np.zeros(0, dtype=np.int64)
        )
        return Confusion(rows="gold", columns=_format_role(TRAINING, training), labels=rescaled.labels, counts=counts)
    if testing is not None and testing == training:
        raise UsageError(f"'{testing}' is named as testing and as training judge: name two, or one")
    if len(votes.judges) < 2:
        raise MismatchError(
            f"only one judge ('{votes.judges[0]}') labelled: nothing tells how judges disagree; give labels of two "
            f"judges or more, gold labels beside these (--gold), or a confusion matrix (--confusion)"
        )
    counts = pair_confusion(votes, _votes_by_judge(votes, testing, TESTING), training_votes)
    if not counts.any():
        raise MismatchError(
            f"no document was labelled by {describe_judge_pair(testing, training)}: nothing tells how they disagree; "
            f"give labels of the same documents"
        )
    return Confusion(
        rows=_format_role(TESTING, testing),
        columns=_format_role(TRAINING, training),
        labels=votes.labels,
        counts=counts,
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
    votes = read_document_votes(labels).resolve_repeats(repeats)
    training_votes = _votes_by_judge(votes, training, TRAINING)
    if gold is not None:
        truth = align_with_gold(votes, read_document_votes(gold))[1]
        counted = (truth >= 0) & (votes.keep(training_votes).counts().sum(axis=1) > 0)
    else:
        counted = _count_judge_pairs(*_count_sides(votes, _votes_by_judge(votes, testing, TESTING), training_votes)) > 0
    return votes.items.filter(pl.Series(counted))


def pair_confusion(votes: Votes, testing: NDArray[np.bool_], training: NDArray[np.bool_]) -> FloatArray:
    """The counts of pairs of votes by two judges, of which one is among `testing` and the other among `training`."""
    return _weighted_confusion(*_count_sides(votes, testing, training))


def _count_sides(
    votes: Votes, testing: NDArray[np.bool_], training: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.integer]]:
    """How many votes of each label an item has on either side, and of each judge who is on both, with its item."""
    testing_counts, training_counts = (votes.keep(rows).counts().astype(np.float64) for rows in (testing, training))
    item, _, pair = votes.by_judge_and_item()
    both = testing & training  # only such a judge can be held against itself
    own_counts = np.zeros((len(item), len(votes.labels)))
    np.add.at(own_counts, (pair[both], votes.label[both]), 1)
    return testing_counts, training_counts, own_counts, item


def _count_judge_pairs(
    testing_counts: FloatArray, training_counts: FloatArray, own_counts: FloatArray, item: NDArray[np.integer]
) -> FloatArray:
    """How many pairs of votes of two judges each item has."""
    pairs: FloatArray = testing_counts.sum(axis=1) * training_counts.sum(axis=1)
    return pairs - np.bincount(item, weights=own_counts.sum(axis=1) ** 2, minlength=len(pairs))


def _weighted_confusion(
    testing_counts: FloatArray, training_counts: FloatArray, own_counts: FloatArray, item: NDArray[np.integer]
) -> FloatArray:
    """Σ over items of all pairs but a judge's with itself, each item weighing 1; `own_counts` are votes on `item`."""
    pairs = _count_judge_pairs(testing_counts, training_counts, own_counts, item)
    weight = np.divide(1.0, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    counts: FloatArray = (testing_counts * weight[:, None]).T @ training_counts - (
        own_counts * weight[item, None]
    ).T @ own_counts
    return np.maximum(counts.round(12), 0.0)  # pairs that are not there must not leave a trace


def read_document_votes(labels: object) -> Votes:
    """Votes about documents; preferences are refused, for they have no grades."""
    votes = make_votes(labels)
    if "doc" not in votes.items.columns:
        raise UsageError("these are preferences between documents, and a ceiling needs labels of documents")
    return votes


def describe_judge_pair(testing: str | None, training: str | None) -> str:
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
