"""All methods of rating as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ringtrue.cli.output import Grid

if TYPE_CHECKING:
    from ringtrue.preference import RatingComparison

__all__ = ["comparison_grids", "flat_comparison"]

ALL = "all"  # the mean over the queries
SHOWN = 15  # queries with a row of their own, unless all were asked for
TIE = 0.01  # two methods nearer than that are equally good


def comparison_grids(found: RatingComparison, *, rel: int, per_query: bool) -> list[Grid]:
    """The AUC of every method in every query, how well votes are foretold, and the answer last."""
    made = [_areas(found, rel, per_query=per_query)] if _has_gold(found) else []
    if _has_folds(found):
        made.append(_foretold(found))
    made[-1] = replace(made[-1], caption=f"{made[-1].caption}\n\n" + "\n".join(_verdict(found)))
    return made


def _has_gold(found: RatingComparison) -> bool:
    return any(one.auc is not None for one in found.methods.values())


def _has_folds(found: RatingComparison) -> bool:
    return any(one.held_out is not None for one in found.methods.values())


def _areas(found: RatingComparison, rel: int, *, per_query: bool) -> Grid:
    each = {name: one.auc or {} for name, one in found.methods.items()}
    shown = [query for query in found.queries if any(areas.get(query) is not None for areas in each.values())]
    left_out, known = len(found.queries) - len(shown), len(shown)
    if len(shown) > SHOWN and not per_query:
        shown = []
    rows = [[query, *(_number(areas.get(query)) for areas in each.values())] for query in [*shown, ALL]]
    rows.append(["tau", *(_number((one.tau or {}).get(ALL)) for one in found.methods.values())])
    over = f"the mean over {known:,} {'query' if known == 1 else 'queries'}"
    lines = [
        f"AUC: how often a document labelled {rel} or higher is rated above another; all: {over}",
        "tau: Kendall's, between ratings and labels, the mean too",
    ]
    if left_out:
        lines.append(f"{left_out:,} without an AUC: all of their labelled documents are relevant, or none is")
    if known and not shown:
        lines.append(_better(each))
        lines.append("--per-query shows every query")
    return Grid(columns=["query", *found.methods], rows=rows, caption="\n".join(lines))


def _better(each: Mapping[str, Mapping[str, float | None]]) -> str:
    """In how many queries the best method beats the first: means alone hide that."""
    means = {name: areas[ALL] for name, areas in each.items() if areas.get(ALL) is not None}
    first, best = next(iter(means)), max(means, key=lambda name: means[name] or 0)
    if first == best:
        return f"{best} has the highest mean"
    pairs = [(each[best][query], each[first][query]) for query in each[best] if query != ALL]
    apart = [one - other for one, other in pairs if one is not None and other is not None]
    wins, losses = sum(one > 0 for one in apart), sum(one < 0 for one in apart)
    return f"{best} is better than {first} in {wins:,} queries, and worse in {losses:,}"


def _foretold(found: RatingComparison) -> Grid:
    rows = []
    for name, one in found.methods.items():
        held = one.held_out
        assert held is not None
        rows.append([name, _number(held.log_loss), "–" if held.accuracy is None else f"{held.accuracy:.1%}"])
    votes = next(iter(found.methods.values())).held_out
    assert votes is not None
    return Grid(
        columns=["method", "log loss", "accuracy"],
        rows=rows,
        caption=f"{votes.votes:,} votes, each foretold from others; log loss: lower is better, a coin has 0.693\n"
        "accuracy: over votes that are no tie; –: a win rate gives no chances",
    )  # fmt: skip


def _verdict(found: RatingComparison) -> Iterator[str]:
    """Which method is best?"""
    areas = {name: (one.auc or {}).get(ALL) for name, one in found.methods.items()}
    if any(value is not None for value in areas.values()):
        yield _best("AUC", areas, sign=1)
    losses = {name: one.held_out.log_loss for name, one in found.methods.items() if one.held_out is not None}
    if any(value is not None for value in losses.values()):
        yield _best("log loss of votes not seen", losses, sign=-1)


def _best(what: str, values: Mapping[str, float | None], *, sign: int) -> str:
    known = {name: sign * value for name, value in values.items() if value is not None}
    order = sorted(known, key=lambda name: -known[name])
    top, last = order[0], order[-1]
    tied: Sequence[str] = [name for name in order[1:] if known[top] - known[name] < TIE]
    beside = f", and within {TIE:g} of it {', '.join(tied)}" if tied else ""
    highest = "highest" if sign == 1 else "lowest"
    said = f"The {highest} {what} has {top} ({abs(known[top]):.3f}){beside}"
    return f"{said}; the last is {last} ({abs(known[last]):.3f})." if last not in (top, *tied) else f"{said}."


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def flat_comparison(found: RatingComparison) -> Grid:
    """A row for each method and query, the mean under `all`, with every digit."""
    rows = []
    for name, one in found.methods.items():
        for query in [*(found.queries if one.auc is not None else ()), ALL]:
            held = one.held_out if query == ALL else None
            cells = [(one.auc or {}).get(query), (one.tau or {}).get(query),
                     held and held.log_loss, held and held.accuracy, held and held.votes]  # fmt: skip
            rows.append([name, query, *("" if cell is None else str(cell) for cell in cells)])
    return Grid(columns=["method", "query", "auc", "tau", "log_loss", "accuracy", "votes"], rows=rows)
