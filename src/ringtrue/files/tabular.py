"""Tables with named columns: CSV, TSV, JSON lines, Parquet."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import polars as pl

from ringtrue.errors import FormatError, UsageError, did_you_mean
from ringtrue.files.formats import Format, separator_of
from ringtrue.files.source import Source

__all__ = ["column_names", "read_table"]


def read_table(
    source: Source,
    form: Format,
    *,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """The table, filtered and with its columns renamed as asked; `columns` maps our names to the file's."""
    frame = _read(source, form)
    for name, value in (where or {}).items():
        _require(frame, name, source, option="--where")
        if not frame.filter(pl.col(name).cast(pl.String) == value).height:
            raise UsageError(f"{source.shown}: no row has {name}={value}; {_values(frame[name])}")
        frame = frame.filter(pl.col(name).cast(pl.String) == value)
    for ours, theirs in (columns or {}).items():
        _require(frame, theirs, source, option="--columns")
        if ours != theirs:
            # What bore the name before steps aside: `--columns label=nist_rel` beside a column `label`.
            frame = frame.rename({ours: f"{ours}_before"}) if ours in frame.columns else frame
            frame = frame.rename({theirs: ours})
    if not frame.height:
        raise FormatError(f"{source.shown}: a header but no rows")
    return frame


def column_names(source: Source, form: Format) -> list[str]:
    """The names of the columns, without reading all of a text file."""
    if form in ("csv", "tsv"):
        return pl.read_csv(_up_to_line(source.head()), separator=_separator(source, form), n_rows=0).columns
    if form == "jsonl":
        return list(_read(source, form).columns)
    return _read(source, form).columns


def _up_to_line(start: bytes) -> bytes:
    return start[: start.find(b"\n") + 1] or start


def _separator(source: Source, form: Format) -> str:
    if form == "tsv":
        return "\t"
    header = (source.head().decode("utf-8", "replace").splitlines() or [""])[0]
    return separator_of(header) or ","


def _read(source: Source, form: Format) -> pl.DataFrame:
    source.head()  # refuses what is empty or binary, in our words
    try:
        if form == "parquet":
            return pl.read_parquet(io.BytesIO(source.whole()))
        if form == "jsonl":
            return _json_lines(source)
        data: Any = source.whole()
        return pl.read_csv(data, separator=_separator(source, form), infer_schema=False, truncate_ragged_lines=False)
    except pl.exceptions.PolarsError as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise FormatError(f"{source.shown}: cannot be read as {form}: {reason}") from error


def _json_lines(source: Source) -> pl.DataFrame:
    import json

    records = []
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise FormatError(f"{source.shown}:{number}: not JSON ({error})") from error
        if not isinstance(record, dict):
            raise FormatError(f"{source.shown}:{number}: expected an object {{…}}, found {line[:30]}")
        records.append(record)
    if not records:
        raise FormatError(f"{source.shown}: no line of data in this file")
    return pl.DataFrame(records, infer_schema_length=None, strict=False)


def _require(frame: pl.DataFrame, name: str, source: Source, *, option: str) -> None:
    if name not in frame.columns:
        near = did_you_mean(name, frame.columns) or "; it has " + ", ".join(frame.columns)
        raise UsageError(f"{option}: {source.shown} has no column '{name}'{near}")


def _values(series: pl.Series) -> str:
    found = series.cast(pl.String).unique(maintain_order=True).drop_nulls().to_list()
    return f"it has {', '.join(found[:5])}" + (" …" if len(found) > 5 else "")
