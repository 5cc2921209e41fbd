"""Comparisons as tables: a row for each pair, for each run, for each group or for each query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import polars as pl

from ringtrue.cli.output import Grid, signed
from ringtrue.results import Comparison, Comparisons
from ringtrue.significance import differences, moved_most
from ringtrue.tables import Scores

__all__ = ["answer", "by_group", "by_query", "flat", "flat_by_group", "flat_by_query"]

FEW_PAIRS = 10  # of one measure: more are shown run by run
FLAT = ("measure", "a", "b", "difference", "se", "low", "high", "level", "n", "method", "p_value", "p_adjusted", "test",
        "effect_size", "wins", "ties", "losses", "detectable")  # fmt: skip
CHECKED = ("p", "adjusted", "", "effect", "wins/ties/losses", "detectable")
FEW_SENTENCES = 4
BAR = 12
WIDEST_TEXT = 60


def answer(
    found: Comparisons, scores: Scores, asked: pl.DataFrame | None, *, layout: str | None, bars: bool
) -> list[Grid]:
    """The comparisons pair by pair or run by run; where there are two runs, also the queries that moved most."""
    measures = len({one.measure for one in found})
    if layout == "runs" or (layout is None and len(found) > FEW_PAIRS * measures):
        return [_by_run(found, scores)]
    shown = [_by_pair(found)]
    if len(found) == measures:
        shown += [grid for one in found if (grid := _moved(one, scores, asked, bars=bars)).rows]
    return shown


def _by_pair(found: Comparisons) -> Grid:
    return Grid(
        columns=["measure", "a", "b", "a − b", f"{found.level * 100:g}% interval", *CHECKED],
        rows=[[one.measure, one.a, one.b, *_difference(one), *_checked(one)] for one in found],
        caption="\n".join([*_over(found), *_marks(found), *_sentences(found)]),
        left=3,
    )


def _difference(one: Comparison) -> list[str]:
    d = one.difference
    if d.value is None:
        return ["–", "–"]
    if d.low is None or d.high is None or not d.se:
        return [signed(d.value, 4), "–"]
    digits = d.decimals + 1
    return [signed(d.value, digits), f"{signed(d.low, digits)} to {signed(d.high, digits)}"]


def _checked(one: Comparison) -> list[str]:
    mark = "" if not one.decided else "▲" if (one.difference.value or 0) > 0 else "▼"
    effect = "–" if one.effect_size is None else signed(one.effect_size, 2)
    detectable = "–" if one.detectable is None else f"{one.detectable:.{one.difference.decimals + 1}f}"
    count = f"{one.wins}/{one.ties}/{one.losses}"
    return [_p(one.p_value), _p(one.p_adjusted), mark, effect, count, detectable]


def _p(p: float | None) -> str:
    if p is None:
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _over(found: Comparisons) -> list[str]:
    counts = [one.difference.n for one in found]
    n = str(max(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    queries = "1 query" if n == "1" else f"{n} queries" + (" in all" if found[0].test == "welch" else "")
    methods = ", ".join(sorted({one.difference.method for one in found}))
    return [f"a − b: mean difference over {queries}; interval: {methods}, for one pair alone", _tested(found)]


def _tested(found: Comparisons) -> str:
    return f"p: {found.test}; adjusted: {found.family}"


def _marks(found: Comparisons) -> list[str]:
    return [
        f"▲ a is better, ▼ a is worse: adjusted p < {_alpha(found)}; no mark: not decided",
        "effect: difference in standard deviations; detectable: what such queries show in 4 of 5 tests of one pair",
    ]


def _alpha(found: Comparisons) -> str:
    return f"{1 - found.level:.3g}"


def _sentences(found: Comparisons) -> list[str]:
    """The answer in words, where there are few."""
    if len(found) > FEW_SENTENCES:
        return _undecided(found)
    return ["", *(f"{one.measure}: {_sentence(one)}" for one in found)]


def _undecided(found: Comparisons) -> list[str]:
    undecided = sum(not one.decided for one in found)
    return [f"not decided: {undecided:,} of {len(found):,} comparisons"] if undecided else []


def _sentence(one: Comparison) -> str:
    value, low, high = (one.difference.value or 0), one.difference.low, one.difference.high
    if not one.decided:
        return f"{one.a} or {one.b}? {'; '.join(one.notes)}"
    better, worse = (one.a, one.b) if value > 0 else (one.b, one.a)
    if low is None or high is None or low * high <= 0:
        return f"{better} is better than {worse}"
    near, far = sorted((abs(low), abs(high)))
    digits = one.difference.decimals + 1
    return f"{better} is better than {worse}, by {near:.{digits}f} to {far:.{digits}f}"


def _by_run(found: Comparisons, scores: Scores) -> Grid:
    """The runs, best first, and by number those that each beats; with baselines, also those that beat it."""
    means = scores.means(level=found.level)
    measures = list(dict.fromkeys(one.measure for one in found))
    order = sorted(means, key=lambda run: -(means[run][measures[0]].value or 0))
    number = {run: place for place, run in enumerate(order, start=1)}
    beats: dict[tuple[str, str], list[int]] = {}
    for one in found:
        if one.decided:
            better, worse = (one.a, one.b) if (one.difference.value or 0) > 0 else (one.b, one.a)
            beats.setdefault((one.measure, better), []).append(number[worse])
    columns = ["nr", "run"]
    for measure in measures:
        columns += [measure, "better than"]
    rows = []
    for run in order:
        row = [str(number[run]), run]
        for measure in measures:
            row += [f"{means[run][measure].value:.4f}", _ranges(sorted(beats.get((measure, run), [])))]
        rows.append(row)
    caption = [
        f"better than: the runs, by number, that it beats with adjusted p < {_alpha(found)}",
        _tested(found),
        f"sorted by {measures[0]}; --layout pairs shows every comparison",
        *_undecided(found),
    ]
    return Grid(columns=columns, rows=rows, caption="\n".join(caption), left=2)


def _ranges(numbers: Sequence[int]) -> str:
    """Whole numbers, those in a row joined.

    Examples:
        >>> _ranges([2, 5, 6, 7])
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
            [value, str(one.difference.n), one.measure, one.a, one.b, *_difference(one), *_checked(one)]
            for value, found in groups.items()
            for one in found
        ],
        caption="\n".join([_tested(first), _marks(first)[0]]),
        left=5,
    )


def by_query(found: Comparisons, scores: Scores, asked: pl.DataFrame | None, *, bars: bool) -> list[Grid]:
    """For each comparison a table with a row for each query, the largest difference first."""
    tables = ((one, differences(scores, one.a, one.b, one.measure)) for one in found)
    return [_queries(one, table, asked, bars=bars, what="every query") for one, table in tables]


def _moved(one: Comparison, scores: Scores, asked: pl.DataFrame | None, *, bars: bool) -> Grid:
    """The queries where one of the two runs is furthest ahead."""
    ahead, behind = moved_most(differences(scores, one.a, one.b, one.measure))
    table = pl.concat([ahead, behind.reverse()])
    return _queries(one, table, asked, bars=bars, what="the queries that moved most")


def _queries(one: Comparison, table: pl.DataFrame, asked: pl.DataFrame | None, *, bars: bool, what: str) -> Grid:
    texts = _texts(asked)
    widest = max((abs(value) for value in table["difference"]), default=0.0) or 1.0
    rows = [
        [
            query,
            *([texts.get(query, "")] if texts else []),
            *(f"{a:.4f}", f"{b:.4f}", signed(d, 4)),
            *([_bar(d / widest)] if bars else []),
        ]
        for query, a, b, d in table.iter_rows()
    ]
    words = ["query", "asked"] if texts else ["query"]
    columns = [*words, one.a, one.b, "difference", *([""] if bars else [])]
    pointing = f"; to the right {one.a} is ahead, to the left {one.b}" if bars else ""
    return Grid(columns=columns, rows=rows, caption=f"{one.measure}: {what}{pointing}", left=len(words))


def _bar(share: float) -> str:
    """A bar that points left or right."""
    length = round(abs(share) * BAR)
    left, right = (" " * BAR, "█" * length) if share > 0 else (("█" * length).rjust(BAR), "")
    return f"{left}│{right.ljust(BAR)}"


def _texts(asked: pl.DataFrame | None) -> dict[str, str]:
    """What each query asks, cut to fit a line."""
    if asked is None:
        return {}
    column = next((name for name in ("title", "text", "description") if name in asked.columns), None)
    if column is None:
        return {}
    whole = asked.select("query", pl.col(column).cast(pl.String)).drop_nulls().iter_rows()
    lines = ((query, " ".join(text.split())) for query, text in whole)
    return {query: text if len(text) <= WIDEST_TEXT else text[: WIDEST_TEXT - 1] + "…" for query, text in lines}


def flat(found: Iterable[Comparison]) -> Grid:
    """Every comparison with every digit."""
    return Grid(columns=FLAT, rows=[_flat_row(one) for one in found])


def _flat_row(one: Comparison) -> list[str]:
    known = one.as_dict() | one.difference.as_dict() | {"difference": one.difference.value}
    return ["" if known[name] is None else str(known[name]) for name in FLAT]


def flat_by_group(groups: dict[str, Comparisons], by: str) -> Grid:
    """The same, with the group before each."""
    return Grid(
        columns=[by, *FLAT],
        rows=[[value, *_flat_row(one)] for value, found in groups.items() for one in found],
    )


def flat_by_query(found: Iterable[Comparison], scores: Scores) -> Grid:
    """Every query of every comparison with every digit."""
    return Grid(
        columns=["measure", "a", "b", "query", "a_value", "b_value", "difference"],
        rows=[
            [one.measure, one.a, one.b, query, *map(repr, values)]
            for one in found
            for query, *values in differences(scores, one.a, one.b, one.measure).iter_rows()
        ],
    )
