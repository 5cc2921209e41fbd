"""Tables with named columns: CSV, TSV, JSON lines, Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from typing import TypeAlias

import polars as pl

from ringtrue.errors import FormatError, UsageError, did_you_mean
from ringtrue.files.byte_source import BOM, HEAD_SIZE, Source
from ringtrue.files.formats import Format, find_separator
from ringtrue.messages import Note
from ringtrue.tables.columns import COLUMN_ALIASES, REPLACED_SUFFIX, find_free_name

NoteHandler: TypeAlias = Callable[[Note], None]
MAX_COLUMNS = 10_000
MAX_EMPTY_CELLS = 50_000_000  # of JSON lines, each with names of its own
KNOWN_COLUMNS = {name for names in COLUMN_ALIASES.values() for name in names}
ID_COLUMNS = {name for ours in ("query", "doc", "left", "right", "judge") for name in COLUMN_ALIASES[ours]}
GUARD = "'"
FORMULA_MARK = r"[=+\-@\t\r\n＝＋－＠]"  # what a spreadsheet takes for the beginning of a formula
FORMULA_START, GUARDED_START = f"^'*{FORMULA_MARK}", f"^'+{FORMULA_MARK}"


def read_table(
    source: Source,
    form: Format,
    *,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    note: NoteHandler = lambda _: None,
) -> pl.DataFrame:
    """The table, filtered and with its columns renamed as asked.

    `columns` maps our names to the file's; `where` maps a column, or a column and !, to the value that its cells
    should have, or should not have. `note` is told of rows that end early.
    """
    frame = _read_frame(source, form, note)
    for condition, value in (where or {}).items():
        name = condition.removesuffix("!")
        _require_column(frame, name, source, parameter="where")
        if frame[name].dtype.is_nested():
            raise UsageError(
                "nested-column",
                f"column '{name}' holds lists or objects, and only single values can be compared",
                parameter="where",
                file=source.display_name,
            )
        is_equal = _match_cells(frame[name], value).fill_null(value=False)
        selected = frame.filter(~is_equal if condition.endswith("!") else is_equal)
        if frame.height and not selected.height:
            raise UsageError(
                "no-such-rows",
                f"no row has {condition}={value}; {_list_distinct_cells(frame[name])}",
                parameter="where",
                file=source.display_name,
            )
        frame = selected
    for theirs in (columns or {}).values():
        _require_column(frame, theirs, source, parameter="columns")
    if not frame.height:
        raise FormatError("no-data", "a header but no rows", file=source.display_name)
    return map_columns(frame, columns or {})


def _match_cells(series: pl.Series, value: str) -> pl.Series:
    """Which cells have this value, as a number where the column holds numbers: 1 is 1.0; no value is an empty cell."""
    if not value:
        return series.is_null() | (series.cast(pl.String) == "")
    if series.dtype.is_numeric():
        try:
            return series == float(value)
        except ValueError:
            return pl.Series([False]).new_from_index(0, len(series))
    return series.cast(pl.String) == value


def map_columns(frame: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """The table with our names for its columns; what could be taken for one of them steps aside.

    Examples:
        >>> map_columns(pl.DataFrame({"label": [1], "nist_rel": [2]}), {"label": "nist_rel"}).to_dicts()
        [{'label': 2, 'label_before': 1}]
    """
    new_names = {name: name for name in frame.columns if name not in columns.values()}
    ambiguous = {*columns, *(name for ours, names in COLUMN_ALIASES.items() if ours in columns for name in names)}
    for name in ambiguous & new_names.keys():
        new_names[name] = find_free_name(f"{name}{REPLACED_SUFFIX}", [*new_names.values(), *columns])
    return frame.select(
        *(pl.col(theirs).alias(ours) for ours, theirs in columns.items()),
        *(pl.col(name).alias(new_name) for name, new_name in new_names.items()),
    )


def guard_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The table for a CSV or TSV file that people open in a spreadsheet: no text in it is taken for a formula.

    An apostrophe stands before such a cell; reading a query, a document or a judge takes it off again. A label is a
    number, whatever its type here, and stays as it is.

    Examples:
        >>> guard_formulas(pl.DataFrame({"doc": ["=1+1", "d1", "'-5"], "label": [1, -1, 0]})).to_dict(as_series=False)
        {'doc': ["'=1+1", 'd1', "''-5"], 'label': [1, -1, 0]}
    """
    return frame.with_columns(
        pl.when(text.str.contains(FORMULA_START)).then(pl.lit(GUARD) + text).otherwise(text).alias(name)
        for name, text in ((name, pl.col(name)) for name, dtype in frame.schema.items() if dtype == pl.String)
        if name != "label"
    )


def escape_guards(frame: pl.DataFrame) -> pl.DataFrame:
    """The table for a CSV or TSV file that programs read: only an id that looks guarded gets one more apostrophe.

    Reading takes it off again, so that every id comes back as it is.

    Examples:
        >>> escape_guards(pl.DataFrame({"doc": ["=1+1", "d1", "'-5"]})).to_dict(as_series=False)
        {'doc': ['=1+1', 'd1', "''-5"]}
    """
    return frame.with_columns(
        pl.when(text.str.contains(GUARDED_START)).then(pl.lit(GUARD) + text).otherwise(text).name.keep()
        for text in _guarded_ids(frame)
    )


def _guarded_ids(frame: pl.DataFrame) -> list[pl.Expr]:
    """The columns of ids in which an apostrophe comes first somewhere."""
    names = [name for name in frame.columns if name.strip().lower() in ID_COLUMNS and frame[name].dtype == pl.String]
    return [pl.col(name) for name in names if frame[name].str.starts_with(GUARD).any()]


def strip_guards(frame: pl.DataFrame) -> pl.DataFrame:
    """A table as it was before `guard_formulas` or `escape_guards`, as far as ids are concerned.

    Examples:
        >>> strip_guards(pl.DataFrame({"doc": ["'=1+1", "'tis"], "note": ["'=1", ""]})).to_dict(as_series=False)
        {'doc': ['=1+1', "'tis"], 'note': ["'=1", '']}
    """
    return frame.with_columns(
        pl.when(text.str.contains(GUARDED_START)).then(text.str.strip_prefix(GUARD)).otherwise(text).name.keep()
        for text in _guarded_ids(frame)
    )


def read_column_names(source: Source, form: Format) -> list[str]:
    """The names of the columns, without reading all of a text file."""
    if form in ("csv", "tsv"):
        return _read_header(source, form)[0]
    return _read_frame(source, form, lambda _: None).columns


def _read_header(source: Source, form: Format) -> tuple[list[str], str]:
    """The names in the first line, and what separates them."""
    head = source.read_head()
    line = head.decode("utf-8", "replace").split("\n")[0].rstrip("\r")
    separator = "\t" if form == "tsv" else find_separator(line) or ","
    if len(head) >= HEAD_SIZE - len(BOM) and b"\n" not in head:
        raise FormatError(
            "too-many-columns",
            f"the names of the columns take more than {len(head):,} bytes; is this a table?",
            file=source.display_name,
            line=1,
        )
    _require_few_columns(line.count(separator) + 1, source)
    if "\r" in line:
        raise FormatError(
            "carriage-return",
            "a carriage return in the header; end lines with a line feed",
            file=source.display_name,
            line=1,
        )
    return next(csv.reader([line], delimiter=separator), []), separator


def _read_frame(source: Source, form: Format, note: NoteHandler) -> pl.DataFrame:
    source.read_head()  # refuses what is empty or binary, in our words
    try:
        if form == "parquet":
            return pl.read_parquet(io.BytesIO(source.read_all()))
        if form == "jsonl":
            return _read_json_lines(source)
        return _read_separated(source, form, note)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as cause:
        reason = (str(cause).splitlines() or ["unreadable"])[0]
        raise FormatError(
            "unreadable-table", f"cannot be read as {form}: {reason}", file=source.display_name
        ) from cause


def _read_separated(source: Source, form: Format, note: NoteHandler) -> pl.DataFrame:
    names, separator = _read_header(source, form)
    names = [name.strip() for name in names]
    if duplicates := [name for name in names if name and names.count(name) > 1]:
        raise FormatError(
            "duplicate-column",
            f"column '{duplicates[0]}' stands there twice; rename one of them",
            file=source.display_name,
            line=1,
        )
    content = source.read_all()
    try:
        is_text = b"\0" not in content and (content.isascii() or bool(content.decode()))
    except UnicodeDecodeError:
        is_text = False
    if not is_text:
        for _ in source.lines():  # says which line is no text
            pass
    try:
        frame = pl.read_csv(content.rstrip(b"\r\n"), separator=separator, infer_schema=False)
        _note_short_rows(frame, content, separator, source, note)
        return strip_guards(frame.select(_strip_indent(frame[name]) for name in frame.columns))
    except pl.exceptions.PolarsError:
        _raise_csv_fault(content.decode(), separator, source)
        raise


def _strip_indent(column: pl.Series) -> pl.Series:
    """A column without the blanks that stand after each comma where somebody writes `q1, d1, 2`."""
    name = column.name.strip()
    is_indented = name.lower() in KNOWN_COLUMNS and bool(column.str.starts_with(" ").all())
    return (column.str.strip_chars(" ") if is_indented else column).alias(name)


def _raise_csv_fault(text: str, separator: str, source: Source) -> None:
    """Name the line where a table goes wrong, if Python's reader finds one."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        width = len(next(rows))
        for row in rows:
            if len(row) > width:
                expected = f"expected {width} fields as in the header"
                raise FormatError(
                    "too-many-fields", f"{expected}, found {len(row)}", file=source.display_name, line=rows.line_num
                )
    except csv.Error as error:
        raise FormatError(
            "unreadable-table", f"{error}; is a quote left open?", file=source.display_name, line=rows.line_num
        ) from error


def _note_short_rows(frame: pl.DataFrame, content: bytes, separator: str, source: Source, note: NoteHandler) -> None:
    """A word on rows with fewer fields than the header, of which the last cells are empty.

    Spreadsheets leave out what is empty at the end of a row; a copy that was cut short looks the same.
    """
    is_complete = content.count(separator.encode()) == (frame.height + 1) * (frame.width - 1)
    # Told without reading it all once more.
    if frame.width == 1 or is_complete or not frame[:, -1].has_nulls():
        return
    rows = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator)
    try:
        short_rows = [(rows.line_num, len(row)) for row in rows if 0 < len(row) < frame.width]
    except csv.Error:  # such as a text too long for this reader
        return
    if short_rows:
        line, width = short_rows[0]
        more = f" (as in {len(short_rows) - 1:,} more row{'s' * (len(short_rows) > 2)})" if len(short_rows) > 1 else ""
        text = (
            f"expected {frame.width} fields as in the header, found {width}{more}; the rest of the row counts as empty"
        )
        note(Note("short-rows", text, subject=f"{source.display_name}:{line}"))


def _read_json_lines(source: Source) -> pl.DataFrame:
    import json

    names: set[str] = set()
    records, cells = [], 0
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError("bad-json", f"not JSON ({error})", file=source.display_name, line=number) from error
        if not isinstance(record, dict):
            raise FormatError(
                "not-an-object", f"expected an object {{…}}, found {line[:30]}", file=source.display_name, line=number
            )
        if not source.keeps_nested:
            record = {name: [] if isinstance(value, dict | list) else value for name, value in record.items()}
        records.append(record)
        names.update(record)
        cells += len(record)
        table_cells = len(records) * len(names)
        if table_cells - cells > MAX_EMPTY_CELLS and cells * 20 < table_cells:
            raise FormatError(
                "sparse-objects",
                f"{len(records):,} objects have {len(names):,} different names, and nearly all cells of their table "
                f"would be empty; give them the same names",
                file=source.display_name,
                line=number,
            )
    _require_few_columns(len(names), source)
    if not records:
        raise FormatError("no-data", "no line of data in this file", file=source.display_name)
    try:
        return pl.DataFrame(records, infer_schema_length=None, strict=False)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise FormatError(
            "not-a-table", f"no table can be made of these objects ({error})", file=source.display_name
        ) from error


def _require_few_columns(count: int, source: Source) -> None:
    if count > MAX_COLUMNS:
        raise FormatError(
            "too-many-columns",
            f"expected at most {MAX_COLUMNS:,} columns, found {count:,}; is this a table?",
            file=source.display_name,
        )


def _require_column(frame: pl.DataFrame, name: str, source: Source, *, parameter: str) -> None:
    if name not in frame.columns:
        near = did_you_mean(name, frame.columns) or "; there is " + ", ".join(frame.columns)
        raise UsageError("unknown-column", f"no column '{name}'{near}", parameter=parameter, file=source.display_name)


def _list_distinct_cells(series: pl.Series) -> str:
    distinct = series.cast(pl.String).unique(maintain_order=True).drop_nulls().to_list()
    return f"it has {', '.join(distinct[:5]) or 'only empty cells'}" + (" …" if len(distinct) > 5 else "")
