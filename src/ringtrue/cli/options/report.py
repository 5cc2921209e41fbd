"""What `report` and `plot` are asked: runs and judgments, and whatever else there is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ringtrue.cli.options.common import Function, columns_of, conditions_of
from ringtrue.cli.options.files import Sources, shared_out
from ringtrue.cli.options.gold import Golding, gold_options
from ringtrue.cli.options.runs import Question, evaluation_options, level_option
from ringtrue.errors import DuplicateError, FormatError, TableError, UsageError

if TYPE_CHECKING:
    from ringtrue.files import Kind
    from ringtrue.report import Report
    from ringtrue.report.inputs import Material
    from ringtrue.tables import Judgments, Preferences

__all__ = ["Asked", "material_options"]

Table = TypeVar("Table")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The files, as somebody named them; `question` and `golding` say how runs, judgments and gold are read."""

    question: Question
    golding: Golding
    measures: tuple[str, ...]
    truth: str | None
    labels: str | None
    label_columns: tuple[str, ...]
    label_where: tuple[str, ...]
    traps: str | None
    preferences: str | None
    confusion: str | None
    seed: int
    sources: Sources = field(default_factory=Sources)

    @property
    def paths(self) -> list[str]:
        """Every file that is read."""
        named = (
            self.question.judgments,
            self.golding.gold,
            self.truth,
            self.labels,
            self.traps,
            self.preferences,
            self.confusion,
        )
        return [*self.question.runs, *(path for path in named if path)]

    def read(self) -> Material:
        """All of it, read, and runs that can be measured; what is doubtful goes to the notes of the question."""
        from ringtrue.files import read_confusion
        from ringtrue.report.build import USUAL
        from ringtrue.report.inputs import Material

        self._require()
        question = self.question
        judged = bool(question.judgments)
        gold = self.golding.read(question) if self.golding.gold else None
        usual: Iterable[str] = USUAL if gold is None else self.golding.usual(gold, USUAL)
        settings = {} if gold is None else {
            name: value for name, value in self.golding.settings().items() if name != "rng" and value is not None
        }  # fmt: skip
        material = Material(
            runs=tuple(question.each_run()) if judged else (),
            judgments=question.labels() if judged else None,
            measures=tuple(question.measures(self.measures or usual)),
            gold=gold,
            truth=None if self.truth is None else self._truth(self.truth),
            labels=None if self.labels is None else self._labels(self.labels),
            traps=None if self.traps is None else self._traps(self.traps),
            preferences=None if self.preferences is None else self._votes(self.preferences),
            confusion=None if self.confusion is None else read_confusion(self.confusion),
            correcting=settings, evaluating=question.evaluating(), repeats=question.repeats, rel=question.rel or 1,
            level=question.level, seed=self.seed, names=self._names(),
        )  # fmt: skip
        question.explained(material.require)
        return material

    def explained(self, compute: Callable[[], Report]) -> Report:
        """What `compute` gives; what is wrong with labels or votes is told with their file, if it can be only that."""
        from ringtrue.files.read import explain_duplicate
        from ringtrue.files.table_file import retold

        given = [path for path in (self.labels, self.preferences) if path]
        path = given[0] if len(given) == 1 else None
        try:
            report = compute()
        except DuplicateError as error:
            told = error
            if path is not None:
                columns, where = self._columns_and_rows(path)
                kind: Kind = "preferences" if self.labels is None else "judgments"
                told = explain_duplicate(error, path, kind=kind, columns=columns, where=where)
            raise retold(told, _of_judges(str(told))) from error
        except TableError as error:
            where_from = "" if path is None else f"{self.sources[path].shown}: "
            raise TableError(f"{where_from}{_of_judges(str(error))}") from error
        return replace(report, absent=tuple((title, _of_judges(why)) for title, why in report.absent))

    def _require(self) -> None:
        if self.paths.count("-") > 1:
            raise UsageError("standard input (-) can be read only once; put the others into files")
        if bool(self.question.runs) != bool(self.question.judgments):
            there, missing = ("runs", "--judgments FILE") if self.question.runs else ("--judgments", "the run files")
            raise UsageError(f"there are {there} and nothing to go with them: add {missing}")
        if self.golding.gold and not self.question.runs:
            raise UsageError("--gold corrects the judgments of runs: add the run files and --judgments FILE")
        if self.golding.gold:
            self.golding.require(self.question)
        if self.truth and not self.question.runs:
            raise UsageError("--truth is held against the judgments of runs: add the run files and --judgments FILE")
        if (self.label_columns or self.label_where) and self.labels is None and self.preferences is None:
            raise UsageError("--label-columns and --label-where are about --labels and --preferences: add one of these")
        if self.traps is not None and self.labels is None and self.preferences is None:
            raise UsageError("--traps are items among the labels of several judges: add --labels or --preferences FILE")

    def _truth(self, path: str) -> Judgments:
        labels = self.question.labels(path)
        if self.question.judges == "one":
            self.question.explained(labels.require_one_label_each, path)
        return labels

    def _labels(self, path: str) -> Judgments:
        from ringtrue.files import read_judgments

        return self._told_of_judges(partial(read_judgments, needs_query=False), path)

    def _votes(self, path: str) -> Preferences:
        from ringtrue.files import read_preferences

        return self._told_of_judges(read_preferences, path)

    def _traps(self, path: str) -> Judgments | Preferences:
        """Items with a known answer: labels, or where only preferences are given, the better of two."""
        return self._votes(path) if self.labels is None else self._labels(path)

    def _told_of_judges(self, read: Callable[..., Table], path: str) -> Table:
        """A file about judges, read; what is wrong with it is told in the words of its options."""
        columns, where = self._columns_and_rows(path)
        try:
            return read(self.sources[path], columns=columns, where=where,
                        note=lambda text: self.question.notes.append(_of_judges(text)))  # fmt: skip
        except (TableError, FormatError, UsageError) as error:
            raise type(error)(_of_judges(str(error))) from error

    def _columns_and_rows(self, path: str) -> tuple[dict[str, str], dict[str, str]]:
        """What --label-columns and --label-where say about a file; the traps have what they have."""
        asked = columns_of(self.label_columns), conditions_of(self.label_where)
        main = [one for one in (self.labels, self.preferences) if one]
        shared_out([self.sources[one] for one in main], *asked, form=None, prefix="--label-")
        return shared_out([self.sources[path]], *asked, form=None, strict=False)[0]

    def _names(self) -> dict[str, str]:
        named = {"judgments": self.question.judgments, "gold": self.golding.gold, "truth": self.truth,
                 "labels": self.labels, "traps": self.traps, "preferences": self.preferences,
                 "confusion": self.confusion}  # fmt: skip
        quoted = {name: shlex.quote(path) for name, path in named.items() if path}
        return quoted | ({"runs": shlex.join(self.question.runs)} if self.question.runs else {})


def _of_judges(text: str) -> str:
    """What is said about labels or votes, in the words of their own options: --gold is about runs here."""
    text = text.replace(", or gold labels to compare with (--gold)", "")
    return re.sub(r"--(columns|where)\b", r"--label-\1", text)


def _repeats_option(command: Function) -> Function:
    """Like that of the judgments, and for labels and votes of several judges."""
    told = "Where a judge labelled or voted again: which one counts; all of them only for --labels and --preferences."
    return click.option("--repeats", type=click.Choice(["first", "last", "all"]), help=told)(command)


def material_options(command: Function) -> Function:
    """Runs, judgments and everything that can go with them; all of it reaches the command as `asked`."""

    @click.argument("runs", nargs=-1, metavar="RUN…")
    @click.option("--judgments", "--qrels", default="", metavar="FILE", help="Relevance labels: qrels, or a table.")
    @click.option("-m", "--measure", "measures", multiple=True, metavar="NAME",
                  help="What to measure by; may be repeated, or a list. The page is about the first.")  # fmt: skip
    @click.option(
        "--truth", metavar="FILE", help="True labels of everything, where they are known, to be held against."
    )
    @click.option("--labels", metavar="FILE", help="Labels of several judges: how good they are, how far they agree.")
    @click.option("--preferences", metavar="FILE", help="Votes between two documents.")
    @click.option("--traps", metavar="FILE", help="Items among these with a known answer.")
    @click.option("--label-columns", multiple=True, metavar="NAME=COLUMN",
                  help="What the files of labels, votes and traps call a column.")  # fmt: skip
    @click.option("--label-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of them.")
    @click.option("--confusion", metavar="FILE", help="How judges disagree, for the ceiling: a confusion matrix.")
    @gold_options
    @level_option
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other draws.")
    @partial(evaluation_options, repeats=_repeats_option)
    @wraps(command)
    def with_material(*args: object, question: Question, golding: Golding, **given: Any) -> object:
        asked = {one.name: given.pop(one.name) for one in fields(Asked) if one.name in given}
        return command(*args, asked=Asked(question=question, golding=golding, **asked), **given)

    return with_material
