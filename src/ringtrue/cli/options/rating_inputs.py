"""What `ringtrue rate` reads: who preferred what, and which labels to trust."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ringtrue.cli.options.common import ALL_OTHERS, parse_columns, parse_conditions, require_one_stdin
from ringtrue.cli.options.files import Sources
from ringtrue.errors import DuplicateError, FormatError, InputError, MismatchError, TableError, UsageError

if TYPE_CHECKING:
    from ringtrue.files import TableKind
    from ringtrue.files.byte_source import Source
    from ringtrue.tables import Judgments, Preferences

MAX_ROWS_SHOWN = 4  # rows in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingFiles:
    """The files of preferences and that of gold, and how to read them; `notes` gathers what is doubtful."""

    preferences: tuple[str, ...]
    gold: str | None
    forced: tuple[str, ...]
    columns: tuple[str, ...]
    where: tuple[str, ...]
    gold_columns: tuple[str, ...]
    gold_where: tuple[str, ...]
    notes: list[str] = field(default_factory=list)
    sources: Sources = field(default_factory=Sources)

    def __post_init__(self) -> None:
        require_one_stdin([*self.preferences, self.gold], ALL_OTHERS)
        if self.gold is None and (self.gold_columns or self.gold_where):
            raise UsageError("--gold-columns and --gold-where are about the file of --gold, and there is none")

    def read_votes(self) -> Preferences:
        """All the preferences; judgments or a run in their place are told as such."""
        from ringtrue.files import read_preferences
        from ringtrue.tables.preferences import concat_tables

        def note(text: str) -> None:
            self.notes.append(text.replace("each pair is an item of its own", "all documents are rated together"))

        for path in self.preferences:
            self._refuse_other_kinds(path)
        return concat_tables(
            [
                read_preferences(self.sources[path], note=note, **self._read_settings("preferences"))
                for path in self.preferences
            ]
        )

    def read_gold(self) -> Judgments | None:
        """The labels to be trusted, where there are any."""
        from ringtrue.files import read_judgments
        from ringtrue.files.read import explain_duplicate
        from ringtrue.judges.votes import make_votes, require_one_label_each

        if self.gold is None:
            return None
        source, read_settings = self.sources[self.gold], self._read_settings("judgments")
        try:
            labels = read_judgments(source, needs_query=False, note=self.notes.append, **read_settings)
        except (TableError, FormatError, UsageError) as error:
            self._refuse_preferences_as_gold(source, read_settings)
            raise type(error)(re.sub(r"--(columns|where)\b", r"--gold-\1", str(error))) from error
        try:
            require_one_label_each(make_votes(labels))
        except DuplicateError as error:
            raise explain_duplicate(error, self.gold, **read_settings) from error
        except TableError as error:
            message = str(error).replace("; --scale declares such labels", "")  # which this command does not have
            raise TableError(f"{source.display_name}: {message}") from error
        return labels

    def explain_errors(self, compute: Callable[[], Any]) -> Any:
        """What `compute` gives; what is wrong with the votes is told with their file, repeats with their rows."""
        try:
            return compute()
        except DuplicateError as error:
            raise InputError(f"{self._file_names}: {error}{self._locate_repeats(error)}") from error
        except MismatchError as error:
            raise MismatchError(f"{self.sources[self.gold or ''].display_name}: {error}") from error
        except TableError as error:
            raise TableError(f"{self._file_names}: {error}") from error

    @property
    def _file_names(self) -> str:
        return ", ".join(self.sources[path].display_name for path in self.preferences)

    def _read_settings(self, kind: TableKind) -> dict[str, Any]:
        from ringtrue.cli.options.files import formats_by_kind

        columns, where = (self.columns, self.where) if kind == "preferences" else (self.gold_columns, self.gold_where)
        form = formats_by_kind(("preferences", "judgments"), self.forced)[kind]
        return {"form": form, "columns": parse_columns(columns), "where": parse_conditions(where)}

    def _refuse_other_kinds(self, path: str) -> None:
        """Refuse a file that can be read as judgments, or as a run, and does not look like preferences."""
        from ringtrue.files import read_judgments, read_run, recognise_kind

        read_settings, source = self._read_settings("preferences"), self.sources[path]
        if read_settings.pop("form") is not None:
            return
        try:
            kind = recognise_kind(source, columns=read_settings["columns"])
            if kind not in ("judgments", "run"):
                return
            (read_judgments if kind == "judgments" else read_run)(source, **read_settings)
        except (InputError, UsageError):  # neither; reading it as preferences says what is wrong
            return
        kind_text, advice = {
            "judgments": ("judgments", f"`ringtrue convert {source.path} out.csv --to-kind preferences` makes those"),
            "run": ("a run", "`ringtrue convert` makes preferences of judgments"),
        }[kind]
        raise FormatError(
            f"{source.display_name}: this looks like {kind_text}, expected preferences (query, left, right, "
            f"winner); {advice}"
        )

    @staticmethod
    def _refuse_preferences_as_gold(source: Source, read_settings: Mapping[str, Any]) -> None:
        """Say so where gold could not be read as judgments because it holds preferences."""
        from ringtrue.files import read_preferences

        try:
            read_preferences(source, **read_settings)
        except (InputError, UsageError):
            return
        raise FormatError(
            f"{source.display_name}: this looks like preferences, expected judgments (query, doc, label); give the "
            "votes as PREFERENCES, and to --gold labels of documents"
        )

    def _locate_repeats(self, error: DuplicateError) -> str:
        """The rows of the table where the judge voted on that pair; nothing where there is no table, or several."""
        import polars as pl

        from ringtrue.files.formats import TABLE_FORMATS
        from ringtrue.files.read import TableFile
        from ringtrue.tables.columns import parse_ids, rename_columns

        read_settings = self._read_settings("preferences")
        if len(self.preferences) > 1:
            return ""
        file = TableFile.open(
            self.sources[self.preferences[0]],
            "preferences",
            read_settings["form"],
            read_settings["columns"],
            read_settings["where"],
        )
        if file.form not in TABLE_FORMATS:
            return ""
        table = rename_columns(
            file.read_rows(lambda _: None),
            required=["left", "right", "judge"],
            optional=["query"],
            table_kind="preferences",
        )
        rows = table.select(
            pl.int_range(1, pl.len() + 1).alias("row"),
            *(parse_ids(table, name) for name in ("left", "right", "judge")),
            parse_ids(table, "query") if "query" in table.columns else pl.lit(error.query).alias("query"),
        ).filter(pl.col("judge") == error.judge, pl.col("query") == error.query)
        rows = rows.with_columns(pair=pl.concat_list("left", "right").list.sort())
        repeated = rows.filter(pl.len().over("pair") > 1, pl.col("pair").list.first() == error.doc)
        if not repeated.height:
            return ""
        row_numbers = repeated.filter(pl.col("pair") == pl.col("pair").first())["row"].to_list()
        return (
            f" (rows {', '.join(map(str, row_numbers[:MAX_ROWS_SHOWN]))}{', …' * (len(row_numbers) > MAX_ROWS_SHOWN)})"
        )
