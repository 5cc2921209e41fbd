"""Scores → comparisons, adjusted for the family that they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from ringtrue.errors import MismatchError, UsageError, did_you_mean
from ringtrue.evaluation.evaluate import split_by
from ringtrue.evaluation.significance.families import Adjust, Family, adjust_by_tukey, adjust_p_values, describe_family
from ringtrue.evaluation.significance.pairwise_tests import ComparisonSettings, Test, compare_pairs, smallest_p
from ringtrue.evaluation.significance.resampling_tests import Progress, is_exact
from ringtrue.evaluation.significance.run_pairs import presence_matrix, require_shared_queries, select_run_pairs
from ringtrue.stats.results import Comparison, Comparisons
from ringtrue.tables import Scores
from ringtrue.tables.scores import Cube

MANY_PAIRS = 20


def compare(
    scores: Scores,
    *,
    baselines: str | Iterable[str] = (),
    test: Test = "t",
    adjust: Adjust = "holm",
    family: Family = "measure",
    mid_p: bool = False,
    resamples: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Comparisons:
    """Is one run better than another? All pairs, or each run against the baselines, on the queries both have.

    `test` is the paired "t" test, "permutation", "bootstrap" (BCa), "sign" (`mid_p` makes it less cautious),
    "wilcoxon", or "welch" for runs over different queries. `adjust` keeps the chance of any false finding in
    the family below 1 − level ("holm", or "tukey", randomised), or the share of false findings ("bh"). The family
    is the comparisons of one measure, or of "all". The same `rng` gives the same answer; `progress` is told how many
    pairs × resamples were done.

    Examples:
        >>> import ringtrue as rt
        >>> judgments = {f"q{i}": {"d1": 1} for i in range(8)}
        >>> first, second = {"d1": 2.0, "d2": 1.0}, {"d2": 2.0, "d1": 1.0}
        >>> runs = {"new": {f"q{i}": first if i else second for i in range(8)},
        ...         "old": {f"q{i}": second for i in range(8)}}
        >>> print(compare(rt.evaluate(runs, judgments, "RR"))[0])
        RR: new − old = 0.44 (95% CI 0.29 to 0.59), p = 0.00021 (adjusted 0.00021), won 7, tied 1, lost 0
    """
    settings = _make_settings(
        test=test,
        adjust=adjust,
        family=family,
        mid_p=mid_p,
        resamples=resamples,
        level=level,
        rng=rng,
        progress=progress,
    )
    raw, cube, notes = _compare_all_pairs(scores, _list_baselines(baselines), settings)
    several = len(cube.measures) > 1 and family == "measure"
    pairs = select_run_pairs(cube.runs, _list_baselines(baselines))
    if adjust == "tukey" and len(pairs) > 1:
        comparisons, left_out = adjust_by_tukey(raw, cube, pairs, settings)
        notes += left_out
        family_description = (
            f"randomised Tukey HSD ({resamples:,} resamples, a test of its own) over the {len(pairs):,} pairs"
        )
        family_description += " of each measure" if several else ""
    else:
        comparisons = adjust_p_values(raw, adjust, family)
        members = "comparisons" if family == "all" and len(cube.measures) > 1 else "pairs"
        family_description = describe_family(
            len(raw) // (len(cube.measures) if several else 1), members, adjust, level, several=several
        )
    if test == "bootstrap" and adjust == "holm" and len(pairs) > MANY_PAIRS:
        notes += ("at the small levels that many comparisons need, the bootstrap errs more often than it says",)
    return _collect_comparisons(comparisons, settings, family_description, notes)


def compare_by(
    scores: Scores,
    table: object,
    column: str,
    *,
    baselines: str | Iterable[str] = (),
    test: Test = "t",
    adjust: Adjust = "holm",
    family: Family = "measure",
    mid_p: bool = False,
    resamples: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> dict[str, Comparisons]:
    """The same comparisons apart for each value of a column of a table with a row for each query: any frame will do.

    All values belong to one family: who looks at ten groups finds a difference in one of them by chance.

    Examples:
        >>> import ringtrue as rt
        >>> judgments = {f"q{i}": {"d1": 1} for i in range(8)}
        >>> first, second = {"d1": 2.0, "d2": 1.0}, {"d2": 2.0, "d1": 1.0}
        >>> runs = {"new": {f"q{i}": first if i % 3 else second for i in range(8)},
        ...         "old": {f"q{i}": second for i in range(8)}}
        >>> kinds = {"query": [f"q{i}" for i in range(8)], "kind": ["short", "long"] * 4}
        >>> groups = compare_by(rt.evaluate(runs, judgments, "RR"), kinds, "kind")
        >>> {kind: comparisons[0].wins for kind, comparisons in groups.items()}
        {'long': 3, 'short': 2}
    """
    if adjust == "tukey":
        raise UsageError("Tukey's family is the runs over all queries: with groups of queries, adjust by holm or bh")
    settings = _make_settings(
        test=test,
        adjust=adjust,
        family=family,
        mid_p=mid_p,
        resamples=resamples,
        level=level,
        rng=rng,
        progress=progress,
    )
    runs = scores.cube().runs
    select_run_pairs(runs, _list_baselines(baselines))
    groups: dict[str, tuple[list[Comparison], tuple[str, ...]]] = {}
    left_out: list[str] = []
    for group, part in split_by(scores, table, column).items():
        try:
            if lacking := set(runs) - set(part.frame["run"]):
                raise MismatchError(f"'{min(lacking)}' has none of its queries")
            raw, _, notes = _compare_all_pairs(part, _list_baselines(baselines), settings)
            groups[group] = raw, notes
        except MismatchError as error:
            left_out.append(f"{column} '{group}' is left out: {error}")
    if not groups:
        raise MismatchError(left_out[0])
    all_raw = [comparison for raw, _ in groups.values() for comparison in raw]
    comparisons = iter(adjust_p_values(all_raw, adjust, family))
    measures = len({comparison.measure for comparison in all_raw})
    several = measures > 1 and family == "measure"
    count = len(all_raw) // (measures if several else 1)
    family_description = describe_family(count, f"pairs in {len(groups)} groups", adjust, level, several=several)
    return {
        group: _collect_comparisons([next(comparisons) for _ in raw], settings, family_description, (*left_out, *notes))
        for group, (raw, notes) in groups.items()
    }


def _list_baselines(baselines: str | Iterable[str]) -> list[str]:
    return [baselines] if isinstance(baselines, str) else list(baselines)


def _make_settings(
    *,
    test: Test,
    adjust: Adjust,
    family: Family,
    mid_p: bool,
    resamples: int,
    level: float,
    rng: np.random.Generator | None,
    progress: Progress | None,
) -> ComparisonSettings:
    for name, value, choices in (("test", test, Test), ("adjust", adjust, Adjust), ("family", family, Family)):
        if value not in get_args(choices):
            near = did_you_mean(str(value), get_args(choices)) or f"; there is {', '.join(get_args(choices))}"
            raise UsageError(f"no {name} '{value}'{near}")
    if not 0 < level <= 0.999999:
        raise UsageError(f"level must lie between 0 and 0.999999, found {level:.15g}; 0.95 is usual")
    if not 100 <= resamples <= 10_000_000:
        raise UsageError(f"resamples must lie between 100 and 10,000,000, found {resamples:,}; 10,000 is usual")
    if mid_p and test != "sign":
        raise UsageError(f"the mid-p value belongs to the sign test, found test '{test}'")
    if adjust == "tukey" and test == "welch":
        raise UsageError("Tukey's test needs runs over the same queries, and Welch's is for different ones: use holm")
    if adjust == "tukey" and test in ("sign", "wilcoxon"):
        raise UsageError(f"Tukey's test compares means, and the {test} test does not: adjust it by holm or bh")
    if adjust == "tukey" and family == "all":
        raise UsageError("Tukey's family is the runs of one measure: it cannot span several measures")
    seed = int((rng or np.random.default_rng(0)).integers(2**63))
    settings = ComparisonSettings(test=test, level=level, resamples=resamples, seed=seed, mid_p=mid_p)
    return settings if progress is None else replace(settings, progress=progress)


def _compare_all_pairs(
    scores: Scores, baselines: Sequence[str], settings: ComparisonSettings
) -> tuple[list[Comparison], Cube, tuple[str, ...]]:
    """Every pair of every measure, not yet adjusted."""
    cube = scores.cube()
    pairs = select_run_pairs(cube.runs, baselines)
    present = presence_matrix(scores, cube)
    notes: list[str] = []
    if settings.test == "welch":
        cube = replace(cube, values=np.where(present, cube.values, np.nan))
    else:
        notes += require_shared_queries(cube, present, pairs)
    comparisons = [
        comparison
        for measure, values in zip(cube.measures, cube.values, strict=True)
        for comparison in compare_pairs(measure, cube.runs, values, pairs, settings)
    ]
    return comparisons, cube, tuple(notes)


def _collect_comparisons(
    comparisons: list[Comparison], settings: ComparisonSettings, family: str, notes: tuple[str, ...]
) -> Comparisons:
    """With a doubt on each comparison that is not decided."""
    annotated = [
        replace(comparison, notes=comparison.notes + _undecided_notes(comparison, settings))
        for comparison in comparisons
    ]
    out_of_reach = sum(
        not comparison.decided
        and settings.is_resampled(comparison.difference.n)
        and (comparison.p_value or 0) < 2 * smallest_p(comparison, settings)
        for comparison in annotated
    )
    if out_of_reach:
        smallest = f"the smallest p that {settings.resamples:,} resamples can give"
        family_size = max(Counter(comparison.measure for comparison in annotated).values())
        enough = (
            f"; {int(family_size / (1 - settings.level)) + 1:,} are enough" if settings.test == "permutation" else ""
        )
        notes += (f"{smallest} is not small enough for {out_of_reach:,} of {len(annotated):,} comparisons{enough}",)
    return Comparisons(
        comparisons=tuple(annotated),
        test=_describe_test(settings, [comparison.difference.n for comparison in annotated]),
        family=family,
        level=settings.level,
        notes=notes,
    )


def _undecided_notes(comparison: Comparison, settings: ComparisonSettings) -> tuple[str, ...]:
    """Why a comparison is not decided, if it could have been."""
    if comparison.decided and comparison.better is None:
        return (f"the test speaks for '{comparison.ahead}', the mean does not: they differ, but not in one direction",)
    if comparison.decided or comparison.p_value is None or comparison.detectable is None:
        return ()
    alpha, min_p = round(1 - settings.level, 12), smallest_p(comparison, settings)
    if min_p >= alpha:
        return (f"so few queries cannot give p below {min_p:.2g} in this test: it could not decide anything",)
    if comparison.p_value < alpha:
        return (f"p is below {alpha:g} for this comparison alone, but not as one of its family",)
    observed = abs(comparison.difference.value or 0)
    n, detectable = comparison.difference.n, comparison.detectable
    power = f"{n} such queries show a difference of {detectable:.3g} in four of five t tests"
    return (f"not decided: {power}, and {observed:.3g} was seen",)


def _describe_test(settings: ComparisonSettings, counts: list[int]) -> str:
    resamples = f"{settings.resamples:,} resamples"
    if settings.test == "permutation":
        all_flips_tried = is_exact(max(counts), settings.resamples)
        return f"permutation test ({'exact: all sign flips' if all_flips_tried else resamples})"
    return {
        "t": "paired t test",
        "bootstrap": f"bootstrap ({resamples}, BCa)",
        "sign": "exact sign test, mid-p" if settings.mid_p else "exact sign test",
        "wilcoxon": "Wilcoxon's signed-rank test",
        "welch": "Welch's t test, unpaired",
    }[settings.test]
