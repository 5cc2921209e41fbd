"""Does the judge change the order of the runs?

Two judges, the same runs and queries: how alike are the two orders, which pairs of runs change places, and
how much of that would another sample of queries have done by itself?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MismatchError, UsageError
from ringtrue.evaluation.stability.common_scores import align_scores
from ringtrue.evaluation.stability.results import Flip, Stability, Standing
from ringtrue.formatting.phrases import format_count
from ringtrue.stats.bootstrap import resample_query_counts
from ringtrue.stats.rank_correlation import pair_signs, rbo, tau_ap, tau_from_signs
from ringtrue.tables import Scores

FloatArray = NDArray[np.float64]
TOLERANCE = 1e-11  # of the largest value: means this close differ by rounding alone
MAX_CELLS = 2_000_000  # cells of the largest array that is held at once


def stability(
    scores: Scores,
    versus: Scores,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    persistence: float = 0.9,
    rng: np.random.Generator | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Stability]:
    """For each measure, how far the order of the runs survives a change of judge.

    `scores` and `versus` hold the same runs, evaluated with either judge's labels; a measure is matched by its
    name, or by its name but for `rel`, since judges may use different scales. Only runs and queries that both
    have count, and of these only the queries where every run has a value.

    The queries are drawn anew with replacement, the same draw for both judges. In each resample a pair of runs
    counts as ordered differently by 1 if the orders are opposite and by ½ if one judge ties the pair (a coin
    would be against the other half of the time); two judges who both tie it say the same, and it counts 0.
    A winner that is shared counts as the share of the winners of either judge that are winners of both.

    Holds for queries drawn at random from those that matter. `rng` is seeded with 0 where it is not given, and
    `progress` is told how many pairs × resamples were done.

    Examples:
        >>> from ringtrue.evaluation.evaluate import evaluate
        >>> runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d2": 2.0, "d1": 1.0}}}
        >>> human, model = ({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 0, "d2": 1}})
        >>> print(stability(evaluate(runs, human, "RR"), evaluate(runs, model, "RR"))["RR"])
        RR over 1 query: tau -1.000, tau_AP -1.000, RBO 0.900; a comes first by the first judge, b by the second
    """
    if resamples < 1:
        raise UsageError(f"at least one resample is needed, found {resamples}; 10000 is usual")
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, found {level:g}; 0.95 is usual")
    notes: list[str] = []
    runs, values = align_scores(scores, versus, notes)
    seed = int((rng or np.random.default_rng(0)).integers(2**63))
    by_measure = {}
    for measure, (a, b) in values.items():
        complete = ~np.isnan(a).any(axis=0) & ~np.isnan(b).any(axis=0)
        if not complete.any():
            raise MismatchError(f"{measure}: no query has a value for every run by both judges")
        order = _order_runs(runs, a[:, complete])
        names = [runs[i] for i in order]
        first, second = _JudgeOrder(a[order][:, complete]), _JudgeOrder(b[order][:, complete])
        tau, overlap = float(tau_from_signs(first.signs, second.signs)), rbo(first.levels, second.levels, p=persistence)
        summary = _resample_orders(first, second, resamples, np.random.default_rng(seed), progress or (lambda _: None))
        by_measure[measure] = Stability(
            measure=measure,
            tau=None if math.isnan(tau) else tau,
            tau_range=summary.tau_range(level),
            tau_ap=float(tau_ap(first.levels, second.levels)),
            rbo=float(overlap),
            same_winner=summary.same_winner,
            winner_noise=summary.winner_noise,
            standings=_build_standings(names, first, second),
            flips=_build_flips(names, first, second, summary),
            queries=int(np.sum(complete)),
            resamples=resamples,
            level=level,
            persistence=persistence,
            notes=(
                *notes,
                *(f"{measure}: {note}" for note in _stability_notes(int(np.sum(~complete)), first, second, summary)),
            ),
        )
    return by_measure


class _JudgeOrder:
    """The values [run, query] by one judge, and the order of the runs that follows from their means."""

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self.means = values.mean(axis=1)
        self.levels = self.rank_levels(self.means)
        self.signs = pair_signs(self.levels)

    def rank_levels(self, means: FloatArray) -> NDArray[np.int32]:
        """Means along the last axis as whole numbers, 0 for the lowest; equal where rounding alone differs."""
        order = np.argsort(means, axis=-1)
        steps = np.diff(np.take_along_axis(means, order, axis=-1), axis=-1) > TOLERANCE * np.abs(self.values).max()
        levels = np.zeros(means.shape, dtype=np.int32)
        np.put_along_axis(levels, order[..., 1:], np.cumsum(steps, axis=-1, dtype=np.int32), axis=-1)
        return levels

    def resampled_levels(self, weights: FloatArray) -> NDArray[np.int32]:
        """The order in each resample, whose weights are [resample, query]."""
        return self.rank_levels(weights @ self.values.T / self.values.shape[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class _ResampleSummary:
    """What happened in the resamples: the shares for each pair, the winner, and every tau."""

    disagreement: FloatArray
    noise: FloatArray
    versus_noise: FloatArray
    same_winner: float
    winner_noise: float
    taus: FloatArray

    def tau_range(self, level: float) -> tuple[float, float] | None:
        taus = self.taus[~np.isnan(self.taus)]
        if not len(taus):
            return None
        low, high = np.quantile(taus, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def _order_runs(runs: list[str], values: FloatArray) -> list[int]:
    """The places of the runs in the order of their means; by name where these are equal."""
    levels = _JudgeOrder(values).levels
    return sorted(range(len(runs)), key=lambda i: (-levels[i], runs[i]))


def _resample_orders(
    first: _JudgeOrder, second: _JudgeOrder, resamples: int, rng: np.random.Generator, progress: Callable[[int], None]
) -> _ResampleSummary:
    pairs, queries = len(first.signs), first.values.shape[1]
    disagreement, noise, versus_noise = np.zeros((3, pairs), dtype=np.int64)
    taus, same_winner, own_winner = [], 0.0, 0.0
    winners = _winner_mask(first.levels)
    for weights in resample_query_counts(queries, resamples, batch=max(1, MAX_CELLS // max(pairs, queries)), rng=rng):
        orders = first.resampled_levels(weights), second.resampled_levels(weights)
        first_signs, second_signs = pair_signs(orders[0]), pair_signs(orders[1])
        # Signs are −1, 0 and 1: opposite orders differ by 2, an order and a tie by 1.
        disagreement += np.abs(first_signs - second_signs).sum(axis=0, dtype=np.int64)
        noise += np.abs(first_signs - first.signs).sum(axis=0, dtype=np.int64)
        versus_noise += np.abs(second_signs - second.signs).sum(axis=0, dtype=np.int64)
        taus.append(tau_from_signs(first_signs, second_signs))
        same_winner += _sum_jaccard(_winner_mask(orders[0]), _winner_mask(orders[1]))
        own_winner += _sum_jaccard(_winner_mask(orders[0]), winners)
        progress(first_signs.size)
    return _ResampleSummary(
        disagreement=disagreement / (2 * resamples),
        noise=noise / (2 * resamples),
        versus_noise=versus_noise / (2 * resamples),
        same_winner=same_winner / resamples,
        winner_noise=max(0.0, 1 - own_winner / resamples),
        taus=np.concatenate(taus),
    )


def _winner_mask(levels: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which runs come first."""
    return np.asarray(levels == levels.max(axis=-1, keepdims=True))


def _sum_jaccard(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    """Of the runs in either, the share in both, added up over resamples."""
    return float(np.sum((a & b).sum(axis=-1) / (a | b).sum(axis=-1)))


def _build_standings(runs: list[str], first: _JudgeOrder, second: _JudgeOrder) -> tuple[Standing, ...]:
    ranks = [1 + np.sum(judge.levels[:, None] < judge.levels, axis=1) for judge in (first, second)]
    return tuple(
        Standing(
            run=run, mean=float(mean), rank=int(rank), versus_mean=float(versus_mean), versus_rank=int(versus_rank)
        )
        for run, mean, rank, versus_mean, versus_rank in zip(
            runs, first.means, ranks[0], second.means, ranks[1], strict=True
        )
    )


def _build_flips(
    runs: list[str], first: _JudgeOrder, second: _JudgeOrder, summary: _ResampleSummary
) -> tuple[Flip, ...]:
    a, b = np.triu_indices(len(runs), k=1)
    return tuple(
        Flip(
            a=runs[a[pair]],
            b=runs[b[pair]],
            share=float(summary.disagreement[pair]),
            flipped=bool(first.signs[pair] * second.signs[pair] < 0),
            difference=float(first.means[a[pair]] - first.means[b[pair]]),
            versus_difference=float(second.means[a[pair]] - second.means[b[pair]]),
            noise=float(summary.noise[pair]),
            versus_noise=float(summary.versus_noise[pair]),
        )
        for pair in np.argsort(-summary.disagreement, kind="stable")
    )


def _stability_notes(
    left_out: int, first: _JudgeOrder, second: _JudgeOrder, summary: _ResampleSummary
) -> Iterator[str]:
    if left_out:
        yield f"{format_count(left_out, 'query')} left out, where some run has no value"
    if first.values.shape[1] == 1:
        yield "a single query: every resample is the same, and shares say nothing"
    tied = [name for name, judge in (("first", first), ("second", second)) if not judge.signs.any()]
    if tied:
        yield f"every run has the same mean by the {' and the '.join(tied)} judge: tau is undefined"
    undefined = np.count_nonzero(np.isnan(summary.taus))
    if undefined and not tied:
        yield f"tau is undefined in {undefined} of {len(summary.taus)} resamples, where a judge ties all runs"
