"""All methods of rating as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid, exact_cells, format_number

if TYPE_CHECKING:
    from ringtrue.preference import RatingComparison

ALL_QUERIES = "all"  # the mean over the queries
MAX_QUERIES = 15  # queries with a row of their own, unless all were asked for
TIE_MARGIN = 0.01  # two methods nearer than that are equally good


def method_comparison_grids(comparison: RatingComparison, *, rel: int, per_query: bool) -> list[Grid]:
    """The AUC of every method in every query, how well votes are foretold, and the answer last."""
    grids = [_auc_grid(comparison, rel, per_query=per_query)] if _has_gold(comparison) else []
    if _has_folds(comparison):
        grids.append(_held_out_grid(comparison))
    grids[-1] = replace(grids[-1], caption=f"{grids[-1].caption}\n\n" + "\n".join(_method_verdicts(comparison)))
    return grids


def _has_gold(comparison: RatingComparison) -> bool:
    return any(method.auc is not None for method in comparison.methods.values())


def _has_folds(comparison: RatingComparison) -> bool:
    return any(method.held_out is not None for method in comparison.methods.values())


def _auc_grid(comparison: RatingComparison, rel: int, *, per_query: bool) -> Grid:
    auc_by_method = {name: method.auc or {} for name, method in comparison.methods.items()}
    shown_queries = [
        query for query in comparison.queries if any(areas.get(query) is not None for areas in auc_by_method.values())
    ]
    n_left_out, n_scored = len(comparison.queries) - len(shown_queries), len(shown_queries)
    if len(shown_queries) > MAX_QUERIES and not per_query:
        shown_queries = []
    rows = [
        [query, *(format_number(areas.get(query), 3) for areas in auc_by_method.values())]
        for query in [*shown_queries, ALL_QUERIES]
    ]
    rows.append(
        ["tau", *(format_number((method.tau or {}).get(ALL_QUERIES), 3) for method in comparison.methods.values())]
    )
    mean_text = f"the mean over {n_scored:,} {'query' if n_scored == 1 else 'queries'}"
    lines = [
        f"AUC: how often a document labelled {rel} or higher is rated above another; all: {mean_text}",
        "tau: Kendall's, between ratings and labels, the mean too",
    ]
    if n_left_out:
        lines.append(f"{n_left_out:,} without an AUC: all of their labelled documents are relevant, or none is")
    if n_scored and not shown_queries:
        lines.append(_compare_best_with_first(auc_by_method))
        lines.append("--per-query shows every query")
    return Grid(columns=["query", *comparison.methods], rows=rows, caption="\n".join(lines))


def _compare_best_with_first(auc_by_method: Mapping[str, Mapping[str, float | None]]) -> str:
    """In how many queries the best method beats the first: means alone hide that."""
    means = {name: areas[ALL_QUERIES] for name, areas in auc_by_method.items() if areas.get(ALL_QUERIES) is not None}
    first, best = next(iter(means)), max(means, key=lambda name: means[name] or 0)
    if first == best:
        return f"{best} has the highest mean"
    pairs = [
        (auc_by_method[best][query], auc_by_method[first][query])
        for query in auc_by_method[best]
        if query != ALL_QUERIES
    ]
    differences = [
        best_auc - first_auc for best_auc, first_auc in pairs if best_auc is not None and first_auc is not None
    ]
    wins, losses = sum(difference > 0 for difference in differences), sum(difference < 0 for difference in differences)
    return f"{best} is better than {first} in {wins:,} queries, and worse in {losses:,}"


def _held_out_grid(comparison: RatingComparison) -> Grid:
    rows = []
    for name, method in comparison.methods.items():
        held_out = method.held_out
        assert held_out is not None
        rows.append(
            [
                name,
                format_number(held_out.log_loss, 3),
                "–" if held_out.accuracy is None else f"{held_out.accuracy:.1%}",
            ]
        )
    first_held_out = next(iter(comparison.methods.values())).held_out
    assert first_held_out is not None
    return Grid(
        columns=["method", "log loss", "accuracy"],
        rows=rows,
        caption=f"{first_held_out.votes:,} votes, each foretold from others; log loss: lower is better, a "
        "coin has 0.693\n"
        "accuracy: over votes that are no tie; –: a win rate gives no chances",
    )


def _method_verdicts(comparison: RatingComparison) -> Iterator[str]:
    """Which method is best?"""
    areas = {name: (method.auc or {}).get(ALL_QUERIES) for name, method in comparison.methods.items()}
    if any(value is not None for value in areas.values()):
        yield _best_method_sentence("AUC", areas, sign=1)
    losses = {
        name: method.held_out.log_loss for name, method in comparison.methods.items() if method.held_out is not None
    }
    if any(value is not None for value in losses.values()):
        yield _best_method_sentence("log loss of votes not seen", losses, sign=-1)


def _best_method_sentence(criterion: str, value_by_method: Mapping[str, float | None], *, sign: int) -> str:
    signed_values = {name: sign * value for name, value in value_by_method.items() if value is not None}
    order = sorted(signed_values, key=lambda name: -signed_values[name])
    top, last = order[0], order[-1]
    tied: Sequence[str] = [name for name in order[1:] if signed_values[top] - signed_values[name] < TIE_MARGIN]
    tied_text = f", and within {TIE_MARGIN:g} of it {', '.join(tied)}" if tied else ""
    highest = "highest" if sign == 1 else "lowest"
    verdict = f"The {highest} {criterion} has {top} ({abs(signed_values[top]):.3f}){tied_text}"
    return (
        f"{verdict}; the last is {last} ({abs(signed_values[last]):.3f})."
        if last not in (top, *tied)
        else f"{verdict}."
    )


def method_comparison_csv(comparison: RatingComparison) -> Grid:
    """A row for each method and query, the mean under `all`, with every digit."""
    rows = []
    for name, method in comparison.methods.items():
        for query in [*(comparison.queries if method.auc is not None else ()), ALL_QUERIES]:
            held_out = method.held_out if query == ALL_QUERIES else None
            cells = [
                (method.auc or {}).get(query),
                (method.tau or {}).get(query),
                held_out and held_out.log_loss,
                held_out and held_out.accuracy,
                held_out and held_out.votes,
            ]
            rows.append([name, query, *exact_cells(cells)])
    return Grid(columns=["method", "query", "auc", "tau", "log_loss", "accuracy", "votes"], rows=rows)
