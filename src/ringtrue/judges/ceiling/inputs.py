"""What a ceiling is computed from: the confusion matrix of judges, labels counted query by query, and their gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import MeasureError, MismatchError, UsageError, did_you_mean
from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.evaluation.measures.graded import gain_of
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.ceiling.results import QueryConfusions
from ringtrue.judges.votes import Repeats, Votes, align_with_gold, make_votes
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate, encode_column
from ringtrue.tables import Judgments

TESTING, TRAINING = "testing judge", "training judge"
Gain: TypeAlias = Literal["exp", "linear"] | Mapping[int, float]


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
    return sides.confusion(testing, training)


def estimate_query_confusions(
    labels: object,
    *,
    testing: str | None = None,
    training: str | None = None,
    gold: object | None = None,
    repeats: Repeats | None = None,
) -> QueryConfusions:
    """What the training judge says, given what the testing judge said: for each query, and pooled over all queries.

    Counts and judges are as `estimate_confusion` has them. Queries in which no document has labels of both sides have
    counts of 0. `ceiling` takes the result in place of one matrix.

    Examples:
        >>> labels = {"query": [*"pppp", *"qq"], "doc": [*"aabb", *"aa"], "judge": ["ann", "bob"] * 3,
        ...           "label": [1, 1, 0, 1, 1, 0]}
        >>> confusions = estimate_query_confusions(labels, testing="ann", training="bob")
        >>> dict(zip(confusions.queries, confusions.counts.tolist()))
        {'p': [[0.0, 1.0], [0.0, 1.0]], 'q': [[0.0, 0.0], [1.0, 0.0]]}
    """
    sides = _read_sides(labels, testing=testing, training=training, gold=gold, repeats=repeats)
    pooled = sides.confusion(testing, training)
    queries, counts = sides.confusion_by_query()
    return QueryConfusions(pooled=pooled, queries=queries, counts=counts)


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
    by_gold: bool

    @property
    def pairs(self) -> FloatArray:
        """How many pairs of votes of two judges each item has."""
        pairs: FloatArray = self.testing.sum(axis=1) * self.training.sum(axis=1)
        return pairs - np.bincount(self.own_item, weights=self.own.sum(axis=1) ** 2, minlength=len(pairs))

    def confusion(self, testing: str | None, training: str | None) -> Confusion:
        """Σ over items of all pairs but a judge's with itself, each item weighing 1; the judges are named."""
        if not self.by_gold and not self.pairs.any():
            who = _describe_judge_pair(testing, training)
            text = (
                f"no document was labelled by {who}: nothing shows how they disagree; give labels of the same documents"
            )
            raise MismatchError("no-shared-items", text)
        weight = self._item_weights()
        own_pairs = (self.own * weight[self.own_item, None]).T @ self.own
        counts: FloatArray = (self.testing * weight[:, None]).T @ self.training - own_pairs
        return Confusion(
            rows="gold" if self.by_gold else _format_role(TESTING, testing),
            columns=_format_role(TRAINING, training),
            labels=self.labels,
            counts=np.maximum(counts.round(12), 0.0),  # pairs that are not there must not leave a trace
        )

    def confusion_by_query(self) -> tuple[tuple[str, ...], FloatArray]:
        """The queries, and the same sum for each of them: queries × labels × labels."""
        from scipy.sparse import csr_array

        query, names = encode_column(self.items["query"])
        size, weight = len(self.labels), self._item_weights()
        own_weight, own_query = weight[self.own_item], query[self.own_item]
        # One product for each testing label: membership of items in queries, times what they add to each cell.
        items, owns = np.arange(len(query)), np.arange(len(own_query))
        counts = np.zeros((len(names), size, size))
        for label in range(size):
            of_items = csr_array((self.testing[:, label] * weight, (query, items)), (len(names), len(items)))
            of_owns = csr_array((self.own[:, label] * own_weight, (own_query, owns)), (len(names), len(owns)))
            counts[:, label] = of_items @ self.training - of_owns @ self.own
        return tuple(names), np.maximum(counts.round(12), 0.0)

    def _item_weights(self) -> FloatArray:
        pairs = self.pairs
        return np.divide(1.0, pairs, out=np.zeros(len(pairs)), where=pairs > 0)


def _read_sides(
    labels: object, *, testing: str | None, training: str | None, gold: object | None, repeats: Repeats | None
) -> _Sides:
    votes = read_document_votes(labels).resolve_repeats(repeats)
    is_training = _votes_by_judge(votes, training, TRAINING)
    if gold is not None:
        if testing is not None:
            text = f"the testing judge is '{testing}' or gold, not both; leave one out"
            raise UsageError("testing-judge-and-gold", text, parameter="testing")
        votes, truth = align_with_gold(votes, read_document_votes(gold))
        testing_counts = np.zeros((votes.items.height, len(votes.labels)))
        testing_counts[truth >= 0, truth[truth >= 0]] = 1
        own, own_item = np.zeros((0, len(votes.labels))), np.zeros(0, dtype=np.int64)
    else:
        if testing is not None and testing == training:
            text = f"'{testing}' is named as testing and as training judge: name two, or one"
            raise UsageError("same-judge-twice", text, parameter="training")
        if len(votes.judges) < 2:
            raise MismatchError(
                "one-judge",
                f"only one judge ('{votes.judges[0]}') labelled: nothing shows how judges disagree; it takes labels of "
                f"two judges or more, or a confusion matrix",
                suggestions=[Suggestion("compares with gold labels", gold=...)],
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
        by_gold=gold is not None,
    )


def read_document_votes(labels: object) -> Votes:
    """Votes about documents; preferences are refused, for they have no grades."""
    votes = make_votes(labels)
    if votes.is_pairwise:
        raise UsageError(
            "not-for-preferences", "these are preferences between documents, and a ceiling needs labels of documents"
        )
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
        raise UsageError(
            "unknown-judge",
            f"no judge '{name}' to be the {role}, only {shown}{did_you_mean(name, votes.judges)}",
            parameter="testing" if role == TESTING else "training",
        )
    by_judge: NDArray[np.bool_] = votes.judge == votes.judges.index(name)
    return by_judge


def _format_role(role: str, name: str | None) -> str:
    return role if name is None else f"{role} ({name})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelCounts:
    """`counts[q, i]` documents of query q have label i; labels in rising order."""

    queries: tuple[str, ...]
    labels: tuple[int, ...]
    counts: IntArray
    notes: tuple[Note, ...] = ()


def count_labels_per_query(judgments: Judgments, labels: Sequence[int]) -> LabelCounts:
    """How many documents of each query have each of the labels; one that is none of them is refused.

    Documents with a label below 0 were not judged, unless the labels have it, and are left out.

    Examples:
        >>> count_labels_per_query(Judgments.of({"q": {"a": 2, "b": 0, "c": 0}}), (0, 1, 2)).counts.tolist()
        [[2, 0, 1]]
    """
    judgments.require_one_label_each()
    ascending = tuple(sorted(labels))
    judged = (judgments.frame["label"] >= 0) | judgments.frame["label"].is_in(list(ascending))
    frame = judgments.frame.filter(judged)
    query, names = encode_column(judgments.frame["query"])
    notes = []
    if left_out := judgments.frame.height - frame.height:
        documents = format_count(left_out, "document")
        notes.append(Note("unjudged-labels", f"{documents} with a label below 0 ('not judged') left out"))
    used_labels = tuple(frame["label"].unique().sort().to_list())
    if unknown := [label for label in used_labels if label not in ascending]:
        raise MismatchError(
            "labels-outside-matrix",
            f"the judgments have the labels {_format_labels(used_labels)}, the confusion matrix "
            f"{_format_labels(ascending)}: it says nothing about {_format_labels(unknown)}; both must be on one scale",
        )
    if unused := [label for label in ascending if label not in used_labels]:
        text = (
            f"the confusion matrix has the labels {_format_labels(ascending)}, the judgments only "
            f"{_format_labels(used_labels)}: if {_format_labels(unused)} should be there, the two are not on one scale"
        )
        notes.append(Note("unused-matrix-labels", text))
    label_index = np.searchsorted(np.array(ascending), frame["label"].to_numpy())
    counts = cross_tabulate(query[judged.to_numpy()], label_index, len(names), len(ascending))
    return LabelCounts(queries=tuple(names), labels=ascending, counts=counts, notes=tuple(notes))


def require_matrix(confusion: Confusion) -> None:
    """Refuse what is no confusion matrix, and one with the training judge in its rows."""
    if not isinstance(confusion, Confusion):
        raise UsageError(
            "no-confusion",
            f"expected a Confusion, found {type(confusion).__name__}; `read_confusion` reads one from a file",
            parameter="confusion",
        )
    counts = np.asarray(confusion.counts, dtype=np.float64)
    size = len(confusion.labels)
    if counts.shape != (size, size) or size < 2:
        raise UsageError(
            "bad-confusion-shape",
            f"a confusion matrix has a row and a column for each of its {size} labels, found {counts.shape}",
        )
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise UsageError("bad-confusion-cell", "a confusion matrix holds numbers of at least 0")
    if confusion.is_turned:
        raise UsageError(
            "turned-confusion",
            f"the rows of the confusion matrix are '{confusion.rows}', its columns '{confusion.columns}': the testing "
            f"judge belongs into the rows and the training judge into the columns",
        )


def ordered_confusion_matrix(confusion: Confusion, document_counts: IntArray) -> FloatArray:
    """The matrix with its labels in rising order; a label that documents have and whose row is unknown is refused.

    Examples:
        >>> table = Confusion(rows="gold", columns="ann", labels=(1, 0), counts=np.array([[3, 1], [0, 5]]))
        >>> ordered_confusion_matrix(table, np.array([1, 1])).tolist()
        [[1.0, 0.0], [0.25, 0.75]]
    """
    require_matrix(confusion)
    order = np.argsort(confusion.labels)
    shares = confusion.matrix[np.ix_(order, order)]
    undefined = np.isnan(shares).any(axis=1)
    if (missing := undefined & (document_counts > 0)).any():
        label = confusion.labels[order[int(np.flatnonzero(missing)[0])]]
        raise MismatchError(
            "unknown-matrix-row",
            f"the confusion matrix says nothing about label {label}, which its testing judge never gave, and documents "
            f"have it: what the training judge makes of them is undefined; count more labels, or merge grades",
        )
    shares[undefined] = np.eye(len(shares))[undefined]  # no document needs these
    return shares


def shrink_to_pooled(counts: FloatArray, pooled: FloatArray, weight: float) -> FloatArray:
    """The matrix of each query, its rows shrunk towards those of all queries.

        c_qij = (n_qij + w c_ij) / (Σ_j n_qij + w)

    `counts[q, i, j]` are the query's own, and `pooled` has rows that add up to 1: a query without cases of a label has
    the pooled row, one with many its own shares.

    Examples:
        >>> shrink_to_pooled(np.array([[[3, 2], [0, 0]]]), np.array([[0.8, 0.2], [0.5, 0.5]]), 5.0).tolist()
        [[[0.7, 0.3], [0.5, 0.5]]]
    """
    totals = counts.sum(axis=2, keepdims=True) + weight
    shares: FloatArray = np.broadcast_to(pooled, counts.shape).copy()
    np.divide(counts + weight * pooled, totals, out=shares, where=totals > 0)
    return shares


def order_query_counts(confusions: QueryConfusions, queries: Sequence[str]) -> FloatArray:
    """The counts of these queries with the labels in rising order; 0 for a query that has none.

    Examples:
        >>> table = Confusion(rows="gold", columns="ann", labels=(1, 0), counts=np.array([[3, 1], [0, 5]]))
        >>> confusions = QueryConfusions(pooled=table, queries=("q",), counts=table.counts[None])
        >>> order_query_counts(confusions, ["p", "q"]).tolist()
        [[[0.0, 0.0], [0.0, 0.0]], [[5.0, 0.0], [1.0, 3.0]]]
    """
    order = np.argsort(confusions.pooled.labels)
    places = {query: place for place, query in enumerate(confusions.queries)}
    counts = np.zeros((len(queries), len(order), len(order)))
    for row, query in enumerate(queries):
        if query in places:
            counts[row] = confusions.counts[places[query]][np.ix_(order, order)]
    return counts


def label_gains(labels: Sequence[int], gain: Gain) -> FloatArray:
    """What each label is worth: 2^label − 1, the label itself, or what a table says.

    Examples:
        >>> label_gains((0, 1, 3), "exp").tolist(), label_gains((0, 1, 3), {1: 0.5, 3: 1}).tolist()
        ([0.0, 1.0, 7.0], [0.0, 0.5, 1.0])
    """
    label_array = np.array(labels)
    if isinstance(gain, Mapping):
        gains = gain_of(label_array, gains=gain)
        if not np.isfinite(gains).all() or (gains < 0).any():
            raise MeasureError(
                "negative-gain", f"gains are numbers of at least 0, found {dict(gain)}", parameter="gain"
            )
        return gains
    if gain not in ("exp", "linear"):
        choices = "'exp' (2^label − 1), 'linear' (the label) or a table of gains"
        raise UsageError("unknown-choice", f"expected {choices}, found {gain!r}", parameter="gain")
    return gain_of(label_array, form="exp-log2" if gain == "exp" else "log2")


def measure_name(gain: Gain, k: int | None) -> str:
    """What the ceiling is one of, as `evaluate` writes it.

    Examples:
        >>> measure_name("exp", 10), measure_name("linear", None)
        ("nDCG(dcg='exp-log2')@10", 'nDCG')
    """
    parameters = "(dcg='exp-log2')" if gain == "exp" else "" if gain == "linear" else "(gains=…)"
    return f"nDCG{parameters}" + (f"@{k}" if k else "")


def _format_labels(labels: Sequence[int]) -> str:
    return ", ".join(str(label).replace("-", "−") for label in labels)
