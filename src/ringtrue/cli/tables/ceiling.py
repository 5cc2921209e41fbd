"""The ceiling as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.formatting.grid import Grid, exact_grid, format_interval, format_number, format_signed
from ringtrue.formatting.phrases import format_amount, format_count
from ringtrue.stats.results import NUMBER_FIELDS, exact_estimate, format_estimates

if TYPE_CHECKING:
    from ringtrue.judges.ceiling import Ceiling, CeilingScatter, RunCeiling
    from ringtrue.stats.results import Estimate

NEAR_CEILING = 0.95  # of the ceiling, from which there is little left for a better ranker
MAX_ROWS_SHOWN = 50  # queries, and pairs of judges
MIN_QUERIES = 10  # queries of a pair, before how far it is off is worth a place at the top
CEILING_ROW = "the ceiling"
EXPONENTIAL_GAIN = "(dcg='exp-log2')"  # in the name of a measure


def ceiling_grids(
    ceiling: Ceiling, points: CeilingScatter | None, *, per_query: bool, output: str | None, all_pairs: bool
) -> list[Grid]:
    """Everything that a person may want to read, the answer last."""
    tables = [_confusion_grid(ceiling, output)]
    if per_query:
        tables.append(_query_ceiling_grid(ceiling))
    if points is not None:
        tables.append(_scatter_grid(ceiling, points, all_pairs=all_pairs))
    return [*tables, _standing_grid(ceiling)]


def _confusion_grid(ceiling: Ceiling, output: str | None) -> Grid:
    confusion = ceiling.confusion
    is_known = confusion.worth is not None
    cases = confusion.counts.sum(axis=1).tolist()
    rows = [
        [
            str(label),
            *("–" if value != value else f"{value:.3f}" for value in row),
            *([] if is_known else [f"{n:,.4g}"]),
        ]
        for label, row, n in zip(confusion.labels, confusion.matrix.tolist(), cases, strict=True)
    ]
    caption = f"{ceiling.orientation}{_example_text(ceiling)}"
    if not ceiling.pooled:
        caption += (
            f"\npooled over all queries; {ceiling.own_matrices:,} of {format_count(ceiling.queries, 'query')} with a "
            f"matrix of their own, shrunk towards this one (own counts + {ceiling.shrinkage:g} × its rows)"
        )
    if output is not None:
        caption += (
            f"\nwritten to {output}, for --confusion{'' if ceiling.pooled else ', which gives the pooled ceiling'}"
        )
    return Grid(
        columns=["label", *map(str, confusion.labels), *([] if is_known else ["cases"])], rows=rows, caption=caption
    )


def _example_text(ceiling: Ceiling) -> str:
    """The largest share of another label in words, so that nobody reads the matrix the wrong way round."""
    confusion = ceiling.confusion
    shares = np.nan_to_num(confusion.matrix) * (1 - np.eye(len(confusion.labels)))
    row, column = np.unravel_index(int(shares.argmax()), shares.shape)
    if not shares[row, column]:
        return ": the two always agree"
    testing_label, training_label = confusion.labels[int(row)], confusion.labels[int(column)]
    return (
        f":\nwhere the testing judge says {testing_label}, the training judge says {training_label} in "
        f"{shares[row, column]:.1%} of cases"
    )


def _query_ceiling_grid(ceiling: Ceiling) -> Grid:
    lowest = ceiling.per_query.drop_nulls().sort("ceiling", "query")
    rows = [
        [
            query,
            f"{documents:,}",
            f"{value:.4f}",
            *(format_number(run.per_query.get(query), 4) for run in ceiling.runs.values()),
        ]
        for query, documents, value in lowest.head(MAX_ROWS_SHOWN).iter_rows()
    ]
    n_more = lowest.height - len(rows)
    caption = "the lowest ceiling first" + f"; {n_more:,} more in --json and --format csv" * bool(n_more)
    return Grid(columns=["query", "documents", "ceiling", *ceiling.runs], rows=rows, caption=caption)


def _scatter_grid(ceiling: Ceiling, scatter: CeilingScatter, *, all_pairs: bool) -> Grid:
    real, predicted = pl.col("real"), pl.col("predicted")
    pairs = scatter.points.group_by("training", "testing", maintain_order=True).agg(
        pl.len(), pl.col("documents").mean(), real.mean(), predicted.mean(), (real - predicted).mean().alias("apart")
    )
    pairs = pairs.sort(pl.col("len") >= MIN_QUERIES, pl.col("apart").abs(), descending=True, maintain_order=True)
    rows = [
        [
            training,
            testing,
            f"{n:,}",
            f"{size:.1f}",
            f"{mean_real:.3f}",
            f"{mean_predicted:.3f}",
            format_signed(difference, 3),
        ]
        for training, testing, n, size, mean_real, mean_predicted, difference in pairs.head(
            pairs.height if all_pairs else MAX_ROWS_SHOWN
        ).iter_rows()
    ]
    n_more = pairs.height - len(rows)
    difference = scatter.difference
    correlation = "undefined" if scatter.correlation is None else f"{scatter.correlation:.2f}"
    difference_text = (
        "undefined"
        if difference.value is None
        else format_signed(difference.value, difference.decimals + 1 if difference.se else 3)
    )
    interval_text = (
        ""
        if difference.low is None or difference.high is None
        else f" ({format_signed(difference.low, 3)} to {format_signed(difference.high, 3)})"
    )
    caption = (
        f"real: mean {scatter.measure} of the ranking by the training judge's labels, by the testing judge's; "
        f"predicted: by one matrix for all queries\nthe largest difference first, pairs with fewer than {MIN_QUERIES} "
        "queries last"
        + f"; {n_more:,} more pairs, --pairs N shows all of N"
        * bool(n_more)
        + f"\n{scatter.points.height:,} points, one a query and pair: correlation {correlation}, "
        f"real − predicted {difference_text}{interval_text}; --json and --format csv have the "
        f"points{_list_length_text(ceiling, scatter)}"
    )
    columns = ["training", "testing", "queries", "documents", "real", "predicted", "real − predicted"]
    return Grid(columns=columns, rows=rows, caption=caption, left=2)


def _list_length_text(ceiling: Ceiling, scatter: CeilingScatter) -> str:
    """What lists the scatter is a check of."""
    if scatter.documents is None:
        return ""
    documents_per_query = ceiling.documents / max(ceiling.per_query.height, 1)
    longer_text = (
        f", and the judgments have {documents_per_query:,.3g} a query"
        if documents_per_query > 2 * scatter.documents
        else ""
    )
    return f"\nthis checks lists of about {scatter.documents:,.3g} documents{longer_text}"


def _standing_grid(ceiling: Ceiling) -> Grid:
    runs = dict(sorted(ceiling.runs.items(), key=lambda name_and_run: -(name_and_run[1].ndcg.value or 0)))
    ndcg_cells = format_estimates([ceiling.estimate, *(run.ndcg for run in runs.values())])
    rows = [[CEILING_ROW, ndcg_cells[0], "", ""]]
    room_cells = format_estimates([run.room for run in runs.values()])
    for (name, run), ndcg_cell, room_cell in zip(runs.items(), ndcg_cells[1:], room_cells, strict=True):
        rows.append([name, ndcg_cell, "–" if run.share is None else f"{run.share:.1%}", room_cell])
    columns = ["", ceiling.measure, "share", "ceiling − run"]
    n_columns = 4 if runs else 2
    basis = f"mean over {ceiling.queries:,} quer{'y' if ceiling.queries == 1 else 'ies'}"
    if ceiling.skipped:
        basis += f", {ceiling.skipped:,} without any gain left out"
    if ceiling.estimate.low is not None:
        basis += f"; ± half of the {ceiling.estimate.level * 100:g}% interval"
    caption = [f"{basis}; {_method_text(ceiling)}"]
    if ceiling.pooled and ceiling.queries:
        caption.append("one confusion matrix for all queries: no upper bound, runs can exceed it")
    if EXPONENTIAL_GAIN in ceiling.measure:
        caption.append(
            f"gains are 2^label − 1; --gain linear is {ceiling.measure.replace(EXPONENTIAL_GAIN, '')} of evaluate"
        )
    caption += ["", *_meaning_lines(ceiling, runs)]
    return Grid(columns=columns[:n_columns], rows=[row[:n_columns] for row in rows], caption="\n".join(caption))


def _method_text(ceiling: Ceiling) -> str:
    if ceiling.method == "exact":
        return "exact expectation"
    if ceiling.method == "closed-form":
        return "closed form, ranks taken for normal"
    return f"simulated, which leaves ±{2 * (ceiling.simulated_se or 0):.1g} open"


def _meaning_lines(ceiling: Ceiling, runs: dict[str, RunCeiling]) -> list[str]:
    """What the numbers say, and what to do next."""
    if ceiling.estimate.value is None:
        return ["No query has a document that is worth anything: there is no ceiling to speak of."]
    ceiling_value = ceiling.estimate.value
    pooled_caveat = " by this one matrix, and runs can exceed that" if ceiling.pooled else ""
    caveat = ", if the matrix holds for all judged documents: see the note" if ceiling.is_stretched else ""
    lines = [
        (
            f"A ranker that has learned the training judge perfectly reaches {ceiling_value:.3f} by the testing "
            f"judge{caveat}."
        )
    ]
    scored_runs = {name: run for name, run in runs.items() if run.share is not None}
    above = [name for name, run in scored_runs.items() if run.above]
    if scored_runs:
        name, run = next(iter(scored_runs.items()))
        lines.append(_best_run_sentence(name, run))
        if len(above) > 1:
            lines.append(f"Above the ceiling are {', '.join(above)}.")
    if above:
        note_reference = " (see the note)" if ceiling.is_stretched else ""
        matrix = "one matrix for all queries" if ceiling.pooled else "matrix"
        lines.append(
            "A run can be above: it tells documents of one grade apart, or learned from other judges or more than "
            f"labels, or the judges differ less than the {matrix} says{note_reference}."
        )
    elif ceiling.is_stretched:
        open_question = (
            "how much is left for a better ranker"
            if scored_runs
            else f"how much of the other {1 - ceiling_value:.3f} they cost"
        )
        next_step = "" if scored_runs else ". Next: --run RUN says where a run stands"
        lines.append(f"The judges may differ less than the matrix says: {open_question} is open{next_step}")
    elif scored_runs and max(run.share or 0 for run in scored_runs.values()) >= NEAR_CEILING:
        lines.append(
            f"Little is left for a better ranker{pooled_caveat}; clearer guidelines or more judges raise the ceiling. "
            "Next: ringtrue agree LABELS"
        )
    elif scored_runs and next(iter(scored_runs.values())).is_thinly_judged:
        share = next(iter(scored_runs.values())).judged
        lines.append(f"Only {share:.0%} of what it found was judged: how much is left for a better ranker is open.")
    elif scored_runs:
        lines.append(f"That much is left for a better ranker, before the judges' disagreement stops it{pooled_caveat}.")
    else:
        lines.append(
            f"The other {1 - ceiling_value:.3f} is what their disagreement costs{pooled_caveat}. Next: --run RUN says "
            "where a run stands"
        )
    return lines


def _best_run_sentence(name: str, run: RunCeiling) -> str:
    ndcg, share, room = run.ndcg.value or 0.0, run.share or 0.0, run.room
    interval_text = "" if room.low is None else f" ({format_interval(room.low, room.high, 3)})"
    if run.above:
        doubt = "" if run.surely_above else ", though not surely"
        lead = format_amount(-(room.value or 0), 3)
        return f"{name} is at {ndcg:.3f}, {share:.0%} of that: above the ceiling by {lead}{doubt}."
    return f"{name} is at {ndcg:.3f}, {share:.0%} of that: {room.value or 0:.3f}{interval_text} below."


def ceiling_csv(ceiling: Ceiling, scatter: CeilingScatter | None, *, per_query: bool) -> Grid:
    """One table with every digit: the points of the scatter, the queries, or the ceiling and the runs."""
    if scatter is not None:
        return exact_grid(scatter.points.columns, scatter.points.iter_rows())
    rows: Iterable[Sequence[object]]
    if per_query:
        rows = (
            [query, *values, *(run.per_query.get(query) for run in ceiling.runs.values())]
            for query, *values in ceiling.per_query.iter_rows()
        )
        return exact_grid(["query", "documents", "ceiling", *ceiling.runs], rows)
    estimates: dict[str, tuple[Estimate, float | None, float | None]] = {
        CEILING_ROW: (ceiling.estimate, ceiling.estimate.value, None)
    }
    estimates |= {name: (run.ndcg, run.ceiling, run.share) for name, run in ceiling.runs.items()}
    rows = (
        [name, ceiling.measure, *exact_estimate(estimate, NUMBER_FIELDS), ceiling_value, share]
        for name, (estimate, ceiling_value, share) in estimates.items()
    )
    return exact_grid(["run", "measure", *NUMBER_FIELDS, "ceiling", "share"], rows)
