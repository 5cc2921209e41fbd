"""A file whose format is known: its rows, and errors that say where in it something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias, TypeVar

import polars as pl

from ringtrue.errors import DuplicateError, TableError, UsageError, did_you_mean
from ringtrue.files.byte_source import Source
from ringtrue.files.formats import FORMATS, LAYOUTS, TABLE_FORMATS, Format, TableKind, recognise_format
from ringtrue.files.tabular import read_table
from ringtrue.files.whitespace_fields import find_lines, read_fields
from ringtrue.tables.column_aliases import rename_columns
from ringtrue.tables.columns import parse_ids

NoteHandler: TypeAlias = Callable[[str], None]
ColumnMapping: TypeAlias = Mapping[str, str] | None
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file whose format is known, and what was asked of its columns and rows."""

    source: Source
    form: Format
    columns: ColumnMapping
    where: ColumnMapping

    @classmethod
    def open(
        cls,
        path: str | Path | Source,
        kind: TableKind,
        form: Format | None,
        columns: ColumnMapping,
        where: ColumnMapping,
        progress: Callable[[int], None] | None = None,
    ) -> Self:
        """The file at a path, in the format that was said or is recognised."""
        source = path if isinstance(path, Source) else Source(str(path), progress)
        if form is not None and form not in FORMATS[kind]:
            near = did_you_mean(form, FORMATS[kind]) or "; choose from " + ", ".join(FORMATS[kind])
            raise UsageError(f"{source.display_name}: '{form}' is no format for {kind}{near}")
        source.read_head()
        form = form or recognise_format(source, kind, columns=(columns or {}).values())
        if form not in TABLE_FORMATS and (columns or where):
            raise UsageError(
                f"{source.display_name}: --columns and --where need a table with named columns, this is {form}"
            )
        return cls(source, form, columns, where)

    def read_rows(self, note: NoteHandler) -> pl.DataFrame:
        """All of it, as the format has it."""
        if self.form not in LAYOUTS:
            return read_table(self.source, self.form, columns=self.columns, where=self.where, note=note)
        parsed = read_fields(self.source, LAYOUTS[self.form])
        for message in parsed.notes:
            note(message)
        return parsed.frame

    def locate_errors(self, build: Callable[[], T]) -> T:
        """What `build` gives; its errors get the file's name, and lines where there are any."""
        try:
            return build()
        except DuplicateError as error:
            raise self.with_lines(error) from error
        except TableError as error:
            conditions = "".join(f", where {name}={value}" for name, value in (self.where or {}).items())
            raise TableError(f"{self.source.display_name}{conditions}: {error}") from error

    def with_lines(self, error: DuplicateError) -> DuplicateError:
        """The error, with the lines of the file, or the rows of the table, that it is about."""
        field_values = {"query": error.query, "doc": error.doc}
        if self.form in LAYOUTS:
            if error.judge is not None and "judge" in LAYOUTS[self.form].kept_fields:
                field_values["judge"] = error.judge
            unit, numbers = "lines", find_lines(self.source, LAYOUTS[self.form], **field_values)
        else:
            table = read_table(self.source, self.form, columns=self.columns, where=self.where)
            table = rename_columns(table, required=["doc"], optional=["query", "judge"], table_kind=error.table)
            is_duplicate = parse_ids(table, "doc") == error.doc
            for column, value in (("query", error.query), ("judge", error.judge)):
                if value is not None and column in table.columns:
                    is_duplicate &= parse_ids(table, column) == value  # type: ignore[arg-type]  # the two are columns
            unit, numbers = "rows", [row + 1 for row in is_duplicate.arg_true().to_list()]
        return with_message(error, f"{self.source.display_name}: {error} ({unit} {', '.join(map(str, numbers[:4]))})")


def with_message(error: DuplicateError, message: str) -> DuplicateError:
    """The same error in other words."""
    return DuplicateError(message, table=error.table, query=error.query, doc=error.doc, judge=error.judge)
