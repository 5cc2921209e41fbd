"""How often tests between two systems, with a judge who errs, find a difference that is there, or one that is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.inputs import require_choice
from ringtrue.evaluation.measures import FloatArray, parse
from ringtrue.gold.correction.difference import build_predictors
from ringtrue.gold.correction.query_means import correct_by_query
from ringtrue.gold.correction.rate_inversion import BronzeScore, Rates
from ringtrue.gold.correction.score_tests import naive_test, separate_judges_test, shared_judge_test
from ringtrue.simulation.studies.experiments import (
    DESIGN_OF,
    Draw,
    Progress,
    draw_gold,
    make_document_estimator,
    simulate_batches,
)
from ringtrue.simulation.worlds.judged_runs import BronzeJudge, JudgedRuns, JudgedWorld

PValues: TypeAlias = list[float | None]
SYSTEM_PAIR = np.array([[0, 1]])
EVEN_JUDGE = BronzeJudge(relevant=0.85, nonrelevant=0.85)
BIASED_JUDGE = replace(EVEN_JUDGE, favours=0.1)
HARSH_JUDGE = BronzeJudge(relevant=0.75, nonrelevant=0.95)
SHARED_WORLD = JudgedWorld(judge=EVEN_JUDGE)
SEPARATE_WORLD = JudgedWorld(common=0.0, judge=EVEN_JUDGE, second_judge=HARSH_JUDGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSetting:
    """A setting in which two systems are compared: a world, a test, a measure, and how much gold there is.

    `gold` counts labels of documents, queries judged whole, or labels of each kind that the judge's rates come from.
    `promised` says whether the test is made for such a world.
    """

    setting: str
    test: str
    measure: str = "P@10"
    gold: int = 150
    world: JudgedWorld = SHARED_WORLD
    promised: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionErrorRates:
    """How often a test found a difference where there is none, and where one system is better by `effect` in P@10."""

    setting: str
    test: str
    measure: str
    queries: int
    gold: int
    replications: int
    type_one: float
    power: float
    promised: bool

    def as_dict(self) -> dict[str, object]:
        """The row as plain data."""
        return asdict(self)


def decision_error_rates(
    rng: np.random.Generator,
    compared: Sequence[ComparisonSetting] | None = None,
    *,
    effect: float = 0.08,
    replications: int = 2_000,
    level: float = 0.95,
    progress: Progress = lambda _: None,
) -> list[DecisionErrorRates]:
    """How often each test finds a difference, in its setting, with no true difference and with one.

    Every experiment draws queries, documents, both judges' labels and the gold labels anew. `effect` is by how much
    the first system's P@10 is higher, over all queries there could be, where it is.

    Examples:
        >>> naive = ComparisonSetting(setting="errs alike", test="naive")
        >>> (rates,) = decision_error_rates(np.random.default_rng(1), [naive])
        >>> round(rates.type_one, 2), round(rates.power, 2)
        (0.05, 0.67)
    """
    return [
        DecisionErrorRates(
            setting=setting.setting,
            test=setting.test,
            measure=setting.measure,
            queries=setting.world.queries,
            gold=setting.gold,
            replications=replications,
            promised=setting.promised,
            **{
                name: detection_rate(
                    rng, setting, effect=true_effect, replications=replications, level=level, progress=progress
                )
                for name, true_effect in (("type_one", 0.0), ("power", effect))
            },
        )
        for setting in (COMPARISON_SETTINGS if compared is None else compared)
    ]


def detection_rate(
    rng: np.random.Generator,
    compared: ComparisonSetting,
    *,
    effect: float,
    replications: int,
    level: float = 0.95,
    progress: Progress = lambda _: None,
) -> float:
    """The share of experiments in which a test finds a difference: p below 1 − level. One without p finds none.

    Examples:
        >>> separate = ComparisonSetting(setting="a judge for each", test="separate judges", world=SEPARATE_WORLD)
        >>> detection_rate(np.random.default_rng(1), separate, effect=0.0, replications=1_000)
        0.053
    """
    require_choice("test", compared.test, tuple(TESTS))
    base = min(compared.world.shares)
    world = replace(compared.world, shares=(base + effect, base))
    count = 0
    for batch in simulate_batches(rng, world, replications, level):
        p_values = TESTS[compared.test](rng, batch, compared)
        count += sum(p is not None and p < 1 - level for p in p_values)
        progress(len(batch) * world.queries)
    return count / replications


def _test_by_documents(
    rng: np.random.Generator, batch: JudgedRuns, setting: ComparisonSetting, *, draw: Draw
) -> PValues:
    """The difference estimator on what the two do not share, gold drawn for the comparison or at random."""
    measure = parse(setting.measure)
    p_values: PValues = []
    for experiment in range(len(batch)):
        pool = batch.pool(experiment)
        sample = draw_gold(
            rng, pool, batch.pool_gold(experiment), labels=setting.gold, draw=draw, measures=[measure], compare=True
        )
        estimator = make_document_estimator(
            pool, build_predictors(pool), sample, design=DESIGN_OF[draw], population="like-these"
        )
        try:
            p_values.append(estimator.differences(measure, SYSTEM_PAIR)[0].p_value)
        except InputError:  # a sample that happens to look as if it had been drawn elsewhere
            p_values.append(None)
    return p_values


def _test_by_queries(rng: np.random.Generator, batch: JudgedRuns, setting: ComparisonSetting) -> PValues:  # noqa: ARG001 - as the others
    """By differences of single queries, some of which gold judged whole: all experiments at once."""
    gold, bronze = (_system_differences(batch.values(parse(setting.measure), by)) for by in ("gold", "bronze"))
    by_query = correct_by_query(bronze, gold[:, : setting.gold], np.arange(setting.gold), population="like-these")
    return [by_query.p_value(row) for row in range(len(gold))]


def _test_naively(rng: np.random.Generator, batch: JudgedRuns, setting: ComparisonSetting) -> PValues:  # noqa: ARG001 - as the others
    """The paired t test on the bronze scores, as if no label were wrong."""
    return [naive_test(*scores, difference_sd=sd).p_value for scores, sd in _bronze_scores(batch, setting)]


def _test_shared_judge(rng: np.random.Generator, batch: JudgedRuns, setting: ComparisonSetting) -> PValues:
    """The test for a judge who errs alike on both, with rates from documents elsewhere."""
    rates = _draw_rates(rng, batch.world.judge, setting.gold, len(batch))
    return [
        shared_judge_test(*scores, judge_rates, difference_sd=sd).p_value
        for (scores, sd), judge_rates in zip(_bronze_scores(batch, setting), rates, strict=True)
    ]


def _test_as_independent(rng: np.random.Generator, batch: JudgedRuns, setting: ComparisonSetting) -> PValues:
    """The published test, which takes one set of gold labels for two."""
    rates = _draw_rates(rng, batch.world.judge, setting.gold, len(batch))
    return [
        separate_judges_test(*scores, judge_rates).p_value
        for (scores, _), judge_rates in zip(_bronze_scores(batch, setting), rates, strict=True)
    ]


def _test_separate_judges(
    rng: np.random.Generator, batch: JudgedRuns, setting: ComparisonSetting, *, same_queries: bool
) -> PValues:
    """Each system with judges and gold labels of its own; the second perhaps over other queries."""
    judges = batch.world.judge, batch.world.second_judge or batch.world.judge
    rates_of_first, rates_of_second = (_draw_rates(rng, judge, setting.gold, len(batch)) for judge in judges)
    paired_scores = [(scores, sd) for scores, sd in _bronze_scores(batch, setting)]
    if not same_queries:  # those of another experiment
        paired_scores = [
            ((a, b), None)
            for ((a, _), _), ((_, b), _) in zip(paired_scores, [*paired_scores[1:], paired_scores[0]], strict=True)
        ]
    return [
        separate_judges_test(*scores, first_rates, second_rates, difference_sd=sd).p_value
        for (scores, sd), first_rates, second_rates in zip(paired_scores, rates_of_first, rates_of_second, strict=True)
    ]


TESTS: dict[str, Callable[[np.random.Generator, JudgedRuns, ComparisonSetting], PValues]] = {
    "difference": lambda rng, batch, setting: _test_by_documents(rng, batch, setting, draw="sample"),
    "difference, random draw": lambda rng, batch, setting: _test_by_documents(rng, batch, setting, draw="random"),
    "difference, whole queries": _test_by_queries,
    "shared judge": _test_shared_judge,
    "separate judges": lambda rng, batch, setting: _test_separate_judges(rng, batch, setting, same_queries=True),
    "separate judges, other queries": lambda rng, batch, setting: _test_separate_judges(
        rng, batch, setting, same_queries=False
    ),
    "independent": _test_as_independent,
    "naive": _test_naively,
}
COMPARISON_SETTINGS = (
    *(
        ComparisonSetting(setting=setting, test=test, measure=measure, world=JudgedWorld(judge=judge, grades=3))
        for setting, judge in (("errs alike", EVEN_JUDGE), ("favours one", BIASED_JUDGE))
        for test in ("difference", "difference, random draw")
        for measure in ("P@10", "DCG@10")
    ),
    *(
        ComparisonSetting(
            setting=setting,
            test="difference, whole queries",
            measure=measure,
            gold=30,
            world=JudgedWorld(judge=judge, grades=3, unseen=10),
        )
        for setting, judge in (("errs alike", EVEN_JUDGE), ("favours one", BIASED_JUDGE))
        for measure in ("nDCG@10", "AP")
    ),
    ComparisonSetting(setting="errs alike", test="shared judge"),
    ComparisonSetting(
        setting="favours one", test="shared judge", world=JudgedWorld(judge=BIASED_JUDGE), promised=False
    ),
    ComparisonSetting(setting="a judge for each", test="separate judges", world=SEPARATE_WORLD),
    ComparisonSetting(setting="a judge for each", test="separate judges, other queries", world=SEPARATE_WORLD),
    ComparisonSetting(setting="errs alike", test="independent", promised=False),
    ComparisonSetting(setting="errs alike", test="naive"),
    ComparisonSetting(setting="favours one", test="naive", world=JudgedWorld(judge=BIASED_JUDGE), promised=False),
    ComparisonSetting(setting="a judge for each", test="naive", world=SEPARATE_WORLD, promised=False),
)


def _system_differences(values: FloatArray) -> FloatArray:
    """First system less second: experiments × queries."""
    difference: FloatArray = values[0] - values[1]
    return difference


def _bronze_scores(
    batch: JudgedRuns, setting: ComparisonSetting
) -> list[tuple[tuple[BronzeScore, BronzeScore], float | None]]:
    """The bronze scores of both systems in each experiment, and the sd of the differences of single queries."""
    values = batch.values(parse(setting.measure), "bronze")
    means, sds = values.mean(axis=2), values.std(axis=2, ddof=1)
    difference_sds = _system_differences(values).std(axis=1, ddof=1)
    return [
        (
            (
                BronzeScore(mean=float(means[0, row]), sd=float(sds[0, row]), queries=values.shape[2]),
                BronzeScore(mean=float(means[1, row]), sd=float(sds[1, row]), queries=values.shape[2]),
            ),
            float(difference_sds[row]),
        )
        for row in range(len(batch))
    ]


def _draw_rates(rng: np.random.Generator, judge: BronzeJudge, labels: int, experiments: int) -> list[Rates]:
    """The judge's rates as so many gold labels of each kind, from documents elsewhere, show them."""
    relevant_hits, nonrelevant_hits = (
        rng.binomial(labels, rate, experiments).tolist() for rate in (judge.relevant, judge.nonrelevant)
    )
    return [
        Rates(relevant=(right_relevant, labels), nonrelevant=(right_nonrelevant, labels))
        for right_relevant, right_nonrelevant in zip(relevant_hits, nonrelevant_hits, strict=True)
    ]
