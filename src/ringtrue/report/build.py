"""A report from what was given: each section that has what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ringtrue.errors import InputError, UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Report, Section, SectionOutline
from ringtrue.report.sections import (
    agreement,
    bronze_judge,
    ceiling,
    curves,
    judge_quality,
    label_weights,
    next_labels,
    power,
    query_differences,
    ratings,
    run_comparisons,
    run_scores,
)

if TYPE_CHECKING:
    from ringtrue.evaluation.measures import Measure
    from ringtrue.gold.designs import Design
    from ringtrue.judges.votes import Repeats
    from ringtrue.stats.confusion import Confusion

# In the order of the page.
SECTIONS: tuple[_SectionModule, ...] = (
    run_scores,
    run_comparisons,
    query_differences,
    curves,
    bronze_judge,
    agreement,
    judge_quality,
    label_weights,
    ceiling,
    ratings,
    power,
    next_labels,
)
# These know nothing of queries that are left out, or lists that are cut.
IGNORING_EVALUATION_OPTIONS: tuple[_SectionModule, ...] = (ceiling, next_labels)
# Every figure by its name, with the question that it answers.
FIGURES = {name: question for module in SECTIONS for name, question in module.OUTLINE.figures.items()}
DEFAULT_MEASURES = ("nDCG@10",)
MAX_RUNS_IN_TITLE = 4  # runs in the title


class _SectionModule(Protocol):
    """What a module of `sections` has."""

    OUTLINE: SectionOutline

    def section(self, inputs: ReportInputs) -> Section | None: ...


def report(
    runs: object = (),
    judgments: object = None,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    gold: object = None,
    design: Design | None = None,
    truth: object = None,
    labels: object = None,
    traps: object = None,
    preferences: object = None,
    confusion: Confusion | None = None,
    repeats: Repeats | None = None,
    rel: int = 1,
    level: float = 0.95,
    seed: int = 0,
) -> Report:
    """Everything about runs, judgments and judges on one page; a section for whatever is given.

    `judgments` are of one judge: bronze, where there is `gold` to correct them, drawn by `design`. `labels` are of
    several judges, `traps` items among them with a known answer, `preferences` votes between two documents. `truth`
    are true labels of everything, where they are known, as in a simulation. `confusion` is how judges disagree, for the
    ceiling. Where a judge labelled a document again, or voted on a pair again, `repeats` says what counts. The same
    `seed` gives the same page. `save` writes it as HTML.

    Examples:
        >>> import ringtrue as rt
        >>> runs = {"new": {"q1": {"a": 2.0, "b": 1.0}}, "old": {"q1": {"b": 2.0, "a": 1.0}}}
        >>> page = rt.report(runs, {"q1": {"a": 1}}, "RR")
        >>> print(page.answers[0])
        By RR the best of 2 runs is new (1.0000).
    """
    from ringtrue.evaluation.inputs import iterate_runs
    from ringtrue.evaluation.measures import Measure, parse_all
    from ringtrue.gold.correction.gold_sample import default_measures
    from ringtrue.stats.confusion import Confusion
    from ringtrue.tables import Judgments, Preferences

    trusted = gold if gold is None or isinstance(gold, Confusion) else Judgments.of(gold)
    if measures is None:
        measures = DEFAULT_MEASURES if trusted is None else default_measures(trusted, DEFAULT_MEASURES, design)
    return build_report(
        ReportInputs(
            runs=tuple(iterate_runs(runs)),
            judgments=None if judgments is None else Judgments.of(judgments),
            measures=tuple(parse_all([measures] if isinstance(measures, str | Measure) else measures)),
            gold=trusted,
            truth=None if truth is None else Judgments.of(truth),
            labels=None if labels is None else Judgments.of(labels, needs_query=False),
            traps=traps if traps is None or isinstance(traps, Preferences) else Judgments.of(traps, needs_query=False),
            preferences=None if preferences is None else Preferences.of(preferences),
            confusion=confusion,
            correction_options={} if design is None else {"design": design},
            repeats=repeats,
            rel=rel,
            level=level,
            seed=seed,
        )
    )


def build_report(
    inputs: ReportInputs, figure_names: Iterable[str] = (), progress: Callable[[str], None] = lambda _: None
) -> Report:
    """The page about these inputs, or those of its sections that have one of these figures.

    Runs that cannot be measured are an error, and so is a page without any section; one section that cannot be made is
    not: it is told as absent, with the reason.
    """
    if bool(inputs.runs) != (inputs.judgments is not None):
        text = "runs are measured by judgments, and judgments measure runs: give both, or neither"
        raise UsageError("runs-without-judgments" if inputs.runs else "judgments-without-runs", text)
    if not inputs.runs and inputs.labels is None and inputs.preferences is None:
        text = "nothing to report: give runs and judgments, labels of several judges, or preferences"
        raise UsageError("nothing-to-report", text)
    inputs.require_measurable()
    wanted_figures, sections = set(figure_names), []
    absent: dict[Note, list[str]] = {}
    errors: list[InputError] = []
    for module in SECTIONS:
        outline = module.OUTLINE
        if wanted_figures and wanted_figures.isdisjoint(outline.figures):
            continue
        progress(outline.title)
        try:
            section = module.section(inputs)
        except InputError as error:  # one section that cannot be made must not cost all the others
            absent.setdefault(error.note, []).append(outline.title)
            errors.append(error)
            continue
        if section is None:
            absent.setdefault(Note("not-given", f"needs {outline.needs}"), []).append(outline.title)
        else:
            sections.append(_note_ignored_options(section, module, inputs))
    if errors and not sections:
        raise errors[0]
    return Report(
        title=_report_title(inputs),
        asked=_describe_inputs(inputs),
        answers=tuple(section.answer for section in sections if section.answer),
        sections=tuple(sections),
        absent=tuple((", ".join(titles), reason) for reason, titles in absent.items()),
        seed=inputs.seed,
    )


def _note_ignored_options(section: Section, module: _SectionModule, inputs: ReportInputs) -> Section:
    """The section, which says so where it does not count as somebody asked."""
    if module not in IGNORING_EVALUATION_OPTIONS or not (ignored_options := _describe_evaluation_options(inputs)):
        return section
    text = f"this section counts as usual, without regard to: {'; '.join(ignored_options)}"
    return replace(section, notes=(*section.notes, Note("counted-as-usual", text)))


def _describe_evaluation_options(inputs: ReportInputs) -> list[str]:
    """How runs are counted, where that is not as usual."""
    options = inputs.evaluation_options
    is_set_by_phrase = {
        "a query that a run does not have is left out": options.get("missing") == "skip",
        "by each judge's labels, and averaged": options.get("judges") == "average",
        f"lists cut at rank {options.get('depth')}": options.get("depth"),
        f"as {options.get('compat')}": options.get("compat"),
        f"documents in all: {options.get('collection_size')}": options.get("collection_size"),
    }
    return [phrase for phrase, is_set in is_set_by_phrase.items() if is_set]


def _report_title(inputs: ReportInputs) -> str:
    if inputs.runs:
        names = [run.name for run in inputs.runs]
        if len(names) > MAX_RUNS_IN_TITLE:
            return f"{format_count(len(names), 'run')} by {inputs.measure}"
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return "Judges" if inputs.labels is not None else "Preferences"


def _describe_inputs(inputs: ReportInputs) -> tuple[tuple[str, str], ...]:
    """What was given, in the words of those who gave it, and how much it is."""
    descriptions: dict[str, str] = {}
    if inputs.judgments is not None:
        frame, measures = inputs.judgments.frame, ", ".join(map(str, inputs.measures))
        labels, queries = format_count(frame.height, "label"), format_count(frame["query"].n_unique(), "query")
        descriptions["runs"] = format_count(len(inputs.runs), "run")
        descriptions["judgments"] = f"{labels} of {queries}"
        descriptions["measures"] = "; ".join([measures, *_describe_evaluation_options(inputs)])
    for name in ("gold", "truth", "labels", "traps", "preferences", "confusion"):
        if (table := getattr(inputs, name)) is not None:
            is_matrix = not hasattr(table, "frame")
            descriptions[name] = "a confusion matrix" if is_matrix else format_count(table.frame.height, "row")
    return tuple(
        (name, f"{' '.join(inputs.paths[name])}: {description}" if name in inputs.paths else description)
        for name, description in descriptions.items()
    )
