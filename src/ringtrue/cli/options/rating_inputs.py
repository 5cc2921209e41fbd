"""What `ringtrue rate` reads: who preferred what, and which labels to trust."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ringtrue.cli.options.common import columns_of, conditions_of
from ringtrue.cli.options.files import Sources
from ringtrue.errors import DuplicateError, FormatError, InputError, MismatchError, TableError, UsageError

if TYPE_CHECKING:
    from ringtrue.files import Kind
    from ringtrue.files.source import Source
    from ringtrue.tables import Judgments, Preferences

__all__ = ["Files"]

SHOWN = 4  # rows in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
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
        if [*self.preferences, self.gold].count("-") > 1:
            raise UsageError("standard input (-) can be read only once; put the others into files")
        if self.gold is None and (self.gold_columns or self.gold_where):
            raise UsageError("--gold-columns and --gold-where are about the file of --gold, and there is none")

    def read(self) -> Preferences:
        """All the preferences; judgments or a run in their place are told as such."""
        from ringtrue.files import read_preferences
        from ringtrue.tables.preferences import joined

        def note(text: str) -> None:
            self.notes.append(text.replace("each pair is an item of its own", "all documents are rated together"))

        for path in self.preferences:
            self._refuse_other_kinds(path)
        return joined([read_preferences(self.sources[path], note=note, **self._asked("preferences"))
                       for path in self.preferences])  # fmt: skip

    def read_gold(self) -> Judgments | None:
        """The labels to be trusted, where there are any."""
        from ringtrue.files import read_judgments
        from ringtrue.files.read import explain_duplicate
        from ringtrue.judges.votes import require_one_label_each, votes_of

        if self.gold is None:
            return None
        source, asked = self.sources[self.gold], self._asked("judgments")
        try:
            labels = read_judgments(source, needs_query=False, note=self.notes.append, **asked)
        except (TableError, FormatError, UsageError) as error:
            self._refuse_preferences_as_gold(source, asked)
            raise type(error)(re.sub(r"--(columns|where)\b", r"--gold-\1", str(error))) from error
        try:
            require_one_label_each(votes_of(labels))
        except DuplicateError as error:
            raise explain_duplicate(error, self.gold, **asked) from error
        except TableError as error:
            told = str(error).replace("; --scale declares such labels", "")  # which this command does not have
            raise TableError(f"{source.shown}: {told}") from error
        return labels

    def explained(self, compute: Callable[[], Any]) -> Any:
        """What `compute` gives; what is wrong with the votes is told with their file, repeats with their rows."""
        try:
            return compute()
        except DuplicateError as error:
            raise InputError(f"{self._shown}: {error}{self._rows(error)}") from error
        except MismatchError as error:
            raise MismatchError(f"{self.sources[self.gold or ''].shown}: {error}") from error
        except TableError as error:
            raise TableError(f"{self._shown}: {error}") from error

    @property
    def _shown(self) -> str:
        return ", ".join(self.sources[path].shown for path in self.preferences)

    def _asked(self, kind: Kind) -> dict[str, Any]:
        from ringtrue.cli.options.files import forms_for

        columns, where = (self.columns, self.where) if kind == "preferences" else (self.gold_columns, self.gold_where)
        form = forms_for(("preferences", "judgments"), self.forced)[kind]
        return {"form": form, "columns": columns_of(columns), "where": conditions_of(where)}

    def _refuse_other_kinds(self, path: str) -> None:
        """Refuse a file that can be read as judgments, or as a run, and does not look like preferences."""
        from ringtrue.files import read_judgments, read_run, recognise_kind

        asked, source = self._asked("preferences"), self.sources[path]
        if asked.pop("form") is not None:
            return
        try:
            kind = recognise_kind(source, columns=asked["columns"])
            if kind not in ("judgments", "run"):
                return
            (read_judgments if kind == "judgments" else read_run)(source, **asked)
        except (InputError, UsageError):  # neither; reading it as preferences says what is wrong
            return
        looks, todo = {
            "judgments": ("judgments", f"`ringtrue convert {source.path} out.csv --to-kind preferences` makes those"),
            "run": ("a run", "`ringtrue convert` makes preferences of judgments"),
        }[kind]
        raise FormatError(
            f"{source.shown}: this looks like {looks}, expected preferences (query, left, right, winner); {todo}"
        )

    @staticmethod
    def _refuse_preferences_as_gold(source: Source, asked: Mapping[str, Any]) -> None:
        """Say so where gold could not be read as judgments because it holds preferences."""
        from ringtrue.files import read_preferences

        try:
            read_preferences(source, **asked)
        except (InputError, UsageError):
            return
        raise FormatError(
            f"{source.shown}: this looks like preferences, expected judgments (query, doc, label); give the votes as "
            f"PREFERENCES, and to --gold labels of documents"
        )

    def _rows(self, error: DuplicateError) -> str:
        """The rows of the table where the judge voted on that pair; nothing where there is no table, or several."""
        import polars as pl

        from ringtrue.files.formats import TABLES
        from ringtrue.files.table_file import Opened
        from ringtrue.tables.columns import identifiers, rename

        asked = self._asked("preferences")
        if len(self.preferences) > 1:
            return ""
        file = Opened.at(
            self.sources[self.preferences[0]], "preferences", asked["form"], asked["columns"], asked["where"]
        )
        if file.form not in TABLES:
            return ""
        table = rename(
            file.rows(lambda _: None), required=["left", "right", "judge"], optional=["query"], what="preferences"
        )
        rows = table.select(
            pl.int_range(1, pl.len() + 1).alias("row"),
            *(identifiers(table, name) for name in ("left", "right", "judge")),
            identifiers(table, "query") if "query" in table.columns else pl.lit(error.query).alias("query"),
        ).filter(pl.col("judge") == error.judge, pl.col("query") == error.query)
        rows = rows.with_columns(pair=pl.concat_list("left", "right").list.sort())
        again = rows.filter(pl.len().over("pair") > 1, pl.col("pair").list.first() == error.doc)
        if not again.height:
            return ""
        places = again.filter(pl.col("pair") == pl.col("pair").first())["row"].to_list()
        return f" (rows {', '.join(map(str, places[:SHOWN]))}{', …' * (len(places) > SHOWN)})"
