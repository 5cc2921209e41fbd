"""Is A better than B, when the judge errs?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.inputs import require_choice
from ringtrue.evaluation.measures import Measure
from ringtrue.evaluation.significance import Adjust, Family, compare
from ringtrue.evaluation.significance.adjustment import adjust_p_values, describe_family
from ringtrue.evaluation.significance.compare import select_run_pairs
from ringtrue.gold.correction.correct import build_problem, make_estimator, require_measures
from ringtrue.gold.correction.estimator import CorrectedDifference, Method
from ringtrue.gold.correction.joint_estimate import Population
from ringtrue.gold.designs import Design
from ringtrue.stats.results import Comparison, Comparisons

TESTS = {
    "difference": "difference estimator on what the two runs do not share",
    "difference, whole queries": "prediction-powered t test on whole queries",
    "gold only": "t test on the gold labels alone",
    "t on bronze scores": "paired t test on the bronze scores, for a judge that errs alike on both",
    "welch on bronze scores": "Welch's t test on the bronze scores, for a judge that errs alike on both",
    "independent": "z test as if each run had gold labels of its own",
}


def compare_corrected(
    runs: object,
    bronze: object,
    gold: object,
    measures: str | Measure | Iterable[str | Measure],
    *,
    baselines: str | Iterable[str] = (),
    adjust: Adjust = "holm",
    family: Family = "measure",
    design: Design | None = None,
    method: Method | None = None,
    population: Population = "like-these",
    independent: bool = False,
    bronze_rel: int | None = None,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Comparisons:
    """Is one run better than another by gold, where gold judged a sample? As `compare`, with bronze labels corrected.

    Where gold was drawn from the runs' documents, only those count that the two do not share, and a judge that favours
    one of them misleads nobody. Gold from elsewhere can only tell whether a judge that errs alike on both would see a
    difference; `independent` is the published test for that, which hardly ever sees one. Each comparison carries the
    `naive` one, by the bronze labels as they are.

    Examples:
        >>> runs = {"new": {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(30)},
        ...         "old": {f"q{i}": {"c": 2.0, "b": 1.0} for i in range(30)}}
        >>> bronze = {f"q{i}": {"a": 1, "b": i % 2, "c": i % 3 % 2} for i in range(30)}
        >>> gold = {f"q{i}": {"a": int(i > 9), "c": i % 2} for i in range(0, 30, 2)}
        >>> comparison = compare_corrected(runs, bronze, gold, "P@2", design="pool_random")[0]
        >>> print(comparison.naive.difference, "→", comparison.difference)
        0.33 (95% CI 0.24 to 0.42) → 0.4 (95% CI 0.1 to 0.6)
    """
    parsed_measures = require_measures(measures)
    require_choice("adjust", adjust, get_args(Adjust))
    require_choice("family", family, get_args(Family))
    if adjust == "tukey":
        raise UsageError("Tukey's test needs every label of every query: with gold, adjust by holm or bh")
    problem, notes = build_problem(
        runs,
        bronze,
        gold,
        design=design,
        method=method,
        population=population,
        bronze_rel=bronze_rel,
        level=level,
        rng=rng,
    )
    if independent and problem.method != "confusion":
        raise UsageError("the published test takes the judge's rates: it goes with --method confusion")
    estimator = make_estimator(problem, independent=independent)
    pairs = select_run_pairs(problem.run_names, [baselines] if isinstance(baselines, str) else list(baselines))
    comparisons: list[Comparison] = []
    for measure in parsed_measures:
        scores = evaluate(problem.runs, problem.bronze, problem.bronze_measure(measure))
        notes += [note for note in scores.notes if note not in notes]
        naive_by_pair = {
            (comparison.a, comparison.b): comparison for comparison in compare(scores, adjust="none", level=level)
        }
        for (a, b), corrected in zip(pairs.tolist(), estimator.differences(measure, pairs), strict=True):
            first, second = problem.run_names[a], problem.run_names[b]
            comparisons.append(_build_comparison(str(measure), first, second, corrected, naive_by_pair, level))
    per_measure = len(parsed_measures) > 1 and family == "measure"
    unit = "comparisons" if family == "all" and len(parsed_measures) > 1 else "pairs"
    family_text = describe_family(
        len(comparisons) // (len(parsed_measures) if per_measure else 1), unit, adjust, level, several=per_measure
    )
    checks = [check.text for check in estimator.checks(parsed_measures[0], pairs) if not check.passed]
    return Comparisons(
        comparisons=tuple(
            replace(comparison, notes=(*comparison.notes, *_verdict_notes(comparison)))
            for comparison in adjust_p_values(comparisons, adjust, family)
        ),
        test=TESTS[comparisons[0].test],
        family=family_text,
        level=level,
        notes=tuple(dict.fromkeys([*notes, *estimator.notes, *checks])),
    )


def _build_comparison(
    measure: str,
    a: str,
    b: str,
    corrected: CorrectedDifference,
    naive_by_pair: dict[tuple[str, str], Comparison],
    level: float,
) -> Comparison:
    naive = naive_by_pair[(a, b)] if (a, b) in naive_by_pair else naive_by_pair[(b, a)].turned()
    value = corrected.difference.value
    return Comparison(
        measure=measure,
        a=a,
        b=b,
        difference=corrected.difference if value is None else replace(corrected.difference, notes=()),
        p_value=corrected.p_value,
        test=corrected.test,
        ahead=None if not value else a if value > 0 else b,
        wins=naive.wins,
        ties=naive.ties,
        losses=naive.losses,
        detectable=corrected.detectable(level),
        naive=replace(naive, measure=measure),
        notes=corrected.difference.notes,
    )


def _verdict_notes(comparison: Comparison) -> tuple[str, ...]:
    """What changes by correction, and what is not decided."""
    alpha = round(1 - comparison.difference.level, 12)
    notes = []
    if comparison.naive is not None and comparison.p_value is not None and comparison.naive.p_value is not None:
        before, after = (_favoured_run(tested, alpha) for tested in (comparison.naive, comparison))
        if before and after and before != after:
            notes.append(f"correction turns the verdict round: by the labels as they are, {before} is better")
        elif before and not after:
            notes.append(f"by the labels as they are, {before} is better; corrected, that is not decided")
        elif after and not before:
            notes.append("by the labels as they are, no difference shows; corrected, one does")
    if (
        comparison.p_value is not None
        and comparison.p_adjusted is not None
        and comparison.p_value < alpha <= comparison.p_adjusted
    ):
        notes.append(f"p is below {alpha:g} for this comparison alone, but not as one of its family")
    elif comparison.p_value is not None and comparison.p_value >= alpha and comparison.detectable is not None:
        observed = abs(comparison.difference.value or 0)
        notes.append(
            f"not decided: such labels show a difference of {comparison.detectable:.3g} in four of five tests, and "
            f"{observed:.3g} was seen"
        )
    return tuple(notes)


def _favoured_run(comparison: Comparison, alpha: float) -> str | None:
    """Whom the comparison speaks for by itself, whatever the family."""
    value = comparison.difference.value or 0.0
    if comparison.p_value is None or comparison.p_value >= alpha or value == 0:
        return None
    return comparison.a if value > 0 else comparison.b
