"""Does the judge change the order of the runs?

Two judges, the same runs and queries: how alike are the two orders, which pairs of runs change places, and
how much of that would another sample of queries have done by itself?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MeasureError, MismatchError, UsageError
from ringtrue.evaluation.measures import BoolArray, FloatArray, Measure, parse
from ringtrue.evaluation.stability.results import Flip, Stability, Standing
from ringtrue.formatting.phrases import format_count, join_first_few
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.intervals import require_level, resample_query_counts
from ringtrue.stats.rank_correlation import pair_signs, rbo, tau_ap, tau_from_signs
from ringtrue.tables import Scores
from ringtrue.tables.scores import Cube

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
        raise UsageError(
            "bad-resamples",
            f"at least one resample is needed, found {resamples}",
            parameter="resamples",
            suggestions=[Suggestion("is usual", resamples=10_000)],
        )
    require_level(level)
    notes: list[Note] = []
    runs, values = align_scores(scores, versus, notes)
    seed = int((rng or np.random.default_rng(0)).integers(2**63))
    by_measure = {}
    for measure, (a, b) in values.items():
        complete = ~np.isnan(a).any(axis=0) & ~np.isnan(b).any(axis=0)
        if not complete.any():
            raise MismatchError("no-common-query", "no query has a value for every run by both judges", subject=measure)
        order = _order_runs(runs, a[:, complete])
        names = [runs[i] for i in order]
        first, second = _JudgeOrder(a[order][:, complete]), _JudgeOrder(b[order][:, complete])
        tau, overlap = float(tau_from_signs(first.signs, second.signs)), _overlap(first, second, persistence)
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
                *(note.about(measure) for note in _stability_notes(int(np.sum(~complete)), first, second, summary)),
            ),
        )
    return by_measure


def _overlap(first: _JudgeOrder, second: _JudgeOrder, persistence: float) -> FloatArray:
    try:
        return rbo(first.levels, second.levels, p=persistence)
    except UsageError as error:
        raise error.with_note(error.note.renamed({"p": "persistence"})) from error


def align_scores(
    scores: Scores, versus: Scores, notes: list[Note]
) -> tuple[list[str], dict[str, tuple[FloatArray, FloatArray]]]:
    """The runs that both have, and for each measure the values [run, query] by either; notes tell what one has alone.

    A value is NaN where a run has none. Measures go by their names, or by their names but for `rel`.

    Examples:
        >>> from ringtrue.evaluation.evaluate import evaluate
        >>> runs = {"a": {"q1": {"d1": 2.0}}, "b": {"q1": {"d2": 2.0}}}
        >>> first, second = (evaluate(runs, {"q1": labels}, "RR") for labels in ({"d1": 1}, {"d2": 1}))
        >>> align_scores(first, second, [])
        (['a', 'b'], {'RR': (array([[1.], [0.]]), array([[0.], [1.]]))})
    """
    first_cube, second_cube = scores.cube(), versus.cube()
    runs = _common_names("run", first_cube.runs, second_cube.runs, notes)
    if len(runs) < 2:
        raise UsageError("needs-two-runs", f"an order needs two runs or more, found only '{runs[0]}'")
    queries = _common_names("query", first_cube.queries, second_cube.queries, notes)
    measures = _match_measures(first_cube.measures, second_cube.measures, notes)
    return runs, {
        measure: (
            _score_matrix(first_cube, measure, runs, queries),
            _score_matrix(second_cube, versus_measure, runs, queries),
        )
        for measure, versus_measure in measures.items()
    }


def _score_matrix(cube: Cube, measure: str, runs: list[str], queries: list[str]) -> FloatArray:
    """The values [run, query] of one measure, in the order of these runs and queries."""
    rows, columns = ({name: i for i, name in enumerate(names)} for names in (cube.runs, cube.queries))
    cells: FloatArray = cube.values[cube.measures.index(measure)][
        np.ix_([rows[run] for run in runs], [columns[query] for query in queries])
    ]
    return cells


def _common_names(kind: str, first: tuple[str, ...], second: tuple[str, ...], notes: list[Note]) -> list[str]:
    """The names that both have; a note tells the others."""
    name_sets = set(first), set(second)
    common = [name for name in first if name in name_sets[1]]
    if not common:
        raise MismatchError(
            "no-common-run" if kind == "run" else "no-common-query",
            f"the two judges have no {kind} in common: the first has {join_first_few(first)}, "
            f"the second has {join_first_few(second)}",
        )
    for which, names, other_names in (("first", first, name_sets[1]), ("second", second, name_sets[0])):
        unshared = [name for name in names if name not in other_names]
        if unshared:
            count = format_count(len(unshared), kind)
            text = f"{count} of the {which} judge only, not used: {join_first_few(unshared)}"
            notes.append(Note("unshared-runs" if kind == "run" else "unshared-queries", text))
    return common


def _match_measures(first: tuple[str, ...], second: tuple[str, ...], notes: list[Note]) -> dict[str, str]:
    """Which measure of the second judge belongs to which of the first: of the same name, or the same but for `rel`."""
    matched = {}
    for name in first:
        candidates = (
            [name]
            if name in second
            else [candidate for candidate in second if _without_rel(candidate) == _without_rel(name)]
        )
        if len(candidates) != 1:
            notes.append(Note("unshared-measure", f"{name} is of the first judge only, not used"))
            continue
        matched[name] = candidates[0]
        if name not in candidates:
            text = f"{name} by the first judge is held against {candidates[0]} by the second"
            notes.append(Note("different-rel", text))
    notes += [
        Note("unshared-measure", f"{name} is of the second judge only, not used")
        for name in second
        if name not in matched.values()
    ]
    if not matched:
        raise MismatchError(
            "no-common-measure",
            f"the two judges have no measure in common: the first has {join_first_few(first)}, "
            f"the second has {join_first_few(second)}",
        )
    return matched


def _without_rel(name: str) -> Measure | str:
    try:
        measure = parse(name)
    except MeasureError:
        return name
    return replace(measure, parameters=tuple((key, value) for key, value in measure.parameters if key != "rel"))


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


def _winner_mask(levels: NDArray[np.int32]) -> BoolArray:
    """Which runs come first."""
    return np.asarray(levels == levels.max(axis=-1, keepdims=True))


def _sum_jaccard(a: BoolArray, b: BoolArray) -> float:
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
) -> Iterator[Note]:
    if left_out:
        text = f"{format_count(left_out, 'query')} left out, where some run has no value"
        yield Note("queries-not-in-all-runs", text)
    if first.values.shape[1] == 1:
        yield Note("single-query", "a single query: every resample is the same, and shares say nothing")
    tied = [name for name, judge in (("first", first), ("second", second)) if not judge.signs.any()]
    if tied:
        text = f"every run has the same mean by the {' and the '.join(tied)} judge: tau is undefined"
        yield Note("all-runs-tied", text)
    undefined = np.count_nonzero(np.isnan(summary.taus))
    if undefined and not tied:
        text = f"tau is undefined in {undefined} of {len(summary.taus)} resamples, where a judge ties all runs"
        yield Note("undefined-resamples", text)
