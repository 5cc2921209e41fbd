"""Which documents are preferred? Ratings from votes between two, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.preference import rate
from ringtrue.preference.rate import told_of_traps, without_traps
from ringtrue.report.inputs import Material
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.sections.number_phrases import minus, percent
from ringtrue.report.sections.regular_labels import votes_of_work
from ringtrue.stats.results import Estimate
from ringtrue.tables.judgments import NO_QUERY

if TYPE_CHECKING:
    from ringtrue.preference import Ratings

__all__ = ["FIGURES", "NEEDS", "TITLE", "section"]

TITLE = "Preferences"
NEEDS = "preferences between two documents"
FIGURES = {"ratings": "Which documents are preferred?"}
QUERIES = 4  # charts side by side
DOCS, DOCS_OF_ONE = 10, 25  # in each of them, and where there is one alone
READING = (
    "ratings are in log odds around 0: a difference of 1.1 is a 75% chance that a vote prefers the higher one; "
    "intervals are of a rating less the mean of its query"
)


def section(material: Material) -> Section | None:
    """Bradley–Terry ratings of the queries with the most votes."""
    votes, notes = votes_of_work(material)
    if votes is None:
        return None
    asked, trapped = without_traps(votes)
    found = rate(asked, repeats=material.repeats, level=material.level, rng=material.rng("ratings"))
    again = asked.frame.height - found.votes
    if again:
        notes = (
            *notes,
            f"{counted(again, 'vote')} of a judge on the same pair again: the {material.repeats} one counts",
        )
    every = [rows for _, rows in found.frame.group_by("query", maintain_order=True)]
    most = sorted(every, key=lambda rows: -int(rows["votes"].sum()))[:QUERIES]
    alone = len(every) == 1
    figure = Figure(
        name="ratings", title=FIGURES["ratings"], sentence=_sentence(found, every, most[0]), table=_table(found.frame),
        charts=tuple(_chart(rows, found.level, DOCS_OF_ONE if alone else DOCS, named=not alone) for rows in most),
        notes=(READING, *_left_out(every, most)),
    )  # fmt: skip
    return Section(name="ratings", title=TITLE, answer=_answer(found, every, most[0]), figures=(figure,),
                   notes=(*notes, *told_of_traps(trapped), *found.notes))  # fmt: skip


def _chart(rows: pl.DataFrame, level: float, most: int, *, named: bool) -> Forest:
    """The best documents of a query; of several groups that no chain of votes joins, the largest."""
    shown = rows.filter(pl.col("group") == rows["group"][0]).head(most)
    values = tuple(
        Estimate(value=rating, se=se, low=low, high=high, level=level, n=votes, method="bradley-terry")
        for rating, se, low, high, votes in shown.select("rating", "se", "low", "high", "votes").iter_rows()
    )
    return Forest(
        names=tuple(shown["doc"]), series=(Series(name="rating", values=values),), across="rating (log odds)", at=0.0,
        marks=tuple(f"{votes:,}" for votes in shown["votes"]), marks_title="votes",
        title=f"query {rows['query'][0]}" if named else "",
    )  # fmt: skip


def _answer(found: Ratings, every: Sequence[pl.DataFrame], first: pl.DataFrame) -> str:
    docs = counted(found.frame.height, "document")
    if len(every) == 1:
        return f"Of {docs} rated by {counted(found.votes, 'vote')}, {_of_one(found, first)}."
    several = [rows for rows in every if rows.height > 1]
    sure = sum(rows["group"].n_unique() == 1 and (rows["ahead"][0] or 0) > found.level for rows in several)
    return (
        f"{counted(found.votes, 'vote')} rate {docs} of {counted(len(every), 'query')}; in {sure:,} of them it is more "
        f"than {found.level:.0%} sure that the first is better than the second."
    )


def _sentence(found: Ratings, every: Sequence[pl.DataFrame], first: pl.DataFrame) -> str:
    where = "" if first["query"][0] == NO_QUERY else f"In query {first['query'][0]}, "
    most = f"which has the most votes ({counted(int(first['votes'].sum()) // 2, 'vote')}), " if len(every) > 1 else ""
    told = f"{where}{most if where else ''}{_of_one(found, first)}."
    surely = _surely_above(first)
    more = f" The interval of {counted(surely, 'other document')} lies wholly below that of the first." if surely else (
        " No interval lies wholly below that of the first."
    )  # fmt: skip
    return f"{told[0].upper()}{told[1:]}{more}"


def _surely_above(rows: pl.DataFrame) -> int:
    """How many documents of the first group have an interval that ends below that of the best."""
    group = rows.filter(pl.col("group") == rows["group"][0])
    if group["low"][0] is None:
        return 0
    return int((group["high"] < group["low"][0]).sum())


def _of_one(found: Ratings, rows: pl.DataFrame) -> str:
    """The first against the second, as the end of a sentence."""
    group = rows.filter(pl.col("group") == rows["group"][0])
    apart = " of those that votes join" if group.height < rows.height else ""
    if group.height == 1:
        return f"{group['doc'][0]} stands alone"
    best, second = group["doc"][0], group["doc"][1]
    if math.isclose(group["rating"][0], group["rating"][1], rel_tol=1e-9, abs_tol=1e-9):
        return f"{best} and {second} are rated the same"
    chance = found.chance(best, second, query=rows["query"][0])
    sure = "" if group["ahead"][0] is None else f", and it is {percent(group['ahead'][0])} sure that it is better"
    first = f"{best} comes first{apart}: a vote prefers it to {second}, the next, with a chance of {percent(chance)}"
    return f"{first}{sure}"


def _left_out(every: Sequence[pl.DataFrame], most: Sequence[pl.DataFrame]) -> tuple[str, ...]:
    notes = []
    if len(every) > len(most):
        notes.append(
            f"the charts have the {len(most)} of {len(every):,} queries with the most votes; the table has all"
        )
    limit = DOCS_OF_ONE if len(every) == 1 else DOCS
    if any(rows.height > limit for rows in most):
        notes.append(f"the first {limit} documents of a query are shown")
    if any(rows["group"].n_unique() > 1 for rows in most):
        notes.append("where no chain of votes joins all documents, the chart has the largest group that one joins")
    return tuple(notes)


def _table(frame: pl.DataFrame) -> Grid:
    with_queries, groups = (frame["query"] != NO_QUERY).any(), frame["group"].n_unique() > 1
    rows = [
        [
            *([str(query)] if with_queries else []), str(doc), minus(rating),
            "–" if low is None else f"{minus(low)} to {minus(high)}", percent(ahead), f"{met:,}", f"{votes:,}",
            *([str(group)] if groups else []),
        ]
        for query, doc, rating, low, high, ahead, met, votes, group in frame.select(
            "query", "doc", "rating", "low", "high", "ahead", "matches", "votes", "group"
        ).iter_rows()
    ]  # fmt: skip
    columns = [*(["query"] if with_queries else []), "document", "rating", "interval", "better than the next", "met",
               "votes", *(["group"] if groups else [])]  # fmt: skip
    return Grid(columns=columns, rows=rows, left=2 if with_queries else 1,
                caption="met: how many others it was compared with; documents of different groups cannot be compared"
                if groups else "met: how many others it was compared with")  # fmt: skip
