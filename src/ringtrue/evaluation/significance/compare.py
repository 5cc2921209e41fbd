"""Scores → comparisons, adjusted for the family that they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from ringtrue.errors import MismatchError, UsageError, did_you_mean
from ringtrue.evaluation.evaluate import split_by
from ringtrue.evaluation.significance.families import Adjust, Family, adjusted, by_tukey, family_words
from ringtrue.evaluation.significance.pairwise_tests import Setting, Test, pairs_tested, smallest_p
from ringtrue.evaluation.significance.resampling_tests import Progress, exact
from ringtrue.evaluation.significance.run_pairs import chosen_pairs, presence, require_shared_queries
from ringtrue.stats.results import Comparison, Comparisons
from ringtrue.tables import Scores
from ringtrue.tables.scores import Cube

__all__ = ["Adjust", "Family", "Test", "compare", "compare_by"]

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
    setting = _setting(
        test=test, adjust=adjust, family=family, mid_p=mid_p, resamples=resamples, level=level, rng=rng,
        progress=progress,
    )  # fmt: skip
    raw, cube, notes = _tested(scores, _listed(baselines), setting)
    several = len(cube.measures) > 1 and family == "measure"
    pairs = chosen_pairs(cube.runs, _listed(baselines))
    if adjust == "tukey" and len(pairs) > 1:
        found, left_out = by_tukey(raw, cube, pairs, setting)
        notes += left_out
        told = f"randomised Tukey HSD ({resamples:,} resamples, a test of its own) over the {len(pairs):,} pairs"
        told += " of each measure" if several else ""
    else:
        found = adjusted(raw, adjust, family)
        what = "comparisons" if family == "all" and len(cube.measures) > 1 else "pairs"
        told = family_words(len(raw) // (len(cube.measures) if several else 1), what, adjust, level, several=several)
    if test == "bootstrap" and adjust == "holm" and len(pairs) > MANY_PAIRS:
        notes += ("at the small levels that many comparisons need, the bootstrap errs more often than it says",)
    return _told(found, setting, told, notes)


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
        >>> {kind: found[0].wins for kind, found in groups.items()}
        {'long': 3, 'short': 2}
    """
    if adjust == "tukey":
        raise UsageError("Tukey's family is the runs over all queries: with groups of queries, adjust by holm or bh")
    setting = _setting(
        test=test, adjust=adjust, family=family, mid_p=mid_p, resamples=resamples, level=level, rng=rng,
        progress=progress,
    )  # fmt: skip
    runs = scores.cube().runs
    chosen_pairs(runs, _listed(baselines))
    groups: dict[str, tuple[list[Comparison], tuple[str, ...]]] = {}
    left_out: list[str] = []
    for value, part in split_by(scores, table, column).items():
        try:
            if lacking := set(runs) - set(part.frame["run"]):
                raise MismatchError(f"'{min(lacking)}' has none of its queries")
            raw, _, notes = _tested(part, _listed(baselines), setting)
            groups[value] = raw, notes
        except MismatchError as error:
            left_out.append(f"{column} '{value}' is left out: {error}")
    if not groups:
        raise MismatchError(left_out[0])
    everything = [one for raw, _ in groups.values() for one in raw]
    found = iter(adjusted(everything, adjust, family))
    measures = len({one.measure for one in everything})
    several = measures > 1 and family == "measure"
    count = len(everything) // (measures if several else 1)
    told = family_words(count, f"pairs in {len(groups)} groups", adjust, level, several=several)
    return {
        value: _told([next(found) for _ in raw], setting, told, (*left_out, *notes))
        for value, (raw, notes) in groups.items()
    }


def _listed(baselines: str | Iterable[str]) -> list[str]:
    return [baselines] if isinstance(baselines, str) else list(baselines)


def _setting(
    *,
    test: Test,
    adjust: Adjust,
    family: Family,
    mid_p: bool,
    resamples: int,
    level: float,
    rng: np.random.Generator | None,
    progress: Progress | None,
) -> Setting:
    for name, value, known in (("test", test, Test), ("adjust", adjust, Adjust), ("family", family, Family)):
        if value not in get_args(known):
            near = did_you_mean(str(value), get_args(known)) or f"; there is {', '.join(get_args(known))}"
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
    setting = Setting(test=test, level=level, resamples=resamples, seed=seed, mid_p=mid_p)
    return setting if progress is None else replace(setting, progress=progress)


def _tested(
    scores: Scores, baselines: Sequence[str], setting: Setting
) -> tuple[list[Comparison], Cube, tuple[str, ...]]:
    """Every pair of every measure, not yet adjusted."""
    cube = scores.cube()
    pairs = chosen_pairs(cube.runs, baselines)
    there = presence(scores, cube)
    notes: list[str] = []
    if setting.test == "welch":
        cube = replace(cube, values=np.where(there, cube.values, np.nan))
    else:
        notes += require_shared_queries(cube, there, pairs)
    found = [
        one
        for measure, values in zip(cube.measures, cube.values, strict=True)
        for one in pairs_tested(measure, cube.runs, values, pairs, setting)
    ]
    return found, cube, tuple(notes)


def _told(comparisons: list[Comparison], setting: Setting, family: str, notes: tuple[str, ...]) -> Comparisons:
    """With a doubt on each comparison that is not decided."""
    told = [replace(one, notes=one.notes + _doubt(one, setting)) for one in comparisons]
    out_of_reach = sum(
        not one.decided and setting.draws(one.difference.n) and (one.p_value or 0) < 2 * smallest_p(one, setting)
        for one in told
    )
    if out_of_reach:
        small = f"the smallest p that {setting.resamples:,} resamples can give"
        largest = max(Counter(one.measure for one in told).values())
        enough = f"; {int(largest / (1 - setting.level)) + 1:,} are enough" if setting.test == "permutation" else ""
        notes += (f"{small} is not small enough for {out_of_reach:,} of {len(told):,} comparisons{enough}",)
    return Comparisons(
        comparisons=tuple(told),
        test=_test_words(setting, [one.difference.n for one in told]),
        family=family,
        level=setting.level,
        notes=notes,
    )


def _doubt(one: Comparison, setting: Setting) -> tuple[str, ...]:
    """Why a comparison is not decided, if it could have been."""
    if one.decided and one.better is None:
        return (f"the test speaks for '{one.ahead}', the mean does not: they differ, but not in one direction",)
    if one.decided or one.p_value is None or one.detectable is None:
        return ()
    alpha, least = round(1 - setting.level, 12), smallest_p(one, setting)
    if least >= alpha:
        return (f"so few queries cannot give p below {least:.2g} in this test: it could not decide anything",)
    if one.p_value < alpha:
        return (f"p is below {alpha:g} for this comparison alone, but not as one of its family",)
    seen = abs(one.difference.value or 0)
    shows = f"{one.difference.n} such queries show a difference of {one.detectable:.3g} in four of five t tests"
    return (f"not decided: {shows}, and {seen:.3g} was seen",)


def _test_words(setting: Setting, counts: list[int]) -> str:
    drawn = f"{setting.resamples:,} resamples"
    if setting.test == "permutation":
        every = exact(max(counts), setting.resamples)
        return f"permutation test ({'exact: all sign flips' if every else drawn})"
    return {
        "t": "paired t test",
        "bootstrap": f"bootstrap ({drawn}, BCa)",
        "sign": "exact sign test, mid-p" if setting.mid_p else "exact sign test",
        "wilcoxon": "Wilcoxon's signed-rank test",
        "welch": "Welch's t test, unpaired",
    }[setting.test]
