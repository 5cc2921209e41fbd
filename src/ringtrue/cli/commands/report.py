"""`ringtrue report`, and the files that it and `ringtrue plot` read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, TypeVar

import click

from ringtrue.cli.options import common
from ringtrue.cli.options.common import Command, option, output_options
from ringtrue.cli.options.files import Sources, columns_per_file, refuse_to_overwrite
from ringtrue.cli.options.gold import GoldOptions, gold_options
from ringtrue.cli.options.runs import RunInputs, evaluation_options_with
from ringtrue.cli.output import OutputFormat, emit, print_notes, step_bar
from ringtrue.cli.shell_words import ShellSpelling
from ringtrue.cli.spelling import CommandLine
from ringtrue.errors import DuplicateError, FormatError, RingtrueError, TableError, UsageError
from ringtrue.formatting.grid import Grid
from ringtrue.messages import Note, Suggestion, notes_as_dict, spell

if TYPE_CHECKING:
    from ringtrue.files import TableKind
    from ringtrue.report import Report
    from ringtrue.report.inputs import ReportInputs
    from ringtrue.tables import Judgments, Preferences


Table = TypeVar("Table")
Raised = TypeVar("Raised", bound=RingtrueError)
# What readers of labels and votes call their arguments, and which options those are here; --gold is about runs.
LABEL_OPTIONS = {"columns": "label_columns", "where": "label_where", "gold": None}
WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """The files, as somebody named them; `run_inputs` and `gold_opts` say how runs, judgments and gold are read."""

    run_inputs: RunInputs
    gold_opts: GoldOptions
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
        return [*self.run_inputs.runs, *self._path_by_role.values()]

    @property
    def _path_by_role(self) -> dict[str, str]:
        own_roles = ("truth", "labels", "traps", "preferences", "confusion")
        paths = {"judgments": self.run_inputs.judgments, "gold": self.gold_opts.gold}
        return {
            role: path for role, path in (paths | {role: getattr(self, role) for role in own_roles}).items() if path
        }

    def read_inputs(self) -> ReportInputs:
        """All of it, read, and runs that can be measured; what is doubtful goes to the notes of the run inputs."""
        from ringtrue.files import read_confusion
        from ringtrue.report.build import DEFAULT_MEASURES
        from ringtrue.report.inputs import ReportInputs

        self._require_consistent_files()
        run_inputs = self.run_inputs
        has_judgments = bool(run_inputs.judgments)
        gold = self.gold_opts.read_gold(run_inputs) if self.gold_opts.gold else None
        default_measures: Iterable[str] = (
            DEFAULT_MEASURES if gold is None else self.gold_opts.default_measures(gold, DEFAULT_MEASURES)
        )
        correction_settings = {} if gold is None else self.gold_opts.correction_settings(gold)
        inputs = ReportInputs(
            runs=tuple(run_inputs.read_runs()) if has_judgments else (),
            judgments=run_inputs.read_labels() if has_judgments else None,
            measures=tuple(run_inputs.parse_measures(self.measures or default_measures)),
            gold=gold,
            truth=None if self.truth is None else self._read_truth(self.truth),
            labels=None if self.labels is None else self._read_labels(self.labels),
            traps=None if self.traps is None else self._read_traps(self.traps),
            preferences=None if self.preferences is None else self._read_preferences(self.preferences),
            confusion=None if self.confusion is None else read_confusion(self.confusion),
            correction_options={
                name: setting for name, setting in correction_settings.items() if name != "rng" and setting is not None
            },
            evaluation_options=run_inputs.evaluation_settings(),
            repeats=run_inputs.repeats,
            rel=run_inputs.rel or 1,
            level=run_inputs.level,
            seed=self.seed,
            paths=self._paths_by_role(),
        )
        run_inputs.explain_errors(inputs.require_measurable)
        return inputs

    def explain_errors(self, compute: Callable[[], Report]) -> Report:
        """What `compute` gives; what is wrong with labels or votes is told with their file, if it can be only that."""
        from ringtrue.files.read import explain_duplicate

        label_paths = [path for path in (self.labels, self.preferences) if path]
        path = label_paths[0] if len(label_paths) == 1 else None
        try:
            report = compute()
        except DuplicateError as error:
            if path is None:
                raise _with_label_options(error) from error
            columns, where = self._selection_of(path)
            kind: TableKind = "preferences" if self.labels is None else "judgments"
            explained_error = explain_duplicate(error, path, kind=kind, columns=columns, where=where)
            raise _with_label_options(explained_error) from error
        except TableError as error:
            placed_error = error if path is None else error.found_in(self.sources[path].display_name)
            raise _with_label_options(placed_error) from error
        return replace(
            report, absent=tuple((titles, reason.renamed(LABEL_OPTIONS)) for titles, reason in report.absent)
        )

    def _require_consistent_files(self) -> None:
        common.require_one_stdin(self.paths, common.ALL_OTHERS)
        runs, judgments = self.run_inputs.runs, self.run_inputs.judgments
        give_judgments = [Suggestion("gives them", judgments=...)]
        if runs and not judgments:
            text = "there are runs and no judgments to measure them by"
            raise UsageError("runs-without-judgments", text, suggestions=give_judgments)
        if judgments and not runs:
            raise UsageError("judgments-without-runs", "there are judgments and no runs; add the run files")
        if self.gold_opts.gold and not runs:
            text = "gold corrects the judgments of runs, and there are no runs; add the run files and their judgments"
            raise UsageError("gold-without-runs", text, parameter="gold")
        if self.gold_opts.gold:
            self.gold_opts.refuse_incompatible_settings(self.run_inputs)
        if self.truth and not runs:
            text = "the truth is compared with the judgments of runs; add the run files and their judgments"
            raise UsageError("truth-without-runs", text, parameter="truth")
        give_labels = [Suggestion(labels=...), Suggestion("gives some", preferences=...)]
        if (self.label_columns or self.label_where) and self.labels is None and self.preferences is None:
            text = "columns and rows of labels are chosen, and there are no labels"
            raise UsageError("choice-without-labels", text, suggestions=give_labels)
        if self.traps is not None and self.labels is None and self.preferences is None:
            text = "traps are items among the labels of several judges, and there are no labels"
            raise UsageError("traps-without-labels", text, suggestions=give_labels)

    def _read_truth(self, path: str) -> Judgments:
        labels = self.run_inputs.read_labels(path)
        if self.run_inputs.judges == "one":
            self.run_inputs.explain_errors(labels.require_one_label_each, path)
        return labels

    def _read_labels(self, path: str) -> Judgments:
        from ringtrue.files import read_judgments

        return self._read_judge_file(partial(read_judgments, needs_query=False), path)

    def _read_preferences(self, path: str) -> Preferences:
        from ringtrue.files import read_preferences

        return self._read_judge_file(read_preferences, path)

    def _read_traps(self, path: str) -> Judgments | Preferences:
        """Items with a known answer: labels, or where only preferences are given, the better of two."""
        return self._read_preferences(path) if self.labels is None else self._read_labels(path)

    def _read_judge_file(self, read: Callable[..., Table], path: str) -> Table:
        """A file about judges, read; what is wrong with it is about the options for such files."""
        columns, where = self._selection_of(path)
        try:
            return read(
                self.sources[path],
                columns=columns,
                where=where,
                note=lambda note: self.run_inputs.notes.append(note.renamed(LABEL_OPTIONS)),
            )
        except (TableError, FormatError, UsageError) as error:
            raise _with_label_options(error) from error

    def _selection_of(self, path: str) -> tuple[dict[str, str], dict[str, str]]:
        """What --label-columns and --label-where say about a file; the traps have what they have."""
        selection = common.parse_columns(self.label_columns), common.parse_conditions(self.label_where)
        label_paths = [label_path for label_path in (self.labels, self.preferences) if label_path]
        columns_per_file(
            [self.sources[label_path] for label_path in label_paths], *selection, form=None, prefix="label_"
        )
        return columns_per_file([self.sources[path]], *selection, form=None, strict=False)[0]

    def _paths_by_role(self) -> dict[str, list[str]]:
        runs = {"runs": list(self.run_inputs.runs)} if self.run_inputs.runs else {}
        return {role: [path] for role, path in self._path_by_role.items()} | runs


def _with_label_options(error: Raised) -> Raised:
    return error.with_note(error.note.renamed(LABEL_OPTIONS))


# Runs, judgments and everything that can go with them; all of it reaches the command as `report_opts`.
report_options = common.compose(
    click.argument("runs", nargs=-1, metavar="RUN…"),
    option("--judgments, --qrels FILE", common.JUDGMENTS_HELP, default="", show_default=False),
    common.measure_option(["nDCG@10"]),
    option("--truth FILE", "True labels of everything, where they are known, to be held against."),
    option("--labels FILE", "Labels of several judges."),
    option("--preferences FILE", "Preferences between two documents."),
    option("--traps FILE", "Items with a known answer, to see who pays attention."),
    common.label_selection_options,
    option("--confusion FILE", "How judges disagree: a confusion matrix in JSON."),
    gold_options,
    common.level_option,
    common.seed_option,
    evaluation_options_with(common.repeats_option()),
    common.collect_as("report_opts", ReportOptions),
)


@click.command("report", cls=Command)
@report_options
@common.output_option(".html", default="report.html")
@option("--open", "Open it in a browser.", to="opens", is_flag=True)
@output_options
def command(report_opts: ReportOptions, output: str, opens: bool, form: OutputFormat) -> None:
    """Show me everything on one page.

    Writes one HTML file with a section for whatever is given: how good each run is, raw and corrected, which are
    really better, where they differ, how far the judges can be trusted, and what to judge next. It needs no network,
    and can be sent and printed.
    """
    from ringtrue.report.build import SECTIONS, build_report

    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise UsageError("bad-suffix", "the report is a page; choose a name that ends in .html", file=output)
    refuse_to_overwrite(report_opts.paths, output)
    with step_bar(len(SECTIONS) + 2, description="reading") as step:
        inputs = report_opts.read_inputs()
        report = report_opts.explain_errors(lambda: build_report(inputs, progress=step))
        step("drawing")
        report.save(output, ShellSpelling())
    notes = [*report_opts.run_inputs.notes, *report.notes]
    print_notes(notes)
    payload = {
        "report": output,
        "answers": list(report.answers),
        "figures": [figure.name for figure in report.figures()],
        "absent": dict(report.absent),
        "absent_codes": {titles: reason.code for titles, reason in report.absent},
        **notes_as_dict(notes),
    }
    if form == "table":
        click.echo(_summarise_report(report, output))
    else:
        emit(form, payload=payload, grid=partial(_answers_grid, report))
    if opens and not _open_in_browser(output):
        print_notes([Note("no-browser", f"no browser was found to open {output} in")])


def _summarise_report(report: Report, output: str) -> str:
    """The answers in short, what is not on the page, and where the page is."""
    spelling = CommandLine.here()
    paragraphs = [
        f"{section.title}{'' if section.title.endswith('?') else ':'} {section.answer}" for section in report.sections
    ]
    paragraphs += [f"Not there: {titles} ({spell(reason, spelling)})" for titles, reason in report.absent]
    lines = [fill(paragraph, WIDTH, subsequent_indent="  ") for paragraph in paragraphs]
    return "\n".join([*lines, "", f"{output} has it all on one page; open it in a browser."])


def _answers_grid(report: Report) -> Grid:
    return Grid(
        columns=["section", "answer"], left=2, rows=[[section.title, section.answer] for section in report.sections]
    )


def _open_in_browser(path: str) -> bool:
    import webbrowser

    sys.stdout.flush()
    return webbrowser.open(Path(path).resolve().as_uri())
