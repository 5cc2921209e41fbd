"""What `ringtrue rate` reads and writes: who preferred what, labels to trust; ratings, chances and labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options.common import (
    ALL_OTHERS,
    option_name,
    parse_selection,
    require_one_stdin,
    use_own_options,
)
from ringtrue.cli.options.files import (
    QRELS_SUFFIXES,
    TABLE_SUFFIXES,
    Sources,
    format_suffix,
    formats_by_kind,
    refuse_to_overwrite_source,
)
from ringtrue.errors import DuplicateError, FormatError, InputError, MismatchError, TableError, UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note

if TYPE_CHECKING:
    from ringtrue.files import TableKind
    from ringtrue.files.byte_source import Source
    from ringtrue.preference import Ratings
    from ringtrue.tables import Judgments, Preferences


MAX_ROWS_SHOWN = 4  # rows in a message
RUN_SUFFIXES = (".run",)
MAX_CHANCES = 20_000_000  # pairs, about two gigabytes


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
    notes: list[Note] = field(default_factory=list)
    sources: Sources = field(default_factory=Sources)

    def __post_init__(self) -> None:
        require_one_stdin([*self.preferences, self.gold], ALL_OTHERS)
        if self.gold is None and (self.gold_columns or self.gold_where):
            raise OptionError(
                "needs-parameter",
                "--gold-columns and --gold-where are about the file of --gold, and there is none",
                parameter="gold",
            )

    def read_votes(self) -> Preferences:
        """All the preferences; judgments or a run in their place are told as such."""
        from ringtrue.files import read_preferences
        from ringtrue.tables.preferences import concat_tables

        def note(note: Note) -> None:
            is_one_list = note.code == "no-query-column"
            text = "no column names the query: all documents are rated together" if is_one_list else note.text
            self.notes.append(note.changed(text=text))

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
            raise use_own_options(error, "gold") from error
        try:
            require_one_label_each(make_votes(labels))
        except DuplicateError as error:
            raise explain_duplicate(error, self.gold, **read_settings) from error
        except TableError as error:
            note = error.note.renamed({"scale": None})  # which is another one here
            raise error.with_note(note).found_in(source.display_name) from error
        return labels

    def explain_errors(self, compute: Callable[[], Any]) -> Any:
        """What `compute` gives; what is wrong with the votes is told with their file, repeats with their rows."""
        try:
            return compute()
        except DuplicateError as error:
            located = error.note.changed(text=f"{error.text}{self._locate_repeats(error)}")
            raise error.with_note(located).found_in(self._file_names) from error
        except MismatchError as error:
            raise error.found_in(self.sources[self.gold or ""].display_name) from error
        except TableError as error:
            raise error.found_in(self._file_names) from error

    @property
    def _file_names(self) -> str:
        return ", ".join(self.sources[path].display_name for path in self.preferences)

    def _read_settings(self, kind: TableKind) -> dict[str, Any]:
        form = formats_by_kind(("preferences", "judgments"), self.forced)[kind]
        if kind == "preferences":
            return {"form": form, **parse_selection(self.columns, self.where)}
        return {"form": form, **parse_selection(self.gold_columns, self.gold_where, "gold_")}

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
            "other-kind",
            f"this looks like {kind_text}, expected preferences (query, left, right, winner); {advice}",
            parameter="preferences",
            file=source.display_name,
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
            "other-kind",
            "this looks like preferences, expected judgments (query, doc, label); give the "
            "votes as PREFERENCES, and to --gold labels of documents",
            parameter="gold",
            file=source.display_name,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingTargets:
    """Where to write the ratings, the chances of every pair, and labels with where to cut them."""

    output: str | None
    chances: str | None
    qrels: str | None
    threshold: str | None
    quantile: str | None
    gaps: int | None

    @property
    def path_by_option(self) -> dict[str, str]:
        """The files that were asked for, by option."""
        named = {"-o": self.output, "--chances": self.chances, "--qrels": self.qrels}
        return {option: path for option, path in named.items() if path is not None}

    def require_writable(self, files: RatingFiles, method: str) -> None:
        """Refuse what cannot be written, before all the work is done."""
        endings = {
            "-o": (*TABLE_SUFFIXES, *RUN_SUFFIXES),
            "--chances": TABLE_SUFFIXES,
            "--qrels": (*QRELS_SUFFIXES, *TABLE_SUFFIXES),
        }
        for option, path in self.path_by_option.items():
            parameter = option.lstrip("-") if option != "-o" else "output"
            if path == "-":
                raise OptionError(
                    "not-a-file", f"{option} - is no file; --format csv prints the ratings", parameter=parameter
                )
            if format_suffix(path) not in endings[option]:
                raise OptionError(
                    "unknown-extension",
                    f"no format goes by this name; end it with {', '.join(endings[option])}, and "
                    f".gz or .zst to pack it",
                    parameter=parameter,
                    file=path,
                )
            refuse_to_overwrite_source((*files.preferences, files.gold), path)
        paths = list(self.path_by_option.values())
        if len({Path(path).resolve() for path in paths}) < len(paths):
            raise OptionError(
                "repeated-output", "two answers cannot be written into one file; name another", parameter="output"
            )
        if self.chances is not None and method == "win-rate":
            raise OptionError(
                "conflicting-parameters",
                "--chances: a win rate says nothing about the chance of a win; rate by another method",
                parameter="chances",
            )
        self._require_cut()

    def _require_cut(self) -> None:
        cuts = {"--threshold": self.threshold, "--quantile": self.quantile, "--gaps": self.gaps}
        given_options = [option for option, setting in cuts.items() if setting is not None]
        if self.qrels is None and given_options:
            raise OptionError(
                "needs-parameter",
                f"{given_options[0]} says how ratings become labels; say where to write them: --qrels FILE",
                parameter="qrels",
            )
        if self.qrels is not None and len(given_options) != 1:
            given_text = "none" if not given_options else " and ".join(given_options)
            raise OptionError(
                "conflicting-parameters" if given_options else "needs-parameter",
                f"--qrels: how should ratings become labels? By one of {', '.join(cuts)}; found {given_text}",
                parameter="threshold",
            )
        self._require_numbers()

    def _require_numbers(self) -> None:
        if self.threshold is None and self.quantile is None:
            return
        from ringtrue.preference.results import require_increasing, require_quantiles

        if (thresholds := _parse_numbers("threshold", self.threshold)) is not None:
            require_increasing("thresholds", thresholds)
        if (quantiles := _parse_numbers("quantile", self.quantile)) is not None:
            require_quantiles(quantiles)

    def write(self, ratings: Ratings, note: Callable[[Note], None]) -> None:
        """Write what was asked for."""
        from ringtrue.files import write_table

        # refused before the first file is written
        labels = None if self.qrels is None else self._cut_into_labels(ratings)
        if self.output is not None:
            write_table(
                ratings.run() if format_suffix(self.output) in RUN_SUFFIXES else ratings.frame, self.output, note=note
            )
        if self.chances is not None:
            pairs = _count_pairs(ratings)
            chances = ratings.chances()
            write_table(chances, self.chances, note=note)
            if unconnected := pairs - chances.height:
                text = f"{unconnected:,} of {format_count(pairs, 'pair')} left out: no chain of votes joins the two"
                note(Note("unconnected-pairs", text, parameter="chances", subject=self.chances))
        if self.qrels is not None and labels is not None:
            write_table(labels, self.qrels, note=note)
            self._note_few_labels(labels, note)

    def _note_few_labels(self, labels: Judgments, note: Callable[[Note], None]) -> None:
        if self.gaps is None:
            return
        distinct_labels = labels.frame.group_by("query").n_unique()["label"]
        if n_short := int((distinct_labels < self.gaps).sum()):
            queries = format_count(len(distinct_labels), "query")
            text = f"fewer than {self.gaps} labels in {n_short:,} of {queries}, where fewer ratings differ"
            note(Note("fewer-labels", text, parameter="gaps", subject=self.qrels))

    def _cut_into_labels(self, ratings: Ratings) -> Judgments:
        return ratings.labels(
            thresholds=_parse_numbers("threshold", self.threshold),
            quantiles=_parse_numbers("quantile", self.quantile),
            gaps=self.gaps,
        )


def _parse_numbers(name: str, text: str | None) -> list[float] | None:
    """`0,1.5` as numbers."""
    if text is None:
        return None
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise OptionError(
            "bad-value",
            f"{option_name(name)} expects numbers with commas between them, such as 0,1.5; found '{text}'",
            parameter=name,
        )
    return numbers


def _count_pairs(ratings: Ratings) -> int:
    """How many pairs of documents there are; too many for a table are refused."""
    sizes = ratings.frame["query"].value_counts()["count"].to_numpy()
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if pairs > MAX_CHANCES:
        raise InputError(
            "too-many-pairs",
            f"--chances: {pairs:,} pairs are too many for a table, {MAX_CHANCES:,} the most; take one "
            f"query at a time with --where query=…",
            parameter="chances",
        )
    return pairs
