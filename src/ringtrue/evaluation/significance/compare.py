"""Scores → comparisons, adjusted for the family that they belong to, and the queries where a difference comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import get_args

import numpy as np
import polars as pl

from ringtrue.errors import MismatchError, UsageError, did_you_mean
from ringtrue.evaluation.evaluate import split_by
from ringtrue.evaluation.measures import BoolArray, IntArray
from ringtrue.evaluation.significance.adjustment import (
    Adjust,
    Family,
    adjust_by_tukey,
    adjust_p_values,
    describe_family,
)
from ringtrue.evaluation.significance.paired_statistics import Progress, is_exact, paired_differences
from ringtrue.evaluation.significance.pairwise_tests import ComparisonSettings, Test, compare_pairs, smallest_p
from ringtrue.formatting.phrases import join_first_few
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.intervals import require_level
from ringtrue.stats.results import Comparison, Comparisons
from ringtrue.tables import Scores
from ringtrue.tables.scores import Cube

MANY_PAIRS = 20
STEPWISE_INSTEAD = (Suggestion(adjust="holm"), Suggestion("goes with it", adjust="bh"))


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
    settings = _make_settings(test, adjust, family, mid_p, resamples, level, rng, progress)
    raw, cube, pairs, notes = _compare_all_pairs(scores, baselines, settings)
    several = len(cube.measures) > 1 and family == "measure"
    if adjust == "tukey" and len(pairs) > 1:
        comparisons, left_out = adjust_by_tukey(raw, cube, pairs, settings)
        notes += left_out
        own_test = f"randomised Tukey HSD ({resamples:,} resamples, a test of its own)"
        family_description = f"{own_test} over the {len(pairs):,} pairs{' of each measure' * several}"
    else:
        comparisons = adjust_p_values(raw, adjust, family)
        members = "comparisons" if family == "all" and len(cube.measures) > 1 else "pairs"
        count = len(raw) // (len(cube.measures) if several else 1)
        family_description = describe_family(count, members, adjust, level, several=several)
    if test == "bootstrap" and adjust == "holm" and len(pairs) > MANY_PAIRS:
        text = "at the small levels that many comparisons need, the bootstrap errs more often than it says"
        notes += (Note("many-bootstrap-comparisons", text),)
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
        text = "Tukey's family is the runs over all queries, and these are groups of queries"
        raise UsageError("tukey-of-groups", text, parameter="adjust", suggestions=STEPWISE_INSTEAD)
    settings = _make_settings(test, adjust, family, mid_p, resamples, level, rng, progress)
    runs = scores.cube().runs
    baselines = [baselines] if isinstance(baselines, str) else list(baselines)
    select_run_pairs(runs, baselines)  # so that a wrong baseline is an error, and not a reason to leave out every group
    groups: dict[str, tuple[list[Comparison], tuple[Note, ...]]] = {}
    left_out: list[Note] = []
    for group, part in split_by(scores, table, column).items():
        try:
            if lacking := set(runs) - set(part.frame["run"]):
                raise MismatchError("no-common-query", f"'{min(lacking)}' has none of its queries")
            raw, _, _, notes = _compare_all_pairs(part, baselines, settings)
            groups[group] = raw, notes
        except MismatchError as error:
            left_out.append(Note("group-left-out", f"left out: {error.text}", subject=f"{column} '{group}'"))
    if not groups:
        raise MismatchError.of(left_out[0])
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


def differences(scores: Scores, a: str, b: str, measure: str | None = None) -> pl.DataFrame:
    """The value of both runs for each query they share, and a − b, the largest first.

    `measure` may be left out where the scores have one only.

    Examples:
        >>> import ringtrue as rt
        >>> runs = {"new": {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}, "old": {"q1": {"d3": 1.0}, "q2": {"d2": 1.0}}}
        >>> scores = rt.evaluate(runs, {"q1": {"d1": 1}, "q2": {"d2": 1}}, "RR")
        >>> differences(scores, "new", "old").rows()
        [('q1', 1.0, 0.0, 1.0), ('q2', 1.0, 1.0, 0.0)]
    """
    measures = scores.frame["measure"].unique(maintain_order=True).to_list()
    if measure is None:
        if len(measures) > 1:
            raise UsageError(
                "several-measures",
                f"the scores have several measures, {', '.join(measures)}: say which",
                parameter="measure",
            )
        measure = measures[0]
    runs = scores.frame["run"].unique(maintain_order=True).to_list()
    for parameter, name, names in (("a", a, runs), ("b", b, runs), ("measure", measure, measures)):
        if name not in names:
            kind = "measure" if parameter == "measure" else "run"
            near = did_you_mean(name, names) or f"; there is {', '.join(names[:5])}"
            raise UsageError(
                "unknown-measure" if kind == "measure" else "unknown-run",
                f"no {kind} '{name}' in the scores{near}",
                parameter=parameter,
            )
    measure_scores = scores.frame.filter(pl.col("measure") == measure)
    first, second = (
        measure_scores.filter(pl.col("run") == run).select("query", pl.col("value").alias(side))
        for run, side in ((a, "a"), (b, "b"))
    )
    both = first.join(second, on="query", maintain_order="left")
    difference = paired_differences(both["a"].to_numpy(), both["b"].to_numpy())
    return both.with_columns(difference=difference).sort("difference", descending=True, maintain_order=True)


def largest_differences(table: pl.DataFrame, limit: int = 3) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Of `differences`, the queries where a is furthest ahead, and those where b is.

    Examples:
        >>> table = pl.DataFrame({"query": ["q1", "q2", "q3"], "difference": [0.5, 0.0, -0.2]})
        >>> [part["query"].to_list() for part in largest_differences(table)]
        [['q1'], ['q3']]
    """
    ahead, behind = table.filter(pl.col("difference") > 0), table.filter(pl.col("difference") < 0)
    return ahead.head(limit), behind.reverse().head(limit)


def _make_settings(
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
            raise UsageError("unknown-choice", f"no {name} '{value}'{near}", parameter=name)
    require_level(level)
    if not 100 <= resamples <= 10_000_000:
        raise UsageError(
            "bad-resamples",
            f"the resamples must lie between 100 and 10,000,000, found {resamples:,}",
            parameter="resamples",
            suggestions=[Suggestion("is usual", resamples=10_000)],
        )
    if mid_p and test != "sign":
        text = f"the mid-p value belongs to the sign test, found test '{test}'"
        raise UsageError("unused-parameter", text, parameter="mid_p")
    if adjust == "tukey" and test == "welch":
        text = "Tukey's test needs runs over the same queries, and Welch's is for different ones"
        raise UsageError("tukey-of-unpaired", text, parameter="adjust", suggestions=STEPWISE_INSTEAD)
    if adjust == "tukey" and test in ("sign", "wilcoxon"):
        text = f"Tukey's test compares means, and the {test} test does not"
        raise UsageError("tukey-of-ranks", text, parameter="adjust", suggestions=STEPWISE_INSTEAD)
    if adjust == "tukey" and family == "all":
        text = "Tukey's family is the runs of one measure: it cannot span several measures"
        raise UsageError("tukey-of-measures", text, parameter="family", suggestions=STEPWISE_INSTEAD)
    seed = int((rng or np.random.default_rng(0)).integers(2**63))
    settings = ComparisonSettings(test=test, level=level, resamples=resamples, seed=seed, mid_p=mid_p)
    return settings if progress is None else replace(settings, progress=progress)


def _compare_all_pairs(
    scores: Scores, baselines: str | Iterable[str], settings: ComparisonSettings
) -> tuple[list[Comparison], Cube, IntArray, tuple[Note, ...]]:
    """Every pair of every measure, not yet adjusted; the scores as an array, the pairs, and notes."""
    cube = scores.cube()
    pairs = select_run_pairs(cube.runs, baselines)
    present = presence_matrix(scores, cube)
    notes = [] if settings.test == "welch" else require_shared_queries(cube, present, pairs)
    if settings.test == "welch":
        cube = replace(cube, values=np.where(present, cube.values, np.nan))
    comparisons = [
        comparison
        for measure, values in zip(cube.measures, cube.values, strict=True)
        for comparison in compare_pairs(measure, cube.runs, values, pairs, settings)
    ]
    return comparisons, cube, pairs, tuple(notes)


def select_run_pairs(runs: Sequence[str], baselines: str | Iterable[str]) -> IntArray:
    """All pairs in the order given; with baselines, every other run against each, then these among themselves.

    Examples:
        >>> select_run_pairs(["x", "y", "z"], []).tolist()
        [[0, 1], [0, 2], [1, 2]]
        >>> select_run_pairs(["x", "y", "z"], ["x"]).tolist()
        [[1, 0], [2, 0]]
    """
    if len(runs) < 2:
        present_runs = f"only '{runs[0]}'" if runs else "none"
        raise UsageError(
            "needs-two-runs", f"a comparison needs two runs or more, found {present_runs}", parameter="runs"
        )
    baselines = dict.fromkeys([baselines] if isinstance(baselines, str) else baselines)
    for name in baselines:
        if name not in runs:
            near = did_you_mean(name, runs) or f"; the runs are {', '.join(runs[:5])}{', …' if len(runs) > 5 else ''}"
            raise UsageError("unknown-run", f"no run is called '{name}', the baseline{near}", parameter="baselines")
    baseline_indices = [runs.index(name) for name in baselines]
    other_indices = [i for i in range(len(runs)) if i not in baseline_indices]
    against_baselines = [(run, base) for run in other_indices for base in baseline_indices]
    return np.array([*against_baselines, *combinations(baseline_indices or range(len(runs)), 2)], dtype=np.int64)


def presence_matrix(scores: Scores, cube: Cube) -> BoolArray:
    """Which run truly has which query (runs × queries), not only a 0 for a query that it lacks."""
    column = {query: i for i, query in enumerate(cube.queries)}
    present = np.ones((len(cube.runs), len(cube.queries)), dtype=bool)
    for run, missing in scores.absent.items():
        if run in cube.runs:
            present[cube.runs.index(run), [column[query] for query in missing if query in column]] = False
    return present


def require_shared_queries(cube: Cube, present: BoolArray, pairs: IntArray) -> list[Note]:
    """An error where a pair has no query in common; a note where it has few."""

    def describe_missing(*runs: int) -> str:
        lacking = ([cube.queries[i] for i in np.flatnonzero(~present[run])] for run in runs)
        return ", ".join(
            f"'{cube.runs[run]}' lacks {join_first_few(missing) if missing else 'none'}"
            for run, missing in zip(runs, lacking, strict=True)
        )

    few = []
    for a, b in pairs.tolist():
        shared, either = int((present[a] & present[b]).sum()), int((present[a] | present[b]).sum())
        if not shared:
            raise MismatchError(
                "no-common-query",
                f"'{cube.runs[a]}' and '{cube.runs[b]}' have no query in common: {describe_missing(a, b)}",
                suggestions=[Suggestion("compares runs over different queries", test="welch")],
            )
        if shared < either / 2:
            few.append((shared / either, shared, either, a, b))
    if not few:
        return []
    _, shared, either, a, b = min(few)
    more = f"; of {len(pairs)} pairs, {len(few)} share fewer than half" if len(few) > 1 else ""
    share = f"'{cube.runs[a]}' and '{cube.runs[b]}' share only {shared} of {either} queries"
    return [Note("few-common-queries", f"{share}: {describe_missing(a, b)}{more}")]


def _collect_comparisons(
    comparisons: list[Comparison], settings: ComparisonSettings, family: str, notes: tuple[Note, ...]
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
        enough = Suggestion("is enough", resamples=int(family_size / (1 - settings.level)) + 1)
        notes += (
            Note(
                "few-resamples",
                f"{smallest} is not small enough for {out_of_reach:,} of {len(annotated):,} comparisons",
                parameter="resamples",
                suggestions=[enough] if settings.test == "permutation" else (),
            ),
        )
    return Comparisons(
        comparisons=tuple(annotated),
        test=_describe_test(settings, [comparison.difference.n for comparison in annotated]),
        family=family,
        level=settings.level,
        notes=notes,
    )


def _undecided_notes(comparison: Comparison, settings: ComparisonSettings) -> tuple[Note, ...]:
    """Why a comparison is not decided, if it could have been."""
    if comparison.decided and comparison.better is None:
        text = f"the test speaks for '{comparison.ahead}', the mean does not: they differ, but not in one direction"
        return (Note("test-against-mean", text),)
    if comparison.decided or comparison.p_value is None or comparison.detectable is None:
        return ()
    alpha, min_p = round(1 - settings.level, 12), smallest_p(comparison, settings)
    if min_p >= alpha:
        text = f"so few queries cannot give p below {min_p:.2g} in this test: it could not decide anything"
        return (Note("undecidable", text),)
    if comparison.p_value < alpha:
        text = f"p is below {alpha:g} for this comparison alone, but not as one of its family"
        return (Note("significant-alone", text),)
    observed = abs(comparison.difference.value or 0)
    observed_text = f"{observed:.3g}" if observed > 1e-9 else "none"  # below, it is how numbers were added up
    n, detectable = comparison.difference.n, comparison.detectable
    power = f"{n} such queries show a difference of {detectable:.3g} in four of five t tests"
    return (Note("not-decided", f"not decided: {power}, and {observed_text} was seen"),)


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
