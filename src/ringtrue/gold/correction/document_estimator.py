"""Correction from gold labels of single documents, drawn from what the runs show with known probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.measures import IntArray, Measure
from ringtrue.gold.correction import difference
from ringtrue.gold.correction.diagnostics import Check, checked, stands_for
from ringtrue.gold.correction.difference import GoldSample
from ringtrue.gold.correction.estimator import Difference, Task
from ringtrue.gold.correction.gain_regression import Predictors, predictors
from ringtrue.gold.correction.gold_sample import drawn_to_compare, gold_sample
from ringtrue.gold.correction.joint_estimate import Joint
from ringtrue.gold.correction.judge_rates import judge_told
from ringtrue.gold.correction.linear_measures import LINEAR, Linear, is_linear, linear
from ringtrue.gold.correction.pool import Pool, pooled
from ringtrue.gold.correction.post_stratified import FEW, few_by_label
from ringtrue.gold.correction.validity import refused_if_unfit, require_fit, require_purpose
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import t_quantile
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["ByDocuments"]

UNREACHED = (
    "the highest bronze label is {highest}, and relevant begins at {begins}: say --bronze-rel {highest}, if that is "
    "what bronze means by relevant"
)
BY_LABEL = "few labels of a kind in this run's list: estimated by bronze label, with half a label added to either side"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Asked:
    """One measure, made ready: the pool at its depth, what the documents weigh, and the gold gains of the sample."""

    pool: Pool
    predictors: Predictors
    sample: GoldSample
    measure: Linear
    weights: csr_array
    joint: Joint


@dataclass(frozen=True, kw_only=True, eq=False)
class ByDocuments:
    """The difference estimator, or gold alone, for measures that are sums over documents."""

    task: Task
    gold: Judgments
    _pools: dict[int, tuple[Pool, Predictors, GoldSample, tuple[str, ...]]] = field(default_factory=dict)
    _asked: dict[Measure, _Asked] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Documents without a bronze label, gold labels outside the pools, a top grade that had to be guessed."""
        unreached = (
            UNREACHED.format(highest=max(asked.pool.levels), begins=self.task.threshold(measure))
            for measure, asked in self._asked.items()
            if "rel" in measure.definition.defaults and 0 < max(asked.pool.levels) < self.task.threshold(measure)
        )
        of_pools = (note for *_, notes in self._pools.values() for note in notes)
        of_grades = (
            f"{measure} takes {asked.sample.labels.max()}, the largest gold label, for the top grade; say "
            f"{measure.with_default('max_rel', int(asked.sample.labels.max()) + 1)} if gold knows a higher one"
            for measure, asked in self._asked.items()
            if measure.name == "SDCG" and "max_rel" not in dict(measure.parameters)
        )
        return tuple(dict.fromkeys([*of_pools, *of_grades, *unreached]))

    def why(self, measure: Measure) -> str:
        """The method, and why it was chosen."""
        if self.task.method == "gold":
            return f"{measure} from the gold labels alone, as asked"
        return (
            f"{measure} by the difference estimator: the gold labels were drawn from what the runs show "
            f"({self.task.design}), and it then holds for any judge"
        )

    def estimates(self, measure: Measure) -> list[Estimate]:
        """A corrected mean for each run; None for a run whose documents the sample does not stand for."""
        if self.task.method == "gold":
            return self.gold_only(measure)
        require_purpose(drawn_to_compare(self.gold), measure, comparing=False)
        asked = self._ready(measure)
        found = [asked.joint.estimate(run, level=self.task.level, method="difference")
                 for run in range(len(self.task.runs))]  # fmt: skip
        if measure.name == "P":
            found = self._by_label(asked, found)
        found = [_doubted(one, asked.measure) for one in found]
        return self._refused_where_unfit(found, asked)

    def gold_only(self, measure: Measure) -> list[Estimate]:
        """Each run's own gold labels and nothing else."""
        require_purpose(drawn_to_compare(self.gold), measure, comparing=False)
        asked = self._ready(measure)
        gains = asked.measure.gain(asked.sample.labels)
        joint = difference.gold_only(asked.pool, asked.weights, asked.sample, gains, population=self.task.population)
        found = [
            _same_labels(joint.estimate(run, level=self.task.level, method="gold only"), asked.sample, "this run")
            if _known(joint, run)
            else _nothing(self.task.level, int(joint.labels[run]))
            for run in range(len(self.task.runs))
        ]
        return self._refused_where_unfit(found, asked)

    def differences(self, measure: Measure, pairs: IntArray) -> list[Difference]:
        """Each pair on the documents that they do not have in common: what both have at the same rank cancels."""
        require_purpose(drawn_to_compare(self.gold), measure, comparing=True)
        asked = self._ready(measure)
        joint = asked.joint
        test = "difference"
        if self.task.method == "gold":
            gains = asked.measure.gain(asked.sample.labels)
            joint = difference.gold_only(asked.pool, asked.weights, asked.sample, gains,
                                         population=self.task.population)  # fmt: skip
            test = "gold only"
        apart = asked.weights[pairs[:, 0]] - asked.weights[pairs[:, 1]]
        require_fit(asked.pool, asked.sample, abs(apart).sum(axis=0) > 0)
        shares, sure = stands_for(apart, asked.sample)
        differ = np.asarray(abs(apart).sum(axis=1)).ravel() > 0
        unshared = np.count_nonzero(apart[:, asked.sample.places].toarray(), axis=1)
        found = []
        for place, (a, b) in enumerate(pairs.tolist()):
            if not differ[place]:
                one = _no_difference(self.task.level, test)
            elif test == "gold only" and not (_known(joint, a) and _known(joint, b)):
                fewer = min((a, b), key=lambda run: (_known(joint, run), joint.labels[run]))
                one = _nothing(self.task.level, int(joint.labels[fewer]), of=self.task.names[fewer])
            else:
                one = replace(joint.difference(a, b, level=self.task.level, method=test), n=int(unshared[place]))
                one = refused_if_unfit(one, shares[place], sure[place], where="on what the two do not share")
            noted = _certain(one) if test == "difference" else _same_labels(one, asked.sample, "these runs")
            found.append(Difference(difference=noted, p_value=joint.p_value(one), test=test, freedom=joint.freedom))
        return found

    def checks(self, measure: Measure, pairs: IntArray | None = None) -> list[Check]:
        """The sample against its pool, the judge by rank, run and query, and whether there are enough labels.

        For comparisons the pool is what these pairs of runs do not share: nothing else counts, or need be drawn.
        """
        asked = self._ready(measure)
        relevant, called = self._relevant(asked, measure)
        counts = asked.weights if pairs is None else asked.weights[pairs[:, 0]] - asked.weights[pairs[:, 1]]
        among = np.asarray(abs(counts).sum(axis=0)).ravel() > 0
        return checked(asked.pool, asked.sample, relevant=relevant, called=called, among=among,
                       rng=self.task.rng.spawn(1)[0])  # fmt: skip

    def judge(self, measure: Measure) -> dict[str, object]:
        """The confusion matrix of the gold sample, and how often bronze is right."""
        asked = self._ready(measure)
        levels = np.array(asked.pool.levels)[asked.pool.level[asked.sample.places]]
        relevant, called = self._relevant(asked, measure)
        return judge_told(asked.sample.labels, levels, relevant, called[asked.sample.places], 1 / asked.sample.prob,
                          self.task.level)  # fmt: skip

    def _ready(self, measure: Measure) -> _Asked:
        if measure not in self._asked:
            if not is_linear(measure):
                raise InputError(
                    f"{measure} looks at all of a query at once, and gold labels of single documents cannot correct "
                    f"it: draw whole queries (`ringtrue sample … --queries 20 --for {measure}`), or ask for a measure "
                    f"that is a sum over documents ({', '.join(f'{name}@k' for name in LINEAR)})"
                )
            depth = measure.reach or max(int(run.groups.sizes.max()) for run in self.task.runs)
            pool, known, sample, _ = self._at(depth)
            asked = linear(measure, sample.labels, depth=depth)
            weights, gains = pool.weights(asked.discounts), asked.gain(sample.labels)
            joint = difference.corrected_means(pool, known, weights, sample, gains, population=self.task.population,
                                               gain_range=asked.reach)  # fmt: skip
            self._asked[measure] = _Asked(pool=pool, predictors=known, sample=sample, measure=asked, weights=weights,
                                          joint=joint)  # fmt: skip
        return self._asked[measure]

    def _at(self, depth: int) -> tuple[Pool, Predictors, GoldSample, tuple[str, ...]]:
        if depth not in self._pools:
            pool = pooled(self.task.runs, self.task.bronze, depth=depth)
            sample, notes = gold_sample(self.gold, self.task.design, pool)
            self._pools[depth] = pool, predictors(pool), sample, (*pool.notes, *notes)
        return self._pools[depth]

    def _relevant(self, asked: _Asked, measure: Measure) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which gold labels say relevant, and which documents of the pool bronze calls so."""
        rel = measure.rel
        called = np.array(asked.pool.levels)[asked.pool.level] >= self.task.threshold(measure)
        return asked.sample.labels >= rel, called

    def _by_label(self, asked: _Asked, found: list[Estimate]) -> list[Estimate]:
        """P@k by bronze label for runs with few gold labels of a kind, and never surer than the plain form."""
        relevant, called = self._relevant(asked, asked.measure.measure)
        few = few_by_label(asked.pool, asked.weights, asked.sample, relevant, called, population=self.task.population)
        told = list(found)
        for run, (value, error) in few.items():
            plain = found[run]
            if plain.se is None:
                continue
            se = max(error, plain.se)
            half = t_quantile((1 + plain.level) / 2, max(len(asked.pool.queries) - 1, 1)) * se
            told[run] = replace(plain, value=value, se=se, low=value - half, high=value + half,
                                method="difference, by bronze label", notes=(*plain.notes, BY_LABEL))  # fmt: skip
        return told

    def _refused_where_unfit(self, found: list[Estimate], asked: _Asked) -> list[Estimate]:
        """Without a value for runs that the sample does not stand for; for all, if it does not stand for the pool."""
        shares, sure = stands_for(asked.weights, asked.sample)
        require_fit(asked.pool, asked.sample, abs(asked.weights).sum(axis=0) > 0)
        return [refused_if_unfit(*told) for told in zip(found, shares, sure, strict=True)]


def _doubted(one: Estimate, measure: Linear) -> Estimate:
    notes = list(one.notes)
    if one.n < FEW:
        some = "1 gold label" if one.n == 1 else f"{one.n} gold labels"
        notes.append(f"only {some} in this run's list: trust the interval with care")
    if not any(measure.gains.values()):
        notes.append(f"no gold label counts for {measure.measure}: only how rare such documents are can be told")
    room = 0.001 * measure.reach
    if one.value is not None and not measure.lowest - room <= one.value <= measure.highest + room:
        notes.append(f"{one.value:.3f} lies outside what the measure can be: chance, or a sample that does not fit")
    return replace(one, notes=tuple(notes))


def _known(joint: Joint, run: int) -> bool:
    """Whether a run has gold labels enough for a value with an interval."""
    return bool(joint.labels[run] > 1 and np.isfinite(joint.covariance[run, run]))


def _nothing(level: float, labels: int, *, of: str | None = None) -> Estimate:
    where = "in this run's list" if of is None else f"in the list of {of}"
    many = {0: "no gold label", 1: "a single gold label"}.get(labels, f"{labels} gold labels, all of one query,")
    return Estimate(value=None, level=level, n=labels, method="gold only", notes=(f"{many} {where}",))


def _same_labels(one: Estimate, sample: GoldSample, of: str) -> Estimate:
    if one.se != 0 or not one.n or np.all(sample.prob == 1):
        return one
    why = f"all gold labels of {of} are worth the same: the interval cannot show what others are"
    return replace(one, notes=(*one.notes, why))


def _no_difference(level: float, method: str) -> Estimate:
    why = "the two runs have the same documents where it counts: by any judge they are equal"
    return Estimate(value=0.0, se=0.0, low=0.0, high=0.0, level=level, n=0, method=method, notes=(why,))


def _certain(one: Estimate) -> Estimate:
    if one.se != 0 or not one.value:
        return one
    return replace(one, notes=(*one.notes, "gold judged all that the two do not share: the difference is certain"))
