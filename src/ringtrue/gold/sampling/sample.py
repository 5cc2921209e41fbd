"""Runs and bronze labels → the documents that the gold judge should see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import InputError, UsageError
from ringtrue.evaluation.inputs import every_run, require_overlap
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure, parse_all
from ringtrue.gold.correction.difference import GoldSample
from ringtrue.gold.correction.gain_regression import fitted, predictors
from ringtrue.gold.correction.gold_sample import (
    DIFFERENCES,
    DRAWN,
    DRAWN_FOR,
    DRAWN_FROM,
    Design,
    drawn_to_compare,
    gold_sample,
    judged_gold,
)
from ringtrue.gold.correction.linear_measures import Linear, is_linear, linear
from ringtrue.gold.correction.pool import Pool, pooled
from ringtrue.gold.sampling.allocation import UNSURE, assumed_spread, importance, neyman, require_budget
from ringtrue.gold.sampling.pivotal import spread_over_queries
from ringtrue.stats.intervals import require_level
from ringtrue.stats.student_t import normal_quantile
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["GoldDraw", "Part", "part_of", "probabilities", "sample", "sample_queries"]

BELIEVED = 4.0  # how many gold labels of a bronze level the assumed spread is worth
UNLIKELY = 4.0  # standard deviations: an earlier sample so far off was drawn from something else


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldDraw:
    """Documents for the gold judge: `frame` has query, doc, prob, stratum, design and drawn; label where it is known.

    `expected` is the half-width of the interval that each run and measure may hope for, for these queries.

    Examples:
        >>> import ringtrue as rt
        >>> run, bronze = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}, {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
        >>> draw = rt.sample(run, bronze, "P@2", budget=2)
        >>> draw.design, draw.frame.columns
        ('pool_stratified', ['query', 'doc', 'prob', 'stratum', 'design', 'drawn', 'drawn_from'])
    """

    frame: pl.DataFrame
    design: Design
    expected: dict[str, dict[str, float]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """One measure of the runs: what each document adds, and how far gold is expected from its prediction."""

    measure: Linear
    weights: csr_array
    spread: FloatArray


def sample(
    runs: object,
    bronze: object,
    measures: str | Measure | Iterable[str | Measure],
    *,
    budget: int,
    compare: bool = False,
    already: object = None,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> GoldDraw:
    """Which documents of the runs' tops should the gold judge see, for measures that are sums over documents?

    A document is drawn with a probability in proportion to what it adds to the runs times how far gold is expected to
    lie from its prediction [Neyman34], evenly over the queries. With `compare`, to the differences between runs:
    what all have at the same rank is then never drawn, and a column drawn_for says so. `already` has the gold labels of
    an earlier draw: they teach how sure each bronze label is, and stay in the answer, with probabilities that hold for
    both draws together.

    Examples:
        >>> run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(20)}
        >>> bronze = {f"q{i}": {"a": 1, "b": 0} for i in range(20)}
        >>> draw = sample(run, bronze, "P@2", budget=12, rng=np.random.default_rng(1))
        >>> draw.frame.height, draw.frame.group_by("doc").agg(pl.col("prob").first()).sort("doc").rows()
        (12, [('a', 0.4), ('b', 0.2)])
    """
    require_budget(budget)
    require_level(level)
    rng = rng or np.random.default_rng(0)
    runs, bronze = list(every_run(runs)), Judgments.of(bronze)
    wanted = _linear_measures(measures)
    if compare and len(runs) < 2:
        raise UsageError("a comparison needs two runs or more, found one; leave out --compare to evaluate it")
    pool = pooled(runs, bronze, depth=max(measure.reach or _longest(runs) for measure in wanted))
    notes = list(pool.notes)
    earlier: GoldSample | None = None
    if already is not None:
        known, told = judged_gold(Judgments.of(already), "pool_stratified")
        earlier, more = gold_sample(known, "pool_stratified", pool)
        notes += [*told, *more]
        _require_same_purpose(drawn_to_compare(known), wanted, compare)
    parts = [part_of(measure, pool, earlier) for measure in wanted]
    if earlier is not None:
        _require_same_pool(parts, earlier, pool, compare=compare)
    prob = probabilities(parts, budget, compare=compare, earlier=earlier)
    if not prob.any():
        raise InputError("gold has all documents already: nothing is left to draw")
    share = _share_of(earlier, budget, int((prob > 0).sum()))
    drawn = spread_over_queries(prob, pool.query, pool.alike, rng)
    if len(drawn) < budget:
        notes.append(f"{budget:,} documents were asked for, and only {len(drawn):,} are left to draw: all of them")
    return GoldDraw(
        frame=_frame(pool, drawn, prob[drawn] / (1 - share), earlier, share).with_columns(*_purpose(wanted, compare)),
        design="pool_stratified",
        expected=_expected(pool, parts, prob, earlier, share, level, compare=compare),
        notes=tuple(notes),
    )


def sample_queries(
    runs: object,
    bronze: object,
    measures: str | Measure | Iterable[str | Measure],
    *,
    queries: int,
    already: object = None,
    rng: np.random.Generator | None = None,
) -> GoldDraw:
    """Which whole queries should the gold judge see, for measures such as nDCG that look at all of a query at once?

    Every query is as probable as any other. Of each that is drawn, gold should judge what the bronze judge did, and
    what the runs show.

    Examples:
        >>> run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(20)}
        >>> bronze = {f"q{i}": {"a": 1, "c": 0} for i in range(20)}
        >>> draw = sample_queries(run, bronze, "nDCG@2", queries=5)
        >>> draw.frame["query"].n_unique(), sorted(draw.frame["doc"].unique()), draw.frame["prob"][0]
        (5, ['a', 'b', 'c'], 0.25)
    """
    rng = rng or np.random.default_rng(0)
    runs, bronze = list(every_run(runs)), Judgments.of(bronze)
    wanted = parse_all([measures] if isinstance(measures, str | Measure) else measures)
    if not wanted:
        raise UsageError("for which measure? nDCG@10 is usual")
    known = bronze.frame["query"].unique(maintain_order=True).to_list()
    for run in runs:
        require_overlap(run, known)
    before = None if already is None else judged_gold(Judgments.of(already), "whole_queries")[0].frame
    done = [] if before is None else [query for query in known if query in set(before["query"])]
    left = [query for query in known if query not in set(done)]
    if queries < 2:
        raise UsageError(f"a sample needs at least 2 queries, found {queries}; 20 or more are usual")
    notes = []
    if queries > len(left):
        notes.append(f"{queries:,} queries were asked for, and only {len(left):,} are left to draw: all of them")
    if not left:
        raise InputError("gold has all queries already: nothing is left to draw")
    chosen = [left[place] for place in np.sort(rng.permutation(len(left))[:queries])]
    if len(done) + len(chosen) < 20:
        notes.append(f"{len(done) + len(chosen)} queries are few: from 20 on the intervals keep what they say")
    depth = max(measure.reach or _longest(runs) for measure in wanted)
    shown = pl.concat([run.ranked(depth).select("query", "doc") for run in runs])
    everything = pl.concat([bronze.frame.select("query", "doc"), shown]).unique(maintain_order=True)
    prob = (len(done) + len(chosen)) / len(known)
    frame = everything.filter(pl.col("query").is_in(chosen)).sort("query", maintain_order=True)
    frame = frame.select("query", "doc", prob=pl.lit(prob), stratum="query", design=pl.lit("whole_queries"))
    if before is not None:
        labelled = before.filter(pl.col("query").is_in(done)).select(
            "query", "doc", prob=pl.lit(prob), stratum="query", design=pl.lit("whole_queries"), label="label"
        )
        frame = pl.concat([labelled, frame.with_columns(label=pl.lit(None, dtype=pl.Int32))])
    return GoldDraw(frame=frame.with_columns(_drawn()), design="whole_queries", expected={}, notes=tuple(notes))


def probabilities(
    parts: Sequence[Part], budget: int, *, compare: bool = False, earlier: GoldSample | None = None
) -> FloatArray:
    """How probable it is to draw each document of the pool; those that were drawn earlier are not drawn again."""
    size = np.sqrt(sum(_scaled(importance(part.weights, compare=compare) * part.spread) ** 2 for part in parts))
    if not size.any():
        raise InputError("the runs show the same documents at the same ranks: there is nothing to compare")
    if earlier is None:
        return neyman(size, budget)
    size[earlier.places] = 0.0
    return neyman(size, budget, most=1 - _share_of(earlier, budget, int((size > 0).sum())))


def _share_of(earlier: GoldSample | None, budget: int, left: int) -> float:
    """How much the earlier draw weighs: by its documents, but no more than lets the new one take as many as it should.

    A new document counts (1 − share)/π times, and has to count at least once: π is never above 1 − share.
    """
    if earlier is None:
        return 0.0
    return min(len(earlier) / (len(earlier) + budget), max(0.0, 1 - budget / max(left, 1)))


def _linear_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    wanted = parse_all([measures] if isinstance(measures, str | Measure) else measures)
    if not wanted:
        raise UsageError("for which measure? P@10 and DCG@10 are usual")
    for measure in wanted:
        if not is_linear(measure):
            raise UsageError(
                f"{measure} looks at all of a query at once: it needs whole queries judged by gold, "
                f"`ringtrue sample … --queries 20 --for {measure}`"
            )
    return wanted


def _longest(runs: Sequence[Run]) -> int:
    return max(int(run.groups.sizes.max()) for run in runs)


def part_of(measure: Measure, pool: Pool, earlier: GoldSample | None = None) -> Part:
    """A measure of the pool, with the spread that earlier labels show, held back by what is assumed."""
    assumed = assumed_spread(pool)
    if earlier is None:  # gold is taken to have the same scale as bronze
        top = max(1, *pool.levels, measure.rel)
        found = linear(measure, np.array([0, top]), depth=pool.depth)
        return Part(measure=found, weights=pool.weights(found.discounts), spread=assumed * (found.gains[top] or 1.0))
    found = linear(measure, earlier.labels, depth=pool.depth)
    gains = found.gain(earlier.labels)
    reach = float(np.ptp(gains)) or 1.0
    residual = fitted(predictors(pool), earlier.places, gains).left_out
    level = pool.level[earlier.places]
    seen = np.bincount(level, minlength=len(pool.levels))
    squares = np.bincount(level, weights=residual**2, minlength=len(pool.levels))
    assumed_of_level = np.full(len(pool.levels), UNSURE)
    assumed_of_level[pool.level] = assumed
    learned = np.sqrt((squares + BELIEVED * (assumed_of_level * reach) ** 2) / (seen + BELIEVED))
    return Part(measure=found, weights=pool.weights(found.discounts), spread=learned[pool.level])


def _scaled(size: FloatArray) -> FloatArray:
    """So that several measures count alike, whatever their units."""
    largest = size.max(initial=0.0)
    return size / largest if largest > 0 else size


def _require_same_purpose(before: Sequence[Measure], wanted: Sequence[Measure], compare: bool) -> None:
    """Refuse to continue a sample that was drawn to compare with one that was not, or by other measures."""
    if bool(before) != compare or (compare and set(before) != set(wanted)):
        told = f"to compare runs by {', '.join(map(str, before))}" if before else "to evaluate runs"
        raise InputError(f"the earlier sample was drawn {told}: it can be continued only for the same")


def _require_same_pool(parts: Sequence[Part], earlier: GoldSample, pool: Pool, *, compare: bool) -> None:
    """Refuse an earlier sample that cannot have been drawn from these runs' tops, or from what they do not share."""
    counts = np.any([importance(part.weights, compare=compare) > 0 for part in parts], axis=0)
    prob = earlier.prob[counts[earlier.places]]
    expanded, drawable = float((1 / prob).sum()), int(counts.sum())
    spread = float(np.sqrt(((1 - prob) / prob**2).sum()))
    if abs(expanded - drawable) > UNLIKELY * spread + 1:
        where = f"runs' top {pool.depth} has {drawable:,}" + (" that they do not share" if compare else "")
        raise InputError(
            f"the earlier sample stands for {expanded:,.0f} documents (±{spread:,.0f}) by its probabilities, and the "
            f"{where}: it was drawn from something else, and cannot be continued. Give the same runs and measure, or "
            f"draw a new sample"
        )


def _frame(pool: Pool, drawn: IntArray, prob: FloatArray, earlier: GoldSample | None, share: float) -> pl.DataFrame:
    """The draw as a table; two draws weigh as many documents as each has.

    An earlier document, drawn with probability π, then counts share/π + (1 − share) times, a new one (1 − share)/π.
    """
    new = pool.docs[drawn].with_columns(prob=pl.Series(prob, dtype=pl.Float64))
    if earlier is not None:
        known = pool.docs[earlier.places].with_columns(
            prob=pl.Series(1 / (share / earlier.prob + 1 - share)), label=pl.Series(earlier.labels, dtype=pl.Int32)
        )
        new = pl.concat([known, new.with_columns(label=pl.lit(None, dtype=pl.Int32))])
    # An earlier draw from another pool was spread over what was alike there, and so is only a part of the whole.
    from_here = [pl.lit(pool.signature).alias(DRAWN_FROM)] if earlier is None or earlier.spread else []
    columns = ["query", "doc", "prob", "stratum", "design", DRAWN, *(DRAWN_FROM for _ in from_here)]
    columns += [] if earlier is None else ["label"]
    order = {query: place for place, query in enumerate(pool.queries)}
    return (
        new.with_columns(
            pl.col("query").alias("stratum"), pl.lit("pool_stratified").alias("design"), _drawn(), *from_here
        )
        .sort(pl.col("query").replace_strict(order, return_dtype=pl.Int64), maintain_order=True)
        .select(columns)
    )


def _drawn() -> pl.Expr:
    """How many documents there are, in every row: one that gets lost will be missed."""
    return pl.len().cast(pl.Int64).alias(DRAWN)


def _purpose(measures: Sequence[Measure], compare: bool) -> list[pl.Expr]:
    """What a sample to compare runs is for, as a column: what the runs share had no chance to be drawn."""
    return [pl.lit(DIFFERENCES + ", ".join(map(str, measures))).alias(DRAWN_FOR)] if compare else []


def _expected(
    pool: Pool, parts: Sequence[Part], prob: FloatArray, earlier: GoldSample | None, share: float, level: float,
    *, compare: bool,
) -> dict[str, dict[str, float]]:  # fmt: skip
    """The half-width of the interval for these queries, by the spread that is assumed or was learned."""
    z = normal_quantile((1 + level) / 2)
    missed = np.divide(1 - prob, prob, out=np.zeros(len(prob)), where=prob > 0) * (1 - share) ** 2
    if earlier is not None:
        missed[earlier.places] = share**2 * (1 - earlier.prob) / earlier.prob**2
    found: dict[str, dict[str, float]] = {}
    for part in parts:
        weights = part.weights.toarray() if compare else part.weights
        rows = {name: weights[[place]] for place, name in enumerate(pool.runs)}
        if compare:
            rows = {f"{pool.runs[0]} − {name}": weights[[0]] - weights[[place]]
                    for place, name in enumerate(pool.runs) if place}  # fmt: skip
        for name, row in rows.items():
            variance = float(((row * row) @ (missed * part.spread**2)).sum())
            found.setdefault(name, {})[str(part.measure.measure)] = z * variance**0.5
    return found
