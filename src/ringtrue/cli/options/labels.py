"""What every command about judges is asked: whose labels, on which scale, against which gold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.options.common import Function, columns_of, conditions_of, input_options
from ringtrue.cli.options.files import Sources, asked_of, same_file, shared_out, table_columns
from ringtrue.errors import DuplicateError, FormatError, TableError, UsageError

if TYPE_CHECKING:
    from ringtrue.files import Format, Kind
    from ringtrue.judges.votes import Outside, Repeats, Votes
    from ringtrue.tables import Judgments, Preferences

__all__ = ["Labelling", "labelling_options"]

RANGE = re.compile(r"(-?\d+)(?:-|\.\.)(-?\d+)")
MOST_LABELS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """The files of labels and of gold, and how to read them, as somebody asked; `notes` gathers what is doubtful."""

    labels: tuple[str, ...]
    gold: str | None
    scale: str | None
    outside: Outside
    repeats: Repeats | None
    level: float
    gold_columns: tuple[str, ...]
    gold_where: tuple[str, ...]
    forced: tuple[str, ...]
    columns: tuple[str, ...]
    where: tuple[str, ...]
    notes: list[str] = field(default_factory=list)
    sources: Sources = field(default_factory=Sources)

    def __post_init__(self) -> None:
        if [*self.labels, self.gold].count("-") > 1:
            raise UsageError("standard input (-) can be read only once; put the others into files")
        if self.gold is None and (self.gold_columns or self.gold_where):
            raise UsageError("--gold-columns and --gold-where are about the file of --gold, and there is none")
        if self.scale is None and self.outside != "refuse":
            raise UsageError(
                f"--outside {self.outside} is about labels outside a scale; declare one, such as --scale 0-3"
            )

    def votes(self) -> Votes:
        """All the labels, or preferences, of all files as votes; repeats included."""
        from ringtrue.tables.preferences import joined

        asked = self._asked()[: len(self.labels)]
        self._refuse_two_kinds(
            [self._kind(path, columns) for path, (columns, _) in zip(self.labels, asked, strict=True)]
        )
        tables: list[Any] = [self._table(path, *one) for path, one in zip(self.labels, asked, strict=True)]
        return self._votes(joined(tables), self._shown)

    def gold_votes(self) -> Votes | None:
        """The gold labels as votes, where there are any; one for each item."""
        if self.gold is None:
            return None
        columns, where = self._asked_of_gold()
        self._refuse_the_labels_as_gold(columns, where)
        try:
            shown = self.sources[self.gold].shown
            table = self._table(self.gold, columns, where, gold=True)
            votes = self._votes(table, f"{shown}, gold" if self.gold in self.labels else shown)
        except (TableError, FormatError) as error:  # --columns is about the labels too
            raise type(error)(_of_gold(str(error))) from error
        return self._known(votes, self.gold, columns, where, what="gold has")

    def table(self, path: str, *, what: str = "the traps have") -> Votes:
        """A further file with one label for each item, such as traps, read with the names of columns that it has."""
        columns, where = shared_out(
            [self.sources[path]], columns_of(self.columns), conditions_of(self.where), self._form(), strict=False
        )[0]
        votes = self._votes(self._table(path, columns, where), self.sources[path].shown)
        return self._known(votes, path, columns, where, what=what)

    def explained(self, compute: Callable[[], Any]) -> Any:
        """What `compute` gives; what is wrong with the labels is told with their file, repeats with their lines."""
        try:
            return compute()
        except DuplicateError as error:
            if error.judge is None:  # in a file of known labels, which was told when it was read
                raise
            if len(self.labels) > 1:
                from ringtrue.files.table_file import retold

                raise retold(error, f"{self._shown}: {error}") from error
            raise self._with_lines(error, self.labels[0], *self._asked()[0]) from error
        except TableError as error:
            if any(str(error).startswith(source.shown) for source in self.sources.values()):
                raise
            rows = "".join(f", where {name}={value}" for name, value in self._asked()[0][1].items())
            raise TableError(f"{self._shown}{rows}: {error}") from error

    @property
    def _shown(self) -> str:
        return ", ".join(self.sources[path].shown for path in self.labels)

    def _refuse_two_kinds(self, kinds: Sequence[Kind]) -> None:
        if len(set(kinds)) > 1:
            told = ", ".join(f"{path} has {kind}" for path, kind in zip(self.labels, kinds, strict=True))
            raise UsageError(f"several files count together if they are of one kind; {told}")

    def _known(
        self, votes: Votes, path: str, columns: Mapping[str, str], where: Mapping[str, str], *, what: str
    ) -> Votes:
        """The votes, if they say one thing of each item."""
        from ringtrue.judges.votes import require_one_label_each

        try:
            require_one_label_each(votes, what=what)
        except DuplicateError as error:
            raise self._with_lines(error, path, columns, where) from error
        return votes

    def _with_lines(
        self, error: DuplicateError, path: str, columns: Mapping[str, str], where: Mapping[str, str]
    ) -> DuplicateError:
        from ringtrue.files.read import explain_duplicate

        kind = self._kind(path, columns)
        return explain_duplicate(error, path, kind=kind, form=self._forms()[kind], columns=columns, where=where)

    def _refuse_the_labels_as_gold(self, columns: Mapping[str, str], where: Mapping[str, str]) -> None:
        """Refuse gold that is every judge's own label: each would be right, always."""
        if self.gold is None or not any(
            same_file(path, self.gold) and asked_of(columns, where) == asked_of(*asked)
            for path, asked in zip(self.labels, self._asked(), strict=False)  # which has that of gold at its end
        ):
            return
        column = "winner" if self._kind(self.gold, columns) == "preferences" else "label"
        todo = f"say which column has the gold: --gold-columns {column}=NAME, or which rows: --gold-where COLUMN=VALUE"
        if not table_columns(self.sources[self.gold], columns.values(), self._form()):
            todo = "give another file"
        both = "; --columns and --where are about both" if self.columns or self.where else ""
        raise UsageError(
            f"{self.sources[self.gold].shown}: --gold is the file of the labels, read in the same way, and every judge "
            f"would be right{both}; {todo}"
        )

    def _table(
        self, path: str, columns: Mapping[str, str], where: Mapping[str, str], *, gold: bool = False
    ) -> Judgments | Preferences:
        from ringtrue.files import read_judgments, read_preferences

        source, kind = self.sources[path], self._kind(path, columns)
        form = self._forms()[kind]

        def note(text: str) -> None:
            if not gold or path not in self.labels:  # which has been told
                self._note(_of_gold(text) if gold else text)

        if kind == "preferences":
            if self.scale is not None:
                raise UsageError(f"{path}: --scale is about labels, and these are preferences")
            return read_preferences(source, form=form, columns=columns, where=where, note=note)
        return read_judgments(source, form=form, columns=columns, where=where, needs_query=False, note=note)

    def _votes(self, table: Judgments | Preferences, told: str) -> Votes:
        """The votes in a table, which goes by the name of its files where something is wrong with it."""
        from ringtrue.judges.votes import votes_of

        try:
            votes = votes_of(table, scale=_scale(self.scale), outside=self.outside)
        except TableError as error:
            raise TableError(f"{told}: {error}") from error
        for doubt in votes.notes:
            self._note(f"{told}: {doubt}")
        return votes

    def told(self, notes: Iterable[str]) -> list[str]:
        """What was doubtful in the files, and then in the answer; what was told of a file is not told again."""
        return [*self.notes, *(note for note in notes if not any(told.endswith(note) for told in self.notes))]

    def _note(self, text: str) -> None:
        """Keep what is doubtful; once, although a file with labels and gold is read twice."""
        if text not in self.notes:
            self.notes.append(text)

    def _kind(self, path: str, columns: Mapping[str, str]) -> Kind:
        from ringtrue.files import recognise_kind
        from ringtrue.files.formats import SIGNS

        forms = self._forms()
        if forms["judgments"] != forms["preferences"]:
            return "judgments" if forms["judgments"] else "preferences"
        if self._form() is not None:  # any kind of table has these formats
            names = {name.lower() for name in [*table_columns(self.sources[path], (), self._form()), *columns]}
            return "preferences" if names & SIGNS["preferences"] else "judgments"
        try:
            found = recognise_kind(self.sources[path], columns=columns)
        except FormatError:  # reading it as judgments says what is wrong
            return "judgments"
        return "preferences" if found == "preferences" else "judgments"

    def _forms(self) -> dict[Kind, Any]:
        from ringtrue.cli.options.files import forms_for

        return forms_for(("judgments", "preferences"), self.forced)

    def _form(self) -> Format | None:
        """The format that every file is forced into, where it is one of tables."""
        from ringtrue.files.formats import TABLES

        form = self._forms()["judgments"]
        return form if form in TABLES else None

    def _asked(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        files = [self.sources[path] for path in (*self.labels, self.gold) if path is not None]
        return shared_out(files, columns_of(self.columns), conditions_of(self.where), self._form())

    def _asked_of_gold(self) -> tuple[dict[str, str], dict[str, str]]:
        columns, where = self._asked()[-1]
        own = columns_of(self.gold_columns), conditions_of(self.gold_where)
        shared_out([self.sources[self.gold or ""]], *own, self._form(), prefix="--gold-")
        return columns | own[0], where | own[1]


def labelling_options(command: Function) -> Function:
    """How to read the labels and the gold; all of it reaches the command as `labelling`."""

    @click.argument("labels", nargs=-1, required=True, metavar="LABELS…")
    @click.option("--gold", metavar="FILE", help="Labels to be trusted, one for each document that has any.")
    @click.option(
        "--scale", metavar="LABELS", help="The labels there are: 0-3, or 0,1,2. Usually those that were seen."
    )
    @click.option("--outside", type=click.Choice(["refuse", "exclude", "clip"]), default="refuse", show_default=True,
                  help="What to do with labels outside the scale.")  # fmt: skip
    @click.option("--repeats", type=click.Choice(["first", "last", "all"]),
                  help="Where a judge labelled a document again: which label counts, or each as its own.")  # fmt: skip
    @click.option("--level", type=float, default=0.95, show_default=True, help="How often such intervals hold.")
    @click.option("--gold-columns", multiple=True, metavar="NAME=COLUMN",
                  help="What the gold file alone calls a column: label=human.")  # fmt: skip
    @click.option("--gold-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of the gold file.")
    @click.option(
        "--as", "forced", multiple=True, metavar="FORMAT", help="Force a format; see docs/reference/formats.md."
    )
    @input_options
    @wraps(command)
    def with_labelling(*args: object, **given: Any) -> object:
        asked = {one.name: given.pop(one.name) for one in fields(Labelling) if one.name in given}
        return command(*args, labelling=Labelling(**asked), **given)

    return with_labelling


def _of_gold(text: str) -> str:
    """What is said about columns and rows of any table, in the words of the gold file's own options."""
    return re.sub(r"--(columns|where)\b", r"--gold-\1", text)


def _scale(said: str | None) -> list[int] | None:
    """`0-3` or `0,1,2` as labels."""
    if said is None:
        return None
    labels: list[int] = []
    for word in said.split(","):
        if found := RANGE.fullmatch(word.strip()):
            low, high = int(found[1]), int(found[2])
            if high < low:
                raise UsageError(f"--scale {said}: from {low} to {high} is no scale; write the lowest label first")
            if high - low >= MOST_LABELS:
                raise UsageError(f"--scale {said}: {high - low + 1:,} labels are too many, {MOST_LABELS:,} the most")
            labels += range(low, high + 1)
        elif re.fullmatch(r"\s*-?\d+\s*", word):
            labels.append(int(word))
        else:
            raise UsageError(f"--scale expects whole numbers such as 0-3 or 0,1,2; found '{said}'")
    return labels
