"""What a report says, as plain data: tests read numbers here, and drawing comes later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.formatting.grid import Grid
from ringtrue.messages import PYTHON_CALLS, Call, CallSpelling, Note, notes_as_dict
from ringtrue.stats.results import Estimate

MAX_CHART_ROWS = 25  # rows of a chart, beyond which nobody reads it: the table has the rest
FORMAT_BY_SUFFIX: dict[str, Literal["svg", "png", "pdf"]] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One estimate for each row of a chart, None where there is none; `name` stands in the legend."""

    name: str
    values: tuple[Estimate | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Estimates with intervals, a row for each name: a dot and a line, the series of a row close together.

    `marks` are some words at the end of each row, such as the letters of groups; `at` draws a line across all rows.
    """

    names: tuple[str, ...]
    series: tuple[Series, ...]
    across: str
    marks: tuple[str, ...] = ()
    marks_title: str = ""
    at: float | None = None
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar for each name, in the order given; `low` and `high` are the ends of intervals, where there are any."""

    names: tuple[str, ...]
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    across: str  # what the length of a bar means
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through points; `low` and `high` bound a band around it, where there is one."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Lines in one frame; `mark` is a point to look at, such as where you are now."""

    lines: tuple[Line, ...]
    across: str
    up: str
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    logarithmic: bool = False
    diagonal: bool = False
    mark: Point | None = None
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heatmap:
    """A coloured cell for each row and column, with `texts` in it; a value of None stays empty."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    up: str  # what the rows are
    across: str  # what the columns are
    value_range: tuple[float, float] = (0.0, 1.0)
    kind: Literal["sequential", "diverging"] = "sequential"
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point with its name; `low` and `high` are an interval of y. `noted` ones are drawn apart and named."""

    name: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    noted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Points in one frame; `at` draws a line across, `diagonal` the line where y is x."""

    points: tuple[Point, ...]
    across: str
    up: str
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    at: float | None = None
    at_name: str = ""
    diagonal: bool = False
    title: str = ""


Chart: TypeAlias = Forest | Bars | Lines | Heatmap | Points


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure: charts side by side, a sentence that says what they mean, and their numbers as a table.

    Examples:
        >>> import ringtrue as rt
        >>> page = rt.report({"new": {"q1": {"a": 1.0}}, "old": {"q1": {"b": 1.0}}}, {"q1": {"a": 1}}, "RR")
        >>> page.figure("forest").table.rows
        [['new', '1.0000'], ['old', '0.0000']]
    """

    name: str
    title: str
    sentence: str
    charts: tuple[Chart, ...]
    table: Grid
    notes: tuple[Note, ...] = ()

    def save(self, path: str | Path, *, width: float = 6.5, dark: bool = False) -> None:
        """Write the picture, as the name of the file says: .svg, .png or .pdf; `width` is in inches."""
        from ringtrue.files.write import replace_file
        from ringtrue.report.charts.pictures import render_picture

        file_format = FORMAT_BY_SUFFIX.get(Path(path).suffix.lower())
        if file_format is None:
            text = "a picture is written as .svg, .png or .pdf; choose such a name"
            raise UsageError("bad-suffix", text, file=str(path))
        picture_bytes = render_picture(self, file_format, width=width, dark=dark)
        replace_file(Path(path), lambda stream: stream.write(picture_bytes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What belongs together; `answer` is the sentence that somebody takes home, `calls` are what to do next.

    Examples:
        >>> import ringtrue as rt
        >>> page = rt.report({"new": {"q1": {"a": 1.0}}, "old": {"q1": {"b": 1.0}}}, {"q1": {"a": 1}}, "RR")
        >>> page.sections[0].title
        'The runs'
    """

    name: str
    title: str
    answer: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[str, Grid], ...] = ()  # a caption and its table, where there is nothing to draw
    calls: tuple[Call, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionOutline:
    """What a section is called, what it needs, and its figures by name, with the question that each answers."""

    name: str
    title: str
    needs: str
    figures: Mapping[str, str]

    def figure(self, name: str, sentence: str, table: Grid, *charts: Chart, notes: Iterable[Note] = ()) -> Figure:
        """One of its figures."""
        title = self.figures[name]
        return Figure(name=name, title=title, sentence=sentence, charts=charts, table=table, notes=tuple(notes))

    def section(
        self,
        answer: str,
        *figures: Figure,
        tables: Iterable[tuple[str, Grid]] = (),
        calls: Iterable[Call] = (),
        notes: Iterable[Note] = (),
    ) -> Section:
        """The section, as far as it could be made."""
        return Section(
            name=self.name,
            title=self.title,
            answer=answer,
            figures=figures,
            tables=tuple(tables),
            calls=tuple(calls),
            notes=tuple(notes),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything on one page: what was asked, the answers in short, and a section for whatever was given.

    Examples:
        >>> import ringtrue as rt
        >>> page = rt.report({"new": {"q1": {"a": 1.0}}, "old": {"q1": {"b": 1.0}}}, {"q1": {"a": 1}}, "RR")
        >>> page.title, page.figure("forest").name
        ('new and old', 'forest')
    """

    title: str
    asked: tuple[tuple[str, str], ...]
    answers: tuple[str, ...]
    sections: tuple[Section, ...]
    absent: tuple[tuple[str, Note], ...] = ()  # sections that are not here, and what they need
    notes: tuple[Note, ...] = ()
    seed: int | None = None  # of all that was drawn by lot

    def figures(self) -> Iterator[Figure]:
        """Every figure, in the order of the page."""
        return (figure for section in self.sections for figure in section.figures)

    def figure(self, name: str) -> Figure:
        """The figure of this name."""
        figures_by_name = {figure.name: figure for figure in self.figures()}
        if name not in figures_by_name:
            near = did_you_mean(name, figures_by_name) or f"; there are {', '.join(figures_by_name) or 'none'}"
            raise UsageError("no-such-figure", f"there is no figure '{name}' in this report{near}")
        return figures_by_name[name]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data; the codes of `notes` beside them, and of each absent section behind the reason."""
        parts = _with_note_codes(asdict(self))
        return {**parts, "absent_codes": [reason.code for _, reason in self.absent]}

    def html(self, spelling: CallSpelling = PYTHON_CALLS) -> str:
        """The page, which needs no other file and no network; `spelling` writes what to do next."""
        from ringtrue.report.html.page import render_page

        return render_page(self, spelling)

    def save(self, path: str | Path, spelling: CallSpelling = PYTHON_CALLS) -> None:
        """Write the page."""
        from ringtrue.files.write import replace_file

        page = self.html(spelling).encode()
        replace_file(Path(path), lambda stream: stream.write(page))


def _with_note_codes(part: Any) -> Any:
    """Plain data with the codes of notes beside them."""
    if isinstance(part, dict):
        codes = notes_as_dict(part["notes"]) if "notes" in part else {}
        return {name: _with_note_codes(inner) for name, inner in part.items()} | codes
    return [_with_note_codes(inner) for inner in part] if isinstance(part, list | tuple) else part
