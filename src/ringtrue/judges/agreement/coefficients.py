"""Coefficients of agreement, each a formula on sums over items; leading axes are a batch, such as resamples or pairs.

The sums are kept for each query or item, so that these can be drawn anew.

NaN stands for 0/0 in here; whoever asks turns it into words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.stats.encoding import cross_tabulate
from ringtrue.stats.results import Estimate

Array: TypeAlias = NDArray[np.float64]
Metric: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
MAX_LABELS = 5_000  # labels: tables of label by label must fit the memory
TENTATIVE, RELIABLE = 2 / 3, 0.8  # [Krippendorff04]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AgreementSums:
    """What the coefficients need of the labels, as sums over items.

    `coincidences[c, k]` counts the ordered pairs of labels c and k of one item, each item's divided by its number of
    labels less one; `pairable` are the items with two labels or more and `agreeing` the sum of their shares of equal
    pairs; `rated` are all items with a label and `shares` the sum of their shares of each label; `relevant` counts
    the pairable items that somebody called relevant, and `unanimous` those that everybody did.
    """

    coincidences: Array
    pairable: Array
    agreeing: Array
    rated: Array
    shares: Array
    relevant: Array
    unanimous: Array


def sum_by_group(
    counts: NDArray[np.int64], relevant: NDArray[np.bool_], *, group: NDArray[np.int32], n_groups: int
) -> Array:
    """The sums of each group of items as a row; `unpack_sums` takes rows, or sums of rows, apart.

    `counts` has the number of votes of each item for each label, `group` the row that an item belongs to.
    """
    n_votes = counts.sum(axis=1)
    pairable = n_votes > 1
    weight = np.divide(1, n_votes - 1, where=pairable, out=np.zeros(len(n_votes)))
    share = counts / np.maximum(n_votes, 1)[:, None]
    n_relevant = counts[:, relevant].sum(axis=1)

    def group_total(values: NDArray[np.floating] | NDArray[np.bool_]) -> Array:
        return np.bincount(group, weights=values.astype(np.float64), minlength=n_groups).astype(np.float64)

    labels = range(counts.shape[1])
    coincidences = {
        (c, k): group_total((counts[:, c] * (counts[:, k] - (c == k))) * weight)
        for c in labels
        for k in labels
        if c <= k
    }
    columns = [coincidences[min(c, k), max(c, k)] for c in labels for k in labels]
    agreeing = (counts * (counts - 1)).sum(axis=1) * weight / np.maximum(n_votes, 1)
    columns += [group_total(pairable), group_total(agreeing), group_total(n_votes > 0)]
    columns += [group_total(pairable & (n_relevant > 0)), group_total(pairable & (n_relevant == n_votes))]
    columns += [group_total(share[:, k]) for k in labels]
    return np.stack(columns, axis=1)


def unpack_sums(rows: Array, n_labels: int) -> AgreementSums:
    """The sums that a row stands for; any leading axes stay."""
    square = n_labels * n_labels
    pairable, agreeing, rated, relevant, unanimous = np.moveaxis(rows[..., square : square + 5], -1, 0)
    return AgreementSums(
        coincidences=rows[..., :square].reshape(*rows.shape[:-1], n_labels, n_labels),
        pairable=pairable,
        agreeing=agreeing,
        rated=rated,
        shares=rows[..., square + 5 :],
        relevant=relevant,
        unanimous=unanimous,
    )


def pair_sums(confusion: Array, relevant: NDArray[np.bool_]) -> AgreementSums:
    """The same sums for two judges, from how often one said c and the other k."""
    rows, columns = confusion.sum(-1), confusion.sum(-2)
    n = rows.sum(-1)
    either = (rows + columns)[..., relevant].sum(-1)
    both = confusion[..., relevant, :][..., relevant].sum((-1, -2))
    return AgreementSums(
        coincidences=confusion + np.swapaxes(confusion, -1, -2),
        pairable=n,
        agreeing=np.trace(confusion, axis1=-2, axis2=-1),
        rated=n,
        shares=(rows + columns) / 2,
        relevant=either - both,
        unanimous=both,
    )


def agreement(sums: AgreementSums) -> Array:
    """The share of pairs of labels that are equal, averaged over the items with two labels or more.

    Examples:
        >>> float(agreement(pair_sums(np.array([[20.0, 5], [10, 15]]), np.array([False, True]))))
        0.7
    """
    return _divide(sums.agreeing, sums.pairable)


def overlap(sums: AgreementSums) -> Array:
    """Of the items that somebody called relevant, the share that everybody did [Voorhees00].

    For two judges this is Jaccard's coefficient of their relevant sets.

    Examples:
        >>> float(overlap(pair_sums(np.array([[20.0, 5], [10, 15]]), np.array([False, True]))))
        0.5
    """
    return _divide(sums.unanimous, sums.relevant)


def alpha(sums: AgreementSums, labels: Array, metric: Metric) -> Array:
    """Krippendorff's alpha: observed over expected disagreement, for any number of labels an item [Krippendorff11].

        α = 1 − (n − 1) Σ_ck o_ck δ²_ck / Σ_ck n_c n_k δ²_ck

    Examples:
        >>> sums = pair_sums(np.array([[0.0, 1], [1, 0]]), np.array([False, True]))
        >>> float(alpha(sums, np.array([0.0, 1]), "nominal"))
        -0.5
    """
    return alpha_from_coincidences(sums.coincidences, labels, metric)


def alpha_from_coincidences(coincidences: Array, labels: Array, metric: Metric) -> Array:
    """The same from the coincidences alone."""
    totals = coincidences.sum(-1)
    distance = METRICS[metric](labels, totals)
    observed = np.einsum("...ck,...ck->...", coincidences, distance)
    expected = np.einsum("...c,...ck,...k->...", totals, distance, totals)
    return 1 - _divide((totals.sum(-1) - 1) * observed, expected)


def _nominal(labels: Array, totals: Array) -> Array:  # noqa: ARG001 - all metrics share one signature
    return 1 - np.eye(len(labels))


def _ordinal(labels: Array, totals: Array) -> Array:  # noqa: ARG001
    """Labels lie as far apart as there are labels given between their middles."""
    middle = np.cumsum(totals, axis=-1) - totals / 2
    return (middle[..., :, None] - middle[..., None, :]) ** 2


def _interval(labels: Array, totals: Array) -> Array:  # noqa: ARG001
    return np.subtract.outer(labels, labels) ** 2


def _ratio(labels: Array, totals: Array) -> Array:  # noqa: ARG001
    if labels.min() < 0:  # there is no ratio of −1 to 1
        return np.full((len(labels), len(labels)), np.nan)
    return np.nan_to_num(_divide(np.subtract.outer(labels, labels), np.add.outer(labels, labels))) ** 2


METRICS: dict[Metric, Callable[[Array, Array], Array]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}


def fleiss_kappa(sums: AgreementSums) -> Array:
    """Fleiss' kappa [Fleiss71], for unequal numbers of labels an item as Gwet has it [Gwet14].

    Chance agreement comes from the mean of the items' shares of each label, also of items with a single label.

    Examples:
        >>> float(fleiss_kappa(pair_sums(np.array([[20.0, 5], [10, 15]]), np.array([False, True]))).round(4))
        0.3939
    """
    return _beyond_chance(agreement(sums), (_mean_label_shares(sums) ** 2).sum(-1))


def scott_pi(sums: AgreementSums) -> Array:
    """Scott's pi: chance from the pooled labels of both judges [Scott55]; with more judges, from all pairable labels.

    Examples:
        >>> float(scott_pi(pair_sums(np.array([[20.0, 5], [10, 15]]), np.array([False, True]))).round(4))
        0.3939
    """
    totals = sums.coincidences.sum(-1)
    pooled = _divide(totals, totals.sum(-1, keepdims=True))
    return _beyond_chance(agreement(sums), (pooled**2).sum(-1))


def ac1(sums: AgreementSums) -> Array:
    """Gwet's AC1, which does not fall when one label is very common [Gwet08].

        chance = Σ_k π_k (1 − π_k) / (K − 1)

    Examples:
        >>> float(ac1(pair_sums(np.array([[20.0, 5], [10, 15]]), np.array([False, True]))).round(4))
        0.4059
    """
    share = _mean_label_shares(sums)
    return _beyond_chance(agreement(sums), _divide((share * (1 - share)).sum(-1), np.array(share.shape[-1] - 1.0)))


def brennan_prediger(sums: AgreementSums) -> Array:
    """Agreement beyond 1/K, as if guessing were even over the K labels [Brennan81]; for many judges [Randolph05].

    Examples:
        >>> float(brennan_prediger(pair_sums(np.array([[20.0, 5], [10, 15]]), np.array([False, True]))).round(4))
        0.4
    """
    observed = agreement(sums)
    return _beyond_chance(observed, np.full_like(observed, 1 / sums.shares.shape[-1]))


def conger_kappa(sums: AgreementSums, by_judge: Array) -> Array:
    """Conger's kappa: chance is the mean over pairs of judges of what their own habits give [Conger80, Gwet14].

        chance = Σ_k (mean_g p_gk)² − var_g(p_gk) / J,    p_gk = judge g's share of label k

    `by_judge` has the number of times each judge gave each label: … × judges × labels.

    Examples:
        >>> by_judge = np.array([[25.0, 25], [30, 20]])
        >>> float(conger_kappa(pair_sums(np.array([[20.0, 5], [10, 15]]), np.array([False, True])), by_judge).round(4))
        0.4
    """
    n_labels = by_judge.sum(-1, keepdims=True)
    n_active = (n_labels > 0).sum(-2)
    share = np.divide(by_judge, n_labels, out=np.zeros_like(by_judge), where=n_labels > 0)
    total, squares = share.sum(-2), (share**2).sum(-2)
    chance = _divide((total**2 - squares).sum(-1), (n_active * (n_active - 1.0))[..., 0])
    return _beyond_chance(agreement(sums), chance)


def cohen_kappa(confusion: Array, weights: Array) -> Array:
    """Cohen's kappa, with each judge's own habits as chance [Cohen60], and `weights` of agreement [Cohen68].

        κ = (Σ w p − Σ w p_i. p_.j) / (1 − Σ w p_i. p_.j)

    Examples:
        >>> float(cohen_kappa(np.array([[20.0, 5], [10, 15]]), np.eye(2)).round(4))
        0.4
    """
    rows, columns = confusion.sum(-1), confusion.sum(-2)
    n = rows.sum(-1)
    agreeing = np.tensordot(confusion, weights, axes=2)
    chance = ((rows @ weights) * columns).sum(-1)
    return _beyond_chance(_divide(agreeing, n), _divide(chance, n * n))


def kappa_standard_errors(confusion: Array, weights: Array) -> tuple[Array, Array]:
    """Cohen's kappa's asymptotic standard errors, around its value and around 0 [Fleiss69].

    Holds for many items, each drawn by itself: it knows nothing of queries.

    Examples:
        >>> confusion = np.array([[0.0, 4, 1], [0, 8, 0], [0, 1, 5]])
        >>> [float(error.round(4)) for error in kappa_standard_errors(confusion, np.eye(3))]
        [0.138, 0.1484]
    """
    n = confusion.sum((-1, -2))
    share = _divide(confusion, n[..., None, None])
    rows, columns = share.sum(-1), share.sum(-2)
    by_chance = rows[..., :, None] * columns[..., None, :]
    chance = (weights * by_chance).sum((-1, -2))
    kappa = _beyond_chance((weights * share).sum((-1, -2)), chance)
    mean_weight = (columns @ weights.T)[..., :, None] + (rows @ weights)[..., None, :]
    disagreement = 1 - kappa[..., None, None]
    variance = (share * (weights - mean_weight * disagreement) ** 2).sum((-1, -2)) - (kappa - chance * (1 - kappa)) ** 2
    null_variance = (by_chance * (weights - mean_weight) ** 2).sum((-1, -2)) - chance**2
    scale = n * (1 - chance) ** 2
    return _square_root(_divide(variance, scale)), _square_root(_divide(null_variance, scale))


def _square_root(variance: Array) -> Array:
    """The square root, without what rounding leaves of 0."""
    return np.sqrt(np.where(variance < 1e-15, 0, variance))


def _mean_label_shares(sums: AgreementSums) -> Array:
    return _divide(sums.shares, sums.rated[..., None])


def _beyond_chance(observed: Array, chance: Array) -> Array:
    """What agreement there is beyond chance, as a share of what there could be."""
    return _divide(observed - chance, 1 - chance)


def _divide(numerator: Array, denominator: Array) -> Array:
    """Above over below, NaN where below is 0 to within rounding."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    quotient = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=quotient, where=np.abs(denominator) > 1e-12)
    return quotient


def krippendorff_alpha(items: ArrayLike, labels: ArrayLike, *, metric: Metric = "ordinal") -> float | None:
    """Krippendorff's alpha from two long arrays: which item, and what somebody said of it [Krippendorff11].

    Nothing else is computed, and no interval: `agree` has both. Missing labels are simply not there. None where it is
    undefined: no item has two labels, or everybody gave the same.

    Examples:
        >>> krippendorff_alpha(["a", "a", "b", "b"], [1, 1, 3, 3])
        1.0
        >>> krippendorff_alpha(["a", "a"], [1, 1]) is None
        True
    """
    if metric not in METRICS:
        suggestion = did_you_mean(metric, METRICS) or "; there is " + ", ".join(METRICS)
        raise UsageError("unknown-choice", f"no metric '{metric}' for alpha{suggestion}", parameter="metric")
    item, values = np.asarray(items), np.asarray(labels)
    if item.shape != values.shape or item.ndim != 1:
        raise TableError("unequal-lengths", f"expected two arrays of one length, found {item.shape} and {values.shape}")
    if not (np.issubdtype(values.dtype, np.integer) or np.issubdtype(values.dtype, np.floating)):
        raise TableError("bad-label", f"expected labels that are numbers, found {values.dtype}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise TableError(
            "missing-labels", "expected labels that are finite numbers; leave the missing ones out of both arrays"
        )
    if not len(values):
        return None
    item, item_ids = _encode_sorted(item)
    label, grades = _encode_sorted(values)
    n_labels = len(grades)
    if n_labels > MAX_LABELS:
        raise TableError(
            "too-many-labels",
            f"expected grades, at most {MAX_LABELS:,} different ones, found {n_labels:,}; round them first",
        )
    counts = cross_tabulate(item, label, len(item_ids), n_labels).astype(np.float64)
    n_others = counts @ np.ones(n_labels) - 1
    weight = np.divide(1, n_others, out=np.zeros_like(n_others), where=n_others > 0)
    coincidences = counts.T @ (counts * weight[:, None]) - np.diag(weight @ counts)
    alpha = float(alpha_from_coincidences(coincidences, grades.astype(np.float64), metric))
    return None if np.isnan(alpha) else alpha


def _encode_sorted(values: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.generic]]:
    """Each value as a position among the different ones in rising order; small numbers need no sorting."""
    if np.issubdtype(values.dtype, np.integer):
        numbers = values.astype(np.int64, copy=False)
        low, high = int(numbers.min()), int(numbers.max())
        if high - low <= 2 * len(values):
            numbers = numbers - low if low else numbers
            seen = np.bincount(numbers) > 0
            uniques = np.flatnonzero(seen) + low
            return (numbers if seen.all() else (np.cumsum(seen) - 1)[numbers]), uniques
    uniques, codes = np.unique(values, return_inverse=True)
    return codes, uniques


def describe_alpha(alpha: Estimate) -> str:
    """What Krippendorff would conclude, at the interval's cautious end, as the end of a sentence.

    Examples:
        >>> describe_alpha(Estimate(value=0.9, low=0.85, high=0.95, n=50, method="bootstrap"))
        "reliable by Krippendorff's mark of 0.80."
    """
    cautious = alpha.value if alpha.low is None else alpha.low
    if cautious is None or alpha.value is None:
        return ""
    if cautious >= RELIABLE:
        return "reliable by Krippendorff's mark of 0.80."
    if cautious >= TENTATIVE:
        return "enough for tentative conclusions by Krippendorff's mark of 0.67, short of 0.80."
    if alpha.value >= TENTATIVE:
        return "around Krippendorff's mark of 0.67 for tentative conclusions, and not surely above it."
    return "below Krippendorff's mark of 0.67 for even tentative conclusions."
