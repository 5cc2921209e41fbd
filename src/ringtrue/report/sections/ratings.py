"""Which documents are preferred? Ratings from votes between two, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.preference import rate
from ringtrue.preference.rate import drop_traps, trap_notes
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.sections.labels_without_traps import votes_without_traps
from ringtrue.report.sections.number_phrases import format_number, format_percent
from ringtrue.stats.results import Estimate
from ringtrue.tables.judgments import NO_QUERY

if TYPE_CHECKING:
    from ringtrue.preference import Ratings

TITLE = "Preferences"
NEEDS = "preferences between two documents"
FIGURES = {"ratings": "Which documents are preferred?"}
MAX_QUERIES_SHOWN = 4  # charts side by side
MAX_DOCS, MAX_DOCS_SINGLE_QUERY = 10, 25  # in each of them, and where there is one alone
READING = (
    "ratings are in log odds around 0: a difference of 1.1 is a 75% chance that a vote prefers the higher one; "
    "intervals are of a rating less the mean of its query"
)


def section(inputs: ReportInputs) -> Section | None:
    """Bradley–Terry ratings of the queries with the most votes."""
    votes, notes = votes_without_traps(inputs)
    if votes is None:
        return None
    regular_votes, trap_votes = drop_traps(votes)
    ratings = rate(regular_votes, repeats=inputs.repeats, level=inputs.level, rng=inputs.rng("ratings"))
    repeated = regular_votes.frame.height - ratings.votes
    if repeated:
        notes = (
            *notes,
            f"{format_count(repeated, 'vote')} of a judge on the same pair again: the {inputs.repeats} one counts",
        )
    tables = [rows for _, rows in ratings.frame.group_by("query", maintain_order=True)]
    shown_tables = sorted(tables, key=lambda rows: -int(rows["votes"].sum()))[:MAX_QUERIES_SHOWN]
    single_query = len(tables) == 1
    figure = Figure(
        name="ratings",
        title=FIGURES["ratings"],
        sentence=_describe_ratings(ratings, tables, shown_tables[0]),
        table=_rating_table(ratings.frame),
        charts=tuple(
            _rating_forest(
                rows, ratings.level, MAX_DOCS_SINGLE_QUERY if single_query else MAX_DOCS, named=not single_query
            )
            for rows in shown_tables
        ),
        notes=(READING, *_limit_notes(tables, shown_tables)),
    )
    return Section(
        name="ratings",
        title=TITLE,
        answer=_summarise_ratings(ratings, tables, shown_tables[0]),
        figures=(figure,),
        notes=(*notes, *trap_notes(trap_votes), *ratings.notes),
    )


def _rating_forest(rows: pl.DataFrame, level: float, limit: int, *, named: bool) -> Forest:
    """The best documents of a query; of several groups that no chain of votes joins, the largest."""
    shown = rows.filter(pl.col("group") == rows["group"][0]).head(limit)
    values = tuple(
        Estimate(value=rating, se=se, low=low, high=high, level=level, n=votes, method="bradley-terry")
        for rating, se, low, high, votes in shown.select("rating", "se", "low", "high", "votes").iter_rows()
    )
    return Forest(
        names=tuple(shown["doc"]),
        series=(Series(name="rating", values=values),),
        across="rating (log odds)",
        at=0.0,
        marks=tuple(f"{votes:,}" for votes in shown["votes"]),
        marks_title="votes",
        title=f"query {rows['query'][0]}" if named else "",
    )


def _summarise_ratings(ratings: Ratings, tables: Sequence[pl.DataFrame], first: pl.DataFrame) -> str:
    docs = format_count(ratings.frame.height, "document")
    if len(tables) == 1:
        return f"Of {docs} rated by {format_count(ratings.votes, 'vote')}, {_describe_first_two(ratings, first)}."
    several = [rows for rows in tables if rows.height > 1]
    decided = sum(rows["group"].n_unique() == 1 and (rows["ahead"][0] or 0) > ratings.level for rows in several)
    return (
        f"{format_count(ratings.votes, 'vote')} rate {docs} of {format_count(len(tables), 'query')}; in {decided:,} of "
        f"them it is more than {ratings.level:.0%} sure that the first is better than the second."
    )


def _describe_ratings(ratings: Ratings, tables: Sequence[pl.DataFrame], first: pl.DataFrame) -> str:
    where = "" if first["query"][0] == NO_QUERY else f"In query {first['query'][0]}, "
    most = (
        f"which has the most votes ({format_count(int(first['votes'].sum()) // 2, 'vote')}), "
        if len(tables) > 1
        else ""
    )
    opening = f"{where}{most if where else ''}{_describe_first_two(ratings, first)}."
    clearly_below = _count_clearly_below(first)
    more = (
        f" The interval of {format_count(clearly_below, 'other document')} lies wholly below that of the first."
        if clearly_below
        else (" No interval lies wholly below that of the first.")
    )
    return f"{opening[0].upper()}{opening[1:]}{more}"


def _count_clearly_below(rows: pl.DataFrame) -> int:
    """How many documents of the first group have an interval that ends below that of the best."""
    group = rows.filter(pl.col("group") == rows["group"][0])
    if group["low"][0] is None:
        return 0
    return int((group["high"] < group["low"][0]).sum())


def _describe_first_two(ratings: Ratings, rows: pl.DataFrame) -> str:
    """The first against the second, as the end of a sentence."""
    group = rows.filter(pl.col("group") == rows["group"][0])
    restriction = " of those that votes join" if group.height < rows.height else ""
    if group.height == 1:
        return f"{group['doc'][0]} stands alone"
    best, second = group["doc"][0], group["doc"][1]
    if math.isclose(group["rating"][0], group["rating"][1], rel_tol=1e-9, abs_tol=1e-9):
        return f"{best} and {second} are rated the same"
    chance = ratings.chance(best, second, query=rows["query"][0])
    certainty = (
        "" if group["ahead"][0] is None else f", and it is {format_percent(group['ahead'][0])} sure that it is better"
    )
    statement = (
        f"{best} comes first{restriction}: a vote prefers it to {second}, the next, with a chance of "
        f"{format_percent(chance)}"
    )
    return f"{statement}{certainty}"


def _limit_notes(tables: Sequence[pl.DataFrame], shown_tables: Sequence[pl.DataFrame]) -> tuple[str, ...]:
    notes = []
    if len(tables) > len(shown_tables):
        notes.append(
            f"the charts have the {len(shown_tables)} of {len(tables):,} queries with the most votes; the table has all"
        )
    limit = MAX_DOCS_SINGLE_QUERY if len(tables) == 1 else MAX_DOCS
    if any(rows.height > limit for rows in shown_tables):
        notes.append(f"the first {limit} documents of a query are shown")
    if any(rows["group"].n_unique() > 1 for rows in shown_tables):
        notes.append("where no chain of votes joins all documents, the chart has the largest group that one joins")
    return tuple(notes)


def _rating_table(frame: pl.DataFrame) -> Grid:
    with_queries, groups = (frame["query"] != NO_QUERY).any(), frame["group"].n_unique() > 1
    rows = [
        [
            *([str(query)] if with_queries else []),
            str(doc),
            format_number(rating),
            "–" if low is None else f"{format_number(low)} to {format_number(high)}",
            format_percent(ahead),
            f"{met:,}",
            f"{votes:,}",
            *([str(group)] if groups else []),
        ]
        for query, doc, rating, low, high, ahead, met, votes, group in frame.select(
            "query", "doc", "rating", "low", "high", "ahead", "matches", "votes", "group"
        ).iter_rows()
    ]
    columns = [
        *(["query"] if with_queries else []),
        "document",
        "rating",
        "interval",
        "better than the next",
        "met",
        "votes",
        *(["group"] if groups else []),
    ]
    return Grid(
        columns=columns,
        rows=rows,
        left=2 if with_queries else 1,
        caption="met: how many others it was compared with; documents of different groups cannot be compared"
        if groups
        else "met: how many others it was compared with",
    )
