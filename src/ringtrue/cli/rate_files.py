"""The files of `ringtrue rate`: who preferred what, which labels to trust, and where the ratings go."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringtrue.cli.options import columns_of, conditions_of
from ringtrue.cli.sharing import same_file
from ringtrue.errors import DuplicateError, FormatError, InputError, MismatchError, TableError, UsageError

if TYPE_CHECKING:
    from ringtrue.files import Kind
    from ringtrue.files.source import Source
    from ringtrue.preference import Ratings
    from ringtrue.tables import Judgments, Preferences

__all__ = ["Files", "Targets"]

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
RUN, QRELS = (".run",), (".qrels", ".qrel")
PACKED = (".gz", ".zst")
MOST_CHANCES = 20_000_000  # pairs, about two gigabytes
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
    sources: dict[str, Source] = field(default_factory=dict)  # opened once: standard input can be read only once

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
        return joined([read_preferences(self._source(path), note=note, **self._asked("preferences"))
                       for path in self.preferences])  # fmt: skip

    def read_gold(self) -> Judgments | None:
        """The labels to be trusted, where there are any."""
        from ringtrue.files import read_judgments
        from ringtrue.files.reading import explain_duplicate
        from ringtrue.votes import require_one_label_each, votes_of

        if self.gold is None:
            return None
        source, asked = self._source(self.gold), self._asked("judgments")
        try:
            labels = read_judgments(source, needs_query=False, note=self.notes.append, **asked)
        except (TableError, FormatError, UsageError) as error:
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
            raise MismatchError(f"{self._source(self.gold or '').shown}: {error}") from error
        except TableError as error:
            raise TableError(f"{self._shown}: {error}") from error

    @property
    def _shown(self) -> str:
        return ", ".join(self._source(path).shown for path in self.preferences)

    def _asked(self, kind: Kind) -> dict[str, Any]:
        from ringtrue.cli.inputs import forms_for

        columns, where = (self.columns, self.where) if kind == "preferences" else (self.gold_columns, self.gold_where)
        form = forms_for(("preferences", "judgments"), self.forced)[kind]
        return {"form": form, "columns": columns_of(columns), "where": conditions_of(where)}

    def _source(self, path: str) -> Source:
        from ringtrue.files.source import Source

        return self.sources.setdefault(path, Source(path))

    def _refuse_other_kinds(self, path: str) -> None:
        """Refuse a file that can be read as judgments, or as a run, and does not look like preferences."""
        from ringtrue.files import read_judgments, read_run, recognise_kind

        asked, source = self._asked("preferences"), self._source(path)
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

    def _rows(self, error: DuplicateError) -> str:
        """The rows of the table where the judge voted on that pair; nothing where there is no table, or several."""
        import polars as pl

        from ringtrue.files.formats import TABLES
        from ringtrue.files.opened import Opened
        from ringtrue.tables.columns import identifiers, rename

        asked = self._asked("preferences")
        if len(self.preferences) > 1:
            return ""
        file = Opened.at(
            self._source(self.preferences[0]), "preferences", asked["form"], asked["columns"], asked["where"]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Where to write the ratings, the chances of every pair, and labels with where to cut them."""

    output: str | None
    chances: str | None
    qrels: str | None
    threshold: str | None
    quantile: str | None
    gaps: int | None

    @property
    def files(self) -> dict[str, str]:
        """The files that were asked for, by option."""
        named = {"-o": self.output, "--chances": self.chances, "--qrels": self.qrels}
        return {option: path for option, path in named.items() if path is not None}

    def require(self, files: Files, method: str) -> None:
        """Refuse what cannot be written, before all the work is done."""
        endings = {"-o": (*TABLES, *RUN), "--chances": TABLES, "--qrels": (*QRELS, *TABLES)}
        for option, path in self.files.items():
            if path == "-":
                raise UsageError(f"{option} - is no file; --format csv prints the ratings")
            if _ending(path) not in endings[option]:
                raise UsageError(
                    f"{option} {path}: no format goes by this name; end it with {', '.join(endings[option])}, and "
                    f".gz or .zst to pack it"
                )
            for source in (*files.preferences, files.gold):
                if source is not None and same_file(source, path):
                    raise UsageError(f"{path}: the answer cannot be written onto what it is made from; write to "
                                     f"another file")  # fmt: skip
        paths = list(self.files.values())
        if len({Path(path).resolve() for path in paths}) < len(paths):
            raise UsageError("two answers cannot be written into one file; name another")
        if self.chances is not None and method == "win-rate":
            raise UsageError("--chances: a win rate says nothing about the chance of a win; rate by another method")
        self._require_cut()

    def _require_cut(self) -> None:
        cuts = {"--threshold": self.threshold, "--quantile": self.quantile, "--gaps": self.gaps}
        said = [option for option, value in cuts.items() if value is not None]
        if self.qrels is None and said:
            raise UsageError(f"{said[0]} says how ratings become labels; say where to write them: --qrels FILE")
        if self.qrels is not None and len(said) != 1:
            found = "none" if not said else " and ".join(said)
            raise UsageError(f"--qrels: how should ratings become labels? By one of {', '.join(cuts)}; found {found}")
        _numbers("--threshold", self.threshold)
        _numbers("--quantile", self.quantile)

    def write(self, found: Ratings, note: Callable[[str], None]) -> None:
        """Write what was asked for."""
        from ringtrue.files import write_table

        labels = None if self.qrels is None else self._labels(found)  # refused before the first file is written
        if self.output is not None:
            write_table(found.run() if _ending(self.output) in RUN else found.frame, self.output, note=note)
        if self.chances is not None:
            _refuse_too_many(found)
            write_table(found.chances(), self.chances, note=note)
        if self.qrels is not None and labels is not None:
            write_table(labels, self.qrels, note=note)

    def _labels(self, found: Ratings) -> Judgments:
        return found.labels(
            thresholds=_numbers("--threshold", self.threshold),
            quantiles=_numbers("--quantile", self.quantile),
            gaps=self.gaps,
        )


def _ending(path: str) -> str:
    """What the name of a file ends with, apart from how it is packed."""
    whole = Path(path)
    return (whole.with_suffix("") if whole.suffix in PACKED else whole).suffix.lower()


def _numbers(option: str, said: str | None) -> list[float] | None:
    """`0,1.5` as numbers."""
    if said is None:
        return None
    try:
        return [float(word) for word in said.split(",")]
    except ValueError:
        raise UsageError(f"{option} expects numbers with commas between them, such as 0,1.5; found '{said}'") from None


def _refuse_too_many(found: Ratings) -> None:
    sizes = found.frame["query"].value_counts()["count"].to_numpy()
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if pairs > MOST_CHANCES:
        raise InputError(
            f"--chances: {pairs:,} pairs are too many for a table, {MOST_CHANCES:,} the most; take one "
            f"query at a time with --where query=…"
        )
