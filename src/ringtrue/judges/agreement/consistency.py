"""Whether labels hold together: the same judge again, early labels and late ones, preferences in circles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.judges.agreement.results import Period, Transitivity
from ringtrue.stats.encoding import mean_by_group
from ringtrue.stats.intervals import estimate_mean, estimate_share
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from ringtrue.judges.votes import Votes

PERIODS = 4
MIN_LABELS = 10  # labels in a period
Codes: TypeAlias = NDArray[np.int64]


def estimate_consistency(votes: Votes, *, has_repeats: bool, level: float) -> dict[str, Estimate]:
    """How often a judge who labels an item again says the same, and how often another judge does [Demeester14].

    `self_consistency` is the share of equal pairs among a judge's labels of an item, `cross_consistency` the share
    among pairs of labels of two judges, on the items that somebody labelled again: the difference is what taste adds
    to carelessness. `has_repeats` says whether there is any such label.
    """
    if not has_repeats:
        note = "no judge labelled an item twice"
        undefined = Estimate(value=None, level=level, n=0, method="wilson", notes=(note,))
        return {"self_consistency": undefined, "cross_consistency": undefined}
    cluster, _, _ = votes.clusters()
    item, _, group = votes.by_judge_and_item()
    label_counts = votes.tally(group, len(item))
    n = label_counts.sum(axis=1)
    is_repeated = n > 1
    equal = (label_counts * (label_counts - 1)).sum(axis=1)
    self_consistency = estimate_share(
        (equal / np.maximum(n * (n - 1), 1))[is_repeated], cluster[item[is_repeated]], level=level
    )
    # Pairs of labels of an item, less those of one judge.
    all_pairs, all_equal = (
        np.bincount(item, weights=pairs, minlength=votes.items.height) for pairs in (n * (n - 1), equal)
    )
    counts = votes.counts()
    n_labels = counts.sum(axis=1)
    pairs = n_labels * (n_labels - 1) - all_pairs
    agreeing = (counts * (counts - 1)).sum(axis=1) - all_equal
    is_used = np.zeros(votes.items.height, dtype=bool)
    is_used[item[is_repeated]] = True
    is_used &= pairs > 0
    equal_share = (agreeing / np.maximum(pairs, 1))[is_used]
    cross_consistency = estimate_share(
        equal_share, cluster[is_used], level=level, case_name="such item that two judges labelled"
    )
    return {"self_consistency": self_consistency, "cross_consistency": cross_consistency}


def estimate_drift(votes: Votes, *, level: float, periods: int = PERIODS) -> tuple[Period, ...]:
    """How labels agree with the others' on the same items, in stretches of time with equally many labels.

    A label's agreement is the share of the other labels of its item that are equal to it; its leniency is how much
    higher it is than their mean, averaged by query. All other labels count, whenever they were given.
    """
    timestamp = votes.times()
    if timestamp is None or timestamp.min() == timestamp.max():
        return ()
    cluster, _, _ = votes.clusters()
    counts = votes.counts()
    n_labels = counts.sum(axis=1)
    is_comparable = n_labels[votes.item] > 1
    grades = np.array(votes.labels, dtype=np.float64)
    n_others = np.maximum(n_labels[votes.item] - 1, 1)
    equal_share = (counts[votes.item, votes.label] - 1) / n_others
    leniency = grades[votes.label] - ((counts @ grades)[votes.item] - grades[votes.label]) / n_others
    rows = np.flatnonzero(is_comparable)
    if len(rows) < periods * MIN_LABELS:
        return ()
    rows = rows[np.argsort(timestamp[rows], kind="stable")]
    time = votes.others["time"]

    def make_period(rows: Codes) -> Period:
        clusters, group = np.unique(cluster[votes.item[rows]], return_inverse=True)
        return Period(
            first=str(time[int(rows[0])]),
            last=str(time[int(rows[-1])]),
            labels=len(rows),
            agreement=estimate_share(equal_share[rows], group, level=level),
            leniency=estimate_mean(mean_by_group(group, leniency[rows], len(clusters)), level=level),
        )

    return tuple(make_period(period_rows) for period_rows in np.array_split(rows, periods))


def estimate_transitivity(votes: Votes, *, level: float) -> Transitivity:
    """The share of triples of documents, all three pairs decided, that are no circle.

    Of coin flips, a quarter of the triples are circles. Intervals are over queries, whose triples share pairs.
    """
    verdict = np.array(votes.labels)[votes.label]
    query = votes.items["query"].rank("dense").to_numpy().astype(np.int64)
    n_judges = len(votes.judges)
    item, judge, vote = votes.by_judge_and_item()
    within_judge = _make_tournament(votes, item, np.bincount(vote, weights=verdict), query[item] * n_judges + judge)
    all_items = np.arange(votes.items.height)
    net = np.bincount(votes.item, weights=verdict, minlength=len(all_items))
    majority = _make_tournament(votes, all_items, net, query)
    return Transitivity(
        within=_estimate_transitive_share(within_judge, level),
        majority=_estimate_transitive_share(majority, level),
        cycle=_find_cycle(majority),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tournament:
    """Who beats whom: `beats[i, j]` is 1 where player i does. A player is a document in one group of preferences."""

    beats: Any  # a sparse matrix of SciPy, which has no types
    query: list[str]
    doc: list[str]


def _make_tournament(votes: Votes, item: Codes, net: NDArray[Any], group: Codes) -> _Tournament:
    from scipy.sparse import csr_array

    item, group, net = item[net != 0], group[net != 0], net[net != 0]
    pairs = votes.items[item].with_columns(group=pl.Series(group))
    sides = [pairs.select("group", "query", pl.col(side).alias("doc")) for side in ("first", "second")]
    players = pl.concat(sides).unique(maintain_order=True).with_row_index("player")
    first, second = (
        side.join(players, on=["group", "query", "doc"], how="left", maintain_order="left")["player"].to_numpy()
        for side in sides
    )
    winner, loser = np.where(net > 0, first, second), np.where(net > 0, second, first)
    shape = (players.height, players.height)
    return _Tournament(
        beats=csr_array((np.ones(len(net), dtype=np.int64), (winner, loser)), shape=shape),
        query=players["query"].to_list(),
        doc=players["doc"].to_list(),
    )


def _estimate_transitive_share(tournament: _Tournament, level: float) -> Estimate:
    """Triples that are no circle: player i is in Σ_j (A²)_ij A_ji circles, and in half of Σ_j (U²)_ij U_ij triples."""
    beats, played = tournament.beats, tournament.beats + tournament.beats.T
    in_circles = np.asarray((beats @ beats).multiply(beats.T).sum(axis=1)).ravel()
    in_triples = np.asarray((played @ played).multiply(played).sum(axis=1)).ravel() // 2
    queries, query = np.unique(np.array(tournament.query, dtype=object), return_inverse=True)
    circles, triples = (
        np.bincount(query, weights=counts, minlength=len(queries)) // 3 for counts in (in_circles, in_triples)
    )
    total = int(triples.sum())
    if not total:
        note = "no three documents of a query were compared with each other"
        return Estimate(value=None, level=level, n=0, method="wilson", notes=(note,))
    if (triples > 0).sum() == 1:
        note = "triples of a single query share their pairs: no interval can be given"
        share = 1 - float(circles.sum()) / total
        return Estimate(value=share, level=level, n=total, method="wilson", notes=(note,))
    hits = np.repeat(np.tile([0, 1], len(queries)), np.stack([circles, triples - circles], axis=1).ravel().astype(int))
    return estimate_share(hits, np.repeat(np.arange(len(queries)), triples.astype(int)), level=level)


def _find_cycle(tournament: _Tournament) -> tuple[str, str, str, str] | None:
    """A query and three of its documents, each beaten by the one before it."""
    beats = tournament.beats
    closing = (beats @ beats).multiply(beats.T).tocoo()
    if not closing.nnz:
        return None
    first, third = int(closing.row[0]), int(closing.col[0])
    beaten = beats[[first]].indices
    second = next(int(player) for player in beaten if third in beats[[int(player)]].indices)
    return tournament.query[first], tournament.doc[first], tournament.doc[second], tournament.doc[third]
