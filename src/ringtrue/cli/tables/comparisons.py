"""Comparisons as tables: a row for each pair, for each run or for each group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import polars as pl

from ringtrue.cli.output import Grid, signed
from ringtrue.cli.tables.queries import moved
from ringtrue.stats.results import Comparison, Comparisons, Estimate
from ringtrue.tables import Scores

__all__ = [
    "answer",
    "by_group",
    "flat",
    "flat_by_group",
    "flat_row",
    "mark",
    "named_ranges",
    "shown_difference",
    "shown_p",
]

FEW_PAIRS = 10  # of one measure: more are shown run by run
FLAT = ("measure", "a", "b", "difference", "se", "low", "high", "level", "n", "method", "p_value", "p_adjusted", "test",
        "effect_size", "wins", "ties", "losses", "detectable")  # fmt: skip
CHECKED = ("p", "adjusted", "", "effect", "wins/ties/losses", "detectable")
FEW_SENTENCES = 4


def answer(
    found: Comparisons,
    scores: Scores,
    asked: pl.DataFrame | None,
    *,
    baselines: Sequence[str],
    layout: str | None,
    bars: bool,
) -> list[Grid]:
    """The comparisons pair by pair or run by run; where there are two runs, also the queries that moved most."""
    measures = len({one.measure for one in found})
    if layout == "runs" or (layout is None and not baselines and len(found) > FEW_PAIRS * measures):
        return [_by_run(found, scores, baselines)]
    shown = [_by_pair(found, scores, best_first=bool(baselines))]
    if len(found) == measures:
        shown += [grid for one in found if (grid := moved(one, scores, asked, bars=bars)).rows]
    return shown


def _by_pair(found: Comparisons, scores: Scores, *, best_first: bool) -> Grid:
    measures = list(dict.fromkeys(one.measure for one in found))
    ordered = list(found)
    if best_first:
        ordered.sort(key=lambda one: (measures.index(one.measure), -(one.difference.value or 0)))
    return Grid(
        columns=["measure", "a", "b", "a − b", f"{found.level * 100:g}% interval", *CHECKED],
        rows=[[one.measure, one.a, one.b, *shown_difference(one), *_checked(one)] for one in ordered],
        caption="\n".join([*_over(found), *_marks(found), *_counted_as_0(scores), *_sentences(found, scores)]),
        left=3,
    )


def shown_difference(one: Comparison) -> list[str]:
    """The difference and its interval, with the digits that the standard error supports."""
    d = one.difference
    if d.value is None:
        return ["–", "–"]
    if d.low is None or d.high is None or not d.se:
        return [signed(d.value, 4), "–"]
    digits = d.decimals + 1
    return [signed(d.value, digits), f"{signed(d.low, digits)} to {signed(d.high, digits)}"]


def _checked(one: Comparison) -> list[str]:
    effect = "–" if one.effect_size is None else signed(one.effect_size, 2)
    detectable = "–" if one.detectable is None else f"{one.detectable:.{one.difference.decimals + 1}f}"
    count = f"{one.wins}/{one.ties}/{one.losses}"
    return [shown_p(one.p_value), shown_p(one.p_adjusted), mark(one), effect, count, detectable]


def mark(one: Comparison) -> str:
    """Who is better, as a sign; nothing where it is not decided."""
    return "" if not one.decided else "▲" if one.better == one.a else "▼" if one.better == one.b else "≠"


def shown_p(p: float | None) -> str:
    """p with four decimals."""
    if p is None:
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _over(found: Comparisons) -> list[str]:
    counts = [one.difference.n for one in found]
    n = str(max(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    queries = "1 query" if n == "1" else f"{n} queries"
    unpaired = found[0].test == "welch"
    what = "difference of the means, each run over its own queries" if unpaired else f"mean difference over {queries}"
    methods = ", ".join(sorted({one.difference.method for one in found}))
    return [f"a − b: {what}; interval: {methods}, for one pair alone", _tested(found)]


def _tested(found: Comparisons) -> str:
    return f"p: {found.test}; adjusted: {found.family}"


def _marks(found: Comparisons) -> list[str]:
    torn = ", ≠ the test and the mean speak for different runs" if any(map(_torn, found)) else ""
    return [
        f"▲ a is better, ▼ a is worse{torn}: {_small(found)}; no mark: not decided",
        "effect: difference in standard deviations; detectable: what such queries show in 4 of 5 t tests of one pair",
    ]


def _small(found: Comparisons) -> str:
    return f"{'p' if found.family.startswith('not adjusted') else 'adjusted p'} < {1 - found.level:.3g}"


def _torn(one: Comparison) -> bool:
    return one.decided and one.better is None


def _counted_as_0(scores: Scores) -> list[str]:
    """Which runs lack queries that count as 0: a table without this would be read without it."""
    kept = scores.frame.select("run", "query").unique()
    told = [
        f"{run} lacks {len(lacking)} of {scores.frame['query'].n_unique()} queries, counted as 0"
        for run, lacking in scores.absent.items()
        if kept.filter(run=run, query=lacking[0]).height
    ]
    return told[:3] + ([f"{len(told) - 3} more runs lack queries, too"] if len(told) > 3 else [])


def _sentences(found: Comparisons, scores: Scores) -> list[str]:
    """The answer in words, where there are few."""
    if len(found) > FEW_SENTENCES:
        return _undecided(found)
    means = scores.means(level=found.level)
    return ["", *(f"{one.measure}: {_sentence(one, means)}" for one in found)]


def _undecided(found: Comparisons) -> list[str]:
    undecided = sum(not one.decided for one in found)
    return [f"not decided: {undecided:,} of {len(found):,} comparisons"] if undecided else []


def _sentence(one: Comparison, means: dict[str, dict[str, Estimate]]) -> str:
    a, b = (f"{run} ({means[run][one.measure].value:.4f})" for run in (one.a, one.b))
    if one.better is None:
        return f"{a} or {b}? {'; '.join(one.notes)}"
    better, worse = (a, b) if one.better == one.a else (b, a)
    won = one.wins if one.better == one.a else one.losses
    if one.test == "sign":
        return f"{better} is ahead of {worse} for {won} of {one.wins + one.losses} queries that do not tie"
    low, high = one.difference.low, one.difference.high
    if low is None or high is None or low * high <= 0:
        return f"{better} is better than {worse}"
    near, far = sorted((abs(low), abs(high)))
    digits = one.difference.decimals + 1
    return f"{better} is better than {worse}, by {near:.{digits}f} to {far:.{digits}f}"


def _by_run(found: Comparisons, scores: Scores, baselines: Sequence[str]) -> Grid:
    """The runs, best first, and by number those that each beats; with baselines, also those that beat it."""
    means = scores.means(level=found.level)
    measures = list(dict.fromkeys(one.measure for one in found))
    order = sorted(means, key=lambda run: -(means[run][measures[0]].value or 0))
    number = {run: place for place, run in enumerate(order, start=1)}
    beats: dict[tuple[str, str], list[int]] = {}
    beaten: dict[tuple[str, str], list[int]] = {}
    for one in found:
        if one.better is not None:
            worse = one.b if one.better == one.a else one.a
            beats.setdefault((one.measure, one.better), []).append(number[worse])
            beaten.setdefault((one.measure, worse), []).append(number[one.better])
    headings = ["better than", "worse than"] if baselines else ["better than"]
    columns = ["nr", "run", *(word for measure in measures for word in (measure, *headings))]
    rows = []
    for run in order:
        row = [str(number[run]), run]
        for measure in measures:
            sides = [known.get((measure, run), []) for known in (beats, beaten)][: len(headings)]
            row += [f"{means[run][measure].value:.4f}", *(named_ranges(sorted(side)) for side in sides)]
        rows.append(row)
    caption = [
        f"{' and '.join(headings)}: by number in this table, {_small(found)}",
        _tested(found),
        f"sorted by {measures[0]}; --layout pairs shows every comparison",
        *_counted_as_0(scores),
        *([] if baselines else [_best(measure, means, number, beats) for measure in measures]),
        *_undecided(found),
    ]
    return Grid(columns=columns, rows=rows, caption="\n".join(caption), left=2)


def _best(
    measure: str,
    means: dict[str, dict[str, Estimate]],
    number: dict[str, int],
    beats: dict[tuple[str, str], list[int]],
) -> str:
    """The run with the highest mean, and those that are not told apart from it."""
    best = max(means, key=lambda run: means[run][measure].value or 0)
    alike = sorted(set(number.values()) - {number[best]} - set(beats.get((measure, best), [])))
    return f"{measure}: {best} is first" + (
        f"; not told apart from it: {named_ranges(alike)}" if alike else ", better than all others"
    )


def named_ranges(numbers: Sequence[int]) -> str:
    """Whole numbers, those in a row joined.

    Examples:
        >>> named_ranges([2, 5, 6, 7])
        '2, 5–7'
    """
    joined = []
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        joined.append(f"{members[0]}–{members[-1]}" if len(members) > 1 else str(members[0]))
    return ", ".join(joined)


def by_group(groups: dict[str, Comparisons], by: str) -> Grid:
    """Every comparison for every value of a column."""
    first = next(iter(groups.values()))
    return Grid(
        columns=[by, "queries", "measure", "a", "b", "a − b", f"{first.level * 100:g}% interval", *CHECKED],
        rows=[
            [value, str(one.difference.n), one.measure, one.a, one.b, *shown_difference(one), *_checked(one)]
            for value, found in groups.items()
            for one in found
        ],
        caption="\n".join(
            [
                "a − b: mean difference; interval for one pair in one group alone",
                _tested(first),
                *_marks(first),
                *dict.fromkeys(note for found in groups.values() for note in found.notes),
            ]
        ),
        left=5,
    )


def flat(found: Iterable[Comparison]) -> Grid:
    """Every comparison with every digit."""
    return Grid(columns=FLAT, rows=[flat_row(one) for one in found])


def flat_row(one: Comparison | None) -> list[str]:
    """A comparison with every digit; the names of the columns for None."""
    if one is None:
        return list(FLAT)
    known = one.as_dict() | one.difference.as_dict() | {"difference": one.difference.value}
    return ["" if known[name] is None else str(known[name]) for name in FLAT]


def flat_by_group(groups: dict[str, Comparisons], by: str) -> Grid:
    """The same, with the group before each."""
    return Grid(
        columns=[by, *FLAT],
        rows=[[value, *flat_row(one)] for value, found in groups.items() for one in found],
    )
