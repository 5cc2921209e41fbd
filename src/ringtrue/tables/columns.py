"""Any frame, dictionary or list of records → a Polars frame whose columns hold what they should."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from ringtrue.errors import TableError
from ringtrue.tables.column_aliases import Column

INT32 = range(-(2**31), 2**31)
EMPTY_CELL_HINT = "every row needs one; `--where COLUMN!=` leaves out the rows where COLUMN is empty"


def make_frame(data: object, *, nested: Column | None = None, reader: str = "read_run") -> pl.DataFrame:
    """Any table-like thing as a Polars frame: Polars, pandas, Arrow, columns in a dictionary, records.

    `nested` says what the numbers of a dictionary of dictionaries are, as pytrec_eval has them; `reader` is what would
    read such a table from a file, for those who give a path.

    Examples:
        >>> make_frame({"qid": ["q1"], "docno": ["d1"]}).columns
        ['qid', 'docno']
        >>> make_frame({"q1": {"d1": 2, "d2": 0}}, nested="label").rows()
        [('q1', 'd1', 2), ('q1', 'd2', 0)]
    """
    if isinstance(data, pl.DataFrame):
        return data
    if nested and isinstance(data, Mapping) and data and all(isinstance(docs, Mapping) for docs in data.values()):
        data = {
            "query": [query for query, docs in data.items() for _ in docs],
            "doc": [doc for docs in data.values() for doc in docs],
            nested: [number for docs in data.values() for number in docs.values()],
        }
    try:
        if isinstance(data, pl.LazyFrame):
            return data.collect()
        if hasattr(data, "iloc") and hasattr(data, "columns"):
            return _frame_from_pandas(data)
        if hasattr(data, "__arrow_c_stream__") or isinstance(data, Mapping | list):
            return pl.DataFrame(data, strict=False, infer_schema_length=None)
        if isinstance(data, Iterable) and not isinstance(data, str | bytes):
            return pl.DataFrame(list(data), strict=False, infer_schema_length=None)
    except (TypeError, ValueError, OverflowError, RecursionError, pl.exceptions.PolarsError) as error:
        raise TableError(f"no table can be made of this {type(data).__name__}: {_first_line(error)}") from error
    raise TableError(
        f"expected a table (Polars, pandas or Arrow frame, dictionary, list of records), "
        f"found {type(data).__name__}; `ringtrue.{reader}` and its sisters read files"
    )


def _frame_from_pandas(table: Any) -> pl.DataFrame:
    """Without pyarrow; what pandas holds for missing (NaN, NA, NaT) is missing here too."""
    if table.columns.has_duplicates:
        raise TableError(f"column '{table.columns[table.columns.duplicated()][0]}' stands there twice; keep one")
    columns = {str(name): table[name] for name in table.columns}
    for name, column in columns.items():
        if column.isna().any():
            columns[name] = column.astype(object).where(column.notna(), None)
    return pl.DataFrame({name: pl.Series(column.tolist(), strict=False) for name, column in columns.items()})


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


def require_schema(frame: pl.DataFrame, schema: Mapping[str, type[pl.DataType]], *, table_name: str, hint: str) -> None:
    """Refuse a frame that lacks one of these columns, has it in another type, or leaves a cell of it empty."""
    for name, dtype in schema.items():
        found_dtype = frame.schema.get(name)
        if found_dtype != dtype:
            raise TableError(
                f"{table_name} needs a column '{name}' of type {dtype.__name__}, "
                f"found {found_dtype or ', '.join(frame.columns)}; {hint}"
            )
        if frame[name].null_count():
            raise TableError(
                f"row {_first_row_number(frame[name].is_null())}: column '{name}' is empty; {EMPTY_CELL_HINT}"
            )


def _first_row_number(bad: pl.Series) -> int:
    return int(bad.arg_true()[0]) + 1


def parse_ids(frame: pl.DataFrame, column: Column) -> pl.Series:
    """A column of ids as text: whole numbers are ids too; nothing may be missing or empty."""
    series = frame[column]
    if series.dtype.is_float():
        integers = series.cast(pl.Int64, strict=False)
        if not (integers.cast(pl.Float64) == series).all():
            row = _first_row_number((integers.cast(pl.Float64) != series).fill_null(value=True))
            raise TableError(f"row {row}: expected an id in column '{column}', found {series[row - 1]!r}")
        series = integers
    if series.dtype != pl.String:
        series = _cast_column(series, pl.String, "ids")
    bad = series.is_null() | (series == "")
    if bad.any():
        raise TableError(f"row {_first_row_number(bad)}: column '{column}' is empty; {EMPTY_CELL_HINT}")
    return series


def _cast_column(series: pl.Series, dtype: type[pl.String | pl.Float64], expected: str) -> pl.Series:
    """The values as text or numbers; those that are neither become null, a whole column of them is refused."""
    refused = series.dtype.is_nested() or (expected == "numbers" and series.dtype.is_temporal())
    try:
        if not refused:
            return series.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        pass
    raise TableError(f"column '{series.name}': expected {expected}, found {series.dtype.base_type()}")


def parse_numbers(frame: pl.DataFrame, column: Column) -> pl.Series:
    """A column of finite 64-bit numbers."""
    series = _cast_column(frame[column], pl.Float64, "numbers")
    bad = ~series.is_finite().fill_null(value=False)
    if bad.any():
        row = _first_row_number(bad)
        cell = frame[column][row - 1]
        if cell is None or cell == "":
            empty = f"{frame[column].is_null().sum() or bad.sum():,} of {len(bad):,} rows"
            raise TableError(f"row {row}: column '{column}' is empty, as in {empty}; {EMPTY_CELL_HINT}")
        grades = "; labels are grades such as 0, 1, 2: put numbers in place of words (`disagreement` has --levels)"
        hint = grades if column == "label" else ""
        raise TableError(f"row {row}: expected a finite number in column '{column}', found {cell!r}{hint}")
    return series


def parse_labels(frame: pl.DataFrame, column: Column) -> pl.Series:
    """A column of grades: whole numbers of 32 bits; `2.0` is one too."""
    series = parse_numbers(frame, column)
    bad = (series.round(0) != series) | (series < INT32.start) | (series >= INT32.stop)
    if bad.any():
        row = _first_row_number(bad)
        raise TableError(
            f"row {row}: expected a whole number of 32 bits in column '{column}', found {frame[column][row - 1]!r}"
        )
    return series.cast(pl.Int32)
