"""Comparisons as tables: a row for each pair, each run, each group or each query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import polars as pl

from ringtrue.cli.output import spelled
from ringtrue.evaluation.significance import differences, largest_differences
from ringtrue.formatting.grid import Grid, exact_cells, format_number, format_signed
from ringtrue.formatting.phrases import format_lead, format_range
from ringtrue.stats.results import Comparison, Comparisons, Estimate
from ringtrue.tables import Scores

FEW_PAIRS = 10  # of one measure: more are shown run by run
CSV_COLUMNS = (
    "measure", "a", "b", "difference", "se", "low", "high", "level", "n", "method", "p_value", "p_adjusted", "test",
    "effect_size", "wins", "ties", "losses", "detectable",
)  # fmt: skip
TEST_COLUMNS = ("p", "adjusted", "", "effect", "wins/ties/losses", "detectable")
FEW_SENTENCES = 4
BAR_WIDTH = 12
MAX_TEXT_WIDTH = 60


def run_comparison_grids(
    comparisons: Comparisons,
    scores: Scores,
    topics: pl.DataFrame | None,
    *,
    baselines: Sequence[str],
    layout: str | None,
    bars: bool,
) -> list[Grid]:
    """The comparisons pair by pair or run by run; where there are two runs, also the queries that moved most."""
    n_measures = len({comparison.measure for comparison in comparisons})
    if layout == "runs" or (layout is None and not baselines and len(comparisons) > FEW_PAIRS * n_measures):
        return [_run_rows_grid(comparisons, scores, baselines)]
    grids = [_pair_rows_grid(comparisons, scores, best_first=bool(baselines))]
    if len(comparisons) == n_measures:
        grids += [
            grid
            for comparison in comparisons
            if (grid := largest_moves_grid(comparison, scores, topics, bars=bars)).rows
        ]
    return grids


def _pair_rows_grid(comparisons: Comparisons, scores: Scores, *, best_first: bool) -> Grid:
    measures = list(dict.fromkeys(comparison.measure for comparison in comparisons))
    ordered = list(comparisons)
    if best_first:
        ordered.sort(key=lambda comparison: (measures.index(comparison.measure), -(comparison.difference.value or 0)))
    return Grid(
        columns=["measure", "a", "b", "a − b", f"{comparisons.level * 100:g}% interval", *TEST_COLUMNS],
        rows=[_pair_cells(comparison) for comparison in ordered],
        caption="\n".join(
            [
                *_basis_lines(comparisons),
                *_mark_legend(comparisons),
                *_zero_count_lines(scores),
                *_comparison_sentences(comparisons, scores),
            ]
        ),
        left=3,
    )


def difference_cells(comparison: Comparison) -> list[str]:
    """The difference and its interval, with the digits that the standard error supports."""
    d = comparison.difference
    if d.value is None:
        return ["–", "–"]
    if d.low is None or d.high is None or not d.se:
        return [format_signed(d.value, 4), "–"]
    digits = d.decimals + 1
    return [format_signed(d.value, digits), f"{format_signed(d.low, digits)} to {format_signed(d.high, digits)}"]


def _pair_cells(comparison: Comparison) -> list[str]:
    effect = "–" if comparison.effect_size is None else format_signed(comparison.effect_size, 2)
    detectable = format_number(comparison.detectable, comparison.difference.decimals + 1)
    counts = f"{comparison.wins}/{comparison.ties}/{comparison.losses}"
    p_values = map(p_cell, (comparison.p_value, comparison.p_adjusted))
    test_cells = [*p_values, mark_better(comparison), effect, counts, detectable]
    return [comparison.measure, comparison.a, comparison.b, *difference_cells(comparison), *test_cells]


def mark_better(comparison: Comparison) -> str:
    """Who is better, as a sign; nothing where it is not decided."""
    return {comparison.a: "▲", comparison.b: "▼"}.get(comparison.better or "", "≠") if comparison.decided else ""


def p_cell(p: float | None) -> str:
    """p with four decimals."""
    if p is None:
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _basis_lines(comparisons: Comparisons) -> list[str]:
    counts = [comparison.difference.n for comparison in comparisons]
    difference_text = f"mean difference over {format_range(counts, 'query')}"
    if comparisons[0].test == "welch":
        difference_text = "difference of the means, each run over its own queries"
    methods = ", ".join(sorted({comparison.difference.method for comparison in comparisons}))
    return [f"a − b: {difference_text}; interval: {methods}, for one pair alone", _test_line(comparisons)]


def _test_line(comparisons: Comparisons) -> str:
    return f"p: {comparisons.test}; adjusted: {comparisons.family}"


def _mark_legend(comparisons: Comparisons) -> list[str]:
    torn_text = ", ≠ the test and the mean speak for different runs" if any(map(_is_torn, comparisons)) else ""
    return [
        f"▲ a is better, ▼ a is worse{torn_text}: {_decision_rule(comparisons)}; no mark: not decided",
        "effect: difference in standard deviations; detectable: what such queries show in 4 of 5 t tests of one pair",
    ]


def _decision_rule(comparisons: Comparisons) -> str:
    return f"{'p' if comparisons.family.startswith('not adjusted') else 'adjusted p'} < {1 - comparisons.level:.3g}"


def _is_torn(comparison: Comparison) -> bool:
    return comparison.decided and comparison.better is None


def _zero_count_lines(scores: Scores) -> list[str]:
    """Which runs lack queries that count as 0: a table without this would be read without it."""
    scored_queries = scores.frame.select("run", "query").unique()
    lines = [
        f"{run} lacks {len(missing_queries)} of {scores.frame['query'].n_unique()} queries, counted as 0"
        for run, missing_queries in scores.absent.items()
        if scored_queries.filter(run=run, query=missing_queries[0]).height
    ]
    return lines[:3] + ([f"{len(lines) - 3} more runs lack queries, too"] if len(lines) > 3 else [])


def _comparison_sentences(comparisons: Comparisons, scores: Scores) -> list[str]:
    """The answer in words, where there are few."""
    if len(comparisons) > FEW_SENTENCES:
        return _undecided_lines(comparisons)
    means = scores.means(level=comparisons.level)
    return ["", *(f"{comparison.measure}: {_comparison_sentence(comparison, means)}" for comparison in comparisons)]


def _undecided_lines(comparisons: Comparisons) -> list[str]:
    n_undecided = sum(not comparison.decided for comparison in comparisons)
    return [f"not decided: {n_undecided:,} of {len(comparisons):,} comparisons"] if n_undecided else []


def _comparison_sentence(comparison: Comparison, means: dict[str, dict[str, Estimate]]) -> str:
    a, b = (f"{run} ({means[run][comparison.measure].value:.4f})" for run in (comparison.a, comparison.b))
    if comparison.better is None:
        return f"{a} or {b}? {'; '.join(map(spelled, comparison.notes))}"
    better, worse = (a, b) if comparison.better == comparison.a else (b, a)
    n_won = comparison.wins if comparison.better == comparison.a else comparison.losses
    if comparison.test == "sign":
        return (
            f"{better} is ahead of {worse} for {n_won} of {comparison.wins + comparison.losses} queries that do not tie"
        )
    low, high = comparison.difference.low, comparison.difference.high
    if low is None or high is None or low * high <= 0:
        return f"{better} is better than {worse}"
    return f"{better} is better than {worse}, {format_lead(low, high, comparison.difference.decimals + 1)}"


def _run_rows_grid(comparisons: Comparisons, scores: Scores, baselines: Sequence[str]) -> Grid:
    """The runs, best first, and by number those that each beats; with baselines, also those that beat it."""
    means = scores.means(level=comparisons.level)
    measures = list(dict.fromkeys(comparison.measure for comparison in comparisons))
    order = sorted(means, key=lambda run: -(means[run][measures[0]].value or 0))
    number = {run: rank for rank, run in enumerate(order, start=1)}
    beats: dict[tuple[str, str], list[int]] = {}
    beaten: dict[tuple[str, str], list[int]] = {}
    for comparison in comparisons:
        if comparison.better is not None:
            worse = comparison.b if comparison.better == comparison.a else comparison.a
            beats.setdefault((comparison.measure, comparison.better), []).append(number[worse])
            beaten.setdefault((comparison.measure, worse), []).append(number[comparison.better])
    headings = ["better than", "worse than"] if baselines else ["better than"]
    columns = ["nr", "run", *(heading for measure in measures for heading in (measure, *headings))]
    rows = []
    for run in order:
        row = [str(number[run]), run]
        for measure in measures:
            sides = [opponents.get((measure, run), []) for opponents in (beats, beaten)][: len(headings)]
            row += [f"{means[run][measure].value:.4f}", *(join_ranges(sorted(side)) for side in sides)]
        rows.append(row)
    caption = [
        f"{' and '.join(headings)}: by number in this table, {_decision_rule(comparisons)}",
        _test_line(comparisons),
        f"sorted by {measures[0]}; --layout pairs shows every comparison",
        *_zero_count_lines(scores),
        *([] if baselines else [_best_run_line(measure, means, number, beats) for measure in measures]),
        *_undecided_lines(comparisons),
    ]
    return Grid(columns=columns, rows=rows, caption="\n".join(caption), left=2)


def _best_run_line(
    measure: str, means: dict[str, dict[str, Estimate]], number: dict[str, int], beats: dict[tuple[str, str], list[int]]
) -> str:
    """The run with the highest mean, and those that are not told apart from it."""
    best = max(means, key=lambda run: means[run][measure].value or 0)
    tied = sorted(set(number.values()) - {number[best]} - set(beats.get((measure, best), [])))
    return f"{measure}: {best} is first" + (
        f"; not told apart from it: {join_ranges(tied)}" if tied else ", better than all others"
    )


def join_ranges(numbers: Sequence[int]) -> str:
    """Whole numbers, those in a row joined.

    Examples:
        >>> join_ranges([2, 5, 6, 7])
        '2, 5–7'
    """
    joined = []
    for _, stretch in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in stretch]
        joined.append(f"{members[0]}–{members[-1]}" if len(members) > 1 else str(members[0]))
    return ", ".join(joined)


def group_grid(groups: dict[str, Comparisons], by: str) -> Grid:
    """Every comparison for every value of a column."""
    first = next(iter(groups.values()))
    return Grid(
        columns=[by, "queries", "measure", "a", "b", "a − b", f"{first.level * 100:g}% interval", *TEST_COLUMNS],
        rows=[
            [group_value, str(comparison.difference.n), *_pair_cells(comparison)]
            for group_value, comparisons in groups.items()
            for comparison in comparisons
        ],
        caption="\n".join(
            [
                "a − b: mean difference; interval for one pair in one group alone",
                _test_line(first),
                *_mark_legend(first),
                *dict.fromkeys(spelled(note) for comparisons in groups.values() for note in comparisons.notes),
            ]
        ),
        left=5,
    )


def comparisons_csv(comparisons: Iterable[Comparison]) -> Grid:
    """Every comparison with every digit."""
    return Grid(columns=CSV_COLUMNS, rows=[comparison_csv_row(comparison) for comparison in comparisons])


def comparison_csv_row(comparison: Comparison) -> list[str]:
    """A comparison with every digit."""
    difference = comparison.difference
    fields = comparison.as_dict() | difference.as_dict() | {"difference": difference.value}
    return exact_cells(fields[name] for name in CSV_COLUMNS)


def group_csv(groups: dict[str, Comparisons], by: str) -> Grid:
    """The same, with the group before each."""
    return Grid(
        columns=[by, *CSV_COLUMNS],
        rows=[
            [group_value, *comparison_csv_row(comparison)]
            for group_value, comparisons in groups.items()
            for comparison in comparisons
        ],
    )


def query_grids(comparisons: Comparisons, scores: Scores, topics: pl.DataFrame | None, *, bars: bool) -> list[Grid]:
    """For each comparison a table with a row for each query, the largest difference first."""
    tables = (
        (comparison, differences(scores, comparison.a, comparison.b, comparison.measure)) for comparison in comparisons
    )
    return [_query_rows_grid(comparison, table, topics, bars=bars, title="every query") for comparison, table in tables]


def largest_moves_grid(comparison: Comparison, scores: Scores, topics: pl.DataFrame | None, *, bars: bool) -> Grid:
    """The queries where one of the two runs is furthest ahead."""
    ahead, behind = largest_differences(differences(scores, comparison.a, comparison.b, comparison.measure))
    table = pl.concat([ahead, behind.reverse()])
    return _query_rows_grid(comparison, table, topics, bars=bars, title="the queries that moved most")


def _query_rows_grid(
    comparison: Comparison, table: pl.DataFrame, topics: pl.DataFrame | None, *, bars: bool, title: str
) -> Grid:
    texts = topic_texts(topics)
    max_difference = max((abs(difference) for difference in table["difference"]), default=0.0) or 1.0
    rows = [
        [
            query,
            *([_truncate_text(texts.get(query, ""))] if texts else []),
            *(f"{a:.4f}", f"{b:.4f}", format_signed(d, 4)),
            *([_signed_bar(d / max_difference)] if bars else []),
        ]
        for query, a, b, d in table.iter_rows()
    ]
    text_columns = ["query", "asked"] if texts else ["query"]
    columns = [*text_columns, comparison.a, comparison.b, "difference", *([""] if bars else [])]
    legend = f"; to the right {comparison.a} is ahead, to the left {comparison.b}" if bars else ""
    return Grid(columns=columns, rows=rows, caption=f"{comparison.measure}: {title}{legend}", left=len(text_columns))


def _signed_bar(share: float) -> str:
    """A bar that points left or right."""
    length = round(abs(share) * BAR_WIDTH)
    left, right = (" " * BAR_WIDTH, "█" * length) if share > 0 else (("█" * length).rjust(BAR_WIDTH), "")
    return f"{left}│{right.ljust(BAR_WIDTH)}"


def topic_texts(topics: pl.DataFrame | None) -> dict[str, str]:
    """What each query asks, on one line."""
    if topics is None:
        return {}
    column = next((name for name in ("title", "text", "description") if name in topics.columns), None)
    if column is None:
        return {}
    rows = topics.select("query", pl.col(column).cast(pl.String)).drop_nulls().iter_rows()
    return {query: " ".join(text.split()) for query, text in rows}


def _truncate_text(text: str) -> str:
    return text if len(text) <= MAX_TEXT_WIDTH else text[: MAX_TEXT_WIDTH - 1] + "…"


def query_csv(comparisons: Iterable[Comparison], scores: Scores, topics: pl.DataFrame | None) -> Grid:
    """Every query of every comparison with every digit, and what it asks where that is known."""
    texts = topic_texts(topics)
    return Grid(
        columns=["measure", "a", "b", "query", "a_value", "b_value", "difference", *(["asked"] if texts else [])],
        rows=[
            [
                comparison.measure,
                comparison.a,
                comparison.b,
                query,
                *map(repr, values),
                *([texts.get(query, "")] if texts else []),
            ]
            for comparison in comparisons
            for query, *values in differences(scores, comparison.a, comparison.b, comparison.measure).iter_rows()
        ],
    )
