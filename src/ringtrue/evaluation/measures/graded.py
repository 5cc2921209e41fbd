"""Measures of graded relevance: each label is worth a gain, each rank a discount.

Where labels rank the documents, many tie, and the DCG is a mean over every order of what is tied. Such lists are
counted, not written out: `joint[q, i, j]` documents of list q have label i by the judge who scores and label j by the
one who ranks, both in rising order.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MeasureError
from ringtrue.evaluation.measures.ranked_lists import FloatArray, IntArray, RankedLists, divide_or_zero

MAX_GRADE = 400  # 2^label is still a number there, and so is the square of a sum of them
DcgForm: TypeAlias = Literal["log2", "exp-log2"]
Gains: TypeAlias = Mapping[int, float]
Discount: TypeAlias = Literal["log2", "zipf"]


def gain_of(labels: IntArray, *, form: DcgForm = "log2", gains: Gains | None = None) -> FloatArray:
    """What each label is worth: itself, 2^label − 1, or what a table says; a label of 0 or less is worth 0.

    Examples:
        >>> gain_of(np.array([3, 0, -1])).tolist(), gain_of(np.array([3, 0, -1]), form="exp-log2").tolist()
        ([3.0, 0.0, 0.0], [7.0, 0.0, 0.0])
    """
    if gains is not None:
        distinct_labels, inverse = np.unique(labels, return_inverse=True)
        labels_without_gain = [int(label) for label in distinct_labels if label > 0 and int(label) not in gains]
        if labels_without_gain:
            raise MeasureError(
                "level-without-gain",
                f"the gains {dict(gains)} say nothing about label {labels_without_gain[0]}; "
                f"give every label above 0 a gain",
            )
        distinct_gains = [float(gains.get(int(label), 0.0)) if label >= 0 else 0.0 for label in distinct_labels]
        return np.array(distinct_gains, dtype=np.float64)[inverse]
    positive = np.maximum(labels, 0).astype(np.float64)
    if form == "log2":
        return positive
    if np.any(labels > MAX_GRADE):
        raise MeasureError(
            "label-too-large", f"label {labels.max()} is too large for a gain of 2^label − 1; give each label a gain"
        )
    return np.exp2(positive) - 1


def cg(lists: RankedLists, *, k: int | None = None, gains: Gains | None = None) -> FloatArray:
    """Gain met by a user who reads down to rank k with steady attention.

        CG@k = Σ_{i≤k} gain_i    [Jarvelin02]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> cg(ranked([3, 0, 1]))
        array([4.])
    """
    return lists.total(gain_of(lists.label, gains=gains) * lists.within(k))


def dcg(
    lists: RankedLists,
    *,
    k: int | None = None,
    dcg: DcgForm = "log2",
    gains: Gains | None = None,
    discount: Discount = "log2",
) -> FloatArray:
    """Gain met by a user who reads down each list with fading attention.

        DCG@k = Σ_{i≤k} gain_i / log₂(i + 1)    [Jarvelin02]

    with the discount that trec_eval and most others use. `dcg="exp-log2"` takes 2^label − 1 as the gain [Burges05],
    `discount="zipf"` 1/i as the discount.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> dcg(ranked([3, 0, 1]))
        array([3.5])
    """
    return _discounted_gain(lists, k, dcg, gains, discount)


def _discounted_gain(
    lists: RankedLists, k: int | None, form: DcgForm, gains: Gains | None, discount: Discount = "log2"
) -> FloatArray:
    gain = gain_of(lists.label, form=form, gains=gains)
    return lists.total(gain * lists.within(k) / divisor(lists.rank, discount))


def ndcg(
    lists: RankedLists,
    *,
    k: int | None = None,
    dcg: DcgForm = "log2",
    gains: Gains | None = None,
    discount: Discount = "log2",
) -> FloatArray:
    """DCG over the DCG of the best possible list of the judged documents.

        nDCG@k = DCG@k / ideal DCG@k    [Jarvelin02]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> ndcg(ranked([0, 1])).round(4)
        array([0.6309])
    """
    gain = gain_of(lists.pool, form=dcg, gains=gains)
    rank = lists.pool_rank
    if gains is not None:  # a table of gains need not rise with the label
        best_first = np.lexsort((-gain, lists.pool_owner))
        gain = gain[best_first]
    counted = (gain > 0) if k is None else (gain > 0) & (rank <= k)
    ideal = lists.pool_total(counted * gain / divisor(rank, discount))
    return divide_or_zero(_discounted_gain(lists, k, dcg, gains, discount), ideal)


def sdcg(lists: RankedLists, *, k: int, dcg: DcgForm = "log2", max_rel: int | None = None) -> FloatArray:
    """DCG over the DCG of k documents of the top grade: between 0 and 1, and linear in the gains.

        SDCG@k = DCG@k / Σ_{i≤k} gain(max_rel) / log₂(i + 1)

    `max_rel` is the largest label in the judgments unless given.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> sdcg(ranked([2, 2, 0]), k=2)
        array([1.])
    """
    top_gain = gain_of(np.array([_top_grade(lists, max_rel)]), form=dcg)[0]
    ideal = top_gain * float(np.sum(1 / divisor(np.arange(1, k + 1))))
    return divide_or_zero(_discounted_gain(lists, k, dcg, None), np.full(len(lists), ideal))


def err(
    lists: RankedLists, *, k: int | None = None, max_rel: int | None = None, gains: Gains | None = None
) -> FloatArray:
    """Expected reciprocal rank at which a user who is satisfied by a good document stops.

        ERR = Σ_i (1/i) · s_i · Π_{j<i} (1 − s_j),  s = (2^label − 1) / 2^max_rel    [Chapelle09]

    With `gains`, s is the gain itself, a probability of being satisfied.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> err(ranked([1, 0, 1]))
        array([0.58333333])
    """
    if gains is None:
        stop_probability = gain_of(lists.label, form="exp-log2") / 2.0 ** _top_grade(lists, max_rel)
    else:
        stop_probability = gain_of(lists.label, gains=gains)
        if np.any((stop_probability < 0) | (stop_probability > 1)):
            raise MeasureError("gain-above-1", "the gains of ERR are probabilities: each between 0 and 1")
    satisfying = (stop_probability > 0) & lists.within(k)
    position = lists.running_count(satisfying)  # 1 for the first document of a list that can satisfy, 2 for the next
    values, continue_probability = np.zeros(len(lists)), np.ones(len(lists))
    by_position = np.argsort(position[satisfying], kind="stable")
    owner, rank = lists.owner[satisfying][by_position], lists.rank[satisfying][by_position]
    stop_probability = stop_probability[satisfying][by_position]
    ends = np.cumsum(np.bincount(position[satisfying])) if len(owner) else np.zeros(1, dtype=np.int64)
    for start, end in pairwise(ends):  # each list appears at most once in a step
        step = slice(start, end)
        values[owner[step]] += continue_probability[owner[step]] * stop_probability[step] / rank[step]
        continue_probability[owner[step]] *= 1 - stop_probability[step]
    return values


def rank_biased_precision(
    lists: RankedLists, *, k: int | None = None, p: float = 0.8, rel: int = 1, gains: Gains | None = None
) -> FloatArray:
    """Rate of gain of a user who goes on to the next document with probability p.

        RBP = (1 − p) Σ_i gain_i · p^(i−1)    [Moffat08]

    A document is worth 1 from label `rel` on, or what `gains` says.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> rank_biased_precision(ranked([1, 0, 1]), p=0.5)
        array([0.625])
    """
    gain = (lists.label >= rel).astype(np.float64) if gains is None else gain_of(lists.label, gains=gains)
    return (1 - p) * lists.total(gain * lists.within(k) * p ** (lists.rank - 1.0))


def graded_average_precision(
    lists: RankedLists,
    *,
    k: int | None = None,
    gains: Gains | None = None,
    max_rel: int | None = None,
    among: Literal["judged", "retrieved"] = "judged",
) -> FloatArray:
    """Average precision of users who differ in which label is good enough for them.

        GAP = Σ_k (1/k) Σ_{m≤k} min(q_m, q_k) / Σ q    [Robertson10]

    q is the share of users for whom a label is good enough: what `gains` says, else label / `max_rel`. The last sum
    goes over all judged documents, or with `among="retrieved"` over those in the list [Demeester14].

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> graded_average_precision(ranked([1, 2, 0]), gains={1: 0.5, 2: 1}).round(4)
        array([0.8333])
    """
    if gains is None:
        top_grade = max(_top_grade(lists, max_rel), 1)
        gains = {label: label / top_grade for label in range(1, top_grade + 1)}
    thresholds = sorted({float(q) for q in gains.values() if q > 0})
    if thresholds and (thresholds[-1] > 1 or min(gains.values()) < 0):
        raise MeasureError("gain-above-1", "the gains of GAP are shares of users: each between 0 and 1")
    gain, pool_gain = (gain_of(labels, gains=gains) for labels in (lists.label, lists.pool))
    precision_sum = np.zeros(len(lists))
    for previous, threshold in pairwise(
        [0.0, *thresholds]
    ):  # min(q, q') = Σ over the steps that both reach: an AP for each step
        meets_threshold = gain >= threshold
        precision_sum += (threshold - previous) * lists.total(
            meets_threshold * lists.within(k) * (lists.running_count(meets_threshold) / lists.rank)
        )
    return divide_or_zero(precision_sum, lists.pool_total(pool_gain) if among == "judged" else lists.total(gain))


def rank_biased_residual(lists: RankedLists, *, p: float = 0.8) -> FloatArray:
    """How much RBP could still rise if everything unjudged, and all below the list's end, were relevant.

        residual = 1 − (1 − p) Σ_{judged i} p^(i−1)    [Moffat08]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> rank_biased_residual(ranked([1, None]), p=0.5)
        array([0.5])
    """
    judged = lists.label >= 0
    residual = 1 - (1 - p) * lists.total(judged * p ** (lists.rank - 1.0))
    if lists.compat:  # trec_eval has no residual where every retrieved document was judged
        residual = np.where(lists.total(judged) < lists.retrieved, residual, 0.0)
    return residual


def _top_grade(lists: RankedLists, max_rel: int | None) -> int:
    if max_rel is None:
        if lists.max_label > MAX_GRADE:
            raise MeasureError(
                "label-too-large", f"label {lists.max_label} is too large for a grade; at most {MAX_GRADE} is usual"
            )
        return lists.max_label
    if lists.max_label > max_rel:
        raise MeasureError(
            "label-above-top",
            f"the top grade max_rel is {max_rel}, and the judgments have a label of {lists.max_label}",
        )
    return max_rel


def divisor(rank: NDArray[np.integer], discount: Discount = "log2") -> FloatArray:
    """What a gain is divided by at each rank: log₂(rank + 1), or by Zipf's law the rank.

    Examples:
        >>> divisor(np.array([1, 3])).tolist(), divisor(np.array([1, 4]), "zipf").tolist()
        ([1.0, 2.0], [1.0, 4.0])
    """
    return np.log2(rank + 1) if discount == "log2" else rank.astype(np.float64)


def discounts_to(n: int, k: int | None = None, discount: Discount = "log2") -> FloatArray:
    """What a gain is worth at each of n ranks, and nothing below rank k.

    Examples:
        >>> discounts_to(4, 3).round(2).tolist()
        [1.0, 0.63, 0.5, 0.0]
    """
    discounts = 1 / divisor(np.arange(1, n + 1), discount)
    discounts[n if k is None else k :] = 0.0
    return discounts


def tied_dcg(joint: IntArray, gain: FloatArray, *, k: int | None = None, discount: Discount = "log2") -> FloatArray:
    """The expected DCG of lists sorted by one judge and scored by another, what is tied in random order.

    Each document gets the mean of the discounts of the ranks that those tied with it take up. `gain` is that of each
    label, or lists × labels.

    Examples:
        >>> tied_dcg(np.array([[[0, 1], [0, 1]]]), np.array([0.0, 1.0])).round(4)  # one good, one bad, tied
        array([0.8155])
    """
    _, _, mean_discount = _tie_blocks(joint, discounts_to(_longest_list(joint), k, discount))
    dcg: FloatArray = np.einsum("qij,qi,qj->q", joint, _broadcast_to_lists(joint, gain), mean_discount)
    return dcg


def tied_gap(joint: IntArray, share: FloatArray) -> FloatArray:
    """The expected sum of graded average precision, Σ_k (1/k) Σ_{m≤k} min(q_m, q_k), what is tied in random order.

    For documents that reach a step of q, G of s tied ones after A above them and a documents in all:

        G · [(1 + A) h + (G − 1) (1 − (a + 1) h) / (s − 1)],    h the mean of 1/k over ranks a + 1 … a + s

    and the steps add up, as in GAP itself. `share` is q of each label, or lists × labels; divided by the sum of q it is
    GAP, with q of 0 and 1 average precision.

    Examples:
        >>> tied_gap(np.array([[[0, 1], [0, 1]]]), np.array([0.0, 1.0]))  # one good, one bad, tied: (1 + 1/2) / 2
        array([0.75])
    """
    above, size, mean_inverse_rank = _tie_blocks(joint, 1 / np.arange(1, _longest_list(joint) + 1))
    within = np.divide(
        1 - (above + 1) * mean_inverse_rank, size - 1, out=np.zeros_like(mean_inverse_rank), where=size > 1
    )
    share = _broadcast_to_lists(joint, share)
    gap, lower = np.zeros(len(joint)), np.zeros(len(joint))
    for step in np.sort(share, axis=1).T:  # one for each label; of labels that are worth the same, all but one add 0
        good = np.einsum("qij,qi->qj", joint, (share >= step[:, None]) & (share > 0)).astype(np.float64)
        ahead = good[:, ::-1].cumsum(axis=1)[:, ::-1] - good
        gap += (step - lower) * (good * ((1 + ahead) * mean_inverse_rank + (good - 1) * within)).sum(axis=1)
        lower = step
    return gap


def _longest_list(joint: IntArray) -> int:
    return int(joint.sum(axis=(1, 2)).max(initial=0))


def _broadcast_to_lists(joint: IntArray, label_values: FloatArray) -> FloatArray:
    return np.broadcast_to(label_values, joint.shape[:2])


def _tie_blocks(joint: IntArray, rank_weights: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """For each ranking label: how many documents stand above it, how many have it, and their mean of `rank_weights`."""
    size = joint.sum(axis=1)
    above = size[:, ::-1].cumsum(axis=1)[:, ::-1] - size
    cumulative = np.concatenate([[0.0], np.cumsum(rank_weights)])
    return above, size, (cumulative[above + size] - cumulative[above]) / np.maximum(size, 1)
