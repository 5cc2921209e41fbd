"""What every command that evaluates runs is asked: which files, which labels, which measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.errors import DuplicateError
from ringtrue.messages import Note, Suggestion

if TYPE_CHECKING:
    from ringtrue.evaluation.inputs import Judges, Missing
    from ringtrue.evaluation.measures import Compat, Measure
    from ringtrue.judges.votes import Repeats
    from ringtrue.tables import Judgments, Run, Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInputs:
    """The runs, the judgments and how to read them, as somebody asked; `notes` gathers what is doubtful."""

    runs: tuple[str, ...]
    judgments: str
    rel: int | None
    missing: Missing = "zero"
    judge: str | None
    judges: Judges = "one"
    repeats: Repeats | None = None
    compat: Compat | None = None
    depth: int | None = None
    collection_size: int | None = None
    level: float = 0.95
    gains: str | None = None
    name: Literal["file", "tag"]
    run_columns: tuple[str, ...]
    forced: tuple[str, ...]
    columns: tuple[str, ...]
    where: tuple[str, ...]
    notes: list[Note] = field(default_factory=list)

    def __post_init__(self) -> None:
        common.require_one_stdin([*self.runs, self.judgments])
        if self.judge is not None and self.judges == "average":
            raise OptionError(
                "conflicting-parameters",
                "--judge takes one judge and --judges average takes all: choose one of the two",
                parameter="judge",
            )

    def parse_measures(self, names: Iterable[str]) -> list[Measure]:
        """The measures by these names, with `--rel` and `--gains` where they do not say it themselves."""
        from ringtrue.evaluation.measures import parse_all

        measures = parse_all(names)
        if self.rel is not None:
            measures = [measure.with_default("rel", self.rel) for measure in measures]
        return measures if self.gains is None else self._with_gains(measures, self.gains)

    def _with_gains(self, measures: list[Measure], path: str) -> list[Measure]:
        """The measures with the gains of a file; one that says which gains it wants keeps them."""
        from ringtrue.evaluation.measures import CATALOGUE
        from ringtrue.files import read_gains

        gains = read_gains(path)
        ordered_gains = [gains[label] for label in sorted(gains)]
        gains_text = ", ".join(f"{label} is worth {gains[label]:g}" for label in sorted(gains))
        warning = (
            ""
            if ordered_gains == sorted(ordered_gains)
            else ": a higher label is not always worth more, is that meant?"
        )
        self.notes.append(Note("gains-of-labels", f"gains of {path}: {gains_text}{warning}", parameter="gains"))
        gain_measures = [
            measure
            for measure in measures
            if "gains" in measure.definition.defaults and not {"dcg", "gains"} & set(dict(measure.parameters))
        ]
        if not gain_measures:
            measure_names = ", ".join(name for name, definition in CATALOGUE.items() if "gains" in definition.defaults)
            raise OptionError(
                "unused-parameter",
                f"--gains {path} says nothing to {', '.join(map(str, measures))}: ask for a measure that leaves its "
                f"gains open ({measure_names})",
                parameter="gains",
            )
        return [measure.with_default("gains", gains) if measure in gain_measures else measure for measure in measures]

    def read_labels(self, path: str | None = None) -> Judgments:
        """The judgments, or another file read in the same way."""
        from ringtrue.files import read_judgments

        labels = read_judgments(path or self.judgments, note=self.notes.append, **self._read_settings())
        if path is None and {"prob", "design"} <= set(labels.frame.columns):
            text = (
                f"{self.judgments} has columns prob and design, as a gold sample has: all that is not in it "
                f"counts as non-relevant. Give it as --gold, and the labels of everything as --judgments"
            )
            self.notes.append(Note("sample-as-judgments", text, parameter="judgments"))
        if self.judge is not None:
            labels = labels.by(self.judge)
        return labels if self.repeats is None or self.repeats == "all" else labels.without_repeats(self.repeats)

    def read_runs(self) -> Iterator[Run]:
        """The runs, read one at a time."""
        from ringtrue.cli.options.files import formats_by_kind, read_runs

        return read_runs(
            self.runs,
            form=formats_by_kind(("run", "judgments"), self.forced)["run"],
            columns=common.parse_columns(self.run_columns, "run_columns"),
            name=self.name,
            note=self.notes.append,
        )

    def explain_errors(self, compute: Callable[[], Any], path: str | None = None) -> Any:
        """What `compute` gives; a document with two labels is told with its lines in the file."""
        from ringtrue.files.read import explain_duplicate

        try:
            return compute()
        except DuplicateError as error:
            if error.table == "run":
                raise
            raise suggest_one_label(
                explain_duplicate(error, path or self.judgments, **self._read_settings())
            ) from error

    def evaluate(
        self, runs: Iterable[Run], labels: Judgments, measures: Iterable[Measure], path: str | None = None
    ) -> Scores:
        """The runs evaluated by these labels, which came from `path` or from the judgments."""
        from ringtrue.evaluation.evaluate import evaluate

        scores: Scores = self.explain_errors(
            lambda: evaluate(runs, labels, measures, **self.evaluation_settings()), path
        )
        return scores

    def evaluation_settings(self) -> dict[str, Any]:
        """How `evaluate` and `curve` are to count."""
        return {
            "missing": self.missing,
            "judges": self.judges,
            "depth": self.depth,
            "compat": self.compat,
            "collection_size": self.collection_size,
        }

    def _read_settings(self) -> dict[str, Any]:
        from ringtrue.cli.options.files import formats_by_kind

        return {
            "form": formats_by_kind(("run", "judgments"), self.forced)["judgments"],
            **common.parse_selection(self.columns, self.where),
        }


def suggest_one_label(error: DuplicateError) -> DuplicateError:
    """An error about a document with several labels, with the options that choose one of them."""
    choices = {
        "repeated-label": [Suggestion(repeats="first"), Suggestion("keeps one", repeats="last")],
        "several-judges": [Suggestion("chooses one judge", judge=...)],
    }
    suggestions = [*error.note.suggestions, *choices.get(error.code, [])]
    return error.with_note(error.note.changed(suggestions=suggestions))


# What comes first in the help of a command that evaluates; `evaluation_options` comes last.
runs_and_judgments = common.compose(
    click.argument("runs", nargs=-1, required=True, metavar="RUN…"),
    option("--judgments, --qrels FILE", common.JUDGMENTS_HELP, required=True),
)


def evaluation_options_with(repeats: common.Decorator) -> common.Decorator:
    """How to read the runs and the judgments; all of it reaches the command as `run_inputs`."""
    return common.compose(
        common.rel_option,
        common.missing_option,
        common.judge_option,
        option(
            "--judges",
            "With several judges: evaluate by each and average, as trec_eval's qrels_jg.",
            choices=["one", "average"],
            default="one",
        ),
        repeats,
        option(
            "--compat",
            "Follow trec_eval to the last digit where it departs from the plain formulas.",
            choices=["trec_eval-9", "trec_eval-10"],
        ),
        option("--depth K", "Cut every list at this rank.", type=common.POSITIVE),
        option(
            "--collection-size", "Documents in all, for ROC, AUC, Fallout, SetAcc, TN.", type=click.IntRange(1, 2**53)
        ),
        common.name_option,
        common.run_columns_option,
        common.input_options,
        common.collect_as("run_inputs", RunInputs),
    )


evaluation_options = evaluation_options_with(common.repeats_option(["first", "last"]))
