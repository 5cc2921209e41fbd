"""How often tests between two systems, with a judge who errs, find a difference that is there, or one that is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.inputs import require_choice
from ringtrue.evaluation.measures import FloatArray, parse
from ringtrue.gold.correction.gain_regression import predictors
from ringtrue.gold.correction.rates import BronzeScore, Rates
from ringtrue.gold.correction.score_tests import by_separate_judges, by_shared_judge, naive
from ringtrue.gold.correction.whole_queries import corrected_by_query
from ringtrue.simulation.studies.coverage import Progress, in_batches
from ringtrue.simulation.worlds.gold_draws import DESIGN_OF, Draw, corrected_way, drawn_gold
from ringtrue.simulation.worlds.judged_runs import BronzeJudge, JudgedRuns, JudgedWorld

__all__ = ["COMPARED", "Compared", "FoundDifference", "decisions", "found_share"]

P: TypeAlias = list[float | None]
PAIR = np.array([[0, 1]])
ALIKE = BronzeJudge(relevant=0.85, nonrelevant=0.85)
FAVOURS = replace(ALIKE, favours=0.1)
HARSH = BronzeJudge(relevant=0.75, nonrelevant=0.95)
TOGETHER = JudgedWorld(judge=ALIKE)
APART = JudgedWorld(common=0.0, judge=ALIKE, second_judge=HARSH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A setting in which two systems are compared: a world, a test, a measure, and how much gold there is.

    `gold` counts labels of documents, queries judged whole, or labels of each kind that the judge's rates come from.
    `promised` says whether the test is made for such a world.
    """

    setting: str
    test: str
    measure: str = "P@10"
    gold: int = 150
    world: JudgedWorld = TOGETHER
    promised: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDifference:
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


def decisions(
    rng: np.random.Generator,
    compared: Sequence[Compared] | None = None,
    *,
    effect: float = 0.08,
    replications: int = 2_000,
    level: float = 0.95,
    progress: Progress = lambda _: None,
) -> list[FoundDifference]:
    """How often each test finds a difference, in its setting, with no true difference and with one.

    Every experiment draws queries, documents, both judges' labels and the gold labels anew. `effect` is by how much
    the first system's P@10 is higher, over all queries there could be, where it is.

    Examples:
        >>> (found,) = decisions(np.random.default_rng(1), [Compared(setting="errs alike", test="naive")])
        >>> round(found.type_one, 2), round(found.power, 2)
        (0.05, 0.67)
    """
    return [
        FoundDifference(
            setting=one.setting, test=one.test, measure=one.measure, queries=one.world.queries, gold=one.gold,
            replications=replications, promised=one.promised,
            **{name: found_share(rng, one, effect=more, replications=replications, level=level, progress=progress)
               for name, more in (("type_one", 0.0), ("power", effect))},
        )
        for one in (COMPARED if compared is None else compared)
    ]  # fmt: skip


def found_share(
    rng: np.random.Generator,
    compared: Compared,
    *,
    effect: float,
    replications: int,
    level: float = 0.95,
    progress: Progress = lambda _: None,
) -> float:
    """The share of experiments in which a test finds a difference: p below 1 − level. One without p finds none.

    Examples:
        >>> separate = Compared(setting="a judge for each", test="separate judges", world=APART)
        >>> found_share(np.random.default_rng(1), separate, effect=0.0, replications=1_000)
        0.053
    """
    require_choice("test", compared.test, tuple(TESTS))
    base = min(compared.world.shares)
    world = replace(compared.world, shares=(base + effect, base))
    count = 0
    for drawn in in_batches(rng, world, replications, level):
        p_values = TESTS[compared.test](rng, drawn, compared)
        count += sum(p is not None and p < 1 - level for p in p_values)
        progress(len(drawn) * world.queries)
    return count / replications


def _by_documents(rng: np.random.Generator, drawn: JudgedRuns, one: Compared, *, draw: Draw) -> P:
    """The difference estimator on what the two do not share, gold drawn for the comparison or at random."""
    measure = parse(one.measure)
    found: P = []
    for place in range(len(drawn)):
        pool = drawn.pool(place)
        sample = drawn_gold(rng, pool, drawn.pool_gold(place), labels=one.gold, draw=draw, measures=[measure],
                            compare=True)  # fmt: skip
        way = corrected_way(pool, predictors(pool), sample, design=DESIGN_OF[draw], population="like-these")
        try:
            found.append(way.differences(measure, PAIR)[0].p_value)
        except InputError:  # a sample that happens to look as if it had been drawn elsewhere
            found.append(None)
    return found


def _by_queries(rng: np.random.Generator, drawn: JudgedRuns, one: Compared) -> P:  # noqa: ARG001 - as the others
    """By differences of single queries, some of which gold judged whole: all experiments at once."""
    gold, bronze = (_apart(drawn.values(parse(one.measure), by)) for by in ("gold", "bronze"))
    found = corrected_by_query(bronze, gold[:, : one.gold], np.arange(one.gold), population="like-these")
    return [found.p_value(row) for row in range(len(gold))]


def _naive(rng: np.random.Generator, drawn: JudgedRuns, one: Compared) -> P:  # noqa: ARG001 - as the others
    """The paired t test on the bronze scores, as if no label were wrong."""
    return [naive(*scores, difference_sd=sd).p_value for scores, sd in _scores(drawn, one)]


def _shared_judge(rng: np.random.Generator, drawn: JudgedRuns, one: Compared) -> P:
    """The test for a judge who errs alike on both, with rates from documents elsewhere."""
    rates = _rates(rng, drawn.world.judge, one.gold, len(drawn))
    return [by_shared_judge(*scores, some, difference_sd=sd).p_value
            for (scores, sd), some in zip(_scores(drawn, one), rates, strict=True)]  # fmt: skip


def _independent(rng: np.random.Generator, drawn: JudgedRuns, one: Compared) -> P:
    """The published test, which takes one set of gold labels for two."""
    rates = _rates(rng, drawn.world.judge, one.gold, len(drawn))
    return [by_separate_judges(*scores, some).p_value
            for (scores, _), some in zip(_scores(drawn, one), rates, strict=True)]  # fmt: skip


def _separate_judges(rng: np.random.Generator, drawn: JudgedRuns, one: Compared, *, same_queries: bool) -> P:
    """Each system with judges and gold labels of its own; the second perhaps over other queries."""
    judges = drawn.world.judge, drawn.world.second_judge or drawn.world.judge
    first, second = (_rates(rng, judge, one.gold, len(drawn)) for judge in judges)
    both = [(scores, sd) for scores, sd in _scores(drawn, one)]
    if not same_queries:  # those of another experiment
        both = [((a, other), None) for ((a, _), _), ((_, other), _) in zip(both, [*both[1:], both[0]], strict=True)]
    return [by_separate_judges(*scores, some, others, difference_sd=sd).p_value
            for (scores, sd), some, others in zip(both, first, second, strict=True)]  # fmt: skip


TESTS: dict[str, Callable[[np.random.Generator, JudgedRuns, Compared], P]] = {
    "difference": lambda rng, drawn, one: _by_documents(rng, drawn, one, draw="sample"),
    "difference, random draw": lambda rng, drawn, one: _by_documents(rng, drawn, one, draw="random"),
    "difference, whole queries": _by_queries,
    "shared judge": _shared_judge,
    "separate judges": lambda rng, drawn, one: _separate_judges(rng, drawn, one, same_queries=True),
    "separate judges, other queries": lambda rng, drawn, one: _separate_judges(rng, drawn, one, same_queries=False),
    "independent": _independent,
    "naive": _naive,
}
COMPARED = (
    *(
        Compared(setting=setting, test=test, measure=measure, world=JudgedWorld(judge=judge, grades=3))
        for setting, judge in (("errs alike", ALIKE), ("favours one", FAVOURS))
        for test in ("difference", "difference, random draw")
        for measure in ("P@10", "DCG@10")
    ),
    *(
        Compared(
            setting=setting,
            test="difference, whole queries",
            measure=measure,
            gold=30,
            world=JudgedWorld(judge=judge, grades=3, unseen=10),
        )
        for setting, judge in (("errs alike", ALIKE), ("favours one", FAVOURS))
        for measure in ("nDCG@10", "AP")
    ),
    Compared(setting="errs alike", test="shared judge"),
    Compared(setting="favours one", test="shared judge", world=JudgedWorld(judge=FAVOURS), promised=False),
    Compared(setting="a judge for each", test="separate judges", world=APART),
    Compared(setting="a judge for each", test="separate judges, other queries", world=APART),
    Compared(setting="errs alike", test="independent", promised=False),
    Compared(setting="errs alike", test="naive"),
    Compared(setting="favours one", test="naive", world=JudgedWorld(judge=FAVOURS), promised=False),
    Compared(setting="a judge for each", test="naive", world=APART, promised=False),
)


def _apart(values: FloatArray) -> FloatArray:
    """First system less second: experiments × queries."""
    difference: FloatArray = values[0] - values[1]
    return difference


def _scores(drawn: JudgedRuns, one: Compared) -> list[tuple[tuple[BronzeScore, BronzeScore], float | None]]:
    """The bronze scores of both systems in each experiment, and the sd of the differences of single queries."""
    values = drawn.values(parse(one.measure), "bronze")
    means, spreads = values.mean(axis=2), values.std(axis=2, ddof=1)
    together = _apart(values).std(axis=1, ddof=1)
    return [
        (
            (
                BronzeScore(mean=float(means[0, row]), sd=float(spreads[0, row]), queries=values.shape[2]),
                BronzeScore(mean=float(means[1, row]), sd=float(spreads[1, row]), queries=values.shape[2]),
            ),
            float(together[row]),
        )
        for row in range(len(drawn))
    ]


def _rates(rng: np.random.Generator, judge: BronzeJudge, labels: int, experiments: int) -> list[Rates]:
    """The judge's rates as so many gold labels of each kind, from documents elsewhere, show them."""
    right, wrong = (rng.binomial(labels, rate, experiments).tolist() for rate in (judge.relevant, judge.nonrelevant))
    return [Rates(relevant=(one, labels), nonrelevant=(other, labels)) for one, other in zip(right, wrong, strict=True)]
