"""The ceiling as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.cli.output import Grid, estimate_column, signed

if TYPE_CHECKING:
    from ringtrue.judges.ceiling import Ceiling, CeilingScatter, RunCeiling
    from ringtrue.stats.results import Estimate

__all__ = ["flat", "grids"]

NEAR = 0.95  # of the ceiling, from which there is little left for a better ranker
SHOWN = 50  # queries, and pairs of judges
ENOUGH = 10  # queries of a pair, before how far it is off is worth a place at the top
CEILING = "the ceiling"
EXPONENTIAL = "(dcg='exp-log2')"  # in the name of a measure


def grids(
    found: Ceiling, points: CeilingScatter | None, *, per_query: bool, written: str | None, all_pairs: bool
) -> list[Grid]:
    """Everything that a person may want to read, the answer last."""
    made = [_matrix(found, written)]
    if per_query:
        made.append(_queries(found))
    if points is not None:
        made.append(_pairs(found, points, all_pairs=all_pairs))
    return [*made, _standing(found)]


def _matrix(found: Ceiling, written: str | None) -> Grid:
    table = found.confusion
    known = table.worth is not None
    cases = table.counts.sum(axis=1).tolist()
    rows = [
        [str(label), *("–" if value != value else f"{value:.3f}" for value in row), *([] if known else [f"{n:,.4g}"])]
        for label, row, n in zip(table.labels, table.matrix.tolist(), cases, strict=True)
    ]
    caption = f"{found.orientation}{_example(found)}"
    if written is not None:
        caption += f"\nwritten to {written}, for --confusion"
    return Grid(columns=["label", *map(str, table.labels), *([] if known else ["cases"])], rows=rows, caption=caption)


def _example(found: Ceiling) -> str:
    """The largest share of another label in words, so that nobody reads the matrix the wrong way round."""
    table = found.confusion
    shares = np.nan_to_num(table.matrix) * (1 - np.eye(len(table.labels)))
    row, column = np.unravel_index(int(shares.argmax()), shares.shape)
    if not shares[row, column]:
        return ": the two always agree"
    said, then = table.labels[int(row)], table.labels[int(column)]
    return (
        f":\nwhere the testing judge says {said}, the training judge says {then} in {shares[row, column]:.1%} of cases"
    )


def _queries(found: Ceiling) -> Grid:
    lowest = found.per_query.drop_nulls().sort("ceiling", "query")
    rows = [
        [query, f"{documents:,}", f"{value:.4f}", *(_four(one.per_query.get(query)) for one in found.runs.values())]
        for query, documents, value in lowest.head(SHOWN).iter_rows()
    ]
    more = lowest.height - len(rows)
    caption = "the lowest ceiling first" + f"; {more:,} more in --json and --format csv" * bool(more)
    return Grid(columns=["query", "documents", "ceiling", *found.runs], rows=rows, caption=caption)


def _pairs(found: Ceiling, points: CeilingScatter, *, all_pairs: bool) -> Grid:
    real, predicted = pl.col("real"), pl.col("predicted")
    pairs = points.points.group_by("training", "testing", maintain_order=True).agg(
        pl.len(), pl.col("documents").mean(), real.mean(), predicted.mean(), (real - predicted).mean().alias("apart")
    )
    pairs = pairs.sort(pl.col("len") >= ENOUGH, pl.col("apart").abs(), descending=True, maintain_order=True)
    rows = [
        [training, testing, f"{n:,}", f"{size:.1f}", f"{one:.3f}", f"{other:.3f}", signed(apart, 3)]
        for training, testing, n, size, one, other, apart in pairs.head(
            pairs.height if all_pairs else SHOWN
        ).iter_rows()
    ]
    more = pairs.height - len(rows)
    apart = points.difference
    alike = "undefined" if points.correlation is None else f"{points.correlation:.2f}"
    value = "undefined" if apart.value is None else signed(apart.value, apart.decimals + 1 if apart.se else 3)
    ends = "" if apart.low is None or apart.high is None else f" ({signed(apart.low, 3)} to {signed(apart.high, 3)})"
    caption = (
        f"real: mean {points.measure} of the ranking by the training judge's labels, by the testing judge's; "
        f"predicted: by the matrix alone\nthe largest difference first, pairs with fewer than {ENOUGH} queries last"
        + f"; {more:,} more pairs, --pairs N shows all of N"
        * bool(more)
        + f"\n{points.points.height:,} points, one a query and pair: correlation {alike}, "
        f"real − predicted {value}{ends}; --json and --format csv have the points{_length(found, points)}"
    )
    columns = ["training", "testing", "queries", "documents", "real", "predicted", "real − predicted"]
    return Grid(columns=columns, rows=rows, caption=caption, left=2)


def _length(found: Ceiling, points: CeilingScatter) -> str:
    """What lists the scatter is a check of."""
    if points.documents is None:
        return ""
    judged = found.documents / max(found.per_query.height, 1)
    longer = f", and the judgments have {judged:,.3g} a query" if judged > 2 * points.documents else ""
    return f"\nthis checks lists of about {points.documents:,.3g} documents{longer}"


def _standing(found: Ceiling) -> Grid:
    runs = dict(sorted(found.runs.items(), key=lambda item: -(item[1].ndcg.value or 0)))
    reached = estimate_column([found.estimate, *(one.ndcg for one in runs.values())])
    rows = [[CEILING, reached[0], "", ""]]
    rooms = estimate_column([one.room for one in runs.values()])
    for (name, one), cell, room in zip(runs.items(), reached[1:], rooms, strict=True):
        rows.append([name, cell, "–" if one.share is None else f"{one.share:.1%}", room])
    columns = ["", found.measure, "share", "ceiling − run"]
    cut = 4 if runs else 2
    counted = f"mean over {found.queries:,} quer{'y' if found.queries == 1 else 'ies'}"
    if found.skipped:
        counted += f", {found.skipped:,} without any gain left out"
    if found.estimate.low is not None:
        counted += f"; ± half of the {found.estimate.level * 100:g}% interval"
    caption = [f"{counted}; {_how(found)}"]
    if EXPONENTIAL in found.measure:
        caption.append(f"gains are 2^label − 1; --gain linear is {found.measure.replace(EXPONENTIAL, '')} of evaluate")
    caption += ["", *_meaning(found, runs)]
    return Grid(columns=columns[:cut], rows=[row[:cut] for row in rows], caption="\n".join(caption))


def _how(found: Ceiling) -> str:
    if found.method == "exact":
        return "exact expectation"
    if found.method == "closed-form":
        return "closed form, ranks taken for normal"
    return f"simulated, which leaves ±{2 * (found.simulated_se or 0):.1g} open"


def _meaning(found: Ceiling, runs: dict[str, RunCeiling]) -> list[str]:
    """What the numbers say, and what to do next."""
    if found.estimate.value is None:
        return ["No query has a document that is worth anything: there is no ceiling to speak of."]
    best = found.estimate.value
    so_far = ", if the matrix holds for all judged documents: see the note" if found.is_stretched else ""
    lines = [f"A ranker that has learned the training judge perfectly reaches {best:.3f} by the testing judge{so_far}."]
    known = {name: one for name, one in runs.items() if one.share is not None}
    above = [name for name, one in known.items() if one.above]
    if known:
        name, one = next(iter(known.items()))
        lines.append(_first(name, one))
        if len(above) > 1:
            lines.append(f"Above the ceiling are {', '.join(above)}.")
    if above:
        likely = " (see the note)" if found.is_stretched else ""
        lines.append(
            "A run can be above: it tells documents of one grade apart, or learned from other judges or more than "
            f"labels, or the judges differ less than the matrix says{likely}."
        )
    elif found.is_stretched:
        what = "how much is left for a better ranker" if known else f"how much of the other {1 - best:.3f} they cost"
        following = "" if known else ". Next: --run RUN says where a run stands"
        lines.append(f"The judges may differ less than the matrix says: {what} is open{following}")
    elif known and max(one.share or 0 for one in known.values()) >= NEAR:
        lines.append(
            "Little is left for a better ranker; clearer guidelines or more judges raise the ceiling. "
            "Next: ringtrue agree LABELS"
        )
    elif known and next(iter(known.values())).is_thinly_judged:
        share = next(iter(known.values())).judged
        lines.append(f"Only {share:.0%} of what it found was judged: how much is left for a better ranker is open.")
    elif known:
        lines.append("That much is left for a better ranker, before the judges' disagreement stops it.")
    else:
        lines.append(
            f"The other {1 - best:.3f} is what their disagreement costs. Next: --run RUN says where a run stands"
        )
    return lines


def _first(name: str, one: RunCeiling) -> str:
    value, share, room = one.ndcg.value or 0.0, one.share or 0.0, one.room
    ends = "" if room.low is None or room.high is None else f" ({_ends(room)})"
    if one.above:
        sure = "" if one.surely_above else ", though not surely"
        return f"{name} is at {value:.3f}, {share:.0%} of that: above the ceiling by {-(room.value or 0):.3f}{sure}."
    return f"{name} is at {value:.3f}, {share:.0%} of that: {room.value or 0:.3f}{ends} below."


def _ends(room: Estimate) -> str:
    return f"{room.low:.3f} to {room.high:.3f}".replace("-", "−")


def _four(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def flat(found: Ceiling, points: CeilingScatter | None, *, per_query: bool) -> Grid:
    """One table with every digit: the points of the scatter, the queries, or the ceiling and the runs."""
    if points is not None:
        return Grid(columns=points.points.columns, rows=[list(map(_digits, row)) for row in points.points.iter_rows()])
    if per_query:
        rows = [
            [query, *map(_digits, rest), *(_digits(one.per_query.get(query)) for one in found.runs.values())]
            for query, *rest in found.per_query.iter_rows()
        ]
        return Grid(columns=["query", "documents", "ceiling", *found.runs], rows=rows)
    lines: dict[str, tuple[Estimate, float | None, float | None]] = {
        CEILING: (found.estimate, found.estimate.value, None)
    }
    lines |= {name: (one.ndcg, one.ceiling, one.share) for name, one in found.runs.items()}
    rows = [
        [name, found.measure, *map(_digits, (of.value, of.se, of.low, of.high, of.n, best, share))]
        for name, (of, best, share) in lines.items()
    ]
    return Grid(columns=["run", "measure", "value", "se", "low", "high", "n", "ceiling", "share"], rows=rows)


def _digits(value: object) -> str:
    return "" if value is None else str(value)
