"""Correction from how often the judge errs, measured elsewhere: the published method [Goldberg17]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import InputError, MismatchError, UsageError
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.diagnostics import Check, check_by_test, share_p
from ringtrue.gold.correction.estimator import Difference, Task
from ringtrue.gold.correction.graded_gain import corrected_gain
from ringtrue.gold.correction.judge_rates import judge_told
from ringtrue.gold.correction.linear_measures import LINEAR, is_linear, linear
from ringtrue.gold.correction.pool import NO_LABEL, Pool, pooled
from ringtrue.gold.correction.proportion import corrected_share
from ringtrue.gold.correction.rates import BronzeScore, Rates
from ringtrue.gold.correction.score_tests import by_separate_judges, by_shared_judge
from ringtrue.gold.correction.sensitivity import TippingPoint
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ByRates"]

UNEQUAL = 0.01
SHORT = "one run's lists are shorter: places that they leave empty count as documents that bronze judged"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pairs:
    """The gold labels of documents that bronze labelled too, and what each stands for; of whole queries, which ones."""

    gold: IntArray
    bronze: IntArray
    weight: FloatArray
    queries: IntArray | None


@dataclass(frozen=True, kw_only=True, eq=False)
class ByRates:
    """The confusion matrix of the judge, inverted."""

    task: Task
    independent: bool = False
    _cache: dict[str, _Pairs] = field(default_factory=dict)
    _pools: dict[int, Pool] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the method takes for granted."""
        told = "the correction holds only where bronze errs on these documents as often as on the gold ones"
        drawn = self.task.design in ("pool_random", "pool_stratified", "whole_queries")
        better = "; the gold labels were drawn from the runs' documents, and --method difference does not need that"
        return (told + (better if drawn else ""),)

    def why(self, measure: Measure) -> str:
        """The method, and why it was chosen."""
        elsewhere = self.task.design in ("external", "known")
        asked = "because the gold labels are not a draw from the runs' documents" if elsewhere else "as asked"
        return f"{measure} by the judge's confusion matrix, {asked}"

    def estimates(self, measure: Measure) -> list[Estimate]:
        """A corrected mean for each run."""
        if measure.name != "P":
            return self._graded(measure)
        rates, found = self.rates(measure), []
        for run, score in enumerate(self.scores(measure)):
            if self._filled(measure, run) < 1:  # nobody can be wrong about a place that a short list leaves empty
                found.append(self._short(measure, rates, run))
                continue
            found.append(corrected_share(score, rates, level=self.task.level, rng=self.task.rng.spawn(1)[0]))
        return found

    def gold_only(self, measure: Measure) -> list[Estimate] | None:  # noqa: ARG002 - the protocol's signature
        """None: these gold labels are not a draw from the runs' documents."""
        return None

    def differences(self, measure: Measure, pairs: IntArray) -> list[Difference]:
        """Each pair by the test for a judge that errs alike on both; or as published, as if each had its own gold."""
        if measure.name != "P":
            raise InputError(
                f"{measure} of two runs cannot be compared by the judge's rates alone; ask for P@k, or draw gold from "
                f"what the runs do not share (`ringtrue sample … --compare --for {measure}`)"
            )
        rates, scores = self.rates(measure), self.scores(measure)
        values = self.task.bronze_values(measure)
        test = by_separate_judges if self.independent else by_shared_judge
        found = []
        for a, b in pairs.tolist():
            spread = float((values[a] - values[b]).std(ddof=1)) if values.shape[1] > 1 else None
            one = test(scores[a], scores[b], rates, difference_sd=None if self.independent else spread,
                       level=self.task.level)  # fmt: skip
            difference = one.difference
            if abs(self._filled(measure, a) - self._filled(measure, b)) > UNEQUAL:
                difference = replace(difference, notes=(*difference.notes, SHORT))
            if one.tipping is not None:
                difference = replace(difference, notes=(*difference.notes, *_tipping(one.tipping)))
            # One is 0 where the other is: the test is that of the bronze scores, however uncertain the rates.
            found.append(Difference(difference=difference, p_value=one.p_value, test=one.test,
                                    freedom=np.inf if self.independent else values.shape[1] - 1,
                                    tested_se=self._tested_se(rates, spread, values.shape[1])))  # fmt: skip
        return found

    def _tested_se(self, rates: Rates, spread: float | None, queries: int) -> float | None:
        """That of the bronze scores, on the scale of gold; None where the test is another one."""
        if self.independent or spread is None or rates.youden == 0:
            return None
        return float(spread / np.sqrt(queries)) / abs(rates.youden)

    def checks(self, measure: Measure, pairs: IntArray | None = None) -> list[Check]:  # noqa: ARG002 - the protocol's
        """Is bronze as generous on the gold documents as on the runs'? Rates from other documents may not hold."""
        if isinstance(self.task.gold, Confusion) or measure.name != "P":
            return []
        labels = self._pairs()
        share = float((labels.weight * (labels.bronze >= self.task.threshold(measure))).sum() / labels.weight.sum())
        worth = float(labels.weight.sum()) ** 2 / float((labels.weight**2).sum())
        pool = float(np.mean([score.mean for score in self.scores(measure)]))
        told = f"bronze calls {share:.0%} of the gold documents relevant, and {pool:.0%} of what the runs show"
        doubt = "the gold documents are of another kind, and so may be the judge's errors"
        return [check_by_test("sample against pool", share_p(share, pool, worth), told, doubt)]

    def judge(self, measure: Measure) -> dict[str, object]:
        """The confusion matrix, and how often bronze is right."""
        if isinstance(self.task.gold, Confusion):
            return {"confusion": self.task.gold.as_dict()}
        pairs = self._pairs()
        relevant, called = self._binary(measure)
        return judge_told(pairs.gold, pairs.bronze, relevant, called, pairs.weight, self.task.level, pairs.queries)

    def scores(self, measure: Measure) -> list[BronzeScore]:
        """P@k of each run by bronze, as a mean over queries and its spread."""
        values = self.task.bronze_values(measure)
        many = values.shape[1] > 1
        k = int(measure.cutoff or 1)
        return [BronzeScore(mean=float(row.mean()), sd=float(row.std(ddof=1)) if many else 0.0, queries=len(row), k=k)
                for row in values]  # fmt: skip

    def _binary(self, measure: Measure) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        pairs = self._pairs()
        relevant = pairs.gold >= measure.rel
        return relevant, pairs.bronze >= self.task.threshold(measure)

    def rates(self, measure: Measure) -> Rates:
        """On relevant and on other documents; weights make as many labels as they are worth."""
        if isinstance(self.task.gold, Confusion):
            return _rates_of(self.task.gold, measure, self.task.threshold(measure))
        pairs = self._pairs()
        relevant, called = self._binary(measure)
        found = {}
        for name, kind in (("relevant", relevant), ("nonrelevant", ~relevant)):
            if not kind.any():
                what = "relevant" if name == "relevant" else "non-relevant"
                raise InputError(
                    f"no gold label is {what} for {measure}: how often bronze is right on {what} documents is not "
                    f"known, and nothing can be corrected; add such gold labels, or say --rel"
                )
            weight, hits = pairs.weight[kind], (relevant == called)[kind]
            worth = max(1, round(float(weight.sum()) ** 2 / float((weight**2).sum())))
            found[name] = round(float((weight * hits).sum() / weight.sum()) * worth), worth
        return Rates(relevant=found["relevant"], nonrelevant=found["nonrelevant"])

    def _pairs(self) -> _Pairs:
        if "pairs" not in self._cache:
            assert isinstance(self.task.gold, Judgments)
            bronze = (self.task.labelled or self.task.bronze).frame.select("query", "doc", bronze="label")
            both = self.task.gold.frame.join(bronze, on=["query", "doc"], how="inner").filter(pl.col("bronze") >= 0)
            if not both.height:
                raise MismatchError(
                    "no gold document has a bronze label: how often bronze is right cannot be told; let the bronze "
                    "judge label the gold documents too"
                )
            weighted = "prob" in both.columns and self.task.design != "external" and not both["prob"].null_count()
            weight = 1 / both["prob"].to_numpy() if weighted else np.ones(both.height)
            gold, said = (both[name].to_numpy().astype(np.int64) for name in ("label", "bronze"))
            whole = self.task.design == "whole_queries"
            queries = both["query"].rank("dense").to_numpy().astype(np.int64) if whole else None
            self._cache["pairs"] = _Pairs(gold=gold, bronze=said, weight=weight / weight.mean(), queries=queries)
        return self._cache["pairs"]

    def _graded(self, measure: Measure) -> list[Estimate]:
        if not is_linear(measure):
            raise InputError(
                f"{measure} cannot be corrected by the judge's rates; ask for {', '.join(f'{n}@k' for n in LINEAR)}, "
                f"or let gold judge whole queries (`ringtrue sample … --queries 20 --for {measure}`)"
            )
        pool = self._pool(measure)
        matrix, bronze_labels = self._matrix(pool)
        asked = linear(measure, np.array(matrix.labels), depth=pool.depth)
        # What bronze did not label counts as its lowest label, as it does in the raw measure.
        lowest = min(bronze_labels)
        said = [bronze_labels.index(lowest if label == NO_LABEL else label) for label in pool.levels]
        return [
            corrected_gain(self._lists(pool, run, said), asked.discounts, matrix, asked.gain(np.array(matrix.labels)),
                           bronze_labels=bronze_labels, level=self.task.level, rng=self.task.rng.spawn(1)[0])
            for run in range(len(self.task.runs))
        ]  # fmt: skip

    def _short(self, measure: Measure, rates: Rates, run: int) -> Estimate:
        """P@k of lists that are shorter than k, as a gain of 1/k for each relevant document."""
        pool = self._pool(measure)
        shares, worth = zip(*((rates.on_nonrelevant, rates.on_relevant)), strict=True)
        counts = np.array([[shares[0], 1 - shares[0]], [1 - shares[1], shares[1]]])
        matrix = Confusion(rows="gold", columns="bronze", labels=(0, 1), counts=counts, worth=np.array(worth))
        said = [int(label >= self.task.threshold(measure)) for label in pool.levels]
        k = int(measure.cutoff or 1)
        return corrected_gain(self._lists(pool, run, said), np.full(k, 1 / k), matrix, [0.0, 1.0],
                              level=self.task.level, rng=self.task.rng.spawn(1)[0])  # fmt: skip

    def _pool(self, measure: Measure) -> Pool:
        depth = measure.reach or max(int(run.groups.sizes.max()) for run in self.task.runs)
        if depth not in self._pools:
            self._pools[depth] = pooled(self.task.runs, self.task.bronze, depth=depth)
        return self._pools[depth]

    def _filled(self, measure: Measure, run: int) -> float:
        """The share of the first k places of all queries that hold a document."""
        pool = self._pool(measure)
        return float((pool.run == run).sum()) / (pool.depth * len(pool.queries))

    def _lists(self, pool: Pool, run: int, said: Sequence[int]) -> IntArray:
        """Queries × ranks: what bronze says there, as a position; −1 where the list is shorter."""
        mine = pool.run == run
        lists = np.full((len(pool.queries), pool.depth), -1)
        lists[pool.query[pool.shown[mine]], pool.rank[mine] - 1] = np.array(said)[pool.level[pool.shown[mine]]]
        return lists

    def _matrix(self, pool: Pool) -> tuple[Confusion, tuple[int, ...]]:
        """What bronze says for each gold label, and the bronze labels that are its columns."""
        if isinstance(self.task.gold, Confusion):
            lacking = [label for label in pool.levels if label != NO_LABEL and label not in self.task.gold.labels]
            if lacking:
                raise InputError(
                    f"the confusion matrix has the labels {', '.join(map(str, self.task.gold.labels))}, and bronze "
                    f"says {lacking[0]} too: give it a row and a column for each label"
                )
            return self.task.gold, self.task.gold.labels
        pairs = self._pairs()
        columns = sorted({*pairs.bronze.tolist(), *(label for label in pool.levels if label != NO_LABEL)})
        rows = sorted(set(pairs.gold.tolist()))
        if max(rows) > 1:  # gold has grades: one that bronze knows and gold never gave is missing, and will be refused
            rows = sorted({*rows, *columns})
        counts = np.zeros((len(rows), len(columns)))
        np.add.at(counts, (np.searchsorted(rows, pairs.gold), np.searchsorted(columns, pairs.bronze)), pairs.weight)
        squares = np.zeros(len(rows))
        np.add.at(squares, np.searchsorted(rows, pairs.gold), pairs.weight**2)
        worth = np.divide(counts.sum(axis=1) ** 2, squares, out=np.ones(len(rows)), where=squares > 0)
        return Confusion(rows="gold", columns="bronze", labels=tuple(rows), counts=counts, worth=worth), tuple(columns)


def _rates_of(known: Confusion, measure: Measure, threshold: int) -> Rates:
    """The rates in a matrix: from counts where it has them, else from its shares, which are then exactly known."""
    labels = np.array(known.labels)
    if known.counts.shape != (len(labels), len(labels)):
        shape = " × ".join(map(str, known.counts.shape))
        raise UsageError(
            f"a confusion matrix has a row and a column for each label, found {shape} counts for {len(labels)} labels"
        )
    if not np.all(known.counts >= 0):
        raise InputError("counts of a confusion matrix are 0 or more; found a negative or missing one")
    relevant, called = labels >= measure.rel, labels >= threshold
    if relevant.all() or not relevant.any():
        raise InputError(
            f"the confusion matrix has labels {known.labels}: none of them, or all, are relevant for {measure}"
        )
    counted = known.worth is None
    if not counted and (relevant.sum() > 1 or (~relevant).sum() > 1):
        raise InputError(
            f"the confusion matrix has shares but no counts: which of the labels {known.labels} are how frequent among "
            f"the relevant ones is not known; give its counts too"
        )
    found = {}
    for name, rows, columns in (("relevant", relevant, called), ("nonrelevant", ~relevant, ~called)):
        hits, total = float(known.counts[rows][:, columns].sum()), float(known.counts[rows].sum())
        found[name] = (round(hits), round(total)) if counted else hits / total
    return Rates(relevant=found["relevant"], nonrelevant=found["nonrelevant"])


def _tipping(points: Mapping[str, TippingPoint]) -> tuple[str, ...]:
    """How little would explain the difference, in words."""
    kinds = {"relevant": "relevant", "nonrelevant": "other"}
    return tuple(f"on {kinds[name]} documents, {point.told}" for name, point in points.items())
