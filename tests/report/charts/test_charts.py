"""Pictures: numbers lie where they should, nothing overlaps or leaves the sheet, and colours can be told apart."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from report.gallery import estimate, figure, gallery
from ringtrue.errors import UsageError
from ringtrue.report.charts.labels import OccupiedArea, shorten, spread_labels, text_width
from ringtrue.report.charts.palettes import DARK, LIGHT, Palette
from ringtrue.report.charts.pictures import draw_figure, inline_svg, render_picture
from ringtrue.report.charts.sheet import open_sheet
from ringtrue.report.model import Bars, Chart, Forest, Heatmap, Line, Lines, Point, Points, Series

WIDTHS = (720, 320)
FIGURES = {one.name: one for one in gallery().figures()}


@cache
def drawn(name: str, width: float) -> str:
    """A figure of the gallery as the page shows it: drawn once for all tests that look at it."""
    return inline_svg(FIGURES[name], width_px=width)


def frames(chart: Chart, width: float = 720) -> list[Axes]:
    """The frames of a chart, with Matplotlib's artists in them."""
    with open_sheet(width, LIGHT, single_font=True) as sheet:
        draw_figure(sheet, figure("one", chart))
        return list(sheet.mpl_figure.axes)


def segments(frame: Axes) -> list[np.ndarray[Any, Any]]:
    """The lines that show intervals, each from (x, y) to (x, y); bands behind the rows are lines too."""
    collections = [one for one in frame.collections if isinstance(one, LineCollection) and one.get_zorder() > 0]
    return [one for lines in collections for one in lines.get_segments()]


# Numbers lie where they should.


def test_dots_of_a_forest_lie_at_the_values_and_lines_end_at_the_intervals() -> None:
    (frame,) = frames(
        Forest(
            names=("a", "b"),
            across="AP",
            series=(Series(name="raw", values=(estimate(0.4, 0.1), estimate(0.3, 0.05))),),
        )
    )
    assert frame.lines[0].get_xdata() == pytest.approx([0.4, 0.3])
    assert frame.lines[0].get_ydata() == pytest.approx([0.5, 1.5])  # the first row is above
    assert frame.get_ylim()[0] > frame.get_ylim()[1]
    assert [one[:, 0].tolist() for one in segments(frame)] == [pytest.approx([0.3, 0.5]), pytest.approx([0.25, 0.35])]


def test_a_series_without_an_estimate_leaves_a_gap() -> None:
    values = (estimate(0.4, 0.1), None, estimate(None), estimate(0.2))
    (frame,) = frames(Forest(names=("a", "b", "c", "d"), across="AP", series=(Series(name="raw", values=values),)))
    assert frame.lines[0].get_ydata() == pytest.approx([0.5, 3.5])
    assert len(segments(frame)) == 1  # the last has a value but no interval


def test_series_of_a_row_lie_close_together_and_in_their_order() -> None:
    values = (estimate(0.4, 0.1), estimate(0.3, 0.1))
    chart = Forest(names=("a", "b"), across="AP", series=tuple(Series(name=name, values=values) for name in "xyz"))
    (frame,) = frames(chart)
    rows = [line.get_ydata()[0] for line in frame.lines]
    assert rows == sorted(rows)
    assert rows[0] > 0
    assert rows[-1] < 1


def test_forests_with_the_same_names_side_by_side_share_them() -> None:
    svg = drawn("two", 720)
    assert svg.count(">hybrid<") == 1
    assert svg.count(">corrected<") == 1
    assert drawn("two", 320).count(">hybrid<") == 2


def test_an_interval_far_longer_than_the_others_does_not_press_them_together() -> None:
    values = (*(estimate(0.5 + number / 100, 0.05) for number in range(9)), estimate(0.5, 1000.0))
    (frame,) = frames(Forest(names=tuple("abcdefghij"), across="AP", series=(Series(name="raw", values=values),)))
    low, high = frame.get_xlim()
    assert high - low < 2
    assert segments(frame)[-1][:, 0].tolist() == [low, high]  # it is drawn from end to end


def test_bars_are_as_long_as_their_values_and_begin_at_zero() -> None:
    (frame,) = frames(Bars(names=("a", "b", "c"), values=(0.4, None, -0.2), across="difference"))
    bars = {round(bar.get_y() + bar.get_height() / 2, 6): (bar.get_x(), bar.get_width()) for bar in frame.patches
            if isinstance(bar, Rectangle)}  # fmt: skip
    assert bars == {0.5: (0, 0.4), 2.5: (0, -0.2)}


def test_bars_without_names_stand() -> None:
    (frame,) = frames(Bars(names=("",) * 200, values=tuple(np.linspace(1, -1, 200)), across="difference"))
    heights = [bar.get_height() for bar in frame.patches if isinstance(bar, Rectangle)]
    assert heights == pytest.approx(np.linspace(1, -1, 200).tolist())


def test_every_name_of_43_queries_stands_beside_its_bar() -> None:
    svg = drawn("queries", 320)
    names = FIGURES["queries"].charts[0].names  # type: ignore[union-attr]
    places = [float(re.search(rf' y="([\d.]+)"[^>]*>{name}<', svg)[1]) for name in names]  # type: ignore[index]
    assert np.diff(places) == pytest.approx(17.0, abs=0.02)


def test_lines_go_through_their_points() -> None:
    line = Line(name="a", x=(0.0, 0.5, 1.0), y=(1.0, float("nan"), 0.2))
    (frame,) = frames(Lines(lines=(line,), across="recall", up="precision"))
    assert frame.lines[0].get_xdata() == pytest.approx([0, 0.5, 1])
    assert frame.lines[0].get_ydata() == pytest.approx([1, float("nan"), 0.2], nan_ok=True)


def test_eight_lines_differ_without_colour() -> None:
    (frame,) = frames(FIGURES["precision"].charts[0])
    looks = {(str(line.get_linestyle()), line.get_marker()) for line in frame.lines}
    assert len(looks) == 8
    assert len({line.get_color() for line in frame.lines}) == 8


def test_a_logarithmic_scale_has_ten_as_far_from_one_as_a_hundred_from_ten() -> None:
    (frame,) = frames(Lines(lines=(Line(name="a", x=(1, 10, 100), y=(0, 1, 2)),), across="n", up="y", logarithmic=True))
    at = [frame.transData.transform((x, 0))[0] for x in (1, 10, 100)]
    assert at[2] - at[1] == pytest.approx(at[1] - at[0])


def test_ticks_stand_below_what_they_say() -> None:
    svg = inline_svg(figure("one", Bars(names=("a", "b"), values=(0.5, 1.0), across="x")), width_px=720)
    ticks = {float(label): float(x) for x, label in re.findall(r'<text [^>]*x="([\d.]+)"[^>]*>(\d\.\d+)</text>', svg)}
    ends = sorted(
        float(x) for x in re.findall(r'd="M[\d.]+ [\d.]+L([\d.]+) [^"]*z"[^>]* style="fill:var\(--series-2\)"', svg)
    )
    at = np.interp([0.5, 1.0], sorted(ticks), [ticks[one] for one in sorted(ticks)])
    assert ends == pytest.approx(at.tolist(), abs=0.05)


def cell_colours(chart: Heatmap) -> np.ndarray[Any, Any]:
    """Red, green, blue and how much of it, for each cell."""
    (frame,) = frames(chart)
    (cells,) = frame.collections
    cells.update_scalarmappable()  # type: ignore[attr-defined]
    return np.asarray(cells.get_facecolor())


def test_cells_have_as_much_colour_as_their_value() -> None:
    chart = Heatmap(rows=("0", "1"), columns=("0", "1"), values=((1.0, 0.25), (None, 0.0)), up="gold", across="bronze",
                    texts=(("9", "3"), ("", "0")))  # fmt: skip
    assert cell_colours(chart)[:, 3].tolist() == pytest.approx([1.0, 0.25, 0.0, 0.0], abs=0.005)


def test_two_sided_cells_have_no_colour_in_the_middle() -> None:
    chart = Heatmap(rows=("a",), columns=("x", "y", "z"), values=((-1.0, 0.0, 0.5),), texts=(("−1", "0", ".5"),), up="",
                    across="", value_range=(-1, 1), kind="diverging")  # fmt: skip
    colours = cell_colours(chart)
    assert colours[:, 3].tolist() == pytest.approx([1.0, 0.0, 0.5], abs=0.005)
    assert colours[0, :3].tolist() != colours[2, :3].tolist()


def test_numbers_that_have_no_room_in_their_cells_give_way_to_a_key() -> None:
    assert ">0.93<" in drawn("agreement", 720)
    narrow = drawn("agreement", 320)
    assert ">0.93<" not in narrow
    assert ">−1<" in narrow


def test_noted_points_are_drawn_apart_and_named() -> None:
    points = tuple(Point(name=f"p{number}", x=number, y=number % 5, noted=number == 7) for number in range(40))
    (frame,) = frames(Points(points=points, across="x", up="y"))
    looks = {line.get_label(): line for line in frame.lines}
    assert looks["noted"].get_xdata() == pytest.approx([7])
    assert len(looks["points"].get_xdata()) == 39
    svg = inline_svg(figure("one", Points(points=points, across="x", up="y")), width_px=720)
    assert re.findall(r">(p\d+)<", svg) == ["p7"]


# Nothing overlaps, and nothing leaves the sheet.


def boxes(svg: str) -> Iterator[tuple[str, OccupiedArea]]:
    """Each text of a picture and what it takes of the sheet, turned ones too."""
    for one in ET.fromstring(svg).iter("text"):
        words, style = one.text or "", one.get("style", "")
        found = re.search(r"font-size:([\d.]+)px", style)
        size = float(found[1]) if found else 12.0
        half = text_width(words, size, bold="700" in style) / 2
        if turned := re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\) rotate\(-90\)", one.get("transform", "")):
            x, y = map(float, turned.groups())
            yield words, OccupiedArea(x=x - size * 0.3, y=y - half, half_width=size * 0.35, half_height=half)
        else:
            x, y = float(one.attrib["x"]), float(one.attrib["y"])
            anchor = re.search(r"text-anchor:(\w+)", style)
            x += {"start": half, "middle": 0.0, "end": -half}[anchor[1]] if anchor else half
            yield words, OccupiedArea(x=x, y=y - size * 0.35, half_width=half, half_height=size * 0.38)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", FIGURES)
def test_no_word_overlaps_another_or_leaves_the_sheet(name: str, width: int) -> None:
    svg = drawn(name, width)
    height = float(ET.fromstring(svg).get("height", 0))
    found = list(boxes(svg))
    assert found
    for words, box in found:
        assert abs(box.x - width / 2) + box.half_width <= width / 2 + 1, words
        assert abs(box.y - height / 2) + box.half_height <= height / 2 + 1, words
    assert [(one, other) for (one, a), (other, b) in combinations(found, 2) if a.overlaps(b)] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", FIGURES)
def test_letters_are_eleven_pixels_or_more(name: str, width: int) -> None:
    sizes = re.findall(r"font-size:([\d.]+)px", drawn(name, width))
    assert all(float(size) >= 11 for size in sizes)


def test_a_long_name_loses_its_middle() -> None:
    name = "beginning-" + "x" * 200 + "-end"
    shown = shorten(name, 150)
    assert re.fullmatch("beginning-x+…x+-end", shown)
    assert text_width(shown) <= 150


@given(st.text(), st.floats(20, 300))
def test_a_cut_text_is_never_wider_than_it_may_be(text: str, width: float) -> None:
    assert text_width(shorten(text, width)) <= width


@given(st.lists(st.floats(0, 300), max_size=12))
def test_labels_that_are_spread_keep_their_order_and_apart(wanted: list[float]) -> None:
    found = spread_labels(wanted, 15, 0, 300)
    assert all(b - a >= 15 - 1e-6 for a, b in zip(sorted(found), sorted(found)[1:], strict=False))
    assert all(-1e-6 <= one <= 300 + 1e-6 for one in found)
    assert [found[one] for one in np.argsort(wanted, kind="stable")] == sorted(found)


# Colours.


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(one: str, other: str) -> float:
    """As WCAG 2 has it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def mixed(colour: str, ground: str, share: float) -> str:
    pairs = zip(*([int(code[at : at + 2], 16) for at in (1, 3, 5)] for code in (colour, ground)), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read_on_all_that_lies_behind_them(palette: Palette) -> None:
    for words in (palette.ink, palette.muted, palette.series[1]):  # the last is the colour of links
        assert contrast(words, palette.ground) >= 4.5
        assert contrast(words, palette.raised) >= 4.5
    for cell in (palette.high, palette.below):
        assert min(contrast(palette.ink, mixed(cell, palette.ground, share)) for share in np.linspace(0, 1, 21)) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_and_the_ends_of_heatmaps_stand_out(palette: Palette) -> None:
    for colour in (*palette.series, palette.high, palette.below):
        assert contrast(colour, palette.ground) >= 3.0
    assert min(contrast(colour, palette.raised) for colour in palette.series) >= 3.0


def test_a_page_names_colours_and_has_none_of_its_own() -> None:
    for name in FIGURES:
        assert set(re.findall(r"(?:fill|stroke):([^;\"]+)", drawn(name, 720))) <= {
            "none",
            *(f"var(--{role})" for role in LIGHT.roles()),
        }


# The same figure, the same bytes; no matter what others do.


@pytest.mark.slow
@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_the_same_figure_gives_the_same_bytes(form: Any) -> None:
    assert render_picture(FIGURES["power"], form) == render_picture(FIGURES["power"], form)
    assert inline_svg(FIGURES["power"], width_px=720) == inline_svg(FIGURES["power"], width_px=720)


def test_what_somebody_has_set_in_matplotlib_changes_nothing_and_is_not_lost() -> None:
    usual = render_picture(FIGURES["power"], "svg")
    with mpl.rc_context({"lines.linewidth": 9, "axes.facecolor": "red", "text.usetex": True, "font.size": 30}):
        assert render_picture(FIGURES["power"], "svg") == usual
        assert mpl.rcParams["lines.linewidth"] == 9
        assert mpl.rcParams["text.usetex"]


@pytest.mark.slow
def test_threads_draw_what_one_would() -> None:
    wanted = [drawn(name, 320) for name in FIGURES]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda one: inline_svg(one, width_px=320), FIGURES.values())) == wanted


def test_ids_of_many_pictures_on_a_page_differ() -> None:
    ids = [one for name in FIGURES for width in WIDTHS for one in re.findall(r' id="([^"]+)"', drawn(name, width))]
    assert ids
    assert len(ids) == len(set(ids))


# Pictures for papers.


def test_a_png_has_the_size_that_was_asked_for() -> None:
    content = render_picture(FIGURES["alone"], "png", width=5, dpi=120)
    assert struct.unpack(">I", content[16:20])[0] == 600


def test_letters_of_an_svg_for_papers_are_paths_and_no_date_is_in_it() -> None:
    svg = render_picture(FIGURES["odd"], "svg").decode()
    assert "<text" not in svg
    assert "<dc:date>" not in svg
    assert "<script>" not in svg


def test_a_pdf_has_its_letters_in_it_as_truetype() -> None:
    pdf = render_picture(FIGURES["alone"], "pdf")
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf
    assert b"/CreationDate" not in pdf


def test_dark_pictures_have_the_dark_ground() -> None:
    assert DARK.ground in render_picture(FIGURES["alone"], "svg", dark=True).decode()
    assert DARK.ground not in render_picture(FIGURES["alone"], "svg").decode()


def test_a_form_that_is_not_known_is_refused_with_the_near_miss() -> None:
    with pytest.raises(UsageError, match=r"'pngg'.*png"):
        render_picture(FIGURES["alone"], "pngg")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"2\.5 to 40 inches"):
        render_picture(FIGURES["alone"], "png", width=0.1)


# Packages.


def python(code: str) -> str:
    """What a new Python says to this."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
def test_reporting_loads_neither_matplotlib_nor_jinja() -> None:
    code = "import sys, ringtrue.report, ringtrue.report.charts.pictures, ringtrue.report.html.page; "
    assert python(code + "print({'matplotlib', 'jinja2', 'markupsafe'} & set(sys.modules))") == "set()"


@pytest.mark.slow
@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_whoever_has_not_the_packages_is_told_how_to_get_them(package: str) -> None:
    code = f"""
import sys; sys.modules[{package!r}] = None  # as if it were not installed
import ringtrue as rt
from ringtrue.report.html.page import render_page
try:
    render_page(rt.report({{"new": {{"q1": {{"a": 1.0}}}}}}, {{"q1": {{"a": 1}}}}, "RR"))
except rt.UsageError as error:
    print(error.code, error)
"""
    said = python(code)
    assert said.startswith("missing-package ")
    assert all(name in said for name in (package, "ringtrue[plots]"))


@pytest.mark.slow
def test_no_window_and_no_pyplot_is_needed() -> None:
    code = """
import sys
sys.path.insert(0, "tests")
from report.gallery import gallery
from ringtrue.report.html.page import render_page
render_page(gallery())
print("matplotlib.pyplot" in sys.modules)
"""
    assert python(code) == "False"


def test_a_figure_without_charts_is_an_empty_sheet() -> None:
    assert ET.fromstring(inline_svg(figure("none"), width_px=320)).get("height") == "40"
