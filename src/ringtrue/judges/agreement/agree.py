"""How far do the judges agree with each other, and each with what they said before?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import MismatchError, TableError, UsageError
from ringtrue.judges.agreement.bootstrap_intervals import FEW_CLUSTERS, AgreementSettings
from ringtrue.judges.agreement.judge_pairs import choose_judge_pairs, estimate_overall, estimate_pair_agreements
from ringtrue.judges.agreement.results import Agreement, PairAgreement, Period, Transitivity
from ringtrue.judges.votes import (
    Codes,
    Outside,
    Repeats,
    Votes,
    align_with_gold,
    find_isolated_judges,
    majority,
    make_votes,
)
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.encoding import mean_by_group
from ringtrue.stats.intervals import estimate_mean, estimate_share, require_level
from ringtrue.stats.results import Estimate

MAX_PAIRS = 1_000
MIN_GOLD_SHARE = 0.5  # of the gold items that the judge with the most of them met
PERIODS = 4
MIN_LABELS = 10  # labels in a period


def agree(
    labels: object,
    *,
    gold: object = None,
    rel: int = 1,
    scale: Sequence[int] | None = None,
    outside: Outside = "refuse",
    repeats: Repeats | None = None,
    alone: bool = False,
    pairs: int = MAX_PAIRS,
    resamples: int = 1_000,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Agreement:
    """How far judges agree, all together, two by two, with gold, with themselves, and over time.

    `labels` are judgments or preferences of several judges, any label may be missing. Labels of `rel` and higher are
    relevant for the overlap. `scale` declares the labels there are, which matters to AC1 and Brennan–Prediger where
    one was never used. Where there is nobody to agree with, that is an error, or with `alone` an answer with nothing
    in it. Of many pairs of judges, those with the most items in common are kept. Intervals hold for
    queries like these (for items like these where there is one query) and these judges; `resamples=0` leaves them out.

    Examples:
        >>> labels = {"doc": ["a", "a", "b", "b", "c", "c"], "judge": ["x", "y"] * 3, "label": [0, 0, 1, 1, 0, 1]}
        >>> print(agree(labels, resamples=0).overall["alpha_nominal"])
        0.4444
    """
    require_level(level)
    if resamples < 0 or resamples == 1 or pairs < 0:
        raise UsageError(
            "out-of-range",
            f"resamples are 0 or at least 2, pairs 0 or more; found {resamples} and {pairs}",
            parameter="pairs" if pairs < 0 else "resamples",
        )
    rng = np.random.default_rng(0) if rng is None else rng
    all_votes = judge_votes = make_votes(labels, scale=scale, outside=outside)
    gold_labels = None
    if gold is not None:
        try:
            all_votes, gold_labels = align_with_gold(all_votes, make_votes(gold, scale=scale, outside=outside))
        except MismatchError:
            if not alone:
                raise
    votes = all_votes.resolve_repeats(repeats)
    n_repeats = 0 if votes is all_votes and repeats != "all" else int(all_votes.find_repeats().sum())
    if not alone:
        _require_comparable_labels(all_votes, gold_labels, n_repeats)
    # How many labels there are matters to AC1 and Brennan–Prediger: those that only gold has are left out.
    own_scale_votes = votes.on_scale(judge_votes.labels)
    # Each part has draws of its own, so that its answer does not depend on what else was asked.
    for_all, for_pairs, for_gold = (
        AgreementSettings(
            relevant=np.array([label >= rel for label in part_votes.labels]) & (not votes.is_pairwise),
            resamples=resamples,
            level=level,
            rng=part_rng,
            progress=progress,
            mirrored=votes.is_pairwise,
        )
        for part_votes, part_rng in zip((own_scale_votes, votes, votes), rng.spawn(3), strict=True)
    )
    judge_pairs = estimate_pair_agreements(votes, choose_judge_pairs(votes, pairs), for_pairs)
    gold_pairs, consensus = _estimate_gold_agreement(votes, gold_labels, for_gold)
    gold_notes = []
    if gold_labels is not None:
        n_gold = int((gold_labels >= 0).sum())
        gold_notes = [Note("items-with-gold", f"{n_gold:,} of {votes.items.height:,} items have a gold label")]
    return Agreement(
        judges=votes.judges,
        labels=votes.labels,
        used=tuple(votes.labels[code] for code in np.unique(votes.label)),
        votes=votes.size,
        items=votes.items.height,
        queries=votes.items["query"].n_unique(),
        overall=estimate_overall(own_scale_votes, for_all)
        | estimate_consistency(all_votes, has_repeats=n_repeats > 0, level=level),
        pairs=tuple(sorted(judge_pairs, key=lambda pair: -pair.n)),
        gold=gold_pairs,
        consensus=consensus,
        drift=estimate_drift(votes, level=level),
        transitivity=estimate_transitivity(votes, level=level) if votes.is_pairwise else None,
        notes=(
            *all_votes.notes,
            *_repeat_notes(n_repeats, repeats),
            *_overlap_notes(votes, n_shown=len(judge_pairs), max_pairs=pairs),
            *(_few_cluster_notes(votes) if resamples else ()),
            *gold_notes,
        ),
    )


def _require_comparable_labels(votes: Votes, gold_labels: Codes | None, n_repeats: int) -> None:
    if gold_labels is not None or n_repeats:
        return
    if len(votes.judges) > 1:
        if np.bincount(votes.item).max() == 1:
            raise TableError(
                "no-shared-items",
                f"{len(votes.judges):,} judges, and no item that two of them labelled: agreement needs some; "
                f"are documents and queries called alike for all judges?",
            )
        return
    raise TableError(
        "one-judge",
        f"all {votes.size:,} labels are by one judge, '{votes.judges[0]}': agreement needs two or more, in a column "
        f"'judge' or in the second field of qrels",
        suggestions=[Suggestion("compares with gold labels", gold=...)],
    )


def _estimate_gold_agreement(
    votes: Votes, gold_labels: Codes | None, settings: AgreementSettings
) -> tuple[tuple[PairAgreement, ...], PairAgreement | None]:
    """Gold against each judge, the closest first, and against the label that most judges gave (of several, the lowest).

    Closest is who has the highest kappa; those who met few of the gold items come after, so that luck is not the best.
    """
    if gold_labels is None:
        return (), None
    majority_labels = majority(votes.counts())
    item = np.flatnonzero((gold_labels >= 0) & (majority_labels >= 0)).astype(np.int32)
    with_gold_judges = votes.with_judge("gold", item, gold_labels[item])
    with_gold_judges = with_gold_judges.with_judge("majority", item, majority_labels[item].astype(np.int32))
    n_judges = len(votes.judges)
    pairs = [(n_judges, judge) for judge in (n_judges + 1, *range(n_judges))]
    consensus, *gold_pairs = estimate_pair_agreements(with_gold_judges, pairs, settings)
    min_items = MIN_GOLD_SHARE * max((pair.n for pair in gold_pairs), default=0)

    def closeness(pair: PairAgreement) -> tuple[bool, float, int]:
        return pair.n >= min_items, -np.inf if pair.kappa.value is None else pair.kappa.value, pair.n

    return tuple(sorted(gold_pairs, key=closeness, reverse=True)), consensus


def _repeat_notes(n_repeats: int, repeats: Repeats | None) -> Iterator[Note]:
    repetition = "1 label repeats" if n_repeats == 1 else f"{n_repeats:,} labels repeat"
    if n_repeats and repeats == "all":
        yield Note(
            "repeats-count",
            f"{repetition} a judge's own label of an item, and each counts as another judge's would: "
            f"agreement is partly that of judges with themselves",
            parameter="repeats",
            suggestions=[Suggestion(repeats="last"), Suggestion("takes one", repeats="first")],
        )
    elif n_repeats:
        text = f"{repetition} a judge's own label of an item; the {repeats} one counts"
        yield Note("repeats-dropped", text, parameter="repeats")


def _overlap_notes(votes: Votes, *, n_shown: int, max_pairs: int) -> Iterator[Note]:
    n_judges = len(votes.judges)
    n_single = int((np.bincount(votes.item, minlength=votes.items.height) == 1).sum())
    if n_single and n_judges > 1:
        single = f"{n_single:,} of {votes.items.height:,} items have a single label"
        yield Note("thinly-labelled-items", f"{single} and say nothing about agreement")
    isolated = [votes.judges[code] for code in np.flatnonzero(find_isolated_judges(votes))]
    if isolated and n_judges > 1:
        names = ", ".join(isolated[:3]) + (", …" if len(isolated) > 3 else "")
        yield Note("isolated-judges", f"{len(isolated):,} of {n_judges:,} judges share no item with another: {names}")
    n_pairs = n_judges * (n_judges - 1) // 2
    if 0 < n_shown < n_pairs and n_shown == max_pairs:
        yield Note(
            "pairs-left-out",
            f"{n_shown:,} of {n_pairs:,} pairs of judges are given, those with the most items in common",
            parameter="pairs",
            suggestions=[Suggestion("takes more", pairs=...)],
        )
    elif 0 < n_shown < n_pairs:
        apart = f"{n_pairs - n_shown:,} of {n_pairs:,} pairs of judges"
        yield Note("pairs-without-overlap", f"{apart} have no item in common")


def _few_cluster_notes(votes: Votes) -> Iterator[Note]:
    _, n_clusters, unit = votes.clusters()
    if n_clusters < FEW_CLUSTERS:
        yield Note("few-clusters", f"only {n_clusters} {unit}: trust the intervals with care")


def estimate_consistency(votes: Votes, *, has_repeats: bool, level: float) -> dict[str, Estimate]:
    """How often a judge who labels an item again says the same, and how often another judge does [Demeester14].

    `self_consistency` is the share of equal pairs among a judge's labels of an item, `cross_consistency` the share
    among pairs of labels of two judges, on the items that somebody labelled again: the difference is what taste adds
    to carelessness. `has_repeats` says whether there is any such label.
    """
    if not has_repeats:
        note = Note("no-repeated-labels", "no judge labelled an item twice")
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

    def make_period(rows: NDArray[np.int64]) -> Period:
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


def _make_tournament(votes: Votes, item: NDArray[np.int64], net: NDArray[Any], group: NDArray[np.int64]) -> _Tournament:
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
        note = Note("no-triples", "no three documents of a query were compared with each other")
        return Estimate(value=None, level=level, n=0, method="wilson", notes=(note,))
    if (triples > 0).sum() == 1:
        note = Note("single-query", "triples of a single query share their pairs: no interval can be given")
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
