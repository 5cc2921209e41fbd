"""How likely the top is, given a label of a document: by another judge, by M of N of them, by the same judge again.

Each of these is a ratio of two sums over documents, with an interval from queries drawn anew.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import UsageError
from ringtrue.judges.agreement.bootstrap_intervals import FEW_CLUSTERS, BootstrapSettings, choose_resampling_groups
from ringtrue.judges.disagreement.results import Consistency, Histogram
from ringtrue.messages import Note
from ringtrue.stats.intervals import normal_quantile, resample_query_counts, t_quantile, wilson
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from ringtrue.judges.disagreement.levels import Levels
    from ringtrue.judges.votes import Votes

UserShare: TypeAlias = tuple[int, int]  # at least M of N users
Array: TypeAlias = NDArray[np.float64]
MAX_USERS = 500  # beyond them powers of p are too small for a float
BINS = 10
MAX_CELLS = 4_000_000  # in memory at once
CONSTANT_SE = 1e-12  # resamples that differ by less are the same
MAX_UNDEFINED_SHARE = 0.05  # of the resamples


def parse_user_share(share: str | UserShare) -> UserShare:
    """`1/3` as (1, 3): at least one of three users.

    Examples:
        >>> parse_user_share("1/3")
        (1, 3)
        >>> parse_user_share("3/1")
        Traceback (most recent call last):
        ringtrue.errors.UsageError: at least 3 of 1 users cannot be: M/N needs 0 ≤ M ≤ N ... (at_least)
    """
    if isinstance(share, str):
        match = re.fullmatch(r"\s*(-?\d{1,9})\s*/\s*(-?\d{1,9})\s*", share)
        if match is None:
            raise UsageError(
                "bad-user-share",
                f"expected 'at least M of N users' as M/N, such as 1/3; found '{share}'",
                parameter="at_least",
            )
        share = int(match[1]), int(match[2])
    if not isinstance(share, tuple | list) or len(share) != 2 or not all(isinstance(number, int) for number in share):
        raise UsageError(
            "bad-user-share",
            f"expected 'at least M of N users' as (M, N) or 'M/N', such as 1/3; found {share!r}",
            parameter="at_least",
        )
    least, users = share
    if not 0 <= least <= users or not 1 <= users <= MAX_USERS:
        raise UsageError(
            "impossible-user-share",
            f"at least {least} of {users} users cannot be: M/N needs 0 ≤ M ≤ N and 1 ≤ N ≤ {MAX_USERS}, such as 1/3",
            parameter="at_least",
        )
    return least, users


def weight(p: ArrayLike, least: int, users: int, *, top: bool = False) -> NDArray[np.float64]:
    """How likely at least M = `least` of N = `users` say the top level T, where one of them has said i.

        i < T:  Σ_{m=M}^{N−1} C(N−1, m) p^m (1−p)^{N−1−m},    p = p_{T|i}
        i = T:  the same sum from m = M − 1,                   p = p_{T|T}    [Demeester14, eq. 4 and 5]

    `top` says that it was T. Holds where the other users are like each other, and each makes up his own mind.

    Examples:
        >>> weight([0.15, 0.23], 1, 3).round(2)
        array([0.28, 0.41])
        >>> float(weight(0.3, 2, 2, top=True)), float(weight(0.3, 2, 2))
        (0.3, 0.0)
    """
    least, users = parse_user_share((least, users))
    p = np.asarray(p, dtype=np.float64)
    if np.any((p < 0) | (p > 1)):
        outside = float(p[(p < 0) | (p > 1)].flat[0])
        raise UsageError("out-of-range", f"a probability lies between 0 and 1, found {outside:g}", parameter="p")
    fixed = fixed_weight(least, users, top=top)
    if fixed is not None:
        return np.full(p.shape, fixed)
    others, needed = users - 1, least - top
    below = needed <= others / 2
    terms = range(needed) if below else range(needed, users)
    probability = sum((math.comb(others, m) * p**m * (1 - p) ** (others - m) for m in terms), np.zeros_like(p))
    return cast("NDArray[np.float64]", np.clip(1 - probability if below else probability, 0, 1))


def fixed_weight(least: int, users: int, *, top: bool) -> float | None:
    """The weight where no p can change it: that of the top for one user, of a lower level for all; None elsewhere.

    Examples:
        >>> fixed_weight(1, 3, top=True), fixed_weight(3, 3, top=False), fixed_weight(1, 3, top=False)
        (1.0, 0.0, None)
    """
    if least - top <= 0:
        return 1.0
    return 0.0 if least - top > users - 1 else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledDocuments:
    """Documents with enough labels: their `votes`, and how many each has for each level, documents × levels."""

    votes: Votes
    counts: NDArray[np.int64]
    top: NDArray[np.bool_]

    @property
    def label_totals(self) -> NDArray[np.int64]:
        """How many labels each document has."""
        totals: NDArray[np.int64] = self.counts.sum(axis=1)
        return totals

    @property
    def label_shares(self) -> Array:
        """How likely a label that is drawn from a document is of each level: documents × levels."""
        shares: Array = self.counts / self.label_totals[:, None]
        return shares


def select_labelled_documents(votes: Votes, top: NDArray[np.bool_], min_labels: int) -> LabelledDocuments:
    """The documents with at least so many labels."""
    selected = votes.keep_items(np.bincount(votes.item, minlength=votes.items.height) >= min_labels)
    return LabelledDocuments(votes=selected, counts=selected.counts(), top=top)


def top_given_label(documents: LabelledDocuments, bootstrap: BootstrapSettings) -> Ratios:
    """How likely another user says the top, given a label of each level.

        p_{T|i} = Σ_d n_i/n · (n_T − [i = T])/(n − 1)  /  Σ_d n_i/n    [Demeester14]

    What comes of drawing a document, one of its n labels and then another, again and again: each document weighs the
    same, and two judges are asked in both directions.
    """
    counts = documents.counts
    other_top = np.where(counts > 0, counts[:, documents.top].sum(axis=1)[:, None] - documents.top, 0)
    numerators = documents.label_shares * other_top / (documents.label_totals - 1)[:, None]
    return estimate_ratios(documents.votes, numerators, documents.label_shares, bootstrap, item=np.arange(len(counts)))


def observed_top_shares(documents: LabelledDocuments, share: UserShare, bootstrap: BootstrapSettings) -> Ratios:
    """How often at least M of N labels of a document are of the top, one of the N being the given one.

        Σ_d n_i/n · P(at least M − [i = T] of the N − 1 others, drawn from the n − 1, are T)  /  Σ_d n_i/n

    Every way to draw them counts, none is drawn. The ratios stand level by level.
    """
    (least, users), counts = share, documents.counts
    labels_and_top = np.stack([documents.label_totals, counts[:, documents.top].sum(axis=1)])
    distinct, inverse = np.unique(labels_and_top, axis=1, return_inverse=True)
    chances = np.array(
        [
            [_hypergeometric_tail(least - top, n - 1, all_top - top, users - 1) for top in (False, True)]
            for n, all_top in distinct.T.tolist()
        ]
    )
    chance = np.where(counts > 0, chances[inverse.ravel()][:, documents.top.astype(int)], 0)
    shares = documents.label_shares
    return estimate_ratios(documents.votes, shares * chance, shares, bootstrap, item=np.arange(len(counts)))


def estimate_consistency(votes: Votes, levels: Levels, bootstrap: BootstrapSettings) -> Consistency | None:
    """How likely the top is again, given each level: by the same judge, and by another [Demeester14, §3.3].

    Within a judge, each pair of a judge and a document that has several of his labels weighs the same, and two of them
    are drawn; across judges, each document that somebody labelled again, and two labels by different judges. None
    where nobody labelled a document again.

    Examples:
        >>> from ringtrue.judges.disagreement.levels import read_votes_on_levels
        >>> table = {"doc": ["a"] * 3, "judge": ["x", "x", "y"], "label": [1, 1, 0]}
        >>> votes, levels = read_votes_on_levels(table, levels=None, top=None, scale=None, outside="refuse")
        >>> from ringtrue.judges.agreement.bootstrap_intervals import BootstrapSettings
        >>> bootstrap = BootstrapSettings(resamples=0, level=0.95, rng=np.random.default_rng(0))
        >>> consistency = estimate_consistency(votes, levels, bootstrap)
        >>> consistency.within["1"].value, consistency.across["1"].value
        (1.0, 0.0)
    """
    item, judge, pair = votes.by_judge_and_item()
    own_counts = votes.tally(pair, len(item))
    n = own_counts.sum(axis=1)
    relabelled = np.zeros(votes.items.height, dtype=bool)
    relabelled[item[n > 1]] = True
    if not relabelled.any():
        return None
    top = levels.top
    own_top = own_counts[:, top].sum(axis=1)
    # The levels one by one, and all that count as the top together.
    given_counts = np.hstack([own_counts, own_top[:, None]])
    is_top = np.append(top, True)
    has_repeats = n > 1
    pairs = (n * (n - 1))[has_repeats, None]
    within_numerators = given_counts[has_repeats] * np.maximum(own_top[has_repeats, None] - is_top, 0) / pairs
    within_denominators = given_counts[has_repeats] * (n[has_repeats, None] - 1) / pairs
    counts = votes.counts()
    total, total_top = counts.sum(axis=1)[item], counts[:, top].sum(axis=1)[item]
    has_others = relabelled[item] & (total > n)
    cross_pairs = np.bincount(item, weights=n * (total - n), minlength=votes.items.height)[item]
    cross_pairs = cross_pairs[has_others, None]
    across_numerators = given_counts[has_others] * (total_top - own_top)[has_others, None] / cross_pairs
    across_denominators = given_counts[has_others] * (total - n)[has_others, None] / cross_pairs
    within = estimate_ratios(votes, within_numerators, within_denominators, bootstrap.spawn(), item=item[has_repeats])
    across = estimate_ratios(votes, across_numerators, across_denominators, bootstrap.spawn(), item=item[has_others])
    undefined_within, undefined_across = (
        "no judge labelled a document again",
        "no such document has labels of two judges",
    )
    histograms = {
        by: Histogram(
            within=_histogram_of_ratios(within_numerators[:, -1], within_denominators[:, -1], groups[has_repeats]),
            across=_histogram_of_ratios(across_numerators[:, -1], across_denominators[:, -1], groups[has_others]),
        )
        for by, groups in (("judge", judge), ("item", item))
    }
    return Consistency(
        documents=int(relabelled.sum()),
        within={
            name: within.estimate(i, Note("no-repeated-labels", f"{undefined_within} having said {name}"))
            for i, name in enumerate(levels.names)
        },
        across={
            name: across.estimate(i, Note("no-repeated-labels", f"{undefined_across}, one of which is {name}"))
            for i, name in enumerate(levels.names)
        },
        overlap_within=_estimate_overlap(within, Note("no-repeated-labels", f"{undefined_within} having said the top")),
        overlap_across=_estimate_overlap(
            across, Note("no-repeated-labels", f"{undefined_across}, one of which is the top")
        ),
        by_judge=histograms["judge"],
        by_document=histograms["item"],
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratios:
    """Several ratios: their `values`, `resampled` with a row for each resample, and what each rests on.

    `documents` and `clusters` count those with a case, `effective_clusters` the clusters of equal size that would
    tell as much.
    """

    values: Array
    resampled: Array
    documents: NDArray[np.int64]
    clusters: NDArray[np.int64]
    effective_clusters: Array
    unit: str
    level: float

    def estimate(self, i: int, undefined: Note) -> Estimate:
        """One of them with its interval.

            Wilson's interval for p of n_eff cases,    n_eff = p(1−p)/V · (z / t_{G−1})²    [Korn98]

        V is the variance over the resamples, times G/(G−1), for the G queries with a case. Where every resample gives
        the same, each query counts as a case.
        """
        value, clusters, method = float(self.values[i]), int(self.clusters[i]), f"bootstrap over {self.unit}"
        make_estimate = partial(Estimate, level=self.level, n=int(self.documents[i]))
        if np.isnan(value):
            return make_estimate(value=None, method=method, notes=(undefined,))
        if not len(self.resampled):
            return make_estimate(value=value, method="no interval asked")
        if clusters < 2:
            note = Note("too-few-clusters", f"all of it from one of the {self.unit}: no interval can be given")
            return make_estimate(value=value, method=method, notes=(note,))
        se, undefined_share = self._spread(self.resampled[:, i], clusters)
        effective_n = float(self.effective_clusters[i])
        if se > CONSTANT_SE and 0 < value < 1:
            t_correction = normal_quantile((1 + self.level) / 2) / t_quantile((1 + self.level) / 2, clusters - 1)
            effective_n = value * (1 - value) / se**2 * t_correction**2
        low, high = wilson(value, effective_n, level=self.level)
        notes = []
        if clusters < FEW_CLUSTERS:
            notes.append(Note("few-clusters", f"only {clusters} {self.unit}: trust the interval with care"))
        if se <= CONSTANT_SE:
            text = f"the same in every resample: each of the {self.unit} counts as one case"
            notes.append(Note("constant-resamples", text))
        if undefined_share > MAX_UNDEFINED_SHARE:
            text = f"undefined in {100 * undefined_share:.0f}% of the resamples, which were left out"
            notes.append(Note("undefined-resamples", text))
        return make_estimate(value=value, se=se, low=float(low), high=float(high), method=method, notes=tuple(notes))

    def _spread(self, resampled: Array, clusters: int) -> tuple[float, float]:
        """The standard error, and the share of the resamples that were undefined."""
        defined = resampled[~np.isnan(resampled)]
        small_sample_factor = np.sqrt(clusters / (clusters - 1))
        se = float(small_sample_factor * np.std(defined, ddof=1)) if len(defined) > 1 else 0.0
        return se, 1 - len(defined) / len(resampled)

    def standard_error(self, i: int, transform: Callable[[Array], Array]) -> float | None:
        """That of one of them after a change of scale."""
        clusters = int(self.clusters[i])
        if not len(self.resampled) or clusters < 2:
            return None
        return self._spread(transform(self.resampled[:, i]), clusters)[0]


def estimate_ratios(
    votes: Votes, numerators: Array, denominators: Array, bootstrap: BootstrapSettings, *, item: NDArray[np.int64]
) -> Ratios:
    """The sums of `numerators` over those of `denominators`, whose rows belong to the items `item`, by column."""
    group, groups, unit = choose_resampling_groups(votes, bootstrap)
    width = numerators.shape[1]
    rows = np.zeros((groups, 2 * width))
    np.add.at(rows, group[item], np.hstack([numerators, denominators]))
    cases = denominators > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        values = rows[:, :width].sum(axis=0) / rows[:, width:].sum(axis=0)
        effective_clusters = rows[:, width:].sum(axis=0) ** 2 / (rows[:, width:] ** 2).sum(axis=0)
        resampled = []
        batch = max(1, MAX_CELLS // groups)
        for counts in resample_query_counts(groups, bootstrap.resamples, batch=batch, rng=bootstrap.rng):
            sums = counts @ rows
            resampled.append(sums[:, :width] / sums[:, width:])
            bootstrap.progress(len(counts) * votes.size)
    cluster, _, _ = votes.clusters()
    return Ratios(
        values=values,
        resampled=np.concatenate(resampled) if resampled else np.empty((0, width)),
        documents=np.array([len(np.unique(item[has_case])) for has_case in cases.T]),
        clusters=np.array([len(np.unique(cluster[item[has_case]])) for has_case in cases.T]),
        effective_clusters=effective_clusters,
        unit=unit,
        level=bootstrap.level,
    )


def transform_estimate(estimate: Estimate, transform: Callable[[Array], Array], se: float | None) -> Estimate:
    """An estimate on another scale: a rising function takes the ends of the interval along."""

    def transform_number(number: float | None) -> float | None:
        return None if number is None else float(transform(np.array(number)))

    return replace(
        estimate,
        value=transform_number(estimate.value),
        se=None if estimate.value is None else se,
        low=transform_number(estimate.low),
        high=transform_number(estimate.high),
    )


def _hypergeometric_tail(least: int, labels: int, top: int, drawn: int) -> float:
    """How likely at least so many of the labels drawn without putting back are of the top."""
    if top < 0 or top > labels:  # no such label can have been given
        return 0.0
    ways = sum(
        math.comb(top, hits) * math.comb(labels - top, drawn - hits)
        for hits in range(max(least, 0), min(top, drawn) + 1)
    )
    return ways / math.comb(labels, drawn)


def _estimate_overlap(ratios: Ratios, undefined: Note) -> Estimate:
    """The share of pairs with a top label in which both are: p / (2 − p), each pair being taken in both directions."""
    top_index = len(ratios.values) - 1

    def overlap(p: Array) -> Array:
        return p / (2 - p)

    return transform_estimate(ratios.estimate(top_index, undefined), overlap, ratios.standard_error(top_index, overlap))


def _histogram_of_ratios(numerators: Array, denominators: Array, group: NDArray[np.int64]) -> tuple[int, ...]:
    """How many groups have a ratio of their sums in each tenth; the last has both its ends."""
    if not len(group):
        return (0,) * BINS
    sums = np.bincount(group, weights=numerators), np.bincount(group, weights=denominators)
    shares = sums[0][sums[1] > 0] / sums[1][sums[1] > 0]
    # A share of 0.3 may be a little less in floats.
    bin_index = np.minimum((shares * BINS + 1e-9).astype(np.int64), BINS - 1)
    return tuple(np.bincount(bin_index, minlength=BINS).tolist())
