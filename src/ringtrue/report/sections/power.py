"""How small a difference could be found? And with how many queries?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import ArrayLike

from ringtrue.errors import InputError
from ringtrue.evaluation.measures import FloatArray
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.gold.planning.goals import needed_ratio
from ringtrue.messages import Note, Suggestion
from ringtrue.report.inputs import EQUAL_DIGITS, ReportInputs, compare_run_pairs, order_runs
from ringtrue.report.model import Line, Lines, Point, Section, SectionOutline
from ringtrue.report.sections.number_phrases import join_reasons
from ringtrue.stats.intervals import t_quantile
from ringtrue.stats.results import Comparison

OUTLINE = SectionOutline(
    name="power",
    title="How small a difference could be found?",
    needs="two runs or more, and judgments of several queries",
    figures={"power": "How small a difference would so many queries show?"},
)
POWER = 0.8  # 4 of 5
NORMAL_DF = 1e9  # degrees of freedom with which Student's t is the normal distribution
MAX_QUERIES = 10_000_000  # queries
STEPS = 40
MIN_QUERIES = 5  # queries that are drawn
TYPICAL_PAIR = "a usual pair"


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceSpread:
    """How far the difference of two runs varies from query to query, and the degrees of freedom of its test.

        df = share · n − 1    of n queries, infinite where the test is `normal`

    `share` is the part of the queries that gold judged, where it judges whole ones: only these are counted.
    """

    sd: float
    share: float = 1.0
    normal: bool = False


def detectable_difference(spread: DifferenceSpread, queries: ArrayLike, level: float) -> FloatArray:
    """The difference that a test with so many queries finds in 4 of 5 cases.

        D = δ · s/√n,    P(T > t_{(1+level)/2, df}) = 0.8 for T ~ t_df(δ)

    T is Student's noncentral t. Infinite where there are too few queries for a test.

    Examples:
        >>> detectable_difference(DifferenceSpread(sd=0.2), [20, 80], 0.95).round(4)
        array([0.1321, 0.0634])
    """
    n = np.asarray(queries, dtype=np.float64)
    df = np.full(n.shape, NORMAL_DF) if spread.normal else spread.share * n - 1
    enough = df >= 1
    t = np.array([t_quantile((1 + level) / 2, degrees) for degrees in df[enough]])
    difference = np.full(n.shape, np.inf)
    difference[enough] = needed_ratio(POWER, df[enough], t) * spread.sd / np.sqrt(n[enough])
    return difference


def _detectable(spread: DifferenceSpread, queries: int, level: float) -> float:
    return float(detectable_difference(spread, [queries], level)[0])


def queries_needed(difference: float, spread: DifferenceSpread, level: float) -> int | None:
    """The fewest queries with which such a difference is found in 4 of 5 tests; None where ten million are too few.

    Examples:
        >>> queries_needed(0.0635, DifferenceSpread(sd=0.2), 0.95)
        80
    """
    low, high = 1, 2  # so many are too few, so many may be enough
    while _detectable(spread, high, level) > difference:
        low, high = high, high * 2
        if high > MAX_QUERIES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _detectable(spread, middle, level) > difference else (low, middle)
    return high


def section(inputs: ReportInputs) -> Section | None:
    """The smallest difference that is found, by the number of queries: for the first two runs and for a usual pair."""
    comparisons = inputs.comparisons
    if comparisons is None or inputs.scores is None:
        return None
    queries = inputs.scores.frame["query"].n_unique()
    names = order_runs(inputs)
    comparison = compare_run_pairs(inputs)[names[0], names[1]]
    spreads = _collect_spreads(inputs, comparison, queries)
    if not spreads:
        known = comparison.difference.value is not None
        reason = "no two runs differ on several queries" if known else join_reasons(comparison.notes)
        raise InputError("no-differences", f"{reason}: what other queries would show is unknown")
    name, first_spread = next(iter(spreads.items()))
    detectable_now = _detectable(first_spread, queries, inputs.level)
    observed = round(abs(comparison.difference.value or 0.0), EQUAL_DIGITS) if name != TYPICAL_PAIR else None
    needed = None if not observed else queries_needed(observed, first_spread, inputs.level)
    most = min(max(4 * queries, needed or 0), 16 * queries)
    x = np.unique(np.rint(np.geomspace(max(MIN_QUERIES, queries // 4), most, STEPS)))
    chart = Lines(
        lines=tuple(_power_line(name, spread, x, inputs.level) for name, spread in spreads.items()),
        across="queries",
        up=f"difference in {inputs.measure}",
        logarithmic=True,
        mark=Point(name=f"now: {format_count(queries, 'query')}", x=float(queries), y=detectable_now),
    )
    answer = _summarise_power(names[0], names[1], queries, detectable_now, observed, needed)
    figure = OUTLINE.figure(
        "power",
        _describe_power(spreads, comparison, queries, inputs),
        _power_table(spreads, queries, needed, inputs),
        chart,
        notes=_power_notes(inputs, comparison, first_spread, queries),
    )
    return OUTLINE.section(answer, figure)


def _collect_spreads(inputs: ReportInputs, comparison: Comparison, queries: int) -> dict[str, DifferenceSpread]:
    """Of the first two runs, of a usual pair, and of the first two by the labels as they are; those that are known."""
    normal = inputs.gold is not None and inputs.correction_options.get("population") == "these"
    pair_spreads = [
        spread for pair in inputs.comparisons or () if (spread := estimate_spread(pair, queries, normal=normal))
    ]
    candidates = {f"{comparison.a} − {comparison.b}": estimate_spread(comparison, queries, normal=normal)}
    if len(pair_spreads) > 2:
        candidates[TYPICAL_PAIR] = replace(pair_spreads[0], sd=median(spread.sd for spread in pair_spreads))
    spreads = {name: spread for name, spread in candidates.items() if spread is not None}
    if spreads and comparison.naive is not None and comparison.naive.difference.se:
        spreads[f"{comparison.a} − {comparison.b}, were the labels right"] = DifferenceSpread(
            sd=comparison.naive.difference.se * queries**0.5
        )
    return spreads


def estimate_spread(comparison: Comparison, queries: int, *, normal: bool = False) -> DifferenceSpread | None:
    """The spread behind a comparison, and the test's degrees of freedom by how it was made; None where unknown.

    By the judge's rates the test is that of the bronze scores: their spread counts, on the scale of gold.
    """
    value, se = comparison.difference.value, comparison.difference.se
    if value is None or not se:
        return None
    if _is_tested_by_rates(comparison):
        naive = None if comparison.naive is None else comparison.naive.difference
        if naive is not None and naive.value and naive.se:
            se = naive.se * abs(value / naive.value)
        return DifferenceSpread(sd=se * queries**0.5)
    if comparison.difference.method.endswith("whole queries"):
        return DifferenceSpread(sd=se * queries**0.5, share=comparison.difference.n / queries)
    return DifferenceSpread(sd=se * queries**0.5, normal=normal)


def _is_tested_by_rates(comparison: Comparison) -> bool:
    return comparison.test.endswith("on bronze scores")


def _power_line(name: str, spread: DifferenceSpread, x: FloatArray, level: float) -> Line:
    """Where there are queries enough for a test."""
    y = detectable_difference(spread, x, level)
    finite = np.isfinite(y)
    return Line(name=name, x=tuple(x[finite].tolist()), y=tuple(y[finite].tolist()))


def _summarise_power(
    a: str, b: str, queries: int, detectable_now: float, observed: float | None, needed: int | None
) -> str:
    opening = f"With {format_count(queries, 'query')}, a difference of {_format_two_digits(detectable_now)}"
    if observed is None:
        return f"{opening} is found in 4 of 5 tests of a usual pair; what {a} and {b} would take cannot be told."
    statement = f"{opening} between {a} and {b} is found in 4 of 5 tests"
    if not observed:
        return f"{statement}; none was seen."
    statement += f"; {_format_two_digits(observed)} was seen"
    if needed is None:
        return f"{statement}, and no number of queries would be enough to find that."
    if needed <= queries:
        return f"{statement}, for which about {format_count(needed, 'query')} would have been enough."
    return f"{statement}, and to find that takes about {_round_up(needed):,} queries."


def _gold_assumption(comparison: Comparison, queries: int) -> str:
    """What is taken for granted about gold labels for further queries."""
    if _is_tested_by_rates(comparison):
        return "Further queries need no further gold labels here: the judge is taken to err as often on them."
    if comparison.difference.method.endswith("whole queries"):
        part = f"{comparison.difference.n} of {queries}"
        return f"Of further queries gold is taken to judge as large a part as of these ({part})."
    return "Each further query is taken to get as many gold labels as these had."


def _describe_power(
    spreads: dict[str, DifferenceSpread], comparison: Comparison, queries: int, inputs: ReportInputs
) -> str:
    listing = " and ".join(
        f"{_format_two_digits(_detectable(spread, queries, inputs.level))} for {name}"
        for name, spread in list(spreads.items())[:2]
    )
    now = f"with {format_count(queries, 'query')} {listing}"
    parts = [
        f"A line is the difference in {inputs.measure} that is found in 4 of 5 tests: {now}.",
        "Four times as many queries make it about half as large.",
    ]
    if TYPICAL_PAIR in spreads:
        parts.append(f"A usual pair is the median of {format_count(len(inputs.comparisons or ()), 'pair')}.")
    if inputs.gold is not None:
        parts.append(_gold_assumption(comparison, queries))
    return " ".join(parts)


def _power_notes(
    inputs: ReportInputs, comparison: Comparison, first_spread: DifferenceSpread, queries: int
) -> list[Note]:
    notes = []
    comparisons = inputs.comparisons
    if comparisons is not None and len(comparisons) > 1:
        family = _detectable(first_spread, queries, 1 - (1 - comparisons.level) / len(comparisons))
        text = (
            f"this is for one pair that was chosen beforehand; as one of {len(comparisons):,} pairs that are all "
            f"looked at, it takes up to {_format_two_digits(family)}"
        )
        notes.append(Note("one-pair-chosen-beforehand", text))
    low, high = comparison.difference.low, comparison.difference.high
    if low is not None and high is not None and comparison.difference.se:
        interval = f"{_format_two_digits(low)} to {_format_two_digits(high)}"
        text = (
            f"the difference that was seen is itself uncertain ({interval}): plan for the smallest one that would "
            "matter to you"
        )
        plan_for = Suggestion("says what it takes", function="plan", difference=...)
        notes.append(Note("difference-uncertain", text, suggestions=[plan_for]))
    return notes


def _power_table(spreads: dict[str, DifferenceSpread], queries: int, needed: int | None, inputs: ReportInputs) -> Grid:
    counts = {max(queries * share // 4, 2) for share in (1, 2, 4, 8, 16)} | {queries}
    if needed is not None and needed > queries:
        counts.add(needed)
    rows = [
        [f"{n:,}", *(_format_two_digits(_detectable(spread, n, inputs.level)) for spread in spreads.values())]
        for n in sorted(counts)
    ]
    return Grid(
        columns=["queries", *spreads],
        rows=rows,
        caption=f"difference in {inputs.measure} that is found in 4 of 5 tests at level {inputs.level:g}",
    )


def _format_two_digits(number: float) -> str:
    """Two digits that count; a dash where there is no end."""
    if not np.isfinite(number):
        return "–"
    return f"{number:.{max(2, 1 - int(np.floor(np.log10(abs(number)))))}f}".replace("-", "−") if number else "0"


def _round_up(number: int) -> int:
    """Two digits that count, rounded up: more would be a promise."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // unit) * unit
