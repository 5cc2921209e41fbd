"""Whether one run is better than another, by what a perfect judge would say."""

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
from ringtrue.gold.correction.bounds import MAX_BOUNDED_PAIRS
from ringtrue.gold.correction.correct import build_problem, make_estimator, require_measures
from ringtrue.gold.correction.diagnostics import failed_checks
from ringtrue.gold.correction.possible_values import ROUNDING
from ringtrue.gold.correction.results import Bounds, CorrectedDifference, Method
from ringtrue.gold.designs import Design, Population
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.results import Comparison, Comparisons

TESTS = {
    "difference": "difference estimator on what the two runs do not share",
    "difference, whole queries": "prediction-powered t test on whole queries",
    "gold only": "t test on the gold labels alone",
    "t on bronze scores": "paired t test on the bronze scores, for a judge that errs alike on both",
    "welch on bronze scores": "Welch's t test on the bronze scores, for a judge that errs alike on both",
    "independent": "z test as if each run had gold labels of its own",
}
CHANGED_VERDICTS = ("verdict-reversed", "verdict-lost", "verdict-gained")  # codes: what correction does to a verdict


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
    sampling_frame: object = None,
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
        raise UsageError(
            "tukey-with-gold",
            "Tukey's test needs every label of every query, and gold has those of a sample",
            parameter="adjust",
            suggestions=[Suggestion(adjust="holm"), Suggestion("works with gold", adjust="bh")],
        )
    problem, problem_notes = build_problem(
        runs,
        bronze,
        gold,
        design=design,
        method=method,
        population=population,
        bronze_rel=bronze_rel,
        sampling_frame=sampling_frame,
        level=level,
        rng=rng,
    )
    if independent and problem.method != "confusion":
        raise UsageError(
            "independent-without-rates",
            "the published test takes the judge's rates",
            parameter="independent",
            suggestions=[Suggestion("corrects by them", method="confusion")],
        )
    notes: list[Note] = [*problem_notes]
    estimator = make_estimator(problem, independent=independent)
    pairs = select_run_pairs(problem.run_names, [baselines] if isinstance(baselines, str) else list(baselines))
    comparisons: list[Comparison] = []
    worth_notes = []
    if problem.lost is not None and len(pairs) > MAX_BOUNDED_PAIRS:
        text = f"{len(pairs):,} pairs are too many for bounds: ask for up to {MAX_BOUNDED_PAIRS}"
        notes.append(Note("too-many-pairs-for-bounds", text))
    for measure in parsed_measures:
        if (worth := estimator.bronze_worth(measure, pairs)) is not None:
            worth_notes.append(worth.note.about(str(measure)) if len(parsed_measures) > 1 else worth.note)
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
    checks = failed_checks(estimator.checks(parsed_measures[0], pairs))
    naive = adjust_p_values([comparison.naive or comparison for comparison in comparisons], adjust, family)
    return Comparisons(
        comparisons=tuple(
            replace(comparison, notes=(*comparison.notes, *_verdict_notes(comparison, uncorrected)))
            for comparison, uncorrected in zip(adjust_p_values(comparisons, adjust, family), naive, strict=True)
        ),
        test=TESTS[comparisons[0].test],
        family=family_text,
        level=level,
        notes=tuple(dict.fromkeys([*worth_notes, *notes, *estimator.notes, *checks])),
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
        bounds=None if corrected.bounds is None else (corrected.bounds.low, corrected.bounds.high),
        notes=(*corrected.difference.notes, *_bounds_notes(a, b, corrected.bounds)),
    )


def _bounds_notes(a: str, b: str, bounds: Bounds | None) -> tuple[Note, ...]:
    if bounds is None:
        return ()
    low, high = (f"{end:+.3f}".replace("-", "−") for end in (bounds.low, bounds.high))
    return (Note("bounds", f"with all that is not known at its worst and its best, {a} − {b} is {low} to {high}"),)


def _verdict_notes(comparison: Comparison, uncorrected: Comparison) -> tuple[Note, ...]:
    """What changes by correction, and what is not decided: each as one of its family."""
    alpha = round(1 - comparison.difference.level, 12)
    notes = []
    if comparison.bounds is not None and comparison.better and comparison.bounds[0] <= 0 <= comparison.bounds[1]:
        notes.append(Note("verdict-not-safe", "not safe: what is not known, as lost labels, could undo it"))
    if comparison.p_value is not None and uncorrected.p_value is not None:
        before, after = (_favoured_run(tested, alpha) for tested in (uncorrected, comparison))
        if before and after and before != after:
            text = f"correction reverses the verdict: by the labels as they are, {before} is better"
            notes.append(Note("verdict-reversed", text))
        elif before and not after:
            text = f"by the labels as they are, {before} is better; corrected, that is not decided"
            notes.append(Note("verdict-lost", text))
        elif after and not before:
            text = "by the labels as they are, no difference shows; corrected, one does"
            notes.append(Note("verdict-gained", text))
    if (
        comparison.p_value is not None
        and comparison.p_adjusted is not None
        and comparison.p_value < alpha <= comparison.p_adjusted
    ):
        text = f"p is below {alpha:g} for this comparison alone, but not as one of its family"
        notes.append(Note("significant-alone", text))
    elif comparison.p_value is not None and comparison.p_value >= alpha and comparison.detectable is not None:
        observed = abs(comparison.difference.value or 0)
        observed_text = f"{observed:.3g}" if observed > ROUNDING else "none"
        notes.append(
            Note(
                "not-decided",
                f"not decided: such labels show a difference of {comparison.detectable:.3g} in four of five tests, and "
                f"{observed_text} was seen",
            )
        )
    return tuple(notes)


def _favoured_run(comparison: Comparison, alpha: float) -> str | None:
    """Whom the comparison speaks for, as one of its family."""
    value = comparison.difference.value or 0.0
    p = comparison.p_value if comparison.p_adjusted is None else comparison.p_adjusted
    if p is None or p >= alpha or value == 0:
        return None
    return comparison.a if value > 0 else comparison.b
