"""Runs and bronze labels → the documents that the gold judge should see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from ringtrue.errors import InputError, UsageError
from ringtrue.evaluation.inputs import iterate_runs, require_overlap
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure, parse_all
from ringtrue.gold.correction.gold_sample import (
    COMPARISON_PREFIX,
    DRAWN_COLUMN,
    DRAWN_FOR_COLUMN,
    DRAWN_FROM_COLUMN,
    GoldSample,
    build_gold_sample,
    comparison_measures,
    drop_unjudged,
)
from ringtrue.gold.correction.pool import Pool, build_pool, is_linear
from ringtrue.gold.designs import Design, Population
from ringtrue.gold.sampling.allocation import importance, neyman, pivotal_sample, require_budget
from ringtrue.gold.sampling.forecast import ExpectedSample, WeightedMeasure, forecast_documents, weigh_measure
from ringtrue.gold.sampling.query_forecast import forecast_queries
from ringtrue.stats.intervals import require_level
from ringtrue.tables import Judgments, Run

MAX_DEVIATION = 4.0  # standard deviations: an earlier sample so far off was drawn from something else


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldDraw:
    """Documents for the gold judge: `frame` has query, doc, prob, stratum, design and drawn; label where it is known.

    `expected` is the half-width of the interval to expect, by run (with `compare`: difference of runs) and measure,
    for the `population` asked about. Where gold's scale is not known and matters, it is the wider one, and
    `expected_range` has both: for gold labels of 0 and 1, and for grades.

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
    expected_range: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    population: Population = "like-these"
    notes: tuple[str, ...] = ()


def sample(
    runs: object,
    bronze: object,
    measures: str | Measure | Iterable[str | Measure],
    *,
    budget: int,
    compare: bool = False,
    already: object = None,
    gold_top: int | None = None,
    population: Population = "like-these",
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> GoldDraw:
    """Which documents of the runs' tops should the gold judge see, for measures that are sums over documents?

    A document is drawn with a probability in proportion to what it adds to the runs times how far gold is expected to
    lie from its prediction [Neyman34], evenly over the queries. With `compare`, to the differences between runs:
    what all have at the same rank is then never drawn, and a column drawn_for says so. `already` has the gold labels of
    an earlier draw: they teach how sure each bronze label is, and stay in the answer, with probabilities that hold for
    both draws together.

    The forecast is for intervals about `population`, and needs to know how far gold's labels go for measures that count
    grades: `gold_top` is the highest of them. Where it is not given, earlier labels tell, or a range is.

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
    runs, bronze = list(iterate_runs(runs)), Judgments.of(bronze)
    parsed_measures = _require_linear_measures(measures)
    if compare and len(runs) < 2:
        raise UsageError("a comparison needs two runs or more, found one; leave out --compare to evaluate it")
    pool = build_pool(runs, bronze, depth=max(measure.reach or _longest_list(runs) for measure in parsed_measures))
    notes = list(pool.notes)
    earlier: GoldSample | None = None
    if already is not None:
        earlier_gold, gold_notes = drop_unjudged(Judgments.of(already), "pool_stratified")
        earlier, sample_notes = build_gold_sample(earlier_gold, "pool_stratified", pool)
        notes += [*gold_notes, *sample_notes]
        _require_same_purpose(comparison_measures(earlier_gold), parsed_measures, compare)
    parts = [weigh_measure(measure, pool, earlier, gold_top=gold_top) for measure in parsed_measures]
    if earlier is not None:
        _require_same_pool(parts, earlier, pool, compare=compare)
    prob = inclusion_probabilities(parts, budget, compare=compare, earlier=earlier)
    if not prob.any():
        raise InputError("gold has all documents already: nothing is left to draw")
    earlier_share = _earlier_share(earlier, budget, int((prob > 0).sum()))
    drawn = pivotal_sample(prob, pool.query, pool.similarity_key, rng)
    if len(drawn) < budget:
        notes.append(f"{budget:,} documents were asked for, and only {len(drawn):,} are left to draw: all of them")
    forecast = forecast_documents(
        pool,
        parsed_measures,
        ExpectedSample.of(prob, earlier, earlier_share),
        earlier,
        gold_top=gold_top,
        population=population,
        level=level,
        compare=compare,
    )
    return GoldDraw(
        frame=_draw_frame(pool, drawn, prob[drawn] / (1 - earlier_share), earlier, earlier_share).with_columns(
            *_purpose_columns(parsed_measures, compare)
        ),
        design="pool_stratified",
        expected=forecast.expected,
        expected_range=forecast.ranges,
        population=population,
        notes=(*notes, *forecast.notes),
    )


def sample_queries(
    runs: object,
    bronze: object,
    measures: str | Measure | Iterable[str | Measure],
    *,
    queries: int,
    already: object = None,
    gold_top: int | None = None,
    population: Population = "like-these",
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> GoldDraw:
    """Which whole queries should the gold judge see, for measures such as nDCG that look at all of a query at once?

    Every query is as probable as any other. Of each that is drawn, gold should judge what the bronze judge did, and
    what the runs show. The half-widths to expect are those of gold alone: bronze makes them narrower, by how much only
    gold can tell; with `already`, the queries that it has judged do.

    Examples:
        >>> run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(20)}
        >>> bronze = {f"q{i}": {"a": 1, "c": 0} for i in range(20)}
        >>> draw = sample_queries(run, bronze, "nDCG@2", queries=5)
        >>> draw.frame["query"].n_unique(), sorted(draw.frame["doc"].unique()), draw.frame["prob"][0]
        (5, ['a', 'b', 'c'], 0.25)
    """
    require_level(level)
    rng = rng or np.random.default_rng(0)
    runs, bronze = list(iterate_runs(runs)), Judgments.of(bronze)
    parsed_measures = parse_all([measures] if isinstance(measures, str | Measure) else measures)
    if not parsed_measures:
        raise UsageError("for which measure? nDCG@10 is usual")
    query_ids = bronze.frame["query"].unique(maintain_order=True).to_list()
    for run in runs:
        require_overlap(run, query_ids)
    earlier_gold = None if already is None else drop_unjudged(Judgments.of(already), "whole_queries")[0].frame
    judged_queries = (
        [] if earlier_gold is None else [query for query in query_ids if query in set(earlier_gold["query"])]
    )
    remaining = [query for query in query_ids if query not in set(judged_queries)]
    if queries < 2:
        raise UsageError(f"a sample needs at least 2 queries, found {queries}; 20 or more are usual")
    notes = []
    if queries > len(remaining):
        notes.append(f"{queries:,} queries were asked for, and only {len(remaining):,} are left to draw: all of them")
    if not remaining:
        raise InputError("gold has all queries already: nothing is left to draw")
    chosen = [remaining[index] for index in np.sort(rng.permutation(len(remaining))[:queries])]
    if len(judged_queries) + len(chosen) < 20:
        notes.append(
            f"{len(judged_queries) + len(chosen)} queries are few: from 20 on the intervals keep what they say"
        )
    depth = max(measure.reach or _longest_list(runs) for measure in parsed_measures)
    retrieved = pl.concat([run.ranked(depth).select("query", "doc") for run in runs])
    documents = pl.concat([bronze.frame.select("query", "doc"), retrieved]).unique(maintain_order=True)
    prob = (len(judged_queries) + len(chosen)) / len(query_ids)
    frame = documents.filter(pl.col("query").is_in(chosen)).sort("query", maintain_order=True)
    frame = frame.select("query", "doc", prob=pl.lit(prob), stratum="query", design=pl.lit("whole_queries"))
    if earlier_gold is not None:
        labelled = earlier_gold.filter(pl.col("query").is_in(judged_queries)).select(
            "query", "doc", prob=pl.lit(prob), stratum="query", design=pl.lit("whole_queries"), label="label"
        )
        frame = pl.concat([labelled, frame.with_columns(label=pl.lit(None, dtype=pl.Int32))])
    forecast = forecast_queries(
        runs,
        bronze,
        parsed_measures,
        len(judged_queries) + len(chosen),
        None if earlier_gold is None else Judgments(earlier_gold),
        depth=depth,
        gold_top=gold_top,
        population=population,
        level=level,
    )
    return GoldDraw(
        frame=frame.with_columns(_drawn_column()),
        design="whole_queries",
        expected=forecast.expected,
        expected_range=forecast.ranges,
        population=population,
        notes=(*notes, *forecast.notes),
    )


def inclusion_probabilities(
    parts: Sequence[WeightedMeasure], budget: int, *, compare: bool = False, earlier: GoldSample | None = None
) -> FloatArray:
    """How probable it is to draw each document of the pool; those that were drawn earlier are not drawn again."""
    size = np.sqrt(
        sum(_scale_to_unit(importance(part.weights, compare=compare) * part.residual_sd) ** 2 for part in parts)
    )
    if not size.any():
        raise InputError("the runs show the same documents at the same ranks: there is nothing to compare")
    if earlier is None:
        return neyman(size, budget)
    size[earlier.positions] = 0.0
    return neyman(size, budget, max_prob=1 - _earlier_share(earlier, budget, int((size > 0).sum())))


def _earlier_share(earlier: GoldSample | None, budget: int, remaining: int) -> float:
    """How much the earlier draw weighs: by its documents, but no more than lets the new one take as many as it should.

    A new document counts (1 − share)/π times, and has to count at least once: π is never above 1 − share.
    """
    if earlier is None:
        return 0.0
    return min(len(earlier) / (len(earlier) + budget), max(0.0, 1 - budget / max(remaining, 1)))


def _require_linear_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    parsed = parse_all([measures] if isinstance(measures, str | Measure) else measures)
    if not parsed:
        raise UsageError("for which measure? P@10 and DCG@10 are usual")
    for measure in parsed:
        if not is_linear(measure):
            raise UsageError(
                f"{measure} looks at all of a query at once: it needs whole queries judged by gold, "
                f"`ringtrue sample … --queries 20 --for {measure}`"
            )
    return parsed


def _longest_list(runs: Sequence[Run]) -> int:
    return max(int(run.groups.sizes.max()) for run in runs)


def _scale_to_unit(size: FloatArray) -> FloatArray:
    """So that several measures count alike, whatever their units."""
    largest = size.max(initial=0.0)
    return size / largest if largest > 0 else size


def _require_same_purpose(
    earlier_measures: Sequence[Measure], parsed_measures: Sequence[Measure], compare: bool
) -> None:
    """Refuse to continue a sample that was drawn to compare with one that was not, or by other measures."""
    if bool(earlier_measures) != compare or (compare and set(earlier_measures) != set(parsed_measures)):
        purpose = (
            f"to compare runs by {', '.join(map(str, earlier_measures))}" if earlier_measures else "to evaluate runs"
        )
        raise InputError(f"the earlier sample was drawn {purpose}: it can be continued only for the same")


def _require_same_pool(parts: Sequence[WeightedMeasure], earlier: GoldSample, pool: Pool, *, compare: bool) -> None:
    """Refuse an earlier sample that cannot have been drawn from these runs' tops, or from what they do not share."""
    eligible = np.any([importance(part.weights, compare=compare) > 0 for part in parts], axis=0)
    prob = earlier.prob[eligible[earlier.positions]]
    expanded, drawable = float((1 / prob).sum()), int(eligible.sum())
    sd = float(np.sqrt(((1 - prob) / prob**2).sum()))
    if abs(expanded - drawable) > MAX_DEVIATION * sd + 1:
        pool_text = f"runs' top {pool.depth} has {drawable:,}" + (" that they do not share" if compare else "")
        raise InputError(
            f"the earlier sample stands for {expanded:,.0f} documents (±{sd:,.0f}) by its probabilities, and the "
            f"{pool_text}: it was drawn from something else, and cannot be continued. Give the same runs and measure, "
            f"or draw a new sample"
        )


def continued_probability(prob: FloatArray, earlier_share: float) -> FloatArray:
    """The probability that a document of the earlier draw has in both together; rounding takes none above 1.

    Examples:
        >>> continued_probability(np.array([0.5, 1.0]), 0.5).round(4).tolist()
        [0.6667, 1.0]
    """
    return np.minimum(1 / (earlier_share / prob + 1 - earlier_share), 1.0)


def _draw_frame(
    pool: Pool, drawn: IntArray, prob: FloatArray, earlier: GoldSample | None, earlier_share: float
) -> pl.DataFrame:
    """The draw as a table; two draws weigh as many documents as each has.

    An earlier document, drawn with probability π, then counts share/π + (1 − share) times, a new one (1 − share)/π.
    """
    new = pool.docs[drawn].with_columns(prob=pl.Series(prob, dtype=pl.Float64))
    if earlier is not None:
        labelled = pool.docs[earlier.positions].with_columns(
            prob=pl.Series(continued_probability(earlier.prob, earlier_share)),
            label=pl.Series(earlier.labels, dtype=pl.Int32),
        )
        new = pl.concat([labelled, new.with_columns(label=pl.lit(None, dtype=pl.Int32))])
    # An earlier draw from another pool was spread over what was alike there, and so is only a part of the whole.
    signature_column = [pl.lit(pool.signature).alias(DRAWN_FROM_COLUMN)] if earlier is None or earlier.balanced else []
    columns = [
        "query",
        "doc",
        "prob",
        "stratum",
        "design",
        DRAWN_COLUMN,
        *(DRAWN_FROM_COLUMN for _ in signature_column),
    ]
    columns += [] if earlier is None else ["label"]
    order = {query: index for index, query in enumerate(pool.queries)}
    return (
        new.with_columns(
            pl.col("query").alias("stratum"),
            pl.lit("pool_stratified").alias("design"),
            _drawn_column(),
            *signature_column,
        )
        .sort(pl.col("query").replace_strict(order, return_dtype=pl.Int64), maintain_order=True)
        .select(columns)
    )


def _drawn_column() -> pl.Expr:
    """How many documents there are, in every row: one that gets lost will be missed."""
    return pl.len().cast(pl.Int64).alias(DRAWN_COLUMN)


def _purpose_columns(measures: Sequence[Measure], compare: bool) -> list[pl.Expr]:
    """What a sample to compare runs is for, as a column: what the runs share had no chance to be drawn."""
    return [pl.lit(COMPARISON_PREFIX + ", ".join(map(str, measures))).alias(DRAWN_FOR_COLUMN)] if compare else []
