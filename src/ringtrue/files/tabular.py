"""Tables with named columns: CSV, TSV, JSON lines, Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from typing import TypeAlias

import polars as pl

from ringtrue.errors import FormatError, UsageError, did_you_mean
from ringtrue.files.formats import Format, separator_of
from ringtrue.files.source import Source
from ringtrue.tables.columns import NAMES, STEPPED_ASIDE, free_name

__all__ = ["column_names", "mapped", "read_table"]

Note: TypeAlias = Callable[[str], None]
KNOWN = {name for names in NAMES.values() for name in names}


def read_table(
    source: Source,
    form: Format,
    *,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    note: Note = lambda _: None,
) -> pl.DataFrame:
    """The table, filtered and with its columns renamed as asked.

    `columns` maps our names to the file's; `where` maps a column, or a column and !, to the value that its cells
    should have, or should not have. `note` is told of rows that end early.
    """
    frame = _read(source, form, note)
    for condition, value in (where or {}).items():
        name = condition.removesuffix("!")
        _require(frame, name, source, option="--where")
        if frame[name].dtype.is_nested():
            raise UsageError(f"{source.shown}: column '{name}' holds lists or objects, which --where cannot compare")
        equal = _equals(frame[name], value).fill_null(value=False)
        kept = frame.filter(~equal if condition.endswith("!") else equal)
        if frame.height and not kept.height:
            raise UsageError(f"{source.shown}: no row has {condition}={value}; {_values(frame[name])}")
        frame = kept
    for theirs in (columns or {}).values():
        _require(frame, theirs, source, option="--columns")
    if not frame.height:
        raise FormatError(f"{source.shown}: a header but no rows")
    return mapped(frame, columns or {})


def _equals(series: pl.Series, value: str) -> pl.Series:
    """Which cells have this value, as a number where the column holds numbers: 1 is 1.0; no value is an empty cell."""
    if not value:
        return series.is_null() | (series.cast(pl.String) == "")
    if series.dtype.is_numeric():
        try:
            return series == float(value)
        except ValueError:
            return pl.Series([False]).new_from_index(0, len(series))
    return series.cast(pl.String) == value


def mapped(frame: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """The table with our names for its columns; what could be taken for one of them steps aside.

    Examples:
        >>> mapped(pl.DataFrame({"label": [1], "nist_rel": [2]}), {"label": "nist_rel"}).to_dicts()
        [{'label': 2, 'label_before': 1}]
    """
    others = {name: name for name in frame.columns if name not in columns.values()}
    known = {*columns, *(name for ours, names in NAMES.items() if ours in columns for name in names)}
    for name in known & others.keys():
        others[name] = free_name(f"{name}{STEPPED_ASIDE}", [*others.values(), *columns])
    return frame.select(
        *(pl.col(theirs).alias(ours) for ours, theirs in columns.items()),
        *(pl.col(name).alias(other) for name, other in others.items()),
    )


def column_names(source: Source, form: Format) -> list[str]:
    """The names of the columns, without reading all of a text file."""
    if form in ("csv", "tsv"):
        return _header(source, form)[0]
    return _read(source, form, lambda _: None).columns


def _header(source: Source, form: Format) -> tuple[list[str], str]:
    """The names in the first line, and what separates them."""
    line = source.head().decode("utf-8", "replace").split("\n")[0].rstrip("\r")
    separator = "\t" if form == "tsv" else separator_of(line) or ","
    if "\r" in line:
        raise FormatError(f"{source.shown}:1: a carriage return in the header; end lines with a line feed")
    return next(csv.reader([line], delimiter=separator), []), separator


def _read(source: Source, form: Format, note: Note) -> pl.DataFrame:
    source.head()  # refuses what is empty or binary, in our words
    try:
        if form == "parquet":
            return pl.read_parquet(io.BytesIO(source.whole()))
        if form == "jsonl":
            return _json_lines(source)
        return _separated(source, form, note)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise FormatError(f"{source.shown}: cannot be read as {form}: {reason}") from error


def _separated(source: Source, form: Format, note: Note) -> pl.DataFrame:
    names, separator = _header(source, form)
    names = [name.strip() for name in names]
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise FormatError(f"{source.shown}:1: column '{twice[0]}' stands there twice; rename one of them")
    data = source.whole()
    try:
        whole = b"\0" not in data and (data.isascii() or bool(data.decode()))
    except UnicodeDecodeError:
        whole = False
    if not whole:
        for _ in source.lines():  # says which line is no text
            pass
    try:
        frame = pl.read_csv(data.rstrip(b"\r\n"), separator=separator, infer_schema=False)
        _tell_short_rows(frame, data, separator, source, note)
        return frame.select(_without_indent(frame[name]) for name in frame.columns)
    except pl.exceptions.PolarsError:
        _find_fault(data.decode(), separator, source)
        raise


def _without_indent(column: pl.Series) -> pl.Series:
    """A column without the blanks that stand after each comma where somebody writes `q1, d1, 2`."""
    name = column.name.strip()
    indented = name.lower() in KNOWN and bool(column.str.starts_with(" ").all())
    return (column.str.strip_chars(" ") if indented else column).alias(name)


def _find_fault(text: str, separator: str, source: Source) -> None:
    """Name the line where a table goes wrong, if Python's reader finds one."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        width = len(next(rows))
        for row in rows:
            if len(row) > width:
                where = f"{source.shown}:{rows.line_num}"
                raise FormatError(f"{where}: expected {width} fields as in the header, found {len(row)}")
    except csv.Error as error:
        raise FormatError(f"{source.shown}:{rows.line_num}: {error}; is a quote left open?") from error


def _tell_short_rows(frame: pl.DataFrame, data: bytes, separator: str, source: Source, note: Note) -> None:
    """A word on rows with fewer fields than the header, of which the last cells are empty.

    Spreadsheets leave out what is empty at the end of a row; a copy that was cut short looks the same.
    """
    whole = data.count(separator.encode()) == (frame.height + 1) * (frame.width - 1)
    if frame.width == 1 or whole or not frame[:, -1].has_nulls():  # which is told without reading it all once more
        return
    rows = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=separator)
    try:
        short = [(rows.line_num, len(row)) for row in rows if 0 < len(row) < frame.width]
    except csv.Error:  # such as a text too long for this reader
        return
    if short:
        line, found = short[0]
        more = f" (as in {len(short) - 1:,} more row{'s' * (len(short) > 2)})" if len(short) > 1 else ""
        note(f"{source.shown}:{line}: expected {frame.width} fields as in the header, found {found}{more}; the rest of "
             f"the row counts as empty")  # fmt: skip


def _json_lines(source: Source) -> pl.DataFrame:
    import json

    records = []
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{source.shown}:{number}: not JSON ({error})") from error
        if not isinstance(record, dict):
            raise FormatError(f"{source.shown}:{number}: expected an object {{…}}, found {line[:30]}")
        records.append(record)
    if not records:
        raise FormatError(f"{source.shown}: no line of data in this file")
    try:
        return pl.DataFrame(records, infer_schema_length=None, strict=False)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise FormatError(f"{source.shown}: no table can be made of these objects ({error})") from error


def _require(frame: pl.DataFrame, name: str, source: Source, *, option: str) -> None:
    if name not in frame.columns:
        near = did_you_mean(name, frame.columns) or "; it has " + ", ".join(frame.columns)
        raise UsageError(f"{option}: {source.shown} has no column '{name}'{near}")


def _values(series: pl.Series) -> str:
    found = series.cast(pl.String).unique(maintain_order=True).drop_nulls().to_list()
    return f"it has {', '.join(found[:5]) or 'only empty cells'}" + (" …" if len(found) > 5 else "")
