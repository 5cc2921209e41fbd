"""Correction from how often the judge errs, measured elsewhere: the published method [Goldberg17]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import InputError, MismatchError, UsageError
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.bronze_worth import BronzeWorth
from ringtrue.gold.correction.diagnostics import Check, check_by_test, sample_share_p
from ringtrue.gold.correction.graded_gain import correct_gain
from ringtrue.gold.correction.pool import LINEAR, NO_LABEL, Pool, build_pool, is_linear, linearise
from ringtrue.gold.correction.possible_values import ROUNDING
from ringtrue.gold.correction.proportion import correct_share
from ringtrue.gold.correction.rate_inversion import BronzeScore, Rates
from ringtrue.gold.correction.results import Bounds, CorrectedDifference, CorrectionProblem, summarise_judge
from ringtrue.gold.correction.score_tests import TippingPoint, separate_judges_test, shared_judge_test
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_FILL_DIFFERENCE = 0.01
SHORT_LISTS_NOTE = Note(
    "uneven-lists", "one run's lists are shorter: places that they leave empty count as documents that bronze judged"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _LabelPairs:
    """The gold labels of documents that bronze labelled too, and what each stands for; of whole queries, which ones."""

    gold: IntArray
    bronze: IntArray
    weight: FloatArray
    queries: IntArray | None


@dataclass(frozen=True, kw_only=True, eq=False)
class RateEstimator:
    """The confusion matrix of the judge, inverted."""

    problem: CorrectionProblem
    independent: bool = False
    _cache: dict[str, _LabelPairs] = field(default_factory=dict)
    _pools: dict[int, Pool] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the method takes for granted."""
        assumption = "the correction holds only where bronze errs on these documents as often as on the gold ones"
        if self.problem.design not in ("pool_random", "pool_stratified", "whole_queries"):
            return (Note("same-error-rates", assumption),)
        alternative = Suggestion("does not need that, since gold was drawn from the runs", method="difference")
        return (Note("same-error-rates", assumption, suggestions=[alternative]),)

    def explain_method(self, measure: Measure) -> Note:
        """The method, and why it was chosen."""
        elsewhere = self.problem.design in ("external", "known")
        reason = "because the gold labels are not a draw from the runs' documents" if elsewhere else "as asked"
        return Note("by-confusion", f"{measure} by the judge's confusion matrix, {reason}")

    def estimates(self, measure: Measure) -> list[Estimate]:
        """A corrected mean for each run."""
        if measure.name != "P":
            return self._estimate_graded(measure)
        rates, estimates = self.rates(measure), []
        for run, score in enumerate(self.scores(measure)):
            if self._filled_share(measure, run) < 1:  # nobody can be wrong about a place that a short list leaves empty
                estimates.append(self._estimate_short_lists(measure, rates, run))
                continue
            estimates.append(correct_share(score, rates, level=self.problem.level, rng=self.problem.rng.spawn(1)[0]))
        return estimates

    def gold_only(self, measure: Measure) -> list[Estimate] | None:  # noqa: ARG002 - the protocol's signature
        """None: these gold labels are not a draw from the runs' documents."""
        return None

    def differences(self, measure: Measure, pairs: IntArray) -> list[CorrectedDifference]:
        """Each pair by the test for a judge that errs alike on both; or as published, as if each had its own gold."""
        if measure.name != "P":
            draw = Suggestion(
                "draws from what the runs do not share", function="sample", compare=True, measures=f"{measure}"
            )
            raise InputError(
                "rates-do-not-serve",
                f"{measure} of two runs cannot be compared by the judge's rates alone; ask for P@k, or draw gold from "
                f"the runs",
                suggestions=[draw],
            )
        rates, scores = self.rates(measure), self.scores(measure)
        values = self.problem.bronze_values(measure)
        test = separate_judges_test if self.independent else shared_judge_test
        differences = []
        for a, b in pairs.tolist():
            difference_sd = float((values[a] - values[b]).std(ddof=1)) if values.shape[1] > 1 else None
            tested = test(
                scores[a],
                scores[b],
                rates,
                difference_sd=None if self.independent else difference_sd,
                level=self.problem.level,
            )
            difference = tested.difference
            if abs(self._filled_share(measure, a) - self._filled_share(measure, b)) > MAX_FILL_DIFFERENCE:
                difference = replace(difference, notes=(*difference.notes, SHORT_LISTS_NOTE))
            if tested.tipping is not None and abs(difference.value or 0.0) > ROUNDING:
                difference = replace(difference, notes=(*difference.notes, *_tipping_notes(tested.tipping)))
            # One is 0 where the other is: the test is that of the bronze scores, however uncertain the rates.
            differences.append(
                CorrectedDifference(
                    difference=difference,
                    p_value=tested.p_value,
                    test=tested.test,
                    df=np.inf if self.independent else values.shape[1] - 1,
                    tested_se=self._tested_se(rates, difference_sd, values.shape[1]),
                )
            )
        return differences

    def _tested_se(self, rates: Rates, difference_sd: float | None, queries: int) -> float | None:
        """That of the bronze scores, on the scale of gold; None where the test is another one."""
        if self.independent or difference_sd is None or rates.youden == 0:
            return None
        return float(difference_sd / np.sqrt(queries)) / abs(rates.youden)

    def bounds(self, measure: Measure) -> list[Bounds | None]:  # noqa: ARG002 - the protocol's
        """None: labels from elsewhere stand for no documents of the runs, lost ones as little."""
        return [None] * len(self.problem.runs)

    def bronze_worth(self, measure: Measure, pairs: IntArray | None = None) -> BronzeWorth | None:  # noqa: ARG002
        """None: gold labels from elsewhere alone say nothing about these runs."""
        return None

    def checks(self, measure: Measure, pairs: IntArray | None = None) -> list[Check]:  # noqa: ARG002 - the protocol's
        """Is bronze as generous on the gold documents as on the runs'? Rates from other documents may not hold."""
        if isinstance(self.problem.gold, Confusion) or measure.name != "P":
            return []
        label_pairs = self._label_pairs()
        share = float(
            (label_pairs.weight * (label_pairs.bronze >= self.problem.bronze_threshold(measure))).sum()
            / label_pairs.weight.sum()
        )
        effective_n = float(label_pairs.weight.sum()) ** 2 / float((label_pairs.weight**2).sum())
        run_share = float(np.mean([score.mean for score in self.scores(measure)]))
        finding = f"bronze calls {share:.0%} of the gold documents relevant, and {run_share:.0%} of what the runs show"
        warning = Note(
            "sample-does-not-fit", "the gold documents are of another kind, and so may be the judge's errors"
        )
        return [check_by_test("sample against pool", sample_share_p(share, run_share, effective_n), finding, warning)]

    def describe_judge(self, measure: Measure) -> dict[str, object]:
        """The confusion matrix, and how often bronze is right."""
        if isinstance(self.problem.gold, Confusion):
            return {"confusion": self.problem.gold.as_dict()}
        pairs = self._label_pairs()
        relevant, bronze_relevant = self._relevance(measure)
        return summarise_judge(
            pairs.gold, pairs.bronze, relevant, bronze_relevant, pairs.weight, self.problem.level, pairs.queries
        )

    def scores(self, measure: Measure) -> list[BronzeScore]:
        """P@k of each run by bronze, as a mean over queries and its spread."""
        values = self.problem.bronze_values(measure)
        several_queries = values.shape[1] > 1
        k = int(measure.cutoff or 1)
        return [
            BronzeScore(
                mean=float(row.mean()), sd=float(row.std(ddof=1)) if several_queries else 0.0, queries=len(row), k=k
            )
            for row in values
        ]

    def _relevance(self, measure: Measure) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        pairs = self._label_pairs()
        relevant = pairs.gold >= measure.rel
        return relevant, pairs.bronze >= self.problem.bronze_threshold(measure)

    def rates(self, measure: Measure) -> Rates:
        """On relevant and on other documents; weights make as many labels as they are worth."""
        if isinstance(self.problem.gold, Confusion):
            return _rates_from_confusion(self.problem.gold, measure, self.problem.bronze_threshold(measure))
        pairs = self._label_pairs()
        relevant, bronze_relevant = self._relevance(measure)
        rate_of = {}
        for name, selected in (("relevant", relevant), ("nonrelevant", ~relevant)):
            if not selected.any():
                wording = "relevant" if name == "relevant" else "non-relevant"
                raise InputError(
                    "no-gold-of-a-kind",
                    f"no gold label is {wording} for {measure}: how often bronze is right on {wording} documents is "
                    f"not known, and nothing can be corrected; add such gold labels, or count from another label on, "
                    f"as in P(rel=2)@10",
                )
            weight, hits = pairs.weight[selected], (relevant == bronze_relevant)[selected]
            effective_n = max(1, round(float(weight.sum()) ** 2 / float((weight**2).sum())))
            rate_of[name] = round(float((weight * hits).sum() / weight.sum()) * effective_n), effective_n
        return Rates(relevant=rate_of["relevant"], nonrelevant=rate_of["nonrelevant"])

    def _label_pairs(self) -> _LabelPairs:
        if "pairs" not in self._cache:
            assert isinstance(self.problem.gold, Judgments)
            bronze = (self.problem.all_bronze or self.problem.bronze).frame.select("query", "doc", bronze="label")
            gold_rows = self.problem.gold.frame.drop(
                "bronze", strict=False
            )  # a column of somebody's own may be called so
            joined = gold_rows.join(bronze, on=["query", "doc"], how="inner").filter(pl.col("bronze") >= 0)
            if not joined.height:
                raise MismatchError(
                    "gold-without-bronze",
                    "no gold document has a bronze label: how often bronze is right is not known; let the bronze judge "
                    "label the gold documents too",
                )
            weighted = (
                "prob" in joined.columns and self.problem.design != "external" and not joined["prob"].null_count()
            )
            weight = 1 / joined["prob"].to_numpy() if weighted else np.ones(joined.height)
            gold, bronze_label = (joined[name].to_numpy().astype(np.int64) for name in ("label", "bronze"))
            whole_queries = self.problem.design == "whole_queries"
            queries = joined["query"].rank("dense").to_numpy().astype(np.int64) if whole_queries else None
            self._cache["pairs"] = _LabelPairs(
                gold=gold, bronze=bronze_label, weight=weight / weight.mean(), queries=queries
            )
        return self._cache["pairs"]

    def _estimate_graded(self, measure: Measure) -> list[Estimate]:
        if not is_linear(measure):
            whole_queries = Suggestion("draws some", function="sample_queries", queries=20, measures=f"{measure}")
            raise InputError(
                "rates-do-not-serve",
                f"{measure} cannot be corrected by the judge's rates; ask for "
                f"{', '.join(f'{name}@k' for name in LINEAR)}, or let gold judge whole queries",
                suggestions=[whole_queries],
            )
        pool = self._pool(measure)
        confusion, bronze_labels = self._confusion(pool)
        linear_measure = linearise(measure, np.array(confusion.labels), depth=pool.depth)
        # What bronze did not label counts as its lowest label, as it does in the raw measure.
        lowest = min(bronze_labels)
        column_of_level = [bronze_labels.index(lowest if label == NO_LABEL else label) for label in pool.levels]
        return [
            correct_gain(
                self._bronze_lists(pool, run, column_of_level),
                linear_measure.discounts,
                confusion,
                linear_measure.gain(np.array(confusion.labels)),
                bronze_labels=bronze_labels,
                level=self.problem.level,
                rng=self.problem.rng.spawn(1)[0],
            )
            for run in range(len(self.problem.runs))
        ]

    def _estimate_short_lists(self, measure: Measure, rates: Rates, run: int) -> Estimate:
        """P@k of lists that are shorter than k, as a gain of 1/k for each relevant document."""
        pool = self._pool(measure)
        shares, effective_n = zip(*((rates.on_nonrelevant, rates.on_relevant)), strict=True)
        counts = np.array([[shares[0], 1 - shares[0]], [1 - shares[1], shares[1]]])
        confusion = Confusion(rows="gold", columns="bronze", labels=(0, 1), counts=counts, worth=np.array(effective_n))
        column_of_level = [int(label >= self.problem.bronze_threshold(measure)) for label in pool.levels]
        k = int(measure.cutoff or 1)
        return correct_gain(
            self._bronze_lists(pool, run, column_of_level),
            np.full(k, 1 / k),
            confusion,
            [0.0, 1.0],
            level=self.problem.level,
            rng=self.problem.rng.spawn(1)[0],
        )

    def _pool(self, measure: Measure) -> Pool:
        depth = measure.reach or max(int(run.groups.sizes.max()) for run in self.problem.runs)
        if depth not in self._pools:
            self._pools[depth] = build_pool(self.problem.runs, self.problem.bronze, depth=depth)
        return self._pools[depth]

    def _filled_share(self, measure: Measure, run: int) -> float:
        """The share of the first k places of all queries that hold a document."""
        pool = self._pool(measure)
        return float((pool.run == run).sum()) / (pool.depth * len(pool.queries))

    def _bronze_lists(self, pool: Pool, run: int, column_of_level: Sequence[int]) -> IntArray:
        """Queries × ranks: what bronze says there, as a position; −1 where the list is shorter."""
        of_run = pool.run == run
        lists = np.full((len(pool.queries), pool.depth), -1)
        lists[pool.query[pool.doc_index[of_run]], pool.rank[of_run] - 1] = np.array(column_of_level)[
            pool.level[pool.doc_index[of_run]]
        ]
        return lists

    def _confusion(self, pool: Pool) -> tuple[Confusion, tuple[int, ...]]:
        """What bronze says for each gold label, and the bronze labels that are its columns."""
        if isinstance(self.problem.gold, Confusion):
            missing_labels = [
                label for label in pool.levels if label != NO_LABEL and label not in self.problem.gold.labels
            ]
            if missing_labels:
                raise InputError(
                    "matrix-lacks-label",
                    f"the confusion matrix has the labels {', '.join(map(str, self.problem.gold.labels))}, and bronze "
                    f"says {missing_labels[0]} too: give it a row and a column for each label",
                )
            return self.problem.gold, self.problem.gold.labels
        pairs = self._label_pairs()
        columns = sorted({*pairs.bronze.tolist(), *(label for label in pool.levels if label != NO_LABEL)})
        rows = sorted(set(pairs.gold.tolist()))
        if max(rows) > 1:  # gold has grades: one that bronze knows and gold never gave is missing, and will be refused
            rows = sorted({*rows, *columns})
        counts = np.zeros((len(rows), len(columns)))
        np.add.at(counts, (np.searchsorted(rows, pairs.gold), np.searchsorted(columns, pairs.bronze)), pairs.weight)
        squares = np.zeros(len(rows))
        np.add.at(squares, np.searchsorted(rows, pairs.gold), pairs.weight**2)
        effective_n = np.divide(counts.sum(axis=1) ** 2, squares, out=np.ones(len(rows)), where=squares > 0)
        return Confusion(rows="gold", columns="bronze", labels=tuple(rows), counts=counts, worth=effective_n), tuple(
            columns
        )


def _rates_from_confusion(confusion: Confusion, measure: Measure, threshold: int) -> Rates:
    """The rates in a matrix: from counts where it has them, else from its shares, which are then exactly known."""
    labels = np.array(confusion.labels)
    if confusion.counts.shape != (len(labels), len(labels)):
        shape = " × ".join(map(str, confusion.counts.shape))
        raise UsageError(
            "matrix-shape",
            f"a confusion matrix has a row and a column for each label, found {shape} counts for {len(labels)} labels",
            parameter="gold",
        )
    if not np.all(confusion.counts >= 0):
        raise InputError("bad-counts", "counts of a confusion matrix are 0 or more; found a negative or missing one")
    relevant, bronze_relevant = labels >= measure.rel, labels >= threshold
    if relevant.all() or not relevant.any():
        raise InputError(
            "one-sided-matrix",
            f"the confusion matrix has labels {confusion.labels}: none of them, or all, are relevant for {measure}",
        )
    has_counts = confusion.worth is None
    if not has_counts and (relevant.sum() > 1 or (~relevant).sum() > 1):
        raise InputError(
            "shares-without-counts",
            f"the confusion matrix has shares but no counts: which of the labels {confusion.labels} are how frequent "
            f"among the relevant ones is not known; give its counts too",
        )
    rate_of = {}
    for name, rows, columns in (("relevant", relevant, bronze_relevant), ("nonrelevant", ~relevant, ~bronze_relevant)):
        hits, total = float(confusion.counts[rows][:, columns].sum()), float(confusion.counts[rows].sum())
        rate_of[name] = (round(hits), round(total)) if has_counts else hits / total
    return Rates(relevant=rate_of["relevant"], nonrelevant=rate_of["nonrelevant"])


def _tipping_notes(points: Mapping[str, TippingPoint]) -> tuple[Note, ...]:
    """How little would explain the difference, in words."""
    kinds = {"relevant": "relevant", "nonrelevant": "other"}
    return tuple(
        Note("tipping-point", f"on {kinds[name]} documents, {point.description}") for name, point in points.items()
    )
