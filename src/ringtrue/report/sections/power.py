"""How small a difference could be found? And with how many queries?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import ArrayLike

from ringtrue.errors import InputError
from ringtrue.evaluation.measures import FloatArray
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.gold.correction.whole_queries import TUNED_FROM
from ringtrue.gold.planning.noncentral_t import needed_ratio
from ringtrue.report.inputs import Material
from ringtrue.report.model import Figure, Line, Lines, Point, Section
from ringtrue.report.run_order import SAME, compared, order
from ringtrue.stats.results import Comparison
from ringtrue.stats.student_t import t_quantile

__all__ = ["FIGURES", "NEEDS", "TITLE", "Spread", "detectable", "queries_for", "section", "spread_of"]

TITLE = "How small a difference could be found?"
NEEDS = "two runs or more, and judgments of several queries"
FIGURES = {"power": "How small a difference would so many queries show?"}
POWER = 0.8  # 4 of 5
MANY = 1e9  # degrees of freedom with which Student's t is the normal distribution
MOST = 10_000_000  # queries
STEPS = 40
FEWEST = 5  # queries that are drawn
USUAL = "a usual pair"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far the difference of two runs varies from query to query, and the degrees of freedom of its test.

        df = share · n − lost    of n queries, infinite where the test is `normal`

    `share` is the part of the queries that gold judged, where it judges whole ones: only these are counted.
    """

    sd: float
    share: float = 1.0
    lost: int = 1
    normal: bool = False


def detectable(spread: Spread, queries: ArrayLike, level: float) -> FloatArray:
    """The difference that a test with so many queries finds in 4 of 5 cases.

        D = δ · s/√n,    P(T > t_{(1+level)/2, df}) = 0.8 for T ~ t_df(δ)

    T is Student's noncentral t. Infinite where there are too few queries for a test.

    Examples:
        >>> detectable(Spread(sd=0.2), [20, 80], 0.95).round(4)
        array([0.1321, 0.0634])
    """
    n = np.asarray(queries, dtype=np.float64)
    df = np.full(n.shape, MANY) if spread.normal else spread.share * n - spread.lost
    enough = df >= 1
    t = np.array([t_quantile((1 + level) / 2, one) for one in df[enough]])
    found = np.full(n.shape, np.inf)
    found[enough] = needed_ratio(POWER, df[enough], t) * spread.sd / np.sqrt(n[enough])
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
        why = "; ".join(one.notes) if one.difference.value is None else "no two runs differ on several queries"
        raise InputError(f"{why}: there is no telling what other queries would show")
    name, sought = next(iter(spreads.items()))
    now = float(detectable(sought, [queries], material.level)[0])
    seen = round(abs(one.difference.value or 0.0), SAME) if name != USUAL else None
    needed = None if not seen else queries_for(seen, sought, material.level)
    most = min(max(4 * queries, needed or 0), 16 * queries)
    x = np.unique(np.rint(np.geomspace(max(FEWEST, queries // 4), most, STEPS)))
    chart = Lines(
        lines=tuple(_line(name, spread, x, material.level) for name, spread in spreads.items()),
        across="queries", up=f"difference in {material.measure}", logarithmic=True,
        mark=Point(name=f"now: {counted(queries, 'query')}", x=float(queries), y=now),
    )  # fmt: skip
    told = _told(names[0], names[1], queries, now, seen, needed)
    figure = Figure(
        name="power", title=FIGURES["power"], sentence=_sentence(spreads, one, queries, material), charts=(chart,),
        table=_table(spreads, queries, needed, material), notes=_notes(material, one, sought, queries),
    )  # fmt: skip
    return Section(name="power", title=TITLE, answer=told, figures=(figure,))


def _spreads(material: Material, one: Comparison, queries: int) -> dict[str, Spread]:
    """Of the first two runs, of a usual pair, and of the first two by the labels as they are; those that are known."""
    normal = material.gold is not None and material.correcting.get("population") == "these"
    known = [spread for other in material.comparisons or () if (spread := spread_of(other, queries, these=normal))]
    found = {f"{one.a} − {one.b}": spread_of(one, queries, these=normal)}
    if len(known) > 2:
        found[USUAL] = replace(known[0], sd=median(spread.sd for spread in known))
    spreads = {name: spread for name, spread in found.items() if spread is not None}
    if spreads and one.naive is not None and one.naive.difference.se:
        spreads[f"{one.a} − {one.b}, were the labels right"] = Spread(sd=one.naive.difference.se * queries**0.5)
    return spreads


def spread_of(one: Comparison, queries: int, *, these: bool = False) -> Spread | None:
    """The spread behind a comparison, and the test's degrees of freedom by how it was made; None where unknown.

    By the judge's rates the test is that of the bronze scores: their spread counts, on the scale of gold.
    """
    value, se = one.difference.value, one.difference.se
    if value is None or not se:
        return None
    if _by_rates(one):
        naive = None if one.naive is None else one.naive.difference
        if naive is not None and naive.value and naive.se:
            se = naive.se * abs(value / naive.value)
        return Spread(sd=se * queries**0.5)
    if one.difference.method.endswith("whole queries"):
        tuned = one.test != "gold only" and one.difference.n >= TUNED_FROM
        return Spread(sd=se * queries**0.5, share=one.difference.n / queries, lost=2 if tuned else 1)
    return Spread(sd=se * queries**0.5, normal=these)


def _by_rates(one: Comparison) -> bool:
    return one.test.endswith("on bronze scores")


def _line(name: str, spread: Spread, x: FloatArray, level: float) -> Line:
    """Where there are queries enough for a test."""
    y = detectable(spread, x, level)
    known = np.isfinite(y)
    return Line(name=name, x=tuple(x[known].tolist()), y=tuple(y[known].tolist()))


def _told(a: str, b: str, queries: int, now: float, seen: float | None, needed: int | None) -> str:
    what = f"With {counted(queries, 'query')}, a difference of {_short(now)}"
    if seen is None:
        return f"{what} is found in 4 of 5 tests of a usual pair; what {a} and {b} would take cannot be told."
    found = f"{what} between {a} and {b} is found in 4 of 5 tests"
    if not seen:
        return f"{found}; none was seen."
    if needed is None:
        return f"{found}; {_short(seen)} was seen, and no number of queries would be enough to find that."
    if needed <= queries:
        return f"{found}; {_short(seen)} was seen, for which about {counted(needed, 'query')} would have been enough."
    return f"{found}; {_short(seen)} was seen, and to find that takes about {_round(needed):,} queries."


def _of_gold(one: Comparison, queries: int) -> str:
    """What is taken for granted about gold labels for further queries."""
    if _by_rates(one):
        return "Further queries need no further gold labels here: the judge is taken to err as often on them."
    if one.difference.method.endswith("whole queries"):
        return (
            f"Of further queries gold is taken to judge as large a part as of these ({one.difference.n} of {queries})."
        )
    return "Each further query is taken to get as many gold labels as these had."


def _sentence(spreads: dict[str, Spread], one: Comparison, queries: int, material: Material) -> str:
    found = {name: _short(float(detectable(spread, [queries], material.level)[0])) for name, spread in spreads.items()}
    told = " and ".join(f"{value} for {name}" for name, value in list(found.items())[:2])
    now = f"with {counted(queries, 'query')} {told}"
    parts = [
        f"A line is the difference in {material.measure} that is found in 4 of 5 tests: {now}.",
        "Four times as many queries make it about half as large.",
    ]
    if USUAL in spreads:
        parts.append(f"A usual pair is the median of {counted(len(material.comparisons or ()), 'pair')}.")
    if material.gold is not None:
        parts.append(_of_gold(one, queries))
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
    """Two digits that count; a dash where there is no end."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.{max(2, 1 - int(np.floor(np.log10(abs(value)))))}f}".replace("-", "−") if value else "0"


def _round(number: int) -> int:
    """Two digits that count, rounded up: more would be a promise."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // unit) * unit
