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
from ringtrue.evaluation.significance.families import adjusted, family_words
from ringtrue.evaluation.significance.run_pairs import chosen_pairs
from ringtrue.gold.correction.correct import task_of, wanted_measures, way_of
from ringtrue.gold.correction.estimator import Difference, Method
from ringtrue.gold.correction.gold_sample import Design
from ringtrue.gold.correction.joint_estimate import Population
from ringtrue.stats.results import Comparison, Comparisons

__all__ = ["compare_corrected"]

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
        >>> found = compare_corrected(runs, bronze, gold, "P@2", design="pool_random")[0]
        >>> print(found.naive.difference, "→", found.difference)
        0.33 (95% CI 0.24 to 0.42) → 0.4 (95% CI 0.1 to 0.6)
    """
    wanted = wanted_measures(measures)
    require_choice("adjust", adjust, get_args(Adjust))
    require_choice("family", family, get_args(Family))
    if adjust == "tukey":
        raise UsageError("Tukey's test needs every label of every query: with gold, adjust by holm or bh")
    task, notes = task_of(runs, bronze, gold, design=design, method=method, population=population,
                          bronze_rel=bronze_rel, level=level, rng=rng)  # fmt: skip
    if independent and task.method != "confusion":
        raise UsageError("the published test takes the judge's rates: it goes with --method confusion")
    way = way_of(task, independent=independent)
    pairs = chosen_pairs(task.names, [baselines] if isinstance(baselines, str) else list(baselines))
    raw: list[Comparison] = []
    for measure in wanted:
        scores = evaluate(task.runs, task.bronze, task.by_bronze(measure))
        notes += [note for note in scores.notes if note not in notes]
        named = {(one.a, one.b): one for one in compare(scores, adjust="none", level=level)}
        for (a, b), found in zip(pairs.tolist(), way.differences(measure, pairs), strict=True):
            first, second = task.names[a], task.names[b]
            raw.append(_comparison(str(measure), first, second, found, named, level))
    several = len(wanted) > 1 and family == "measure"
    what = "comparisons" if family == "all" and len(wanted) > 1 else "pairs"
    told = family_words(len(raw) // (len(wanted) if several else 1), what, adjust, level, several=several)
    checks = [check.text for check in way.checks(wanted[0], pairs) if not check.passed]
    return Comparisons(
        comparisons=tuple(replace(one, notes=(*one.notes, *_doubt(one))) for one in adjusted(raw, adjust, family)),
        test=TESTS[raw[0].test],
        family=told,
        level=level,
        notes=tuple(dict.fromkeys([*notes, *way.notes, *checks])),
    )


def _comparison(
    measure: str, a: str, b: str, found: Difference, named: dict[tuple[str, str], Comparison], level: float
) -> Comparison:
    naive = named[(a, b)] if (a, b) in named else named[(b, a)].turned()
    value = found.difference.value
    return Comparison(
        measure=measure,
        a=a,
        b=b,
        difference=found.difference if value is None else replace(found.difference, notes=()),
        p_value=found.p_value,
        test=found.test,
        ahead=None if not value else a if value > 0 else b,
        wins=naive.wins,
        ties=naive.ties,
        losses=naive.losses,
        detectable=found.detectable(level),
        naive=replace(naive, measure=measure),
        notes=found.difference.notes,
    )


def _doubt(one: Comparison) -> tuple[str, ...]:
    """What changes by correction, and what is not decided."""
    alpha = round(1 - one.difference.level, 12)
    notes = []
    if one.naive is not None and one.p_value is not None and one.naive.p_value is not None:
        before, after = (_favoured(some, alpha) for some in (one.naive, one))
        if before and after and before != after:
            notes.append(f"correction turns the verdict round: by the labels as they are, {before} is better")
        elif before and not after:
            notes.append(f"by the labels as they are, {before} is better; corrected, that is not decided")
        elif after and not before:
            notes.append("by the labels as they are, no difference shows; corrected, one does")
    if one.p_value is not None and one.p_adjusted is not None and one.p_value < alpha <= one.p_adjusted:
        notes.append(f"p is below {alpha:g} for this comparison alone, but not as one of its family")
    elif one.p_value is not None and one.p_value >= alpha and one.detectable is not None:
        seen = abs(one.difference.value or 0)
        notes.append(f"not decided: such labels show a difference of {one.detectable:.3g} in four of five tests, and "
                     f"{seen:.3g} was seen")  # fmt: skip
    return tuple(notes)


def _favoured(one: Comparison, alpha: float) -> str | None:
    """Whom the comparison speaks for by itself, whatever the family."""
    value = one.difference.value or 0.0
    if one.p_value is None or one.p_value >= alpha or value == 0:
        return None
    return one.a if value > 0 else one.b
