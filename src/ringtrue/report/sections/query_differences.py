"""Where does a difference come from? The first run against the second, query by query."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from ringtrue.evaluation.significance import differences, moved_most
from ringtrue.formatting.grid import Grid, signed
from ringtrue.formatting.phrases import counted
from ringtrue.report.inputs import Material
from ringtrue.report.model import Bars, Figure, Section
from ringtrue.report.run_order import as_labelled, compared, leaders, order
from ringtrue.report.sections.number_phrases import listed
from ringtrue.stats.results import Comparison
from ringtrue.tables import Scores

__all__ = ["FIGURES", "NEEDS", "TITLE", "decisive", "section"]

TITLE = "Query by query"
NEEDS = "two runs or more, and judgments"
FIGURES = {"differences": "Which queries make the difference?"}
NAMED = 60  # bars with a name; of more, the outermost on either side
DRAWN = 400  # bars at all
LEVEL = 5  # queries without a difference that are drawn
TOLD = 3


def section(material: Material) -> Section | None:
    """The best run against the second, and against the one that the labels as they are call best."""
    if material.scores is None or len(material.runs) < 2:
        return None
    scores, measure = as_labelled(material)
    names = order(material)
    by_labels = leaders({run: row[measure].value for run, row in scores.means().items()})
    rivals = list(dict.fromkeys([names[1], *(by_labels[:1] if names[0] not in by_labels else [])]))
    pairs = compared(material)
    tables = {rival: differences(scores, names[0], rival, measure) for rival in rivals}
    first = tables[rivals[0]]
    sentences = [
        _sentence(table, names[0], rival, pairs.get((names[0], rival)), briefly=rival != rivals[0])
        for rival, table in tables.items()
    ]
    figure = Figure(
        name="differences", title=FIGURES["differences"], sentence=" ".join([*_heading(material), *sentences]),
        charts=tuple(_bars(table, names[0], rival, measure) for rival, table in tables.items()),
        table=_table(tables, names[0], measure), notes=_notes(tables.values(), scores),
    )  # fmt: skip
    answer = _answer(first, names[0], rivals[0], material)
    return Section(name="differences", title=TITLE, answer=answer, figures=(figure,))


def decisive(values: list[float]) -> int | None:
    """How many of the differences, the largest first, have to be left out for their sum to be 0 or less.

    None where the sum is not above 0 to begin with.

    Examples:
        >>> decisive([0.5, 0.4, -0.2, -0.3]), decisive([0.1, 0.1]), decisive([-1.0])
        (1, 2, None)
    """
    ordered = np.sort(np.array(values))[::-1]
    left = np.round(ordered.sum() - np.cumsum(ordered), 12)
    return int(np.argmax(left <= 0)) + 1 if round(ordered.sum(), 12) > 0 else None


def _heading(material: Material) -> list[str]:
    told = "A bar is a query: to the right the first run is ahead, to the left the other."
    if material.gold is None:
        return [told]
    return [told, "Query by query only the labels as they are can be shown; what corrects them holds for the mean."]


def _counts(table: pl.DataFrame) -> tuple[int, int, int]:
    gaps = table["difference"]
    return int((gaps > 0).sum()), int((gaps == 0).sum()), int((gaps < 0).sum())


def _answer(table: pl.DataFrame, a: str, b: str, material: Material) -> str:
    wins, ties, losses = _counts(table)
    by = material.measure + (" and the labels as they are" if material.gold is not None else "")
    of = counted(table.height, "query")
    return f"By {by}, {a} is ahead of {b} for {wins} of {of}, behind for {losses}, level for {ties}."


def _sentence(table: pl.DataFrame, a: str, b: str, one: Comparison | None, *, briefly: bool) -> str:
    wins, ties, losses = _counts(table)
    mean = float(table["difference"].to_numpy().mean())
    told = _signed(mean)
    if one is not None and one.naive is not None and one.difference.value is not None:
        told += f", corrected {_signed(one.difference.value)}"
    first = (
        f"{a} is ahead of {b} for {counted(wins, 'query')}, behind for {losses}, level for {ties}; the mean difference "
        f"is {told}."
    )
    if briefly:
        return first
    moved = zip(("ahead", "behind"), moved_most(table, TOLD), strict=True)
    sides = [f"furthest {where} for {_named(part)}" for where, part in moved if part.height]
    furthest = [f"It is {' and '.join(sides)}."] if sides else []
    return " ".join([first, *furthest, *_robust(table, a, b, mean)])


def _robust(table: pl.DataFrame, a: str, b: str, mean: float) -> list[str]:
    """On how few queries the order of the two rests."""
    sign = 1 if mean > 0 else -1
    few = decisive((sign * table["difference"]).to_list())
    if few is None or few == table.height:
        return []
    which = table["query"].head(few) if sign > 0 else table["query"].reverse().head(few)
    who = "it" if sign > 0 else b
    without = listed(which.to_list()) if few <= TOLD else f"the {few} queries where {who} is furthest ahead"
    return [f"Without {without}, {f'{a} would no longer be ahead' if sign > 0 else f'{b} would not be ahead of it'}."]


def _named(part: pl.DataFrame) -> str:
    return listed([f"{query} ({_signed(value)})" for query, value in part.select("query", "difference").rows()])


def _signed(value: float) -> str:
    return signed(round(value, 4) + 0.0, 3 if abs(value) >= 0.0095 else 4)


def _bars(table: pl.DataFrame, a: str, b: str, measure: str) -> Bars:
    """A bar for each query, the largest difference first; where there are many, only the outermost have names."""
    table = _worth_drawing(table)
    kept = table if table.height <= DRAWN else pl.concat([table.head(DRAWN // 2), table.tail(DRAWN // 2)])
    queries = kept["query"].to_list()
    side = NAMED // 2
    names = queries if len(queries) <= NAMED else [
        query if place < side or place >= len(queries) - side else "" for place, query in enumerate(queries)
    ]  # fmt: skip
    return Bars(
        names=tuple(names), values=tuple(kept["difference"].to_list()), across=f"{measure}: {a} − {b}",
        title=f"{a} against {b}",
    )  # fmt: skip


def _worth_drawing(table: pl.DataFrame) -> pl.DataFrame:
    """Without the queries where the two are level, if these are many and there are others."""
    apart = table.filter(pl.col("difference") != 0)
    return apart if apart.height and table.height - apart.height > LEVEL else table


def _notes(tables: Iterable[pl.DataFrame], scores: Scores) -> tuple[str, ...]:
    notes = list(scores.notes)
    drawn = [(table.height, _worth_drawing(table).height) for table in tables]
    if any(some < every for every, some in drawn):
        notes.append("queries where the two are level are not drawn; the table has them")
    queries = max(some for _, some in drawn)
    if queries > DRAWN:
        notes.append(f"of {queries:,} queries the {DRAWN} outermost are drawn; the table has all")
    elif queries > NAMED:
        notes.append(f"of {queries:,} queries the {NAMED} outermost are named; the table has all")
    return tuple(notes)


def _table(tables: dict[str, pl.DataFrame], a: str, measure: str) -> Grid:
    """Every query: the values of the runs, and how far the first is ahead of each other."""
    first = next(iter(tables.values()))
    found = {rival: {query: rest for query, *rest in table.rows()} for rival, table in tables.items()}
    rows = [
        [query, _number(value), *(cell for known in found.values() for cell in _beside(known.get(query)))]
        for query, value in first.select("query", "a").rows()
    ]
    columns = ["query", a, *(name for rival in tables for name in (rival, f"{a} − {rival}"))]
    return Grid(columns=columns, rows=rows, caption=f"{measure} of each query, by the labels as they are")


def _beside(found: list[float] | None) -> list[str]:
    """The other run's value for a query, and the difference; the three numbers of `differences` are a, b and a − b."""
    return ["–", "–"] if found is None else [_number(found[1]), signed(found[2], 4)]


def _number(value: float) -> str:
    return f"{value:.4f}"
