"""Correction from gold labels of single documents, drawn from what the runs show with known probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.bounds import MAX_BOUNDED_PAIRS
from ringtrue.gold.correction.bronze_worth import BronzeWorth
from ringtrue.gold.correction.diagnostics import Check, run_checks
from ringtrue.gold.correction.gold_sample import GoldSample, comparison_measures, require_drawn_for
from ringtrue.gold.correction.measured_pool import MeasuredPool, SampledPool
from ringtrue.gold.correction.pool import LINEAR, LinearMeasure, is_linear
from ringtrue.gold.correction.possible_values import cut_to_possible, possible_differences, possible_values
from ringtrue.gold.correction.post_stratified import MIN_LABELS, post_stratified_errors
from ringtrue.gold.correction.results import (
    Bounds,
    CorrectedDifference,
    CorrectionProblem,
    JointEstimate,
    summarise_judge,
)
from ringtrue.gold.correction.validity import (
    MAX_UNSEEN_SHARE,
    NOTED_UNSEEN_SHARE,
    require_representative,
    require_within_reach,
    sample_coverage,
    withhold_if_unrepresentative,
)
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.intervals import t_quantile
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLERANCE = 0.001  # of the greatest value that the labels seen allow
POST_STRATIFIED_NOTE = Note(
    "few-gold-of-a-kind",
    "few labels of a kind in this run's list: its error is estimated by bronze label, with half a label added to "
    "either side",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class DocumentEstimator:
    """The difference estimator, or gold alone, for measures that are sums over documents."""

    problem: CorrectionProblem
    gold: Judgments
    _pools: dict[int, SampledPool] = field(default_factory=dict)
    _prepared: dict[Measure, MeasuredPool] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Documents without a bronze label, gold labels outside the pools, a top grade that had to be guessed."""
        threshold_notes = (
            _unreached_threshold(max(prepared.pool.levels), self.problem.bronze_threshold(measure))
            for measure, prepared in self._prepared.items()
            if "rel" in measure.definition.defaults
            and 0 < max(prepared.pool.levels) < self.problem.bronze_threshold(measure)
        )
        pool_notes = (note for sampled in self._pools.values() for note in sampled.notes)
        grade_notes = (
            Note(
                "top-grade-assumed",
                f"{measure} takes {prepared.sample.labels.max()}, the largest gold label, for the top grade; say "
                f"{measure.with_default('max_rel', int(prepared.sample.labels.max()) + 1)} if gold knows a higher one",
            )
            for measure, prepared in self._prepared.items()
            if measure.name == "SDCG" and "max_rel" not in dict(measure.parameters)
        )
        return tuple(dict.fromkeys([*pool_notes, *grade_notes, *threshold_notes]))

    def explain_method(self, measure: Measure) -> Note:
        """The method, and why it was chosen."""
        if self.problem.method == "gold":
            return Note("by-gold-alone", f"{measure} from the gold labels alone, as asked")
        return Note(
            "by-difference",
            f"{measure} by the difference estimator: the gold labels were drawn from what the runs show "
            f"({self.problem.design}), and it then holds for any judge",
        )

    def estimates(self, measure: Measure) -> list[Estimate]:
        """A corrected mean for each run; None for a run whose documents the sample does not stand for."""
        if self.problem.method == "gold":
            return self.gold_only(measure)
        require_drawn_for(comparison_measures(self.gold), measure, comparing=False)
        prepared = self._prepare(measure)
        estimates = [
            prepared.corrected().estimate(run, level=self.problem.level, method="difference")
            for run in range(len(self.problem.runs))
        ]
        if measure.name == "P":
            estimates = self._widen_few_labels(prepared, estimates)
        estimates = [_add_caveats(estimate, prepared.measure) for estimate in estimates]
        return self._withhold_unrepresentative(estimates, prepared)

    def bounds(self, measure: Measure) -> list[Bounds | None]:
        """For each run, its interval whatever lost labels and documents out of reach may be."""
        prepared, contrasts = self._prepare(measure), self._contrasts()
        if self.problem.method == "gold" or not prepared.has_unknown_gains(contrasts):
            return [None] * len(contrasts)
        has_lost, unseen = prepared.has_lost_labels, prepared.unseen_shares(contrasts)
        bounds_by_pair = prepared.bounds(
            contrasts, self.problem.level, least_half_widths=self._few_label_half_widths(prepared)
        )
        return [
            bounds.around(estimate, *possible_values(measure)) if has_lost or share >= NOTED_UNSEEN_SHARE else None
            for bounds, estimate, share in zip(bounds_by_pair, self.estimates(measure), unseen, strict=True)
        ]

    def bronze_worth(self, measure: Measure, pairs: IntArray | None = None) -> BronzeWorth | None:
        """What the bronze labels made of the intervals, against the same gold labels alone."""
        if self.problem.method == "gold" or (pairs is None and comparison_measures(self.gold)):
            return None
        prepared, contrasts = self._prepare(measure), self._contrasts(pairs)
        compared = prepared.unseen_shares(contrasts) <= MAX_UNSEEN_SHARE
        if pairs is None:  # of few labels of a kind, the interval is by bronze label, and has no other to compare with
            compared[list(self._few_label_errors(prepared, prepared.sample))] = False
        return prepared.bronze_worth(contrasts[compared])

    def gold_only(self, measure: Measure) -> list[Estimate]:
        """Each run's own gold labels and nothing else."""
        require_drawn_for(comparison_measures(self.gold), measure, comparing=False)
        prepared = self._prepare(measure)
        joint = prepared.gold_only()
        estimates = [
            _note_identical_gains(
                cut_to_possible(joint.estimate(run, level=self.problem.level, method="gold only"), measure),
                prepared.sample,
                "this run",
            )
            if _has_interval(joint, run)
            else _missing_estimate(self.problem.level, int(joint.labels[run]))
            for run in range(len(self.problem.runs))
        ]
        return self._withhold_unrepresentative(estimates, prepared)

    def differences(self, measure: Measure, pairs: IntArray) -> list[CorrectedDifference]:
        """Each pair on the documents that they do not have in common: what both have at the same rank cancels."""
        require_drawn_for(comparison_measures(self.gold), measure, comparing=True)
        prepared = self._prepare(measure)
        gold_only = self.problem.method == "gold"
        joint, test = (prepared.gold_only(), "gold only") if gold_only else (prepared.corrected(), "difference")
        contrasts = self._contrasts(pairs)
        weight_differences, reachable = (
            weights[pairs[:, 0]] - weights[pairs[:, 1]] for weights in (prepared.weights, prepared.reachable_weights)
        )
        unseen = prepared.unseen_shares(contrasts)
        require_within_reach(unseen, measure, of="pair of runs")
        require_representative(prepared.pool, prepared.sample, abs(reachable).sum(axis=0) > 0)
        shares, z = sample_coverage(reachable, prepared.sample)
        has_bounds = not gold_only and len(pairs) <= MAX_BOUNDED_PAIRS and prepared.has_unknown_gains(contrasts)
        bounds = prepared.bounds(contrasts, self.problem.level) if has_bounds else None
        runs_differ = np.asarray(abs(weight_differences).sum(axis=1)).ravel() > 0
        unshared_labels = np.count_nonzero(weight_differences[:, prepared.sample.positions].toarray(), axis=1)
        differences = []
        for row, (a, b) in enumerate(pairs.tolist()):
            if not runs_differ[row]:
                estimate = _no_difference(self.problem.level, test)
            elif gold_only and not (_has_interval(joint, a) and _has_interval(joint, b)):
                fewer = min((a, b), key=lambda run: (_has_interval(joint, run), joint.labels[run]))
                estimate = _missing_estimate(
                    self.problem.level, int(joint.labels[fewer]), of=self.problem.run_names[fewer]
                )
            else:
                estimate = replace(
                    joint.difference(a, b, level=self.problem.level, method=test), n=int(unshared_labels[row])
                )
                estimate = withhold_if_unrepresentative(
                    estimate, shares[row], z[row], unseen[row], where="on what the two do not share"
                )
            annotated = cut_to_possible(estimate, measure, difference=True)
            annotated = (
                _note_certainty(annotated)
                if test == "difference"
                else _note_identical_gains(annotated, prepared.sample, "these runs")
            )
            differences.append(
                CorrectedDifference(
                    difference=annotated,
                    p_value=joint.p_value(estimate),
                    test=test,
                    df=joint.df,
                    bounds=bounds[row].around(estimate, *possible_differences(measure)) if bounds else None,
                )
            )
        return differences

    def checks(self, measure: Measure, pairs: IntArray | None = None) -> list[Check]:
        """The sample against its pool, the judge by rank, run and query, and whether there are enough labels.

        For comparisons the pool is what these pairs of runs do not share: nothing else counts, or need be drawn.
        """
        prepared = self._prepare(measure)
        relevant, bronze_relevant = self._relevance(prepared, measure)
        weights = prepared.reachable_weights
        weights = weights if pairs is None else weights[pairs[:, 0]] - weights[pairs[:, 1]]
        eligible = np.asarray(abs(weights).sum(axis=0)).ravel() > 0
        return run_checks(
            prepared.pool,
            prepared.sample,
            relevant=relevant,
            bronze_relevant=bronze_relevant,
            eligible=eligible,
            rng=self.problem.rng.spawn(1)[0],
        )

    def describe_judge(self, measure: Measure) -> dict[str, object]:
        """The confusion matrix of the gold sample, and how often bronze is right."""
        prepared = self._prepare(measure)
        levels = np.array(prepared.pool.levels)[prepared.pool.level[prepared.sample.positions]]
        relevant, bronze_relevant = self._relevance(prepared, measure)
        return summarise_judge(
            prepared.sample.labels,
            levels,
            relevant,
            bronze_relevant[prepared.sample.positions],
            1 / prepared.sample.prob,
            self.problem.level,
        )

    def _prepare(self, measure: Measure) -> MeasuredPool:
        if measure not in self._prepared:
            if not is_linear(measure):
                draw = Suggestion("draws whole queries", function="sample_queries", queries=20, measures=f"{measure}")
                raise InputError(
                    "needs-whole-queries",
                    f"{measure} looks at all of a query at once, and gold labels of single documents cannot correct "
                    f"it; ask for a measure that is a sum over documents "
                    f"({', '.join(f'{name}@k' for name in LINEAR)})",
                    suggestions=[draw],
                )
            depth = measure.reach or max(int(run.groups.sizes.max()) for run in self.problem.runs)
            if depth not in self._pools:
                self._pools[depth] = SampledPool.build(self.problem, self.gold, depth=depth)
            self._prepared[measure] = MeasuredPool.build(self._pools[depth], measure, self.problem.population)
        return self._prepared[measure]

    def _relevance(self, prepared: MeasuredPool, measure: Measure) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which gold labels say relevant, and which documents of the pool bronze calls so."""
        bronze_relevant = np.array(prepared.pool.levels)[prepared.pool.level] >= self.problem.bronze_threshold(measure)
        return prepared.sample.labels >= measure.rel, bronze_relevant

    def _widen_few_labels(self, prepared: MeasuredPool, estimates: list[Estimate]) -> list[Estimate]:
        """P@k of runs with few gold labels of a kind: an error by bronze label, never less than the plain one."""
        widened = list(estimates)
        for run, stratified_se in self._few_label_errors(prepared, prepared.sample).items():
            plain = estimates[run]
            if plain.value is None or plain.se is None:
                continue
            se = max(stratified_se, plain.se)
            half_width = t_quantile((1 + plain.level) / 2, max(len(prepared.pool.queries) - 1, 1)) * se
            widened[run] = replace(
                plain,
                se=se,
                low=plain.value - half_width,
                high=plain.value + half_width,
                method="difference, by bronze label",
                notes=(*plain.notes, POST_STRATIFIED_NOTE),
            )
        return widened

    def _few_label_errors(self, prepared: MeasuredPool, sample: GoldSample) -> dict[int, float]:
        """The standard errors by bronze label of P@k, of the runs that have few gold labels of a kind."""
        measure = prepared.measure.measure
        if measure.name != "P":
            return {}
        _, bronze_relevant = self._relevance(prepared, measure)
        return post_stratified_errors(
            prepared.pool,
            prepared.weights,
            sample,
            sample.labels >= measure.rel,
            bronze_relevant,
            population=self.problem.population,
        )

    def _few_label_half_widths(self, prepared: MeasuredPool) -> FloatArray:
        """For each run, half of the interval by bronze label, the larger with lost labels at their worst and best."""
        half_widths = np.zeros(len(self.problem.runs))
        t = t_quantile((1 + self.problem.level) / 2, max(len(prepared.pool.queries) - 1, 1))
        for sample in prepared.extreme_samples():
            for run, error in self._few_label_errors(prepared, sample).items():
                half_widths[run] = max(half_widths[run], t * error)
        return half_widths

    def _withhold_unrepresentative(self, estimates: list[Estimate], prepared: MeasuredPool) -> list[Estimate]:
        """Without a value for runs that the sample does not stand for; for all, if it does not stand for the pool."""
        unseen = prepared.unseen_shares(self._contrasts())
        require_within_reach(unseen, prepared.measure.measure, of="run")
        shares, z = sample_coverage(prepared.reachable_weights, prepared.sample)
        require_representative(prepared.pool, prepared.sample, abs(prepared.reachable_weights).sum(axis=0) > 0)
        return [withhold_if_unrepresentative(*row) for row in zip(estimates, shares, z, unseen, strict=True)]

    def _contrasts(self, pairs: IntArray | None = None) -> FloatArray:
        """A row for each run, or for each pair of runs."""
        runs = np.eye(len(self.problem.runs))
        return runs if pairs is None else runs[pairs[:, 0]] - runs[pairs[:, 1]]


def _unreached_threshold(highest: int, threshold: int) -> Note:
    """No bronze label is as high as a relevant one."""
    return Note(
        "threshold-unreached",
        f"the highest bronze label is {highest}, and relevant begins at {threshold}",
        parameter="bronze_rel",
        suggestions=[Suggestion("counts that label as relevant", bronze_rel=highest)],
    )


def _add_caveats(estimate: Estimate, measure: LinearMeasure) -> Estimate:
    notes = list(estimate.notes)
    if estimate.n < MIN_LABELS:
        count = "1 gold label" if estimate.n == 1 else f"{estimate.n} gold labels"
        notes.append(Note("few-gold", f"only {count} in this run's list: trust the interval with care"))
    if not any(measure.gains.values()):
        text = f"no gold label counts for {measure.measure}: only how rare such documents are can be estimated"
        notes.append(Note("no-label-counts", text))
    has_no_maximum = possible_values(measure.measure)[1] == np.inf
    if has_no_maximum and estimate.value is not None and estimate.value > measure.max_value * (1 + TOLERANCE):
        text = f"{estimate.value:.3f} is more than the labels seen allow: chance, or a sample that does not fit"
        notes.append(Note("estimate-outside-possible", text))
    return cut_to_possible(replace(estimate, notes=tuple(notes)), measure.measure)


def _has_interval(joint: JointEstimate, run: int) -> bool:
    """Whether a run has gold labels enough for a value with an interval."""
    return bool(joint.labels[run] > 1 and np.isfinite(joint.covariance[run, run]))


def _missing_estimate(level: float, labels: int, *, of: str | None = None) -> Estimate:
    where = "in this run's list" if of is None else f"in the list of {of}"
    count = {0: "no gold label", 1: "a single gold label"}.get(labels, f"{labels} gold labels, all of one query,")
    note = Note("too-few-gold", f"{count} {where}")
    return Estimate(value=None, level=level, n=labels, method="gold only", notes=(note,))


def _note_identical_gains(estimate: Estimate, sample: GoldSample, of: str) -> Estimate:
    if estimate.se != 0 or not estimate.n or np.all(sample.prob == 1):
        return estimate
    text = f"all gold labels of {of} are worth the same: the interval cannot show what others are"
    note = Note("gold-all-alike", text)
    return replace(estimate, notes=(*estimate.notes, note))


def _no_difference(level: float, method: str) -> Estimate:
    text = "the two runs have the same documents where it counts: by any judge they are equal"
    note = Note("same-documents", text)
    return Estimate(value=0.0, se=0.0, low=0.0, high=0.0, level=level, n=0, method=method, notes=(note,))


def _note_certainty(estimate: Estimate) -> Estimate:
    if estimate.se != 0 or not estimate.value:
        return estimate
    note = Note("certain-difference", "gold judged all that the two do not share: the difference is certain")
    return replace(estimate, notes=(*estimate.notes, note))
