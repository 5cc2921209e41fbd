"""What `report` and `plot` are asked: runs and judgments, and whatever else there is."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.golding import Golding, gold_options
from ringtrue.cli.options import Function, columns_of, conditions_of
from ringtrue.cli.question import Question, evaluation_options, level_option
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.reporting.material import Material
    from ringtrue.tables import Judgments, Preferences

__all__ = ["Asked", "material_options"]


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
        """All of it, read; what is doubtful about the files goes to the notes of the question."""
        from ringtrue.files import read_confusion, read_preferences
        from ringtrue.reporting.making import USUAL
        from ringtrue.reporting.material import Material

        self._require()
        question, note = self.question, self.question.notes.append
        judged = bool(question.judgments)
        gold = self.golding.read(question) if self.golding.gold else None
        usual: Iterable[str] = USUAL if gold is None else self.golding.usual(gold, USUAL)
        settings = {} if gold is None else {
            name: value for name, value in self.golding.settings().items() if name != "rng" and value is not None
        }  # fmt: skip
        return Material(
            runs=tuple(question.each_run()) if judged else (),
            judgments=question.labels() if judged else None,
            measures=tuple(question.measures(self.measures or usual)),
            gold=gold,
            truth=None if self.truth is None else question.labels(self.truth),
            labels=None if self.labels is None else self._labels(self.labels),
            traps=None if self.traps is None else self._traps(self.traps),
            preferences=None if self.preferences is None else read_preferences(self.preferences, note=note),
            confusion=None if self.confusion is None else read_confusion(self.confusion),
            correcting=settings, rel=question.rel or 1, level=question.level, seed=self.seed, names=self._names(),
        )  # fmt: skip

    def _require(self) -> None:
        if self.paths.count("-") > 1:
            raise UsageError("standard input (-) can be read only once; put the others into files")
        if bool(self.question.runs) != bool(self.question.judgments):
            there, missing = ("runs", "--judgments FILE") if self.question.runs else ("--judgments", "the run files")
            raise UsageError(f"there are {there} and nothing to go with them: add {missing}")
        if self.golding.gold and not self.question.runs:
            raise UsageError("--gold corrects the judgments of runs: add the run files and --judgments FILE")
        if self.truth and not self.question.runs:
            raise UsageError("--truth is held against the judgments of runs: add the run files and --judgments FILE")
        if (self.label_columns or self.label_where) and self.labels is None:
            raise UsageError("--label-columns and --label-where are about the file of --labels, and there is none")
        if self.traps is not None and self.labels is None and self.preferences is None:
            raise UsageError("--traps are items among the labels of several judges: add --labels or --preferences FILE")

    def _labels(self, path: str) -> Judgments:
        from ringtrue.files import read_judgments

        columns, where = columns_of(self.label_columns), conditions_of(self.label_where)
        return read_judgments(path, note=self.question.notes.append, columns=columns, where=where)

    def _traps(self, path: str) -> Judgments | Preferences:
        """Items with a known answer: labels, or where only preferences are given, the better of two."""
        from ringtrue.files import read_judgments, read_preferences

        reader = read_preferences if self.labels is None else read_judgments
        return reader(path, note=self.question.notes.append)

    def _names(self) -> dict[str, str]:
        named = {"judgments": self.question.judgments, "gold": self.golding.gold, "truth": self.truth,
                 "labels": self.labels, "traps": self.traps, "preferences": self.preferences,
                 "confusion": self.confusion}  # fmt: skip
        quoted = {name: shlex.quote(path) for name, path in named.items() if path}
        return quoted | ({"runs": shlex.join(self.question.runs)} if self.question.runs else {})


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
    @click.option("--label-columns", multiple=True, metavar="NAME=COLUMN", help="What that file calls a column.")
    @click.option("--label-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of it.")
    @click.option("--traps", metavar="FILE", help="Items among these with a known answer.")
    @click.option("--preferences", metavar="FILE", help="Votes between two documents.")
    @click.option("--confusion", metavar="FILE", help="How judges disagree, for the ceiling: a confusion matrix.")
    @gold_options
    @level_option
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other draws.")
    @evaluation_options
    @wraps(command)
    def with_material(*args: object, question: Question, golding: Golding, **given: Any) -> object:
        asked = {one.name: given.pop(one.name) for one in fields(Asked) if one.name in given}
        return command(*args, asked=Asked(question=question, golding=golding, **asked), **given)

    return with_material
