"""How many documents of each query have each label, and what each label is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import MeasureError, MismatchError, UsageError
from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.evaluation.measures.graded import gain_of
from ringtrue.formatting.phrases import format_count
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate, encode_column
from ringtrue.tables import Judgments

Gain: TypeAlias = Literal["exp", "linear"] | Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelCounts:
    """`counts[q, i]` documents of query q have label i; labels in rising order."""

    queries: tuple[str, ...]
    labels: tuple[int, ...]
    counts: IntArray
    notes: tuple[str, ...] = ()


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
        notes.append(f"{format_count(left_out, 'document')} with a label below 0 ('not judged') left out")
    used_labels = tuple(frame["label"].unique().sort().to_list())
    if unknown := [label for label in used_labels if label not in ascending]:
        raise MismatchError(
            f"the judgments have the labels {_format_labels(used_labels)}, the confusion matrix "
            f"{_format_labels(ascending)}: it says nothing about {_format_labels(unknown)}; both must be on one scale"
        )
    if unused := [label for label in ascending if label not in used_labels]:
        notes.append(
            f"the confusion matrix has the labels {_format_labels(ascending)}, the judgments only "
            f"{_format_labels(used_labels)}: if {_format_labels(unused)} should be there, the two are not on one scale"
        )
    label_index = np.searchsorted(np.array(ascending), frame["label"].to_numpy())
    counts = cross_tabulate(query[judged.to_numpy()], label_index, len(names), len(ascending))
    return LabelCounts(queries=tuple(names), labels=ascending, counts=counts, notes=tuple(notes))


def require_matrix(confusion: Confusion) -> None:
    """Refuse what is no confusion matrix, and one with the training judge in its rows."""
    if not isinstance(confusion, Confusion):
        raise UsageError(
            f"expected a Confusion, found {type(confusion).__name__}; `read_confusion` reads one from a file"
        )
    counts = np.asarray(confusion.counts, dtype=np.float64)
    size = len(confusion.labels)
    if counts.shape != (size, size) or size < 2:
        raise UsageError(
            f"a confusion matrix has a row and a column for each of its {size} labels, found {counts.shape}"
        )
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise UsageError("a confusion matrix holds numbers of at least 0")
    if confusion.is_turned:
        raise UsageError(
            f"the rows of the confusion matrix are '{confusion.rows}', its columns '{confusion.columns}': the testing "
            f"judge belongs into the rows and the training judge into the columns"
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
            f"the confusion matrix says nothing about label {label}, which its testing judge never gave, and documents "
            f"have it: what the training judge makes of them is undefined; count more labels, or merge grades"
        )
    shares[undefined] = np.eye(len(shares))[undefined]  # no document needs these
    return shares


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
            raise MeasureError(f"gains are numbers of at least 0, found {dict(gain)}")
        return gains
    if gain not in ("exp", "linear"):
        raise UsageError(f"gain is 'exp' (2^label − 1), 'linear' (the label) or a table of gains; found {gain!r}")
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
