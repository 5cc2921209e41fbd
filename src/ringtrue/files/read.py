"""A file → a table: the doors that everybody uses, and errors that say where in a file something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, TypeAlias, TypeVar

import polars as pl

from ringtrue.errors import DuplicateError, FormatError, TableError, UsageError, did_you_mean
from ringtrue.files.byte_source import COMPRESSED_SUFFIXES, STDIN, Source
from ringtrue.files.formats import FORMATS, LAYOUTS, TABLE_FORMATS, Format, TableKind, recognise_format
from ringtrue.files.tabular import NoteHandler, map_columns, read_table
from ringtrue.files.texts import read_cranfield, read_id_text, read_trec_topics, require_unique_ids
from ringtrue.files.whitespace_fields import find_lines, line_of_row, read_fields, split_fields
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Judgments, Preferences, Run
from ringtrue.tables.columns import COLUMN_ALIASES, parse_ids, rename_columns, suggest_columns
from ringtrue.tables.preferences import find_invalid_row

ColumnMapping: TypeAlias = Mapping[str, str] | None
T = TypeVar("T")


def read_run(
    path: str | Path | Source,
    *,
    form: Format | None = None,
    columns: ColumnMapping = None,
    where: ColumnMapping = None,
    name: Literal["file", "tag"] = "file",
    note: NoteHandler = lambda _: None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Read a run; it is named after the file without its extensions, or by the tag inside.

    `note` is called with whatever is worth a word but is no error, `progress` with the number of bytes that
    were read since it was last called.

    Examples:
        >>> path = getfixture("tmp_path") / "bm25.run.gz"
        >>> import gzip; _ = path.write_bytes(gzip.compress(b"q1 Q0 d1 1 3.5 BM25\\n"))
        >>> run = read_run(path)
        >>> run.name, run.frame.rows()
        ('bm25', [('q1', 'd1', 3.5)])
    """
    file = TableFile.open(path, "run", form, columns, where, progress)
    tag = _read_tag(file.source) if file.form == "trec-run" else None
    run_name = tag if name == "tag" and tag else derive_run_name(path)
    frame = file.read_rows(note)
    if file.form == "msmarco-run":
        frame = _ranks_to_scores(frame, file.source)
    if file.form in LAYOUTS:  # checked as it was read
        return file.locate_errors(lambda: Run(frame, name=run_name, tag=tag))
    return file.locate_errors(lambda: Run.of(frame, name=run_name))


def read_judgments(
    path: str | Path | Source,
    *,
    form: Format | None = None,
    columns: ColumnMapping = None,
    where: ColumnMapping = None,
    needs_query: bool = True,
    allow_blank: bool = False,
    note: NoteHandler = lambda _: None,
) -> Judgments:
    """Read judgments: TREC qrels with the iteration as judge, or a table with query, doc, judge and label.

    With `needs_query=False` a table may lack the query; a note says so, since a mere misspelling looks the same. With
    `allow_blank`, an empty label says that a document was not judged.

    Examples:
        >>> path = getfixture("tmp_path") / "human.qrels"
        >>> _ = path.write_text("q1 0 d1 2\\nq1 0 d2 0\\n")
        >>> read_judgments(path).frame["label"].to_list()
        [2, 0]
    """
    file = TableFile.open(path, "judgments", form, columns, where)
    frame = file.read_rows(note)
    judgments = file.locate_errors(lambda: Judgments.of(frame, needs_query=needs_query, allow_blank=allow_blank))
    if not needs_query:
        _note_missing_query(file.source, frame, judgments.frame, "document", note)
    return judgments


def read_preferences(
    path: str | Path | Source,
    *,
    form: Format | None = None,
    columns: ColumnMapping = None,
    where: ColumnMapping = None,
    note: NoteHandler = lambda _: None,
) -> Preferences:
    """Read preferences: `query doc doc winner`, trec_eval's prefs, or a table with left, right and winner.

    A table may lack the query; a note says so, since a mere misspelling looks the same. It may have rows without a
    winner, pairs that are still to be asked: they are left out, and a note says how many.

    Examples:
        >>> path = getfixture("tmp_path") / "human.pref"
        >>> _ = path.write_text("q1 d1 d2 d2\\n")
        >>> read_preferences(path).frame["winner"].to_list()
        ['right']
    """
    file = TableFile.open(path, "preferences", form, columns, where)
    frame = file.read_rows(note)
    # In lines without names for columns, only our own words for an outcome are understood.
    if file.form == "pairs" and (invalid_row := find_invalid_row(frame)) is not None:
        row, fault = invalid_row
        raise FormatError.of(fault, file=file.source.display_name, line=line_of_row(file.source, row))
    if file.form == "trec-prefs":
        from ringtrue.files.trec_prefs import groups_to_pairs

        frame = file.locate_errors(lambda: groups_to_pairs(frame, file.source))
    preferences = file.locate_errors(lambda: Preferences.of(frame, answered_only=file.form in TABLE_FORMATS))
    if unanswered := frame.height - preferences.frame.height:
        text = f"{unanswered:,} of {frame.height:,} pairs have no winner yet, and are left out"
        note(Note("unanswered-pairs", text, subject=file.source.display_name))
    _note_missing_query(file.source, frame, preferences.frame, "pair", note)
    return preferences


def read_topics(
    path: str | Path | Source,
    *,
    form: Format | None = None,
    columns: ColumnMapping = None,
    where: ColumnMapping = None,
    note: NoteHandler = lambda _: None,  # noqa: ARG001 - every reader takes the same
) -> pl.DataFrame:
    """Read topics: a frame with query and title, and whatever else there is.

    Examples:
        >>> path = getfixture("tmp_path") / "topics.tsv"
        >>> _ = path.write_text("156493\\tdo goldfish grow\\n")
        >>> read_topics(path).rows()
        [('156493', 'do goldfish grow')]
    """
    return _read_texts(path, "topics", "query", form, columns, where)


def read_documents(
    path: str | Path | Source,
    *,
    form: Format | None = None,
    columns: ColumnMapping = None,
    where: ColumnMapping = None,
    note: NoteHandler = lambda _: None,  # noqa: ARG001 - every reader takes the same
) -> pl.DataFrame:
    """Read documents: a frame with doc and text, and whatever else there is.

    Examples:
        >>> path = getfixture("tmp_path") / "cran.all"
        >>> _ = path.write_text(".I 1\\n.T\\nwings\\n.W\\nof a wing in a slipstream\\n")
        >>> read_documents(path).rows()
        [('1', 'wings', 'of a wing in a slipstream')]
    """
    return _read_texts(path, "documents", "doc", form, columns, where)


def derive_run_name(path: str | Path | Source) -> str:
    """What a run is called: its file's name without extensions."""
    path = path.path if isinstance(path, Source) else str(path)
    if path == STDIN:
        return "stdin"
    name = Path(path).name
    while Path(name).suffix in COMPRESSED_SUFFIXES:
        name = Path(name).stem
    return Path(name).stem if Path(name).suffix else name


def explain_duplicate(
    error: DuplicateError,
    path: str | Path,
    *,
    kind: TableKind = "judgments",
    form: Format | None = None,
    columns: ColumnMapping = None,
    where: ColumnMapping = None,
) -> DuplicateError:
    """The same error about judgments or preferences, with the file and the lines where the document stands."""
    source = Source(str(path))
    if source.is_stream or kind == "preferences":  # gone by now; or a pair, which may stand either way round
        return error.found_in(source.display_name)
    return TableFile.open(path, kind, form, columns, where).with_lines(error)


def _note_missing_query(source: Source, rows: pl.DataFrame, table: pl.DataFrame, unit: str, note: NoteHandler) -> None:
    """A word where no column of what was read names the query."""
    if not {name.lower() for name in rows.columns} & set(COLUMN_ALIASES["query"]):
        text = f"no column names the query: each {unit} is an item of its own"
        hints = suggest_columns("query", table.columns)
        note(Note("no-query-column", text, parameter="columns", subject=source.display_name, suggestions=hints))


def _read_tag(source: Source) -> str | None:
    for line in source.read_head().decode("utf-8", "replace").split("\n"):
        fields = split_fields(line)
        if fields and not line.startswith("#"):
            return fields[5] if len(fields) > 5 else None
    return None


def _ranks_to_scores(frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    """MS MARCO's runs have ranks: the first is the best. Scores in their place would turn the ranking around."""
    invalid = frame.filter((pl.col("score") < 1) | (pl.col("score") != pl.col("score").round(0)))
    if invalid.height:
        query, doc, rank = invalid.row(0)
        line = find_lines(source, LAYOUTS["msmarco-run"], query=query, doc=doc)[0]
        raise FormatError(
            "bad-rank",
            f"with three fields the last is a rank (1, 2, …), found {rank:g}; "
            f"a run with scores has six: query Q0 doc rank score tag",
            file=source.display_name,
            line=line,
        )
    return frame.with_columns(-pl.col("score"))


def _read_texts(
    path: str | Path | Source,
    kind: TableKind,
    column: Literal["query", "doc"],
    form: Format | None,
    columns: ColumnMapping,
    where: ColumnMapping,
) -> pl.DataFrame:
    file = TableFile.open(path, kind, form, columns, where)
    if file.form == "trec-topics":
        return read_trec_topics(file.source)
    if file.form == "cranfield":
        return _name_title_column(read_cranfield(file.source, column), kind)
    if file.form == "id-text":
        return read_id_text(file.source, column)
    table = file.read_rows(lambda _: None)
    if "_id" in table.columns:  # BEIR
        table = map_columns(table, {column: "_id"})

    def build_frame() -> pl.DataFrame:
        frame = rename_columns(table, required=[column], table_kind=kind)
        return _name_title_column(
            require_unique_ids(frame.with_columns(parse_ids(frame, column)), column, file.source), kind
        )

    return file.locate_errors(build_frame)


def _name_title_column(frame: pl.DataFrame, kind: TableKind) -> pl.DataFrame:
    """A topic's only text is its title, whatever the file calls it."""
    needs_rename = kind == "topics" and "text" in frame.columns and "title" not in frame.columns
    return frame.rename({"text": "title"}) if needs_rename else frame


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
        source = Source.of(path, progress)
        if form is not None and form not in FORMATS[kind]:
            near = did_you_mean(form, FORMATS[kind]) or "; choose from " + ", ".join(FORMATS[kind])
            raise UsageError(
                "unknown-format",
                f"'{form}' is no format for {kind}{near}",
                parameter="form",
                file=source.display_name,
            )
        source.read_head()
        form = form or recognise_format(source, kind, columns=(columns or {}).values())
        if form not in TABLE_FORMATS and (columns or where):
            raise UsageError(
                "no-column-names",
                f"columns and rows are chosen in a table with named columns, this is {form}",
                parameter="columns" if columns else "where",
                file=source.display_name,
            )
        return cls(source, form, columns, where)

    def read_rows(self, note: NoteHandler) -> pl.DataFrame:
        """All of it, as the format has it."""
        if self.form not in LAYOUTS:
            return read_table(self.source, self.form, columns=self.columns, where=self.where, note=note)
        return read_fields(self.source, LAYOUTS[self.form], note)

    def locate_errors(self, build: Callable[[], T]) -> T:
        """What `build` gives; its errors get the file's name, and lines where there are any."""
        try:
            return build()
        except DuplicateError as error:
            raise self.with_lines(error) from error
        except TableError as error:
            conditions = ", ".join(f"{name}={value}" for name, value in (self.where or {}).items())
            narrowed = error.about(f"where {conditions}") if conditions else error
            raise suggest_selection(narrowed).found_in(self.source.display_name) from error

    def with_lines(self, error: DuplicateError) -> DuplicateError:
        """The error, with the lines of the file, or the rows of the table, that it is about."""
        field_values = {"query": error.query, "doc": error.doc}
        if self.form in LAYOUTS:
            if error.judge is not None and "judge" in LAYOUTS[self.form].kept_fields:
                field_values["judge"] = error.judge
            places = find_lines(self.source, LAYOUTS[self.form], **field_values)
        else:
            table = read_table(self.source, self.form, columns=self.columns, where=self.where)
            table = rename_columns(table, required=["doc"], optional=["query", "judge"], table_kind=error.table)
            is_duplicate = parse_ids(table, "doc") == error.doc
            for column, value in (("query", error.query), ("judge", error.judge)):
                if value is not None and column in table.columns:
                    is_duplicate &= parse_ids(table, column) == value  # type: ignore[arg-type]  # the two are columns
            places = [row + 1 for row in is_duplicate.arg_true().to_list()]
        unit = "lines" if self.form in LAYOUTS else "rows"
        text = f"{error.text} ({unit} {', '.join(map(str, places[:4]))})"
        return error.with_note(error.note.changed(text=text)).found_in(self.source.display_name)


def suggest_selection(error: TableError) -> TableError:
    """The same error about a table, where it comes from a file of which columns and rows can be chosen."""
    if error.code == "missing-column":
        which = "which column it is" if len(error.columns) == 1 else "which columns these are"
        remedy = Suggestion(f"says {which}", columns=dict.fromkeys(error.columns, "NAME"))
    elif error.code == "empty-cell":
        remedy = Suggestion("leaves out the rows where COLUMN is empty", where={"COLUMN!": ""})
    else:
        return error
    return error.with_note(error.note.changed(suggestions=[*error.note.suggestions, remedy]))
