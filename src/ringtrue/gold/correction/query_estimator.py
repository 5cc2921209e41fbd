"""Correction from whole queries that gold judged, for measures that need all of a query: nDCG, AP, RR, ERR."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from ringtrue.errors import InputError, MismatchError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.evaluation.significance.paired_statistics import welch_test
from ringtrue.gold.correction.bounds import MAX_BOUNDED_PAIRS
from ringtrue.gold.correction.bronze_worth import BronzeWorth, compare_widths
from ringtrue.gold.correction.diagnostics import Check, check_by_test
from ringtrue.gold.correction.gold_sample import MAX_LOST_SHARE, compare_ids
from ringtrue.gold.correction.possible_values import cut_to_possible, possible_differences, possible_values
from ringtrue.gold.correction.query_bounds import KEYS, bound_unknown_docs, find_unknown_docs
from ringtrue.gold.correction.query_means import MIN_QUERIES, QueryMeans, correct_by_query
from ringtrue.gold.correction.results import Bounds, CorrectedDifference, CorrectionProblem, summarise_judge
from ringtrue.gold.correction.whole_queries import JudgedTops, judged_depth, require_one_probability
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

MIN_JUDGED_SHARE = 0.95  # of what bronze judged


@dataclass(frozen=True, kw_only=True, eq=False)
class QueryEstimator:
    """Prediction-powered means over queries, or the gold queries alone."""

    problem: CorrectionProblem
    gold: Judgments
    _values: dict[Measure, tuple[FloatArray, FloatArray, IntArray]] = field(default_factory=dict)
    _unknown: dict[Measure, pl.DataFrame] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Gold queries that bronze does not know, and documents that bronze judged and gold did not."""
        bronze_queries = set(self.problem.bronze.frame["query"])
        extra = [query for query in self.gold.frame["query"].unique(maintain_order=True) if query not in bronze_queries]
        verb = "has no bronze label and is" if len(extra) == 1 else "have no bronze label and are"
        extra_note = Note(
            "queries-left-out", f"{len(extra)} of the gold queries {verb} left out: {', '.join(extra[:3])}"
        )
        bronze_rows = self.problem.bronze.frame.join(self.gold.frame.select("query").unique(), on="query", how="semi")
        judged_by_both = bronze_rows.join(self.gold.frame, on=["query", "doc"], how="semi").height
        missed_note = Note(
            "queries-partly-judged",
            f"gold judged {judged_by_both:,} of the {bronze_rows.height:,} documents of its queries that bronze "
            f"judged: measures that look at all of them, such as nDCG and AP, come out too high",
        )
        has_missed = judged_by_both < MIN_JUDGED_SHARE * bronze_rows.height
        unlabelled_note = None if not self._values else self._unlabelled_note(has_missed=has_missed)
        return (
            *([extra_note] if extra else []),
            *([missed_note] if has_missed else []),
            *([] if unlabelled_note is None else [unlabelled_note]),
        )

    def _unlabelled_note(self, *, has_missed: bool) -> Note | None:
        """How many documents of the gold queries have no gold label, and what is made of them.

        Where gold `has_missed` many of what bronze judged, only those that a run shows are news.
        """
        measure = max(self._values, key=judged_depth)
        total, shown = self._find_unknown_docs(measure).height, self._tops.unjudged_docs(measure).height
        if not shown and (has_missed or not total):
            return None
        subject = "1 document" if total == 1 else f"{total:,} documents"
        bounds_text = "; bounds say what they could change" if self._unknown_docs(measure).height else ""
        return Note(
            "unlabelled-documents",
            f"of the gold queries, {subject} without a gold label (in a run's top {judged_depth(measure)}: {shown:,}) "
            f"{'counts' if total == 1 else 'count'} as not relevant{bounds_text}",
        )

    def explain_method(self, measure: Measure) -> Note:
        """The method, and why it was chosen."""
        if self.problem.method == "gold":
            return Note("by-gold-alone", f"{measure} from the gold queries alone, as asked")
        why = "gold judged whole queries, drawn at random, and it then holds for any judge"
        return Note("by-query", f"{measure} query by query: {why}")

    def estimates(self, measure: Measure) -> list[Estimate]:
        """A corrected mean for each run."""
        if self.problem.method == "gold":
            return self.gold_only(measure)
        means = self._correct_means(measure)
        return [
            self._tops.withhold_unjudged(
                cut_to_possible(means.estimate(run, level=self.problem.level), measure), measure, run
            )
            for run in range(len(self.problem.runs))
        ]

    def bounds(self, measure: Measure) -> list[Bounds | None]:
        """For each run, its interval with lost labels at their worst and at their best."""
        if self.problem.method == "gold" or not self._unknown_docs(measure).height:
            return [None] * len(self.problem.runs)
        bounds_by_run = (self._bound(measure, [run]) for run in range(len(self.problem.runs)))
        return [
            None if bounds is None else bounds.around(estimate, *possible_values(measure))
            for bounds, estimate in zip(bounds_by_run, self.estimates(measure), strict=True)
        ]

    def bronze_worth(self, measure: Measure, pairs: IntArray | None = None) -> BronzeWorth | None:
        """What the bronze values of the other queries made of the intervals, against the gold queries alone."""
        if self.problem.method == "gold":
            return None
        bronze, gold, gold_index = self._prepare(measure)
        rows = [[run] for run in range(len(self.problem.runs))] if pairs is None else pairs.tolist()
        judged = np.array([self._tops.unjudged_reason(measure, row) is None for row in rows])
        if pairs is not None:
            bronze, gold = (values[pairs[:, 0]] - values[pairs[:, 1]] for values in (bronze, gold))
        bronze, gold = bronze[judged], gold[judged]
        asked, these = (
            correct_by_query(bronze, gold, gold_index, population=population)
            for population in (self.problem.population, "these")
        )
        return compare_widths(
            asked.variances,
            asked.gold_variances,
            asked.gold_variances,
            (these.variances, these.gold_variances),
            len(gold_index),
            bronze.shape[1],
            unit="gold queries",
            population=self.problem.population,
        )

    def gold_only(self, measure: Measure) -> list[Estimate]:
        """The mean over the gold queries."""
        means = self._correct_means(measure)
        return [
            self._tops.withhold_unjudged(
                cut_to_possible(means.estimate(run, level=self.problem.level, gold_only=True), measure), measure, run
            )
            for run in range(len(self.problem.runs))
        ]

    def differences(self, measure: Measure, pairs: IntArray) -> list[CorrectedDifference]:
        """Each pair by the differences of single queries, with a slope of its own."""
        bronze, gold, gold_index = self._prepare(measure)
        gold_only = self.problem.method == "gold"
        self._tops.require_some(measure, pairs.tolist())
        bronze_differences = bronze[pairs[:, 0]] - bronze[pairs[:, 1]]
        means = correct_by_query(
            np.zeros_like(bronze_differences) if gold_only else bronze_differences,
            gold[pairs[:, 0]] - gold[pairs[:, 1]],
            gold_index,
            population=self.problem.population,
        )
        test = "gold only" if gold_only else "difference, whole queries"
        has_bounds = not gold_only and self._unknown_docs(measure).height > 0 and len(pairs) <= MAX_BOUNDED_PAIRS
        bounds = [self._bound(measure, pair) if has_bounds else None for pair in pairs.tolist()]
        limits = possible_differences(measure)
        differences = []
        for row, (pair, row_bounds) in enumerate(zip(pairs.tolist(), bounds, strict=True)):
            estimate = means.estimate(row, level=self.problem.level, gold_only=gold_only)
            difference = self._tops.withhold_unjudged(
                cut_to_possible(estimate, measure, difference=True), measure, *pair
            )
            has_value = difference.value is not None
            differences.append(
                CorrectedDifference(
                    difference=difference,
                    p_value=means.p_value(row, gold_only=gold_only) if has_value else None,
                    test=test,
                    df=means.df,
                    bounds=None if row_bounds is None or not has_value else row_bounds.around(estimate, *limits),
                )
            )
        return differences

    def checks(self, measure: Measure, pairs: IntArray | None = None) -> list[Check]:  # noqa: ARG002 - the protocol's
        """Are the gold queries like the others by bronze, and are there enough?"""
        bronze, _, gold_index = self._prepare(measure)
        has_gold = np.zeros(bronze.shape[1], dtype=bool)
        has_gold[gold_index] = True
        query_means = bronze.mean(axis=0)
        enough = len(gold_index) >= MIN_QUERIES
        finding = f"gold judged {len(gold_index)} of {bronze.shape[1]} queries"
        few = Note("few-queries", f"from {MIN_QUERIES} on intervals have the coverage that they state")
        checks = [Check(name="number of queries", finding=finding, warning=None if enough else few)]
        groups = query_means[has_gold], query_means[~has_gold]
        counts = np.array([len(group) for group in groups], dtype=np.float64)
        if counts.min() > 1 and any(np.ptp(group) > 0 for group in groups):
            means, variances = (
                np.array([statistic(group) for group in groups]) for statistic in (np.mean, _sample_variance)
            )
            p = float(welch_test(means, variances, counts)[0])
            finding = f"by bronze, {measure} is {means[0]:.3f} on the gold queries, {means[1]:.3f} on the others"
            warning = Note("sample-does-not-fit", "they do not look drawn at random")
            checks.append(check_by_test("sample against pool", p, finding, warning))
        return checks

    def describe_judge(self, measure: Measure) -> dict[str, object]:
        """The confusion matrix of the gold queries, and how often bronze is right."""
        joined = (
            self.gold.frame.select("query", "doc", "label")
            .join(self.problem.bronze.frame.select("query", "doc", bronze="label"), on=["query", "doc"], how="inner")
            .filter(pl.col("bronze") >= 0)
        )
        gold, bronze = (joined[name].to_numpy().astype(np.int64) for name in ("label", "bronze"))
        relevant = gold >= measure.rel
        bronze_relevant = bronze >= self.problem.bronze_threshold(measure)
        queries = joined["query"].rank("dense").to_numpy().astype(np.int64)
        return summarise_judge(gold, bronze, relevant, bronze_relevant, np.ones(len(gold)), self.problem.level, queries)

    def _find_unknown_docs(self, measure: Measure) -> pl.DataFrame:
        """Documents of the gold queries without a gold label, whoever lists them."""
        if measure not in self._unknown:
            found_in_tops = self._tops.unjudged_docs(measure)
            listed = pl.concat([self.problem.bronze.frame.select(*KEYS), found_in_tops.select(*KEYS)])
            self._unknown[measure] = find_unknown_docs(self.gold.frame, self.problem.lost, listed)
        return self._unknown[measure]

    def _unknown_docs(self, measure: Measure) -> pl.DataFrame:
        """The same, where they are few; else gold judged a part only, and bounds say nothing."""
        unknown = self._find_unknown_docs(measure)
        is_part = unknown.height > MAX_LOST_SHARE * (self.gold.frame.height + unknown.height)
        return unknown.clear() if is_part or self.problem.method == "gold" else unknown

    def _bound(self, measure: Measure, runs: list[int]) -> Bounds | None:
        """The bounds of a run, or of the first of two less the second."""
        bronze, _, gold_index = self._prepare(measure)
        chosen = [self.problem.runs[run] for run in runs]

        def estimate_with(labelled: pl.DataFrame) -> Estimate:
            complete = Judgments(pl.concat([self._gold_rows, labelled], how="diagonal_relaxed"))
            gold = evaluate(chosen, complete, measure).cube().values[0]
            means = correct_by_query(
                _contrast(bronze[runs]), _contrast(gold), gold_index, population=self.problem.population
            )
            return means.estimate(0, level=self.problem.level)

        best = int(self.gold.frame["label"].to_numpy().max())
        return bound_unknown_docs(self._unknown_docs(measure), chosen, measure, best, estimate_with)

    def _correct_means(self, measure: Measure) -> QueryMeans:
        return correct_by_query(*self._prepare(measure), population=self.problem.population)

    @cached_property
    def _gold_rows(self) -> pl.DataFrame:
        """The gold labels of queries that bronze judged."""
        queries = self.problem.bronze.frame["query"].unique(maintain_order=True)
        return self.gold.frame.filter(pl.col("query").is_in(queries.implode()))

    def _prepare(self, measure: Measure) -> tuple[FloatArray, FloatArray, IntArray]:
        """Bronze values of all queries, gold values of some, and which these are."""
        if measure not in self._values:
            gold_rows = self._gold_rows
            gold_queries = gold_rows["query"].unique(maintain_order=True)
            if not len(gold_queries):
                ids = compare_ids(self.gold.frame, self.problem.bronze.frame, "the judgments")
                raise MismatchError(
                    "no-common-query", f"no gold query is in the judgments: {ids}; are the ids of the same kind?"
                )
            if len(gold_queries) < 2:
                more = Suggestion("draws more", function="sample_queries", queries=20, measures=f"{measure}")
                raise InputError(
                    "too-few-queries",
                    f"expected gold labels for at least 2 whole queries that bronze judged too, found "
                    f"{len(gold_queries)}",
                    suggestions=[more],
                )
            require_one_probability(gold_rows)
            self._tops.require_some(measure, [[run] for run in range(len(self.problem.runs))])
            bronze = evaluate(self.problem.runs, self.problem.bronze, self.problem.bronze_measure(measure)).cube()
            gold = evaluate(self.problem.runs, Judgments(gold_rows), measure).cube()
            index_of = {query: index for index, query in enumerate(bronze.queries)}
            gold_index = np.array([index_of[query] for query in gold.queries])
            self._values[measure] = bronze.values[0], gold.values[0], gold_index
        return self._values[measure]

    @cached_property
    def _tops(self) -> JudgedTops:
        return JudgedTops(runs=self.problem.runs, gold_rows=self._gold_rows)


def _contrast(values: FloatArray) -> FloatArray:
    """The values of a single run, or of the first less the second."""
    return values if len(values) == 1 else values[:1] - values[1:]


def _sample_variance(values: FloatArray) -> float:
    return float(values.var(ddof=1))
