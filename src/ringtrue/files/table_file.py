"""A file whose format is known: its rows, and errors that say where in it something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias, TypeVar

import polars as pl

from ringtrue.errors import DuplicateError, TableError, UsageError, did_you_mean
from ringtrue.files.formats import FORMATS, LAYOUTS, TABLES, Format, Kind, recognise
from ringtrue.files.source import Source
from ringtrue.files.tabular import read_table
from ringtrue.files.whitespace_fields import find_lines, read_fields
from ringtrue.tables.columns import identifiers, rename

__all__ = ["Names", "Note", "Opened", "retold"]

Note: TypeAlias = Callable[[str], None]
Names: TypeAlias = Mapping[str, str] | None
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Opened:
    """A file whose format is known, and what was asked of its columns and rows."""

    source: Source
    form: Format
    columns: Names
    where: Names

    @classmethod
    def at(
        cls,
        path: str | Path | Source,
        kind: Kind,
        form: Format | None,
        columns: Names,
        where: Names,
        progress: Callable[[int], None] | None = None,
    ) -> Self:
        """The file at a path, in the format that was said or is recognised."""
        source = path if isinstance(path, Source) else Source(str(path), progress)
        if form is not None and form not in FORMATS[kind]:
            near = did_you_mean(form, FORMATS[kind]) or "; choose from " + ", ".join(FORMATS[kind])
            raise UsageError(f"{source.shown}: '{form}' is no format for {kind}{near}")
        source.head()
        form = form or recognise(source, kind, columns=(columns or {}).values())
        if form not in TABLES and (columns or where):
            raise UsageError(f"{source.shown}: --columns and --where need a table with named columns, this is {form}")
        return cls(source, form, columns, where)

    def rows(self, note: Note) -> pl.DataFrame:
        """All of it, as the format has it."""
        if self.form not in LAYOUTS:
            return read_table(self.source, self.form, columns=self.columns, where=self.where, note=note)
        read = read_fields(self.source, LAYOUTS[self.form])
        for text in read.notes:
            note(text)
        return read.frame

    def made(self, make: Callable[[], T]) -> T:
        """What `make` gives; its errors get the file's name, and lines where there are any."""
        try:
            return make()
        except DuplicateError as error:
            raise self.with_lines(error) from error
        except TableError as error:
            rows = "".join(f", where {name}={value}" for name, value in (self.where or {}).items())
            raise TableError(f"{self.source.shown}{rows}: {error}") from error

    def with_lines(self, error: DuplicateError) -> DuplicateError:
        """The error, with the lines of the file, or the rows of the table, that it is about."""
        wanted = {"query": error.query, "doc": error.doc}
        if self.form in LAYOUTS:
            if error.judge is not None and "judge" in LAYOUTS[self.form].kept:
                wanted["judge"] = error.judge
            what, places = "lines", find_lines(self.source, LAYOUTS[self.form], **wanted)
        else:
            table = read_table(self.source, self.form, columns=self.columns, where=self.where)
            table = rename(table, required=["doc"], optional=["query", "judge"], what=error.table)
            same = identifiers(table, "doc") == error.doc
            for column, value in (("query", error.query), ("judge", error.judge)):
                if value is not None and column in table.columns:
                    same &= identifiers(table, column) == value  # type: ignore[arg-type]  # the two are columns
            what, places = "rows", [row + 1 for row in same.arg_true().to_list()]
        return retold(error, f"{self.source.shown}: {error} ({what} {', '.join(map(str, places[:4]))})")


def retold(error: DuplicateError, message: str) -> DuplicateError:
    """The same error in other words."""
    return DuplicateError(message, table=error.table, query=error.query, doc=error.doc, judge=error.judge)
