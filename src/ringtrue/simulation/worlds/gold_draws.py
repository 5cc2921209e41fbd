"""Gold labels for experiments in a world: drawn as `ringtrue sample` draws them, or at random, and put to use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.evaluation.measures import IntArray, Measure
from ringtrue.gold.correction.document_estimator import DocumentEstimator
from ringtrue.gold.correction.estimator import CorrectionProblem
from ringtrue.gold.correction.gain_regression import Predictors
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.joint_estimate import Population
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.designs import Design
from ringtrue.gold.sampling.pivotal import pivotal_sample
from ringtrue.gold.sampling.sample import inclusion_probabilities, weigh_measure
from ringtrue.tables import Judgments, Run

Draw: TypeAlias = Literal["sample", "random"]
DESIGN_OF: dict[Draw, Design] = {"sample": "pool_stratified", "random": "pool_random"}
NO_RUN, NO_LABELS = Run.of({"q": {"d": 1.0}}), Judgments.of({"q": {"d": 1}})


def draw_gold(
    rng: np.random.Generator,
    pool: Pool,
    gold: IntArray,
    *,
    labels: int,
    draw: Draw,
    measures: Sequence[Measure],
    compare: bool = False,
) -> GoldSample:
    """So many of the pool's documents with their gold labels: as `sample` draws them for these measures, or at random.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> from ringtrue.simulation.worlds.judged_runs import JudgedWorld, simulate_judged_runs
        >>> rng = np.random.default_rng(1)
        >>> judged_runs = simulate_judged_runs(rng, JudgedWorld(), replications=1)
        >>> sample = draw_gold(rng, judged_runs.pool(0), judged_runs.pool_gold(0), labels=60, draw="random",
        ...                    measures=[parse("P@10")])
        >>> len(sample), float(sample.prob[0])
        (60, 0.08)
    """
    if draw == "random":
        places = np.sort(rng.permutation(len(pool))[:labels])
        return GoldSample(positions=places, labels=gold[places], prob=np.full(len(places), len(places) / len(pool)))
    prob = inclusion_probabilities([weigh_measure(measure, pool) for measure in measures], labels, compare=compare)
    places = pivotal_sample(prob, pool.query, pool.similarity_key, rng)
    return GoldSample(positions=places, labels=gold[places], prob=prob[places], balanced=True)


def make_document_estimator(
    pool: Pool,
    predictors: Predictors,
    sample: GoldSample,
    *,
    design: Design,
    population: Population,
    level: float = 0.95,
) -> DocumentEstimator:
    """What `correct` and `compare_corrected` ask for estimates and differences, from a pool that is already made.

    Tables of labels are what takes time, and here they need not be joined.
    """
    task = CorrectionProblem(
        runs=[NO_RUN] * len(pool.runs),
        bronze=NO_LABELS,
        gold=NO_LABELS,
        design=design,
        method="difference",
        population=population,
        bronze_rel=None,
        level=level,
        rng=np.random.default_rng(0),
    )
    return DocumentEstimator(problem=task, gold=NO_LABELS, _pools={pool.depth: (pool, predictors, sample, ())})
