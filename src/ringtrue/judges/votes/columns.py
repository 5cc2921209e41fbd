"""Columns of a table of labels: the label on a declared scale, and when it was given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.messages import Note, Suggestion
from ringtrue.tables.columns import INT32

Outside: TypeAlias = Literal["refuse", "exclude", "clip"]
MAX_STRAY_SHARE, MAX_STRAY_LABELS = 0.01, 3  # share of the labels, and different ones, that may be slips
UNDECIDED_KINDS = ("unsure", "skip")
ISO_PATTERN = r"^(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:[.,]\d+)?))? ?(?:Z|([+-]\d\d)(?::?(\d\d))?)?)?$"
COMMON_ISO = "%Y-%m-%dT%H:%M:%S%.fZ"  # what most programs write; four times as fast as the pattern
DAY_OR_MONTH = re.compile(r"\d{1,2}([/.-])\d{1,2}\1\d{2,4}\b.*")


def apply_scale(
    frame: pl.DataFrame, scale: Sequence[int] | None, outside: Outside
) -> tuple[pl.DataFrame, tuple[Note, ...]]:
    """The rows whose label is on the scale, or all of them moved to it, and notes on what was done.

    Without a scale, labels below 0 say that a document was not judged, and are left out.
    """
    if outside not in get_args(Outside):
        suggestion = did_you_mean(outside, get_args(Outside)) or "; there is " + ", ".join(get_args(Outside))
        raise UsageError(
            "unknown-choice", f"no choice '{outside}' for labels outside the scale{suggestion}", parameter="outside"
        )
    label = pl.col("label")
    if scale is None:
        if frame["label"].min() >= 0:  # type: ignore[operator]  # a table is never empty
            return frame, _stray_label_note(frame)
        judged = frame.filter(label >= 0)
        n_excluded = frame.height - judged.height
        if not judged.height:
            raise TableError(
                "nothing-judged",
                "every label is below 0, which means 'not judged'",
                suggestions=[Suggestion("declares such labels", scale=...)],
            )
        note = Note(
            "unjudged-labels",
            f"{n_excluded:,} label{'s' * (n_excluded > 1)} below 0 ('not judged') left out",
            suggestions=[Suggestion("declares such labels", scale=...)],
        )
        return judged, (note, *_stray_label_note(judged))
    if len(set(scale)) < 2:
        found = ", ".join(map(str, scale)) or "none"
        raise UsageError("short-scale", f"a scale needs two labels or more, found {found}", parameter="scale")
    if too_large := [grade for grade in scale if grade not in INT32]:
        raise UsageError("large-label", f"a scale has labels of 32 bits, found {too_large[0]}", parameter="scale")
    fits = label.is_in(list(scale))
    stray = frame.filter(~fits)
    if not stray.height:
        return frame, ()
    stray_labels = stray.group_by("label", "judge", maintain_order=True).len().rows()
    listed = ", ".join(f"{grade} by {judge}{f' ({n:,} times)' * (n > 1)}" for grade, judge, n in stray_labels[:4])
    listed += ", …" * (len(stray_labels) > 4)
    scale_text = ", ".join(map(str, sorted(scale)))
    finding = f"{stray.height:,} label{'s' * (stray.height > 1)} outside the scale {scale_text}: {listed}"
    if outside == "refuse":
        them = "them" if stray.height > 1 else "it"
        raise TableError(
            "labels-outside-scale",
            finding,
            suggestions=[
                Suggestion(f"leaves {them} out", outside="exclude"),
                Suggestion(f"moves {them} to the nearest label", outside="clip"),
            ],
        )
    if outside == "exclude":
        if stray.height == frame.height:
            raise TableError(
                "no-label-on-scale",
                f"no label lies on the scale {scale_text}: {listed}",
                suggestions=[Suggestion("declares other labels", scale=...)],
            )
        return frame.filter(fits), (Note("outside-scale-excluded", f"{finding}; left out"),)
    grades = np.array(sorted(scale))
    labels = frame["label"].to_numpy()
    nearest = grades[np.abs(labels[:, None] - grades).argmin(axis=1)]
    note = Note("outside-scale-clipped", f"{finding}; moved to the nearest label")
    return frame.with_columns(label=pl.Series(nearest, dtype=pl.Int32)), (note,)


def find_undecided(frame: pl.DataFrame, has_no_label: pl.Expr) -> pl.Series:
    """Which rows stand for a question that a judge was asked and did not decide: `kind` says unsure or skip.

    Examples:
        >>> frame = pl.DataFrame({"label": [1, -1, -1], "kind": ["answer", "skip", None]})
        >>> find_undecided(frame, pl.col("label") < 0).to_list()
        [False, True, False]
    """
    if "kind" not in frame.columns:
        return pl.repeat(value=False, n=frame.height, eager=True)
    is_undecided = has_no_label & pl.col("kind").cast(pl.String).is_in(UNDECIDED_KINDS).fill_null(value=False)
    return frame.select(is_undecided).to_series()


def find_stray_labels(labels: pl.Series) -> dict[int, int]:
    """Labels that are rare and lie apart from all others, as a 7 or a 10 among 0 to 3, and how often each was given.

    Examples:
        >>> find_stray_labels(pl.Series([0, 1, 2, 3] * 50 + [10]))
        {10: 1}
    """
    label_counts = labels.value_counts(name="times").sort(labels.name)
    label, times = label_counts[labels.name].to_numpy(), label_counts["times"].to_numpy()
    run = np.concatenate([[0], np.cumsum(np.diff(label) > 1)])  # labels without a gap between them belong together
    is_stray = run != int(np.bincount(run, weights=times).argmax())
    if not is_stray.any() or times[is_stray].sum() > MAX_STRAY_SHARE * len(labels) or is_stray.sum() > MAX_STRAY_LABELS:
        return {}
    return dict(zip(label[is_stray].tolist(), times[is_stray].tolist(), strict=True))


def _stray_label_note(frame: pl.DataFrame) -> tuple[Note, ...]:
    """A note on labels that may be slips."""
    stray = find_stray_labels(frame["label"])
    if not stray:
        return ()
    listed = ", ".join(f"{label} ({n:,} time{'s' * (n > 1)})" for label, n in stray.items())
    usual = frame["label"].filter(~frame["label"].is_in(list(stray))).to_numpy()
    low, high = int(usual.min()), int(usual.max())
    text = f"most labels are {low} to {high}, and a few {listed}: slips?"
    refuse = Suggestion("would refuse them", scale=range(low, high + 1))
    return (Note("stray-labels", text, parameter="scale", suggestions=[refuse]),)


def parse_times(column: pl.Series) -> NDArray[np.float64]:
    """Times as numbers that rise: numbers as they are, dates and ISO texts as seconds.

    A text is a number, or a date as ISO 8601 has it: year, month, day; after a blank or T the time, with fractions of
    a second and Z or an offset where there are any. Other ways to write a date are refused, since in many of them
    nobody can tell the day from the month.

    Examples:
        >>> times = pl.Series("time", ["2024-05-01 10:00:00", "2024-05-01T12:00:05.5+02:00"])
        >>> parse_times(times).tolist()[1] - 1714557600
        5.5
    """
    try:
        seconds = _to_seconds(column)
    except pl.exceptions.PolarsError:  # of a type that has no number
        seconds = pl.Series(column.name, [None], dtype=pl.Float64).new_from_index(0, len(column))
    bad = ~seconds.is_finite().fill_null(value=False)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise _bad_time_error(column.name, column[row]).about(f"row {row + 1}")
    return seconds.to_numpy()


def _bad_time_error(column: str, cell: object) -> TableError:
    """What stands in the place of a time."""
    expected = f"expected a time in column '{column}', as a number or like 2024-05-01 10:00:00"
    ignored = "a column of another name is ignored"
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        leave_out = Suggestion("leaves such rows out", where={f"{column}!": ""})
        return TableError("empty-cell", f"{expected}, found an empty cell; {ignored}", suggestions=[leave_out])
    if isinstance(cell, str) and DAY_OR_MONTH.fullmatch(cell.strip()):
        found = f"{cell!r}, where day and month may be exchanged: write the year first"
        return TableError("ambiguous-date", f"{expected}, found {found}; {ignored}")
    return TableError("bad-time", f"{expected}, found {cell!r}; {ignored}")


def _to_seconds(column: pl.Series) -> pl.Series:
    seconds = column
    if column.dtype == pl.String:
        seconds = column.cast(pl.Float64, strict=False)
        if 2 * seconds.null_count() > len(column):  # most are no numbers
            seconds = column.str.to_datetime(COMMON_ISO, strict=False, time_unit="us")
            if seconds.null_count():
                seconds = _parse_iso(column)
    if seconds.dtype.is_temporal():
        seconds = seconds.cast(pl.Datetime("us"), strict=False).cast(pl.Int64) / 1e6
    return seconds.cast(pl.Float64, strict=False)


def _parse_iso(column: pl.Series) -> pl.Series:
    """Texts like 2024-05-01T10:00:05.5+02:00 as seconds since 1970; null where they are none."""
    part = [column.str.strip_chars().str.extract(ISO_PATTERN, group) for group in range(1, 7)]
    day = part[0].str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64)
    hours, minutes = (part[group].cast(pl.Float64).fill_null(0) for group in (1, 2))
    seconds = part[3].str.replace(",", ".", literal=True).cast(pl.Float64).fill_null(0)
    is_negative_offset = part[4].str.starts_with("-").fill_null(value=False)
    hours_ahead, minutes_ahead = (part[group].str.strip_chars("+-").cast(pl.Float64).fill_null(0) for group in (4, 5))
    offset = (hours_ahead * 60 + minutes_ahead) * (1 - 2 * is_negative_offset.cast(pl.Int8))
    timestamps = day * 86_400.0 + (hours * 60 + minutes - offset) * 60 + seconds
    possible = (hours < 24) & (minutes < 60) & (seconds < 61)  # a minute may have a leap second
    return timestamps.set(~possible, None)
