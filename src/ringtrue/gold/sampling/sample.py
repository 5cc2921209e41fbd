"""Runs and bronze labels → the documents that the gold judge should see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
    EXTENDED_SUFFIX,
    GoldSample,
    comparison_measures,
)
from ringtrue.gold.correction.pool import Pool, build_pool, is_linear
from ringtrue.gold.designs import Design, Population
from ringtrue.gold.sampling.allocation import pivotal_sample, require_budget
from ringtrue.gold.sampling.continuation import (
    WITH_FRAME,
    Allocation,
    EarlierDraw,
    allocate,
    draw_sizes,
    read_earlier_draw,
    read_earlier_queries,
)
from ringtrue.gold.sampling.forecast import forecast_documents
from ringtrue.gold.sampling.query_forecast import forecast_queries
from ringtrue.gold.sampling.weighted_measure import WeightedMeasure, weigh_measure
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.intervals import require_level
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_DEVIATION = 4.0  # standard deviations: an earlier sample so far off was drawn from something else


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldDraw:
    """Documents for the gold judge: `frame` has query, doc, prob, stratum, design and drawn; label where it is known.

    `expected` is the half-width of the interval to expect, by run (with `compare`: difference of runs) and measure,
    for the `population` asked about. Where gold's scale is not known and matters, it is the wider one, and
    `expected_range` has both: for gold labels of 0 and 1, and for grades.
    `sampling_frame` has every document that could be drawn, with query, doc, prob and drawn; None for whole queries.

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
    sampling_frame: pl.DataFrame | None = None
    expected_range: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    population: Population = "like-these"
    notes: tuple[Note, ...] = ()


def sample(
    runs: object,
    bronze: object,
    measures: str | Measure | Iterable[str | Measure],
    *,
    budget: int,
    compare: bool = False,
    already: object = None,
    sampling_frame: object = None,
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
    both draws together. With the `sampling_frame` of that draw, the runs and the cutoff may be others: documents that
    could not be drawn then are a stratum of their own, and are drawn first.

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
        raise UsageError(
            "wrong-number-of-runs",
            "a comparison needs two runs or more, found one",
            parameter="compare",
            suggestions=[Suggestion("evaluates it", compare=False)],
        )
    pool = build_pool(runs, bronze, depth=max(measure.reach or _longest_list(runs) for measure in parsed_measures))
    notes = list(pool.notes)
    earlier: EarlierDraw | None = None
    if already is not None:
        already = Judgments.of(already, allow_blank=True)
        _require_same_purpose(comparison_measures(already), parsed_measures, compare)
        earlier, earlier_notes = read_earlier_draw(already, sampling_frame, pool)
        notes += earlier_notes
    elif sampling_frame is not None:
        raise UsageError(
            "frame-without-gold",
            "a sampling frame says what an earlier draw could reach, and there are no gold labels of one",
            parameter="sampling_frame",
            suggestions=[Suggestion("gives them", already=...)],
        )
    parts = [
        weigh_measure(measure, pool, None if earlier is None else earlier.sample, gold_top=gold_top)
        for measure in parsed_measures
    ]
    size = draw_sizes(parts, compare=compare)
    if earlier is not None and earlier.frame is None:
        _require_same_pool(size > 0, earlier.sample, pool, compare=compare)
    allocation = allocate(size, budget, earlier)
    if not allocation.prob.any():
        raise InputError("nothing-left-to-draw", "gold has all documents already: nothing is left to draw")
    drawn = pivotal_sample(allocation.prob, pool.query, pool.similarity_key, rng)
    notes += _budget_notes(budget, drawn, allocation)
    forecast = forecast_documents(
        pool,
        parsed_measures,
        allocation.expected_sample(earlier),
        None if earlier is None else earlier.sample,
        gold_top=gold_top,
        population=population,
        level=level,
        compare=compare,
    )
    return GoldDraw(
        frame=_draw_frame(pool, drawn, allocation, earlier).with_columns(*_purpose_columns(parsed_measures, compare)),
        design="pool_stratified",
        sampling_frame=_build_sampling_frame(pool, drawn, allocation, earlier),
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
    gold can tell; with `already`, the queries that it has judged do. Of these, what other runs or bronze labels bring
    is listed too, and with `queries=0` that is all: no query is drawn anew.

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
        raise _no_measure("nDCG@10 is usual")
    query_ids = bronze.frame["query"].unique(maintain_order=True).to_list()
    for run in runs:
        require_overlap(run, query_ids)
    earlier = None if already is None else read_earlier_queries(Judgments.of(already, allow_blank=True), query_ids)
    drawn_before = () if earlier is None else earlier.queries
    remaining = [query for query in query_ids if query not in set(drawn_before)]
    if queries < (2 if earlier is None else 0):
        raise UsageError(
            "too-few-queries",
            f"a sample needs at least 2 queries, found {queries}; 20 or more are usual",
            parameter="queries",
        )
    notes = [] if earlier is None else list(earlier.notes)
    if queries > len(remaining):
        text = f"{queries:,} queries were asked for, and only {len(remaining):,} are left to draw: all of them"
        notes.append(Note("all-drawn", text, parameter="queries"))
    chosen = [remaining[index] for index in np.sort(rng.permutation(len(remaining))[:queries])]
    n_drawn = len(drawn_before) + len(chosen)
    if n_drawn < 20:
        text = f"{n_drawn} queries are few: from 20 on the intervals have the coverage that they state"
        notes.append(Note("few-queries", text, parameter="queries"))
    depth = max(measure.reach or _longest_list(runs) for measure in parsed_measures)
    retrieved = pl.concat([run.ranked(depth).select("query", "doc") for run in runs])
    documents = pl.concat([bronze.frame.select("query", "doc"), retrieved]).unique(maintain_order=True)
    if earlier is not None:
        notes += earlier.foreign_docs_notes(documents)
        documents = pl.concat([earlier.docs.select("query", "doc"), documents]).unique(maintain_order=True)
    frame = documents.filter(pl.col("query").is_in([*drawn_before, *chosen])).sort("query", maintain_order=True)
    prob = n_drawn / len(query_ids)
    frame = frame.select("query", "doc", prob=pl.lit(prob), stratum="query", design=pl.lit("whole_queries"))
    if earlier is not None:
        frame = frame.join(earlier.docs, on=["query", "doc"], how="left", maintain_order="left")
        notes += earlier.new_docs_note(frame)
        if not frame["label"].null_count():
            what = "queries" if not remaining else "documents of these queries"
            raise InputError("nothing-left-to-draw", f"gold has all {what} already: nothing is left to draw")
    forecast = forecast_queries(
        runs,
        bronze,
        parsed_measures,
        n_drawn,
        None if earlier is None else earlier.judged,
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


def inclusion_probabilities(parts: Sequence[WeightedMeasure], budget: int, *, compare: bool = False) -> FloatArray:
    """How probable it is to draw each document of the pool."""
    return allocate(draw_sizes(parts, compare=compare), budget).prob


def _budget_notes(budget: int, drawn: IntArray, allocation: Allocation) -> list[Note]:
    notes = []
    if len(drawn) < budget:
        text = f"{budget:,} documents were asked for, and only {len(drawn):,} are left to draw: all of them"
        notes.append(Note("all-drawn", text, parameter="budget"))
    if allocation.unseen.any():
        notes.append(
            Note(
                "new-stratum",
                f"{int(allocation.unseen.sum()):,} documents could not be drawn before: a stratum of their own, of "
                f"which {int(allocation.unseen[drawn].sum()):,} are drawn now",
            )
        )
    return notes


def _no_measure(usual: str) -> UsageError:
    return UsageError("no-measure", f"for which measure? {usual}", parameter="measures")


def _require_linear_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    parsed = parse_all([measures] if isinstance(measures, str | Measure) else measures)
    if not parsed:
        raise _no_measure("P@10 and DCG@10 are usual")
    for measure in parsed:
        if not is_linear(measure):
            whole_queries = Suggestion("draws them", function="sample_queries", queries=20, measures=f"{measure}")
            raise UsageError(
                "needs-whole-queries",
                f"{measure} looks at all of a query at once: it needs whole queries judged by gold",
                parameter="measures",
                suggestions=[whole_queries],
            )
    return parsed


def _longest_list(runs: Sequence[Run]) -> int:
    return max(int(run.groups.sizes.max()) for run in runs)


def _require_same_purpose(
    earlier_measures: Sequence[Measure], parsed_measures: Sequence[Measure], compare: bool
) -> None:
    """Refuse to continue a sample that was drawn to compare with one that was not, or by other measures."""
    if bool(earlier_measures) != compare or (compare and set(earlier_measures) != set(parsed_measures)):
        purpose = (
            f"to compare runs by {', '.join(map(str, earlier_measures))}" if earlier_measures else "to evaluate runs"
        )
        raise InputError(
            "other-purpose",
            f"the earlier sample was drawn {purpose}: it can be continued only for the same",
            parameter="already",
        )


def _require_same_pool(eligible: NDArray[np.bool_], earlier: GoldSample, pool: Pool, *, compare: bool) -> None:
    """Refuse an earlier sample that cannot have been drawn from these runs' tops, or from what they do not share."""
    prob = earlier.prob[eligible[earlier.positions]]
    expanded, drawable = float((1 / prob).sum()), int(eligible.sum())
    # What was not drawn, where that is more: of what was not probable, those drawn know nothing.
    sd = float(np.sqrt(max(((1 - prob) / prob**2).sum(), drawable - len(prob))))
    if abs(expanded - drawable) > MAX_DEVIATION * sd + 1:
        pool_text = f"runs' top {pool.depth} has {drawable:,}" + (" that they do not share" if compare else "")
        raise InputError(
            "drawn-from-something-else",
            f"the earlier sample stands for {expanded:,.0f} documents (±{sd:,.0f}) by its probabilities, and the "
            f"{pool_text}: it was drawn from something else. Give the same runs and measure, or draw a new sample",
            parameter="already",
            suggestions=[WITH_FRAME],
        )


def _draw_frame(pool: Pool, drawn: IntArray, allocation: Allocation, earlier: EarlierDraw | None) -> pl.DataFrame:
    """The draw as a table, after what an earlier one had: its labels, where they are known, stay."""
    rows = pool.docs[drawn].with_columns(prob=pl.Series(allocation.final_prob(drawn), dtype=pl.Float64))
    if earlier is not None:
        rows = pl.concat([earlier.continued_rows(allocation), rows.with_columns(label=pl.lit(None, dtype=pl.Int32))])
    columns = ["query", "doc", "prob", "stratum", "design", DRAWN_COLUMN, DRAWN_FROM_COLUMN]
    columns += [] if earlier is None else ["label"]
    order = {query: index for index, query in enumerate(pool.queries)}
    return (
        rows.with_columns(
            pl.col("query").alias("stratum"),
            pl.lit("pool_stratified").alias("design"),
            _signature_column(pool, allocation, earlier),
            _drawn_column(),
        )
        .sort(pl.col("query").replace_strict(order, default=len(order), return_dtype=pl.Int64), maintain_order=True)
        .select(columns)
    )


def _build_sampling_frame(
    pool: Pool, drawn: IntArray, allocation: Allocation, earlier: EarlierDraw | None
) -> pl.DataFrame:
    """Every document that could be drawn, now or before, with its probability in all draws together."""
    is_drawn = np.zeros(len(pool), dtype=bool)
    is_drawn[drawn] = True
    prob = allocation.final_prob(np.arange(len(pool)))
    if earlier is not None:
        is_drawn[earlier.complete.positions] = True
        prob[earlier.complete.positions] = earlier.continued_probabilities(allocation)
    frame = pool.docs.with_columns(prob=pl.Series(prob), drawn=pl.Series(is_drawn)).filter(pl.col("prob") > 0)
    if earlier is not None and earlier.frame is not None:
        before = earlier.frame.docs.join(frame, on=["query", "doc"], how="anti", maintain_order="left")
        frame = pl.concat([frame, before.select(frame.columns)])
    return frame.with_columns(_signature_column(pool, allocation, earlier))


def _signature_column(pool: Pool, allocation: Allocation, earlier: EarlierDraw | None) -> pl.Expr:
    """What was drawn from, and whether in one draw that was spread over the queries.

    An earlier draw from another pool was spread over what was alike there, and so is only a part of the whole.
    """
    one_pool = earlier is None or (earlier.sample.balanced and not allocation.unseen.any())
    return pl.lit(pool.signature + ("" if one_pool else EXTENDED_SUFFIX)).alias(DRAWN_FROM_COLUMN)


def _drawn_column() -> pl.Expr:
    """How many documents there are, in every row: one that gets lost will be missed."""
    return pl.len().cast(pl.Int64).alias(DRAWN_COLUMN)


def _purpose_columns(measures: Sequence[Measure], compare: bool) -> list[pl.Expr]:
    """What a sample to compare runs is for, as a column: what the runs share had no chance to be drawn."""
    return [pl.lit(COMPARISON_PREFIX + ", ".join(map(str, measures))).alias(DRAWN_FOR_COLUMN)] if compare else []
