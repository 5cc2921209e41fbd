"""How small a difference could be found? And with how many queries?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import ArrayLike

from ringtrue.errors import InputError
from ringtrue.grids import Grid
from ringtrue.measures import FloatArray
from ringtrue.planning.noncentral import needed_ratio
from ringtrue.reporting.content import Figure, Line, Lines, Point, Section
from ringtrue.reporting.material import Material
from ringtrue.reporting.standing import compared, order
from ringtrue.results import Comparison
from ringtrue.student import t_quantile
from ringtrue.wording import counted

__all__ = ["FIGURES", "NEEDS", "TITLE", "Spread", "detectable", "queries_for", "section"]

TITLE = "How small a difference could be found?"
NEEDS = "two runs or more, and judgments of several queries"
FIGURES = {"power": "How small a difference would so many queries show?"}
POWER = 0.8  # 4 of 5
MANY = 1e9  # degrees of freedom with which Student's t is the normal distribution
MOST = 10_000_000  # queries
STEPS = 40
FEWEST = 5  # queries that are drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far the difference of two runs varies from query to query; `normal` where it was corrected by gold."""

    sd: float
    normal: bool = False


def detectable(spread: Spread, queries: ArrayLike, level: float) -> FloatArray:
    """The difference that a test with so many queries finds in 4 of 5 cases.

        D = δ · s/√n,    P(T > t_{(1+level)/2, n−1}) = 0.8 for T ~ t_{n−1}(δ)

    T is Student's noncentral t; a corrected difference has the normal quantiles instead.

    Examples:
        >>> detectable(Spread(sd=0.2), [20, 80], 0.95).round(4)
        array([0.1321, 0.0634])
    """
    n = np.asarray(queries, dtype=np.float64)
    df = np.full(n.shape, MANY) if spread.normal else n - 1
    t = np.array([t_quantile((1 + level) / 2, one) for one in df.ravel()]).reshape(df.shape)
    found: FloatArray = needed_ratio(POWER, df, t) * spread.sd / np.sqrt(n)
    return found


def queries_for(difference: float, spread: Spread, level: float) -> int | None:
    """The fewest queries with which such a difference is found in 4 of 5 tests; None where ten million are too few.

    Examples:
        >>> queries_for(0.0635, Spread(sd=0.2), 0.95)
        80
    """
    low, high = 1, 2  # so many are too few, so many may be enough
    while detectable(spread, [high], level)[0] > difference:
        low, high = high, high * 2
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if detectable(spread, [middle], level)[0] > difference else (low, middle)
    return high


def section(material: Material) -> Section | None:
    """The smallest difference that is found, by the number of queries: for the first two runs and for a usual pair."""
    found = material.comparisons
    if found is None or material.scores is None:
        return None
    queries = material.scores.frame["query"].n_unique()
    names = order(material)
    one = compared(material)[names[0], names[1]]
    spreads = _spreads(material, one, queries)
    if not spreads:
        raise InputError("no two runs differ on several queries: there is no telling what other queries would show")
    sought = next(iter(spreads.values()))
    now = float(detectable(sought, [queries], material.level)[0])
    seen = None if one.difference.value is None or not one.difference.se else abs(one.difference.value)
    needed = None if not seen else queries_for(seen, sought, material.level)
    most = min(max(4 * queries, needed or 0), 16 * queries)
    x = np.unique(np.rint(np.geomspace(max(FEWEST, queries // 4), most, STEPS)))
    lines = tuple(Line(name=name, x=tuple(x.tolist()), y=tuple(detectable(spread, x, material.level).tolist()))
                  for name, spread in spreads.items())  # fmt: skip
    chart = Lines(
        lines=lines, across="queries", up=f"difference in {material.measure}", logarithmic=True,
        mark=Point(name=f"now: {counted(queries, 'query')}", x=float(queries), y=now),
    )  # fmt: skip
    told = _told(names[0], names[1], queries, now, seen, needed)
    figure = Figure(
        name="power", title=FIGURES["power"], sentence=_sentence(spreads, queries, material), charts=(chart,),
        table=_table(spreads, queries, needed, material), notes=_notes(material, one, sought, queries),
    )  # fmt: skip
    return Section(name="power", title=TITLE, answer=told, figures=(figure,))


def _spreads(material: Material, one: Comparison, queries: int) -> dict[str, Spread]:
    """Of the first two runs, of a usual pair, and of the first two by the labels as they are; those that are known."""
    normal = material.gold is not None
    errors = [other.difference.se for other in material.comparisons or () if other.difference.se]
    found = {f"{one.a} − {one.b}": one.difference.se, "a usual pair": median(errors) if len(errors) > 2 else None}
    spreads = {name: Spread(sd=se * queries**0.5, normal=normal) for name, se in found.items() if se}
    if one.naive is not None and one.naive.difference.se:
        spreads[f"{one.a} − {one.b}, were the labels right"] = Spread(sd=one.naive.difference.se * queries**0.5)
    return spreads


def _told(a: str, b: str, queries: int, now: float, seen: float | None, needed: int | None) -> str:
    found = (
        f"With {counted(queries, 'query')}, a difference of {_short(now)} between {a} and {b} is found in 4 of 5 tests"
    )
    if not seen:
        return f"{found}; none was seen."
    if needed is None:
        return f"{found}; {_short(seen)} was seen, and no number of queries would be enough to find that."
    if needed <= queries:
        return f"{found}; {_short(seen)} was seen, for which {counted(needed, 'query')} would have been enough."
    return f"{found}; {_short(seen)} was seen, and to find that takes about {_round(needed):,} queries."


def _sentence(spreads: dict[str, Spread], queries: int, material: Material) -> str:
    found = {name: _short(float(detectable(spread, [queries], material.level)[0])) for name, spread in spreads.items()}
    told = " and ".join(f"{value} for {name}" for name, value in list(found.items())[:2])
    now = f"with {counted(queries, 'query')} {told}"
    parts = [
        f"A line is the difference in {material.measure} that is found in 4 of 5 tests: {now}.",
        "Four times as many queries make it half as large.",
    ]
    if "a usual pair" in spreads:
        parts.append(f"A usual pair is the median of {counted(len(material.comparisons or ()), 'pair')}.")
    if material.gold is not None:
        parts.append("Each further query is taken to get as many gold labels as these had.")
    return " ".join(parts)


def _notes(material: Material, one: Comparison, sought: Spread, queries: int) -> tuple[str, ...]:
    notes = []
    found = material.comparisons
    if found is not None and len(found) > 1:
        family = float(detectable(sought, [queries], 1 - (1 - found.level) / len(found))[0])
        notes.append(
            f"this is for one pair that was chosen beforehand; as one of {len(found):,} pairs that are all looked at, "
            f"it takes up to {_short(family)}"
        )
    low, high = one.difference.low, one.difference.high
    if low is not None and high is not None and one.difference.se:
        notes.append(
            f"the difference that was seen is itself uncertain ({_short(low)} to {_short(high)}): plan for the "
            f"smallest one that would matter to you (`ringtrue plan --difference`)"
        )
    return tuple(notes)


def _table(spreads: dict[str, Spread], queries: int, needed: int | None, material: Material) -> Grid:
    counts = {max(queries * share // 4, 2) for share in (1, 2, 4, 8, 16)} | {queries}
    if needed is not None and needed > queries:
        counts.add(needed)
    rows = [
        [f"{n:,}", *(_short(float(detectable(spread, [n], material.level)[0])) for spread in spreads.values())]
        for n in sorted(counts)
    ]
    return Grid(
        columns=["queries", *spreads], rows=rows,
        caption=f"difference in {material.measure} that is found in 4 of 5 tests at level {material.level:g}",
    )  # fmt: skip


def _short(value: float) -> str:
    """Two digits that count."""
    return f"{value:.{max(2, 1 - int(np.floor(np.log10(abs(value)))))}f}".replace("-", "−") if value else "0"


def _round(number: int) -> int:
    """Two digits that count, rounded up: more would be a promise."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // unit) * unit
