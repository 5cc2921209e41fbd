"""Odd data are drawn too: whatever a number or a name may be, there is a picture."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from report.gallery import ODD_NAMES, estimate, figure
from ringtrue.report.charts.pictures import inline_svg, render_picture
from ringtrue.report.model import Bars, Chart, Forest, Heatmap, Line, Lines, Point, Points, Series
from ringtrue.stats.results import Estimate
from strategies import examples

WIDTHS = (720, 320)
number = st.one_of(
    st.floats(-1e12, 1e12), st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e300, 0.1 + 0.2]),
)  # fmt: skip
odd_number = st.one_of(number, st.sampled_from([float("inf"), float("-inf"), float("nan")]))
some_name = st.one_of(st.sampled_from(ODD_NAMES), st.text(max_size=60))
estimates = st.one_of(
    st.none(), st.just(estimate(None)),
    st.builds(lambda value, low, high: _with_ends(value, low, high), odd_number, st.none() | odd_number,
              st.none() | odd_number),
)  # fmt: skip


def _with_ends(value: float, low: float | None, high: float | None) -> Any:
    return Estimate(value=value, low=low, high=high, n=1, method="made")


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    names = tuple(draw(st.lists(some_name, max_size=6)))
    rows = st.lists(estimates, min_size=len(names), max_size=len(names)).map(tuple)
    series = tuple(Series(name=draw(some_name), values=draw(rows)) for _ in range(draw(st.integers(0, 4))))
    marks = tuple(draw(some_name) for _ in names) if draw(st.booleans()) else ()
    return Forest(names=names, series=series, across=draw(some_name), marks=marks, marks_title=draw(some_name),
                  at=draw(st.none() | number), title=draw(some_name))  # fmt: skip


@st.composite
def some_bars(draw: st.DrawFn) -> Bars:
    many = draw(st.integers(0, 8))
    column = st.lists(st.none() | odd_number, min_size=many, max_size=many).map(tuple)
    ends = draw(st.booleans())
    return Bars(names=tuple(draw(some_name) for _ in range(many)), values=draw(column), across=draw(some_name),
                low=draw(column) if ends else (), high=draw(column) if ends else (), title=draw(some_name))  # fmt: skip


@st.composite
def some_lines(draw: st.DrawFn) -> Lines:
    lines = []
    for _ in range(draw(st.integers(0, 4))):
        many = draw(st.integers(0, 5))
        column = st.lists(odd_number, min_size=many, max_size=many).map(tuple)
        band = draw(st.booleans())
        lines.append(Line(name=draw(some_name), x=draw(column), y=draw(column), low=draw(column) if band else (),
                          high=draw(column) if band else ()))  # fmt: skip
    mark = draw(st.none() | st.builds(Point, name=some_name, x=number, y=number))
    return Lines(lines=tuple(lines), across=draw(some_name), up=draw(some_name), logarithmic=draw(st.booleans()),
                 diagonal=draw(st.booleans()), mark=mark, title=draw(some_name),
                 y_range=draw(st.none() | st.just((0.0, 1.0))))  # fmt: skip


@st.composite
def heatmaps(draw: st.DrawFn) -> Heatmap:
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 9))

    def cells(one: st.SearchStrategy[Any]) -> Any:
        row = st.lists(one, min_size=columns, max_size=columns).map(tuple)
        return draw(st.lists(row, min_size=rows, max_size=rows).map(tuple))

    return Heatmap(
        rows=tuple(draw(some_name) for _ in range(rows)), columns=tuple(draw(some_name) for _ in range(columns)),
        values=cells(st.none() | odd_number), texts=cells(some_name), up=draw(some_name), across=draw(some_name),
        value_range=draw(st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (0.0, 0.0)])), title=draw(some_name),
        kind=draw(st.sampled_from(["sequential", "diverging"])),
    )  # fmt: skip


some_points = st.builds(
    Points, across=some_name, up=some_name, at=st.none() | number, at_name=some_name, diagonal=st.booleans(),
    title=some_name, x_range=st.none() | st.just((0.0, 1.0)),
    points=st.lists(st.builds(Point, name=some_name, x=odd_number, y=odd_number, low=st.none() | odd_number,
                              high=st.none() | odd_number, noted=st.booleans()), max_size=8).map(tuple),
)  # fmt: skip


@pytest.mark.slow
@examples(40)
@given(
    st.lists(st.one_of(forests(), some_bars(), some_lines(), heatmaps(), some_points), max_size=3),
    st.sampled_from(WIDTHS),
)
def test_whatever_the_data_the_page_gets_a_picture(charts: list[Chart], width: int) -> None:
    svg = inline_svg(figure("odd", *charts), width_px=width)
    top = ET.fromstring(svg)  # well-formed
    assert top.get("viewBox") == f"0 0 {width} {top.get('height')}"
    assert "nan" not in re.sub(r">[^<]*<", "><", svg)
    assert "inf" not in re.sub(r">[^<]*<", "><", svg)


@pytest.mark.slow
@examples(15)
@given(st.one_of(forests(), some_bars(), some_lines(), heatmaps(), some_points), st.sampled_from(["svg", "png", "pdf"]))
def test_whatever_the_data_a_paper_gets_a_picture(chart: Chart, form: Any) -> None:
    assert len(render_picture(figure("odd", chart), form, width=3.5, dpi=50)) > 500
