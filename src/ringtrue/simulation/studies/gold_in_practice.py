"""What happens to gold labels in practice, on real judges: a new family of runs comes, and labels get lost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray, Measure, parse
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.measured_pool import MeasuredPool, SampledPool
from ringtrue.gold.correction.pool import NO_LABEL
from ringtrue.gold.sampling.allocation import pivotal_sample
from ringtrue.gold.sampling.continuation import EarlierDraw, allocate, draw_sizes
from ringtrue.gold.sampling.weighted_measure import weigh_measure
from ringtrue.simulation.studies.experiments import NO_LABELS
from ringtrue.simulation.studies.real_judges import (
    Intervals,
    MethodCoverage,
    RealJudgeStudy,
    RealWorld,
    build_world,
)

LOST_SHARE = 0.05  # of the labels of a draw: the most that is accepted


def run_families(names: Sequence[str]) -> dict[str, list[int]]:
    """Runs by the letters that their names begin with: those of one team, or of one engine.

    Examples:
        >>> run_families(["bm25base_p", "bm25tuned_p", "idst_bert_p1"])
        {'bm': [0, 1], 'idst': [2]}
    """
    families: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        match = re.match(r"[A-Za-z]+", name)
        families.setdefault(match[0] if match else name, []).append(index)
    return families


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NewFamily:
    """The family of runs that has the most weight, in all, on documents that no other run shows.

    `unseen` is 1 for each document of the pool that only the family shows.
    """

    name: str
    runs: IntArray
    unseen: FloatArray
    weight: float


def find_new_family(world: RealWorld) -> NewFamily | None:
    """The family that an old sample misses most; None where there is only one."""
    families = run_families(world.pool.runs)
    if len(families) < 2:
        return None
    shown = (abs(world.weights) > 0).astype(np.float64)
    by_any = np.asarray(shown.sum(axis=0)).ravel()
    candidates = []
    for name, runs in families.items():
        unseen = (by_any == np.asarray(shown[runs].sum(axis=0)).ravel()).astype(np.float64)
        weight = float((world.weights[runs] @ unseen).sum())
        candidates.append(NewFamily(name=name, runs=np.array(runs), unseen=unseen, weight=weight))
    return max(candidates, key=lambda family: family.weight)


def study_new_family(
    study: RealJudgeStudy, measure: str | Measure, *, budget: int, extension: int, rng: np.random.Generator
) -> list[MethodCoverage]:
    """A family of runs comes after the sample was drawn: the old sample alone, and extended by some labels.

    The extended sample is held against all runs, the old one against the new runs alone.
    """
    measure = parse(measure)
    world = build_world(study.collection, study.bronze, measure, budget=budget, compare=False)
    family = find_new_family(world)
    if family is None:
        return []
    unseen = family.unseen > 0
    part, pool = weigh_measure(measure, world.pool), world.pool
    old_runs = np.setdiff1d(np.arange(len(pool.runs)), family.runs)
    old_part = replace(part, weights=part.weights[old_runs])
    old_prob = allocate(draw_sizes([old_part], compare=False), budget).prob

    def draw_samples() -> tuple[GoldSample, GoldSample]:
        old = world.gold_sample(pivotal_sample(old_prob, pool.query, pool.similarity_key, rng), old_prob)
        earlier = EarlierDraw(gold=NO_LABELS, sample=old, complete=old, unseen=unseen, frame=None)
        size = draw_sizes([weigh_measure(measure, pool, old)], compare=False)
        allocation = allocate(size, extension, earlier)
        drawn = pivotal_sample(allocation.prob, pool.query, pool.similarity_key, rng)
        positions = np.concatenate([old.positions, drawn])
        return old, GoldSample(
            positions=positions,
            labels=world.labels[positions],
            prob=np.concatenate([earlier.continued_probabilities(allocation), allocation.final_prob(drawn)]),
            extended=True,
        )

    samples: list[tuple[GoldSample, GoldSample]] = []

    def draw_extended() -> list[Intervals]:
        samples.append(draw_samples())
        return [world.means(samples[-1][1], level=study.level)]

    extended = study.repeat(
        world.truth, (f"extended to {family.name}* by {extension} labels",), draw_extended, study.progress
    )
    remaining = iter(samples)

    def draw_old() -> list[Intervals]:
        values, half_widths = world.means(next(remaining)[0], level=study.level)
        return [(values[family.runs], half_widths[family.runs])]

    old_alone = study.repeat(
        world.truth[family.runs], (f"{family.name}* by the old {budget} labels",), draw_old, lambda _: None
    )
    return [*study.summarise(measure, extended), *study.summarise(measure, old_alone)]


def study_lost_labels(
    study: RealJudgeStudy, measure: str | Measure, *, budget: int, rng: np.random.Generator
) -> list[MethodCoverage]:
    """One label in twenty is lost, those that gold puts highest above what bronze says: bounds, and the interval."""
    measure = parse(measure)
    world = build_world(study.collection, study.bronze, measure, budget=budget, compare=False)
    in_frame = np.ones(len(world.pool), dtype=bool)
    level_mean = np.bincount(world.pool.level, weights=world.gains) / np.maximum(np.bincount(world.pool.level), 1)
    surprise = world.gains - level_mean[world.pool.level]
    contrasts = np.eye(len(world.pool.runs))

    def draw() -> list[Intervals]:
        complete = world.draw_sample(rng)
        lost = np.argsort(-surprise[complete.positions], kind="stable")[: int(LOST_SHARE * len(complete))]
        kept = np.setdiff1d(np.arange(len(complete)), lost)
        labels = complete.labels.copy()
        labels[lost] = NO_LABEL
        sample = GoldSample(
            positions=complete.positions[kept],
            labels=complete.labels[kept],
            prob=complete.prob[kept],
            balanced=complete.balanced,
        )
        sampled = SampledPool(
            pool=world.pool,
            predictors=world.pool_predictors,
            sample=sample,
            complete_sample=GoldSample(
                positions=complete.positions, labels=labels, prob=complete.prob, balanced=complete.balanced
            ),
            in_frame=in_frame,
            notes=(),
        )
        bounds = MeasuredPool.build(sampled, measure, "these").bounds(contrasts, study.level)
        values, half_widths = world.means(sample, level=study.level)
        low = np.minimum([one.low for one in bounds], values - half_widths)
        high = np.maximum([one.high for one in bounds], values + half_widths)
        return [((low + high) / 2, (high - low) / 2), (values, half_widths)]

    methods = f"bounds, {int(LOST_SHARE * budget)} of {budget} labels lost", "interval, the same labels lost"
    return study.summarise(measure, study.repeat(world.truth, methods, draw, study.progress), against="the interval")
