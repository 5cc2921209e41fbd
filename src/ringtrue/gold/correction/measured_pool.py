"""A pool with its gold sample, and a measure of it: corrected values, those from gold alone, and what is not known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, Measure
from ringtrue.gold.correction.bounds import UnknownGains, unseen_shares
from ringtrue.gold.correction.bronze_worth import BronzeWorth, compare_widths
from ringtrue.gold.correction.difference import Predictors, build_predictors, correct_means, gold_only_means
from ringtrue.gold.correction.gold_sample import GoldLabels, GoldSample, build_gold_sample, other_pool_notes
from ringtrue.gold.correction.pool import LinearMeasure, Pool, build_pool, linearise
from ringtrue.gold.correction.results import Bounds, CorrectionProblem, JointEstimate
from ringtrue.gold.correction.validity import NOTED_UNSEEN_SHARE
from ringtrue.gold.designs import Population
from ringtrue.messages import Note
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledPool:
    """What the runs show down to a depth, the gold labels of some of it, and what could be drawn at all (`in_frame`).

    `complete_sample` has the lost labels too, as negative ones.
    """

    pool: Pool
    predictors: Predictors
    sample: GoldSample
    complete_sample: GoldSample
    in_frame: NDArray[np.bool_]
    notes: tuple[Note, ...]

    @cached_property
    def blank_predictors(self) -> Predictors:
        """What is known of every document without the bronze labels."""
        return build_predictors(replace(self.pool, levels=(0,), level=np.zeros_like(self.pool.level)))

    @classmethod
    def build(cls, problem: CorrectionProblem, gold: Judgments, *, depth: int) -> SampledPool:
        """The runs of a problem against its gold labels."""
        pool = build_pool(problem.runs, problem.bronze, depth=depth)
        sample, notes = build_gold_sample(gold, problem.design, pool)
        complete_sample = sample
        if problem.lost is not None:
            complete = GoldLabels(judged=gold, lost=problem.lost).complete
            complete_sample, _ = build_gold_sample(complete, problem.design, pool)
        frame = problem.sampling_frame
        # Beside its frame, a label of a document that these runs do not show is one of other runs.
        notes = (*notes, *other_pool_notes(gold, pool)) if frame is None else ()
        return cls(
            pool=pool,
            predictors=build_predictors(pool),
            sample=sample,
            complete_sample=complete_sample,
            in_frame=np.ones(len(pool), dtype=bool) if frame is None else frame.holds(pool),
            notes=(*pool.notes, *notes),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredPool:
    """One measure of a sampled pool: what the documents weigh, and what the gold labels are worth.

    Runs, or differences of them, are rows of `contrasts`.
    """

    sampled: SampledPool
    measure: LinearMeasure
    weights: csr_array
    population: Population
    _corrected: dict[Population, JointEstimate] = field(default_factory=dict)

    @classmethod
    def build(cls, sampled: SampledPool, measure: Measure, population: Population) -> MeasuredPool:
        """The measure with the gains of all labels that gold gave."""
        linear_measure = linearise(measure, sampled.sample.labels, depth=sampled.pool.depth)
        return cls(
            sampled=sampled,
            measure=linear_measure,
            weights=sampled.pool.weights(linear_measure.discounts),
            population=population,
        )

    @property
    def pool(self) -> Pool:
        """What the runs show."""
        return self.sampled.pool

    @property
    def sample(self) -> GoldSample:
        """The gold labels among it."""
        return self.sampled.sample

    @cached_property
    def reachable_weights(self) -> csr_array:
        """The weights of documents that the sample could draw: what it has to stand for."""
        return self.weights.multiply(self.sampled.in_frame.astype(np.float64)).tocsr()

    def corrected(self, population: Population | None = None) -> JointEstimate:
        """The difference estimator."""
        population = population or self.population
        if population not in self._corrected:
            gains = self.measure.gain(self.sample.labels)
            self._corrected[population] = self._fit(self.weights, self.sample, gains, population)
        return self._corrected[population]

    def gold_only(self, population: Population | None = None) -> JointEstimate:
        """Each run's own gold labels and nothing else."""
        gains = self.measure.gain(self.sample.labels)
        return gold_only_means(self.pool, self.weights, self.sample, gains, population=population or self.population)

    def unseen_shares(self, contrasts: FloatArray) -> FloatArray:
        """How much of each row's weight lies on documents that the sample could not draw."""
        from scipy.sparse import csr_array

        if self.sampled.in_frame.all():
            return np.zeros(len(contrasts))
        return unseen_shares(csr_array(csr_array(contrasts) @ self.weights), self.sampled.in_frame)

    @property
    def has_lost_labels(self) -> bool:
        """Whether documents of the pool were drawn, and have no gold label."""
        return len(self.sampled.complete_sample) > len(self.sample)

    def has_unknown_gains(self, contrasts: FloatArray) -> bool:
        """Whether labels were lost, or enough is out of the sample's reach to speak of."""
        return self.has_lost_labels or bool(self.unseen_shares(contrasts).max(initial=0.0) >= NOTED_UNSEEN_SHARE)

    def bounds(
        self, contrasts: FloatArray, level: float, *, least_half_widths: FloatArray | None = None
    ) -> list[Bounds]:
        """Each row's interval with lost labels, and documents that the sample could not draw, at worst and at best."""
        return self._unknown_gains.bounds(contrasts, level, least_half_widths=least_half_widths)

    def extreme_samples(self) -> list[GoldSample]:
        """The sample with every lost label at the lowest, and at the highest that gold gave."""
        complete = self.sampled.complete_sample
        lost, worth = complete.labels < 0, self.measure.gains
        ends = min(worth, key=lambda label: worth[label]), max(worth, key=lambda label: worth[label])
        return [replace(complete, labels=np.where(lost, label, complete.labels)) for label in ends]

    def bronze_worth(self, contrasts: FloatArray) -> BronzeWorth | None:
        """How wide intervals are with the bronze labels: against gold alone, and the same estimator without them."""
        populations: tuple[Population, Population] = self.population, "these"
        (corrected, gold_only, without), (label_corrected, label_gold, _) = (
            [
                joint.contrast_variances(contrasts)
                for joint in (self.corrected(population), self.gold_only(population), self._without_bronze(population))
            ]
            for population in populations
        )
        return compare_widths(
            corrected,
            gold_only,
            without,
            (label_corrected, label_gold),
            len(self.sample),
            int((abs(self.weights).sum(axis=0) > 0).sum()),
            unit="gold labels",
            population=self.population,
        )

    def _without_bronze(self, population: Population) -> JointEstimate:
        """The difference estimator as if bronze had said the same of every document."""
        blank = replace(self.pool, levels=(0,), level=np.zeros_like(self.pool.level))
        return correct_means(
            blank,
            self.sampled.blank_predictors,
            self.weights,
            self.sample,
            self.measure.gain(self.sample.labels),
            population=population,
            gain_range=self.measure.gain_range,
        )

    @cached_property
    def _stated_measure(self) -> LinearMeasure:
        """The measure with the gains also of labels that gold did not give, as far as it states them."""
        parameters = dict(self.measure.measure.parameters)
        stated = [label for label, _ in parameters.get("gains", ())]
        stated += [parameters["max_rel"]] if "max_rel" in parameters else []
        labels = np.array([0, *stated, *self.sample.labels.tolist()])
        return linearise(self.measure.measure, labels, depth=self.pool.depth)

    @cached_property
    def _unknown_gains(self) -> UnknownGains:
        complete = self.sampled.complete_sample
        lost = complete.labels < 0
        least, most = self._stated_measure.gain_limits

        def fit(weights: csr_array, gains: FloatArray) -> JointEstimate:
            return self._fit(weights, complete, gains, self.population)

        return UnknownGains(
            weights=self.weights,
            gains=self.measure.gain(np.where(lost, self.sample.labels[0], complete.labels)),
            lost=lost,
            in_frame=self.sampled.in_frame,
            least=least,
            most=most,
            fit=fit,
        )

    def _fit(self, weights: csr_array, sample: GoldSample, gains: FloatArray, population: Population) -> JointEstimate:
        return correct_means(
            self.pool,
            self.sampled.predictors,
            weights,
            sample,
            gains,
            population=population,
            gain_range=self.measure.gain_range,
        )
