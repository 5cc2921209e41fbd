"""A report that has every kind of chart, with data that are usual and data that are odd."""

from __future__ import annotations

import math

import numpy as np

from ringtrue.formatting.grid import Grid
from ringtrue.messages import Note
from ringtrue.report.model import (
    Bars,
    Chart,
    Figure,
    Forest,
    Heatmap,
    Line,
    Lines,
    Point,
    Points,
    Report,
    Section,
    Series,
)  # fmt: skip
from ringtrue.stats.results import Estimate

NOT_KNOWN = Note("not-known", "not known")
ONE_JUDGE = Note("one-judge", "the labels are of one judge")
NEEDS_VOTES = Note("not-given", "needs preferences: votes between two documents")
ODD_NAMES = (
    "<script>alert('x')</script>", '"quoted" & <b>bold</b>', "a-run-with-a-very-long-name-that-goes-on-" * 4 + "v2",
    "תוצאות חיפוש", "検索エンジン", "🔍 search 🚀", "_hidden", "$x_1$ {{ 7 * 7 }}", "two\nlines\x00", "",
)  # fmt: skip


def estimate(value: float | None, half: float | None = None) -> Estimate:
    """An estimate with an interval of this half width."""
    if value is None or half is None:
        return Estimate(value=value, n=10, method="made", notes=() if value is not None else (NOT_KNOWN,))
    return Estimate(value=value, se=half / 2, low=value - half, high=value + half, n=10, method="made")


def figure(name: str, *charts: Chart, title: str = "What does it show?", table: Grid | None = None) -> Figure:
    """A figure of these charts."""
    return Figure(
        name=name, title=title, charts=charts, table=table or numbers_of(charts),
        sentence="A dot is a value; the line is its 95% interval. 3 of 37 lie outside of it.",
    )  # fmt: skip


def numbers_of(charts: tuple[Chart, ...]) -> Grid:
    """Some rows of numbers."""
    names = [name for chart in charts for name in getattr(chart, "names", ())] or ["one", "two", "three"]
    rows = [[name, f"{number / 7:.4f} ±0.0312", f"{number * 1371:,}"] for number, name in enumerate(names)]
    return Grid(columns=["name", "value", "labels"], rows=rows, caption="mean over queries; ± half of the interval")


def _forests(rng: np.random.Generator) -> tuple[Figure, ...]:
    kinds = ("p1", "p2-f", "run3", "ps_full", "bm25-base_prf_pass", "x", "r1", "r2", "r3")
    names = tuple(f"{group}-{kind}" for group in ("idst_bert", "TUW19", "ICT-CKNRM", "srchvrs") for kind in kinds)
    names = (*names, "p_exp_rm3_bert_a_long_name_that_nobody_can_read_at_once.v2")
    raw = np.sort(rng.beta(8, 6, len(names)))[::-1]
    right = raw - rng.normal(0.06, 0.02, len(names))
    raw_series = Series(name="raw", values=tuple(estimate(value, 0.04) for value in raw))
    corrected = Series(name="corrected", values=tuple(estimate(value, 0.07) for value in right))
    marks = tuple("abcdefghij"[number // 5 : number // 5 + 3] for number in range(len(names)))
    many = Forest(names=names, series=(raw_series, corrected), across="nDCG@10")
    three = tuple(
        Forest(
            names=("hybrid", "neural", "keyword"), across=measure,
            series=(Series(name="raw", values=tuple(estimate(one, 0.03) for one in (0.61, 0.63, 0.48))),
                    Series(name="corrected", values=tuple(estimate(one, 0.06) for one in (0.55, 0.50, 0.45)))),
        )
        for measure in ("nDCG@10", "P@10")
    )  # fmt: skip
    ranked = Forest(names=names[:20], series=(corrected_of(corrected, 20),), across="nDCG@10, corrected",
                    marks=marks[:20], marks_title="groups", at=0.5)  # fmt: skip
    odd = Forest(
        names=ODD_NAMES, across="a measure whose name is far longer than the chart is wide, so that it must be broken",
        series=(Series(name="<raw>", values=(
            estimate(0.0, 0.05), None, estimate(None), estimate(0.5), estimate(0.4, 0.0),
            *(estimate(0.1 * number, 0.05) for number in range(5, len(ODD_NAMES))))),),
    )  # fmt: skip
    alone = Forest(names=("only one",), across="AP", series=(Series(name="raw", values=(estimate(0.4, 0.0),)),))
    return (
        figure("many", many, title="How good is each run, raw and corrected?"), figure("two", *three),
        figure("groups", ranked, title="Which runs cannot be told apart?"), figure("odd", odd), figure("alone", alone),
    )  # fmt: skip


def corrected_of(series: Series, count: int) -> Series:
    """The first few of a series."""
    return Series(name=series.name, values=series.values[:count])


def _bars(rng: np.random.Generator) -> tuple[Figure, ...]:
    values = np.sort(rng.normal(0.05, 0.2, 43))[::-1]
    named = Bars(names=tuple(str(number) for number in rng.integers(1000, 1_200_000, 43)), values=tuple(values),
                 across="nDCG@10, hybrid − keyword")  # fmt: skip
    many = tuple(np.sort(rng.normal(0, 0.2, 200))[::-1])
    unnamed = Bars(names=("",) * 200, values=many, across="nDCG@10, hybrid − keyword")
    some = Bars(names=tuple(f"query {number}" if number < 4 or number > 195 else "" for number in range(200)),
                values=many, across="difference")  # fmt: skip
    with_gaps = Bars(names=("a", "b", "c", "d"), values=(0.8, None, 0.0, 0.55), low=(0.7, None, 0.0, 0.5),
                     high=(0.9, None, 0.0, 0.6), across="accuracy", title="Share of labels that are right")  # fmt: skip
    return (figure("queries", named, title="On which queries do they differ?"), figure("unnamed", unnamed),
            figure("some", some), figure("gaps", with_gaps, with_gaps))  # fmt: skip


def _lines(rng: np.random.Generator) -> tuple[Figure, ...]:
    x = tuple(np.linspace(0, 1, 11))
    curves = tuple(
        Line(name=f"{ODD_NAMES[2][: 8 + 12 * (number % 3)]}{number}", x=x,
             y=tuple(np.clip(0.95 - 0.05 * number - (0.6 + 0.03 * number) * np.array(x) ** 0.8, 0, 1)))
        for number in range(8)
    )  # fmt: skip
    roc = tuple(Line(name=f"run {number}", x=x, y=tuple(np.array(x) ** (0.2 + 0.1 * number))) for number in range(3))
    sizes = tuple(float(size) for size in (10, 20, 50, 100, 200, 500, 1000))
    power = Line(name="corrected", x=sizes, y=tuple(1 - math.exp(-size / 150) for size in sizes),
                 low=tuple(0.9 - 0.9 * math.exp(-size / 150) for size in sizes),
                 high=tuple(min(1.0, 1.1 - math.exp(-size / 150)) for size in sizes))  # fmt: skip
    return (
        figure("precision", Lines(lines=curves, across="recall", up="precision", x_range=(0, 1), y_range=(0, 1)),
               title="How does precision fall as recall grows?"),
        figure("roc", Lines(lines=roc, across="share of other documents found", up="share of relevant documents found",
                            x_range=(0, 1), y_range=(0, 1), diagonal=True),
               Lines(lines=roc[:1], across="recall", up="interpolated precision")),
        figure("power", Lines(lines=(power,), across="queries", up="chance to see the difference", logarithmic=True,
                              y_range=(0, 1), mark=Point(name="you are here: 43 queries", x=43, y=0.25))),
    )  # fmt: skip


def _heatmaps(rng: np.random.Generator) -> tuple[Figure, ...]:
    labels = ("0", "1", "2", "3")
    small = []
    for judge in ("gpt-4", "llama 3.2", "a crowd worker with a long name", "editor"):
        shares = rng.dirichlet(np.ones(4), 4)
        small.append(Heatmap(
            rows=labels, columns=labels, up="gold", across="judge says", values=tuple(map(tuple, shares.tolist())),
            texts=tuple(tuple(f"{share:.2f}\n{share * 40:.0f}" for share in row) for row in shares), title=judge,
        ))  # fmt: skip
    judges = tuple(f"judge-{number}" for number in range(9))
    kappas = np.round(rng.uniform(-0.3, 1, (9, 9)), 2)
    agreement = Heatmap(
        rows=judges, columns=judges, up="judge", across="judge", value_range=(-1, 1), kind="diverging",
        values=tuple(tuple(None if one == row else float(kappas[row, one]) for one in range(9)) for row in range(9)),
        texts=tuple(tuple("" if one == row else f"{kappas[row, one]:.2f}" for one in range(9)) for row in range(9)),
    )  # fmt: skip
    crowd = tuple(f"w{number:02d}" for number in range(24))
    many = Heatmap(
        rows=crowd, columns=crowd, up="judge", across="the other judge", texts=(("0.50",) * 24,) * 24,
        values=tuple(map(tuple, rng.uniform(0, 1, (24, 24)).tolist())),
    )  # fmt: skip
    return (figure("confusion", *small, title="How does each judge err?"), figure("agreement", agreement),
            figure("crowd", many))  # fmt: skip


def _points(rng: np.random.Generator) -> tuple[Figure, ...]:
    cloud = tuple(
        Point(name=f"worker {number}", x=float(rng.gamma(4, 3)), y=float(rng.beta(8, 2)), noted=number % 9 == 0)
        for number in range(60)
    )
    few = tuple(
        Point(name=name, x=0.1 * number, y=0.1 * number + 0.02, low=0.1 * number - 0.05, high=0.1 * number + 0.06,
              noted=number == 2)
        for number, name in enumerate(ODD_NAMES)
    )  # fmt: skip
    same = tuple(Point(name=f"same {number}", x=0.5, y=0.5, noted=True) for number in range(6))
    return (
        figure("traps", Points(points=cloud, across="seconds for a label, in the median", up="share of traps passed",
                               at=0.8, at_name="4 of 5 must be right", y_range=(0, 1))),
        figure("against", Points(points=few, across="raw", up="corrected", diagonal=True),
               Points(points=same, across="raw", up="corrected")),
    )  # fmt: skip


def gallery() -> Report:
    """The report."""
    rng = np.random.default_rng(9)
    kinds = {"The runs": _forests, "The queries": _bars, "The curves": _lines, "The judges": _heatmaps,
             "The crowd": _points}  # fmt: skip
    sections = tuple(
        Section(name=f"section-{number}", title=title, figures=make(rng), notes=(ONE_JUDGE,),
                answer=f"{title} are {number + 3} of 37, and the best of them is hybrid (0.55, 95% CI 0.49 to 0.61).")
        for number, (title, make) in enumerate(kinds.items())
    )  # fmt: skip
    words = Grid(columns=["step", "why", "labels"], rows=[["sample", "gold must come from the runs", "200"]], left=2)
    more = Section(name="next", title="What next", answer="", tables=(("What to judge next", words),))  # fmt: skip
    return Report(
        title="hybrid, neural and keyword", asked=(("runs", "3 runs"), ("judgments", f"{ODD_NAMES[0]}: 1,200 labels")),
        answers=tuple(one.answer for one in sections), sections=(*sections, more),
        absent=(("Preferences", NEEDS_VOTES),), notes=(Note("made-up", "made for a test"),),
    )  # fmt: skip
