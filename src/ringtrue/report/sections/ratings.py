"""Which documents are preferred? Ratings from votes between two, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.preference import rate
from ringtrue.preference.rate import drop_traps, trap_notes
from ringtrue.report.inputs import ReportInputs, votes_without_traps
from ringtrue.report.model import Forest, Section, SectionOutline, Series
from ringtrue.report.sections.number_phrases import capitalize_first, format_number, format_percent
from ringtrue.stats.results import Estimate
from ringtrue.tables.judgments import NO_QUERY

if TYPE_CHECKING:
    from ringtrue.preference import Ratings

OUTLINE = SectionOutline(
    name="ratings",
    title="Preferences",
    needs="preferences between two documents",
    figures={"ratings": "Which documents are preferred?"},
)
MAX_QUERIES_SHOWN = 4  # charts side by side
MAX_DOCS, MAX_DOCS_SINGLE_QUERY = 10, 25  # in each of them, and where there is one alone
READING = Note(
    "rating-scale",
    "ratings are in log odds around 0: a difference of 1.1 is a 75% chance that a vote prefers the higher one; "
    "intervals are of a rating less the mean of its query",
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
        again = f"{format_count(repeated, 'vote')} of a judge on the same pair again"
        notes = (*notes, Note("repeated-votes", f"{again}: the {inputs.repeats} one counts"))
    tables = [rows for _, rows in ratings.frame.group_by("query", maintain_order=True)]
    shown_tables = sorted(tables, key=lambda rows: -int(rows["votes"].sum()))[:MAX_QUERIES_SHOWN]
    named, limit = (False, MAX_DOCS_SINGLE_QUERY) if len(tables) == 1 else (True, MAX_DOCS)
    figure = OUTLINE.figure(
        "ratings",
        _describe_ratings(ratings, tables, shown_tables[0]),
        _rating_table(ratings.frame),
        *(_rating_forest(rows, ratings.level, limit, named=named) for rows in shown_tables),
        notes=(READING, *_limit_notes(tables, shown_tables, limit)),
    )
    return OUTLINE.section(
        _summarise_ratings(ratings, tables, shown_tables[0]),
        figure,
        notes=(*notes, *trap_notes(trap_votes), *ratings.notes),
    )


def _rating_forest(rows: pl.DataFrame, level: float, limit: int, *, named: bool) -> Forest:
    """The best documents of a query; of several groups that no chain of votes joins, the largest."""
    shown = _first_group(rows).head(limit)
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


def _first_group(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("group") == rows["group"][0])


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
    opening = _describe_first_two(ratings, first)
    if (query := first["query"][0]) != NO_QUERY:
        votes = format_count(int(first["votes"].sum()) // 2, "vote")
        most = f"which has the most votes ({votes}), " if len(tables) > 1 else ""
        opening = f"In query {query}, {most}{opening}"
    clearly_below = _count_clearly_below(first)
    subject = f"The interval of {format_count(clearly_below, 'other document')}" if clearly_below else "No interval"
    return f"{capitalize_first(opening)}. {subject} lies wholly below that of the first."


def _count_clearly_below(rows: pl.DataFrame) -> int:
    """How many documents of the first group have an interval that ends below that of the best."""
    group = _first_group(rows)
    return 0 if group["low"][0] is None else int((group["high"] < group["low"][0]).sum())


def _describe_first_two(ratings: Ratings, rows: pl.DataFrame) -> str:
    """The first against the second, as the end of a sentence."""
    group = _first_group(rows)
    restriction = " of those that votes join" if group.height < rows.height else ""
    if group.height == 1:
        return f"{group['doc'][0]} stands alone"
    best, second = group["doc"][0], group["doc"][1]
    if math.isclose(group["rating"][0], group["rating"][1], rel_tol=1e-9, abs_tol=1e-9):
        return f"{best} and {second} are rated the same"
    chance = format_percent(ratings.chance(best, second, query=rows["query"][0]))
    statement = f"{best} comes first{restriction}: a vote prefers it to {second}, the next, with a chance of {chance}"
    if group["ahead"][0] is None:
        return statement
    return f"{statement}, and it is {format_percent(group['ahead'][0])} sure that it is better"


def _limit_notes(tables: Sequence[pl.DataFrame], shown_tables: Sequence[pl.DataFrame], limit: int) -> list[Note]:
    notes = []
    if len(tables) > len(shown_tables):
        shown = f"the {len(shown_tables)} of {len(tables):,} queries with the most votes"
        notes.append(Note("chart-shortened", f"the charts have {shown}; the table has all"))
    if any(rows.height > limit for rows in shown_tables):
        notes.append(Note("chart-shortened", f"the first {limit} documents of a query are shown"))
    if any(rows["group"].n_unique() > 1 for rows in shown_tables):
        text = "where no chain of votes joins all documents, the chart has the largest group that one joins"
        notes.append(Note("largest-group-drawn", text))
    return notes


def _rating_table(frame: pl.DataFrame) -> Grid:
    """A row for each document; its query and its group where there are several."""
    with_queries, groups = bool((frame["query"] != NO_QUERY).any()), frame["group"].n_unique() > 1
    chosen = slice(None if with_queries else 1, None if groups else -1)
    rows = [
        [
            str(query),
            str(doc),
            format_number(rating),
            "–" if low is None else f"{format_number(low)} to {format_number(high)}",
            format_percent(ahead),
            f"{met:,}",
            f"{votes:,}",
            str(group),
        ][chosen]
        for query, doc, rating, low, high, ahead, met, votes, group in frame.select(
            "query", "doc", "rating", "low", "high", "ahead", "matches", "votes", "group"
        ).iter_rows()
    ]
    columns = ["query", "document", "rating", "interval", "better than the next", "met", "votes", "group"]
    caption = "met: how many others it was compared with"
    return Grid(
        columns=columns[chosen],
        rows=rows,
        left=2 if with_queries else 1,
        caption=f"{caption}; documents of different groups cannot be compared" if groups else caption,
    )
