"""What every command about judges is asked: whose labels, on which scale, against which gold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.options.files import Sources, columns_per_file, is_same_file, list_table_columns, normalise_selection
from ringtrue.errors import DuplicateError, FormatError, MismatchError, TableError, UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note

if TYPE_CHECKING:
    from ringtrue.files import Format, TableKind
    from ringtrue.judges.votes import Outside, Repeats, Votes
    from ringtrue.stats.confusion import Confusion
    from ringtrue.tables import Judgments, Preferences


LABEL_RANGE = re.compile(r"(-?\d+)(?:-|\.\.)(-?\d+)")
MAX_LABELS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelInputs:
    """The files of labels and of gold, and how to read them, as somebody asked; `notes` gathers what is doubtful."""

    labels: tuple[str, ...]
    gold: str | None
    scale: str | None = None
    outside: Outside = "refuse"
    repeats: Repeats | None
    level: float
    gold_columns: tuple[str, ...]
    gold_where: tuple[str, ...]
    forced: tuple[str, ...]
    columns: tuple[str, ...]
    where: tuple[str, ...]
    notes: list[Note] = field(default_factory=list)
    sources: Sources = field(default_factory=Sources)

    def __post_init__(self) -> None:
        common.require_one_stdin([*self.labels, self.gold], common.ALL_OTHERS)
        if self.gold is None and (self.gold_columns or self.gold_where):
            raise OptionError(
                "needs-parameter",
                "--gold-columns and --gold-where are about the file of --gold, and there is none",
                parameter="gold",
            )
        if self.scale is None and self.outside != "refuse":
            raise OptionError(
                "needs-parameter",
                f"--outside {self.outside} is about labels outside a scale; declare one, such as --scale 0-3",
                parameter="scale",
            )

    def read_votes(self) -> Votes:
        """All the labels, or preferences, of all files as votes; repeats included."""
        from ringtrue.tables.preferences import concat_tables

        selections = self._selection_per_file()[: len(self.labels)]
        self._require_one_kind(
            [self._recognise_kind(path, columns) for path, (columns, _) in zip(self.labels, selections, strict=True)]
        )
        tables: list[Any] = [
            self._read_table(path, *selection) for path, selection in zip(self.labels, selections, strict=True)
        ]
        return self._collect_votes(concat_tables(tables), self._file_names)

    def read_gold_votes(self) -> Votes | None:
        """The gold labels as votes, where there are any; one for each item."""
        if self.gold is None:
            return None
        columns, where = self._gold_selection()
        self._refuse_labels_as_gold(columns, where)
        try:
            file_name = self.sources[self.gold].display_name
            table = self._read_table(self.gold, columns, where, gold=True)
            votes = self._collect_votes(table, f"{file_name}, gold" if self.gold in self.labels else file_name)
        except (TableError, FormatError, UsageError) as error:  # --columns is about the labels too
            raise common.use_own_options(error, "gold") from error
        return self._with_one_label_each(votes, self.gold, columns, where, subject="gold")

    def read_reference_votes(self, path: str, *, subject: str = "traps") -> Votes:
        """A further file with one label for each item, such as traps, read with the names of columns that it has."""
        columns, where = columns_per_file(
            [self.sources[path]],
            common.parse_columns(self.columns),
            common.parse_conditions(self.where),
            self._table_format(),
            strict=False,
        )[0]
        votes = self._collect_votes(self._read_table(path, columns, where), self.sources[path].display_name)
        return self._with_one_label_each(votes, path, columns, where, subject=subject)

    def explain_errors(self, compute: Callable[[], Any]) -> Any:
        """What `compute` gives; what is wrong with the labels is told with their file, repeats with their lines."""
        try:
            return compute()
        except DuplicateError as error:
            if error.judge is None:  # in a file of known labels, which was told when it was read
                raise
            if len(self.labels) > 1:
                raise error.found_in(self._file_names) from error
            raise self._with_line_numbers(error, self.labels[0], *self._selection_per_file()[0]) from error
        except TableError as error:
            if error.file is not None:
                raise
            conditions = ", ".join(f"{name}={value}" for name, value in self._selection_per_file()[0][1].items())
            narrowed = error.about(f"where {conditions}") if conditions else error
            raise narrowed.found_in(self._file_names) from error
        except MismatchError as error:
            if error.code != "gold-without-queries":
                raise
            raise common.use_own_options(error, "gold") from error

    @property
    def _file_names(self) -> str:
        return ", ".join(self.sources[path].display_name for path in self.labels)

    def _require_one_kind(self, kinds: Sequence[TableKind]) -> None:
        if len(set(kinds)) > 1:
            kinds_text = ", ".join(f"{path} has {kind}" for path, kind in zip(self.labels, kinds, strict=True))
            raise OptionError(
                "mixed-kinds", f"several files count together if they are of one kind; {kinds_text}", parameter="labels"
            )

    def _with_one_label_each(
        self, votes: Votes, path: str, columns: Mapping[str, str], where: Mapping[str, str], *, subject: str
    ) -> Votes:
        """The votes, if they say one thing of each item."""
        from ringtrue.judges.votes import require_one_label_each

        try:
            require_one_label_each(votes, subject=subject)
        except DuplicateError as error:
            raise self._with_line_numbers(error, path, columns, where) from error
        return votes

    def _with_line_numbers(
        self, error: DuplicateError, path: str, columns: Mapping[str, str], where: Mapping[str, str]
    ) -> DuplicateError:
        from ringtrue.files.read import explain_duplicate

        kind = self._recognise_kind(path, columns)
        return explain_duplicate(
            error, path, kind=kind, form=self._formats_by_kind()[kind], columns=columns, where=where
        )

    def _refuse_labels_as_gold(self, columns: Mapping[str, str], where: Mapping[str, str]) -> None:
        """Refuse gold that is every judge's own label: each would be right, always."""
        if self.gold is None or not any(
            is_same_file(path, self.gold) and normalise_selection(columns, where) == normalise_selection(*selection)
            for path, selection in zip(
                self.labels, self._selection_per_file(), strict=False
            )  # which has that of gold at its end
        ):
            return
        column = "winner" if self._recognise_kind(self.gold, columns) == "preferences" else "label"
        advice = (
            f"say which column has the gold: --gold-columns {column}=NAME, or which rows: --gold-where COLUMN=VALUE"
        )
        if not list_table_columns(self.sources[self.gold], columns.values(), self._table_format()):
            advice = "give another file"
        both_note = "; --columns and --where are about both" if self.columns or self.where else ""
        raise OptionError(
            "gold-is-bronze",
            f"--gold is the file of the labels, read in the same way, and "
            f"every judge would be right{both_note}; {advice}",
            parameter="gold",
            file=self.sources[self.gold].display_name,
        )

    def _read_table(
        self, path: str, columns: Mapping[str, str], where: Mapping[str, str], *, gold: bool = False
    ) -> Judgments | Preferences:
        from ringtrue.files import read_judgments, read_preferences

        source, kind = self.sources[path], self._recognise_kind(path, columns)
        form = self._formats_by_kind()[kind]

        def note(note: Note) -> None:
            if not gold or path not in self.labels:  # which has been told
                self._add_note(common.rename_selection(note, "gold") if gold else note)

        if kind == "preferences":
            if self.scale is not None:
                raise OptionError(
                    "unused-parameter",
                    "--scale is about labels, and these are preferences",
                    parameter="scale",
                    file=path,
                )
            return read_preferences(source, form=form, columns=columns, where=where, note=note)
        return read_judgments(source, form=form, columns=columns, where=where, needs_query=False, note=note)

    def _collect_votes(self, table: Judgments | Preferences, file_names: str) -> Votes:
        """The votes in a table, which goes by the name of its files where something is wrong with it."""
        from ringtrue.judges.votes import make_votes

        try:
            votes = make_votes(table, scale=_parse_scale(self.scale), outside=self.outside)
        except TableError as error:
            raise error.found_in(file_names) from error
        for note in votes.notes:
            self._add_note(note.about(file_names))
        return votes

    def merge_notes(self, answer_notes: Iterable[Note]) -> list[Note]:
        """What was doubtful in the files, and then in the answer; what was told of a file is not told again."""
        known = {(note.code, note.text) for note in self.notes}
        return [
            *self.notes,
            *(note for note in answer_notes if (note.code, note.text) not in known),
        ]

    def _add_note(self, note: Note) -> None:
        """Keep what is doubtful; once, although a file with labels and gold is read twice."""
        if note not in self.notes:
            self.notes.append(note)

    def _recognise_kind(self, path: str, columns: Mapping[str, str]) -> TableKind:
        from ringtrue.files import recognise_kind
        from ringtrue.files.formats import SIGNATURE_COLUMNS

        forms = self._formats_by_kind()
        if forms["judgments"] != forms["preferences"]:
            return "judgments" if forms["judgments"] else "preferences"
        if self._table_format() is not None:  # any kind of table has these formats
            names = {
                name.lower() for name in [*list_table_columns(self.sources[path], (), self._table_format()), *columns]
            }
            return "preferences" if names & SIGNATURE_COLUMNS["preferences"] else "judgments"
        try:
            kind = recognise_kind(self.sources[path], columns=columns)
        except FormatError:  # reading it as judgments says what is wrong
            return "judgments"
        return "preferences" if kind == "preferences" else "judgments"

    def _formats_by_kind(self) -> dict[TableKind, Any]:
        from ringtrue.cli.options.files import formats_by_kind

        return formats_by_kind(("judgments", "preferences"), self.forced)

    def _table_format(self) -> Format | None:
        """The format that every file is forced into, where it is one of tables."""
        from ringtrue.files.formats import TABLE_FORMATS

        form = self._formats_by_kind()["judgments"]
        return form if form in TABLE_FORMATS else None

    def _selection_per_file(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        files = [self.sources[path] for path in (*self.labels, self.gold) if path is not None]
        return columns_per_file(
            files, common.parse_columns(self.columns), common.parse_conditions(self.where), self._table_format()
        )

    def _gold_selection(self) -> tuple[dict[str, str], dict[str, str]]:
        columns, where = self._selection_per_file()[-1]
        gold_selection = (
            common.parse_columns(self.gold_columns, "gold_columns"),
            common.parse_conditions(self.gold_where, "gold_where"),
        )
        columns_per_file([self.sources[self.gold or ""]], *gold_selection, self._table_format(), prefix="gold_")
        return columns | gold_selection[0], where | gold_selection[1]


label_options = common.compose(
    click.argument("labels", nargs=-1, required=True, metavar="LABELS…"),
    option("--gold FILE", "Labels to be trusted, one for each document that has any."),
    option("--scale LABELS", "The labels there are: 0-3, or 0,1,2. Usually those that were seen."),
    option(
        "--outside",
        "What to do with labels outside the scale.",
        choices=["refuse", "exclude", "clip"],
        default="refuse",
    ),
    common.repeats_option(),
    common.level_option,
    common.gold_selection_options,
    common.input_options,
    common.collect_as("label_inputs", LabelInputs),
)


def _parse_scale(text: str | None) -> list[int] | None:
    """`0-3` or `0,1,2` as labels."""
    if text is None:
        return None
    labels: list[int] = []
    for word in text.split(","):
        if match := LABEL_RANGE.fullmatch(word.strip()):
            low, high = int(match[1]), int(match[2])
            if high < low:
                raise OptionError(
                    "bad-value",
                    f"--scale {text}: from {low} to {high} is no scale; write the lowest label first",
                    parameter="scale",
                )
            if high - low >= MAX_LABELS:
                raise OptionError(
                    "bad-value",
                    f"--scale {text}: {high - low + 1:,} labels are too many, {MAX_LABELS:,} the most",
                    parameter="scale",
                )
            labels += range(low, high + 1)
        elif re.fullmatch(r"\s*-?\d+\s*", word):
            labels.append(int(word))
        else:
            raise OptionError(
                "bad-value", f"--scale expects whole numbers such as 0-3 or 0,1,2; found '{text}'", parameter="scale"
            )
    return labels


def require_documents(path: str | None, votes: Votes) -> None:
    """Refuse a matrix of preferences: no command reads one."""
    if path is not None and "doc" not in votes.items.columns:
        raise OptionError(
            "unused-parameter",
            "--confusion-out is about labels of documents, and these are preferences; leave it out",
            parameter="confusion_out",
        )


def write_pooled_confusion(path: str | None, tables: Sequence[Confusion], notes: list[Note]) -> None:
    """Write the matrix of all judges together, where a file was named, and say so."""
    from ringtrue.files import write_confusion
    from ringtrue.stats.confusion import Confusion

    if path is None:
        return
    pooled = Confusion.together(tables)
    write_confusion(path, pooled)
    text = (
        f"the confusion matrix of {format_count(len(tables), 'judge')} is in {path}: rows are {pooled.rows}, "
        f"columns {pooled.columns}"
    )
    notes.append(Note("matrix-written", text, parameter="confusion_out"))
