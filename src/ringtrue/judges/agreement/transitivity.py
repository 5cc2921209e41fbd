"""Whether preferences fit an order, or run in circles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.judges.agreement.results import Transitivity
from ringtrue.stats.intervals import estimate_share
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from ringtrue.judges.votes import Votes

Codes: TypeAlias = NDArray[np.int64]


def estimate_transitivity(votes: Votes, *, level: float) -> Transitivity:
    """The share of triples of documents, all three pairs decided, that are no circle.

    Of coin flips, a quarter of the triples are circles. Intervals are over queries, whose triples share pairs.
    """
    verdict = np.array(votes.labels)[votes.label]
    query = votes.items["query"].rank("dense").to_numpy().astype(np.int64)
    n_judges = len(votes.judges)
    item, judge, vote = votes.by_judge_and_item()
    within_judge = _make_tournament(
        votes, item, np.bincount(vote, weights=verdict).astype(np.float64), query[item] * n_judges + judge
    )
    all_items = np.arange(votes.items.height)
    majority = _make_tournament(
        votes, all_items, np.bincount(votes.item, weights=verdict, minlength=len(all_items)).astype(np.float64), query
    )
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


def _make_tournament(votes: Votes, item: Codes, net: NDArray[np.float64], group: Codes) -> _Tournament:
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
