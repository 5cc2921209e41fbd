"""Correction from whole queries that gold judged anew, for any measure."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from ringtrue.errors import InputError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.evaluation.significance.paired_statistics import welch
from ringtrue.gold.correction.diagnostics import DOUBTFUL, Check
from ringtrue.gold.correction.estimator import Difference, Task
from ringtrue.gold.correction.judge_rates import judge_told
from ringtrue.gold.correction.whole_queries import ENOUGH, ByQuery, corrected_by_query
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

__all__ = ["ByQueries"]

DEEP = 10  # where a measure looks at the whole list: what has to be judged at the least
LEAST_JUDGED, TOO_FEW_JUDGED = 0.95, 0.8  # of what bronze judged; of what a run shows


@dataclass(frozen=True, kw_only=True, eq=False)
class ByQueries:
    """Prediction-powered means over queries, or the gold queries alone."""

    task: Task
    gold: Judgments
    _values: dict[Measure, tuple[FloatArray, FloatArray, IntArray]] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Gold queries that bronze does not know, and documents that bronze judged and gold did not."""
        known = set(self.task.bronze.frame["query"])
        extra = [query for query in self.gold.frame["query"].unique(maintain_order=True) if query not in known]
        verb = "has no bronze label and is" if len(extra) == 1 else "have no bronze label and are"
        told = [f"{len(extra)} of the gold queries {verb} left out: {', '.join(extra[:3])}"]
        mine = self.task.bronze.frame.join(self.gold.frame.select("query").unique(), on="query", how="semi")
        both = mine.join(self.gold.frame, on=["query", "doc"], how="semi").height
        missed = (
            f"gold judged {both:,} of the {mine.height:,} documents of its queries that bronze judged: measures that "
            f"look at all of them, such as nDCG and AP, come out too high"
        )
        return (*(told if extra else []), *([missed] if both < LEAST_JUDGED * mine.height else []))

    def why(self, measure: Measure) -> str:
        """The method, and why it was chosen."""
        if self.task.method == "gold":
            return f"{measure} from the gold queries alone, as asked"
        return f"{measure} query by query: gold judged whole queries, drawn at random, and it then holds for any judge"

    def estimates(self, measure: Measure) -> list[Estimate]:
        """A corrected mean for each run."""
        if self.task.method == "gold":
            return self.gold_only(measure)
        found = self._found(measure)
        return [found.estimate(run, level=self.task.level) for run in range(len(self.task.runs))]

    def gold_only(self, measure: Measure) -> list[Estimate]:
        """The mean over the gold queries."""
        found = self._found(measure)
        return [found.estimate(run, level=self.task.level, gold_only=True) for run in range(len(self.task.runs))]

    def differences(self, measure: Measure, pairs: IntArray) -> list[Difference]:
        """Each pair by the differences of single queries, with a slope of its own."""
        bronze, gold, places = self._ready(measure)
        alone = self.task.method == "gold"
        apart = bronze[pairs[:, 0]] - bronze[pairs[:, 1]]
        found = corrected_by_query(
            np.zeros_like(apart) if alone else apart,
            gold[pairs[:, 0]] - gold[pairs[:, 1]],
            places,
            population=self.task.population,
        )
        test = "gold only" if alone else "difference, whole queries"
        return [
            Difference(
                difference=found.estimate(row, level=self.task.level, gold_only=alone),
                p_value=found.p_value(row, gold_only=alone),
                test=test,
                freedom=len(places) - 1 if alone else found.freedom,
            )
            for row in range(len(pairs))
        ]

    def checks(self, measure: Measure, pairs: IntArray | None = None) -> list[Check]:  # noqa: ARG002 - the protocol's
        """Are the gold queries like the others by bronze, and are there enough?"""
        bronze, _, places = self._ready(measure)
        inside = np.zeros(bronze.shape[1], dtype=bool)
        inside[places] = True
        mean = bronze.mean(axis=0)
        enough = len(places) >= ENOUGH
        told = f"gold judged {len(places)} of {bronze.shape[1]} queries"
        doubt = "" if enough else f"; from {ENOUGH} on intervals keep what they say"
        found = [Check(name="number of queries", passed=enough, p_value=None, text=told + doubt)]
        groups = mean[inside], mean[~inside]
        counts = np.array([len(group) for group in groups], dtype=np.float64)
        if counts.min() > 1 and any(np.ptp(group) > 0 for group in groups):
            means, variances = (np.array([func(group) for group in groups]) for func in (np.mean, _variance))
            p = float(welch(means, variances, counts)[0])
            told = f"by bronze, {measure} is {means[0]:.3f} on the gold queries, {means[1]:.3f} on the others"
            doubt = "" if p >= DOUBTFUL else ": they do not look drawn at random"
            found.append(Check(name="sample against pool", passed=p >= DOUBTFUL, p_value=p, text=told + doubt))
        return found

    def judge(self, measure: Measure) -> dict[str, object]:
        """The confusion matrix of the gold queries, and how often bronze is right."""
        both = self.gold.frame.join(
            self.task.bronze.frame.select("query", "doc", bronze="label"), on=["query", "doc"], how="inner"
        ).filter(pl.col("bronze") >= 0)
        gold, bronze = (both[name].to_numpy().astype(np.int64) for name in ("label", "bronze"))
        relevant = gold >= measure.rel
        called = bronze >= self.task.threshold(measure)
        queries = both["query"].rank("dense").to_numpy().astype(np.int64)
        return judge_told(gold, bronze, relevant, called, np.ones(len(gold)), self.task.level, queries)

    def _found(self, measure: Measure) -> ByQuery:
        return corrected_by_query(*self._ready(measure), population=self.task.population)

    def _ready(self, measure: Measure) -> tuple[FloatArray, FloatArray, IntArray]:
        """Bronze values of all queries, gold values of some, and which these are."""
        if measure not in self._values:
            queries = self.task.bronze.frame["query"].unique(maintain_order=True)
            inside = self.gold.frame.filter(pl.col("query").is_in(queries.implode()))
            chosen = inside["query"].unique(maintain_order=True)
            if len(chosen) < 2:
                raise InputError(
                    f"expected gold labels for at least 2 whole queries that bronze judged too, found "
                    f"{len(chosen)}; draw more with `ringtrue sample … --queries 20 --for {measure}`"
                )
            self._require_whole(inside, measure)
            bronze = evaluate(self.task.runs, self.task.bronze, self.task.by_bronze(measure)).cube()
            gold = evaluate(self.task.runs, Judgments(inside), measure).cube()
            code = {query: place for place, query in enumerate(bronze.queries)}
            places = np.array([code[query] for query in gold.queries])
            self._values[measure] = bronze.values[0], gold.values[0], places
        return self._values[measure]

    def _require_whole(self, inside: pl.DataFrame, measure: Measure) -> None:
        """Refuse gold that judged only a part of its queries, and gold whose queries were not equally probable."""
        prob = inside["prob"].to_numpy() if "prob" in inside.columns else np.ones(1)
        if np.ptp(prob) > 0:
            raise InputError(
                f"the gold queries have different probabilities in column prob ({prob.min():g} to {prob.max():g}): "
                f"whole queries should be drawn at random, each as probable as any other"
            )
        chosen = inside["query"].unique().implode()
        depth = measure.reach or DEEP
        for run in self.task.runs:
            top = run.ranked(depth).filter(pl.col("query").is_in(chosen))
            judged = top.join(inside, on=["query", "doc"], how="semi").height
            if judged < TOO_FEW_JUDGED * top.height:
                raise InputError(
                    f"gold judged {judged:,} of the {top.height:,} documents that '{run.name}' has in the top "
                    f"{depth} of the gold queries: these are not whole queries. "
                    f"`ringtrue sample … --queries N --for {measure}` lists what has to be judged"
                )


def _variance(values: FloatArray) -> float:
    return float(values.var(ddof=1))
