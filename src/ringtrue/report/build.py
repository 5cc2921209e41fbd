"""A report from what was given: each section that has what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ringtrue.errors import InputError, UsageError
from ringtrue.formatting.phrases import counted
from ringtrue.report.inputs import Material
from ringtrue.report.model import Report, Section
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

__all__ = ["FIGURES", "SECTIONS", "USUAL", "made_from", "report"]


class _Module(Protocol):
    """What a module of `sections` has."""

    TITLE: str
    NEEDS: str
    FIGURES: dict[str, str]

    def section(self, material: Material) -> Section | None: ...


# In the order of the page.
SECTIONS: tuple[_Module, ...] = (
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
AS_USUAL: tuple[_Module, ...] = (ceiling, next_labels)
# Every figure by its name, with the question that it answers.
FIGURES: dict[str, str] = {name: question for module in SECTIONS for name, question in module.FIGURES.items()}
USUAL = ("nDCG@10",)
MOST_NAMED = 4  # runs in the title


def report(
    runs: object = (), judgments: object = None, measures: str | Measure | Iterable[str | Measure] | None = None, *,
    gold: object = None, design: Design | None = None, truth: object = None, labels: object = None,
    traps: object = None, preferences: object = None, confusion: Confusion | None = None,
    repeats: Repeats | None = None, rel: int = 1, level: float = 0.95, seed: int = 0,
) -> Report:  # fmt: skip
    """Everything about runs, judgments and judges on one page; a section for whatever is given.

    `judgments` are of one judge: bronze, where there is `gold` to correct them, drawn by `design`. `labels` are of
    several judges, `traps` items among them with a known answer, `preferences` votes between two documents. `truth`
    are true labels of everything, where they are known, as in a simulation. `confusion` is how judges disagree, for the
    ceiling. Where a judge labelled a document again, or voted on a pair again, `repeats` says what counts. The same
    `seed` gives the same page. `save` writes it as HTML.

    Examples:
        >>> import ringtrue as rt
        >>> runs = {"new": {"q1": {"a": 2.0, "b": 1.0}}, "old": {"q1": {"b": 2.0, "a": 1.0}}}
        >>> found = rt.report(runs, {"q1": {"a": 1}}, "RR")
        >>> print(found.answers[0])
        By RR the best of 2 runs is new (1.0000).
    """
    from ringtrue.evaluation.inputs import every_run
    from ringtrue.evaluation.measures import Measure, parse_all
    from ringtrue.gold.correction.gold_sample import usual_measures
    from ringtrue.stats.confusion import Confusion
    from ringtrue.tables import Judgments, Preferences

    trusted = gold if gold is None or isinstance(gold, Confusion) else Judgments.of(gold)
    if measures is None:
        measures = USUAL if trusted is None else usual_measures(trusted, USUAL, design)
    return made_from(
        Material(
            runs=tuple(every_run(runs)), judgments=None if judgments is None else Judgments.of(judgments),
            measures=tuple(parse_all([measures] if isinstance(measures, str | Measure) else measures)), gold=trusted,
            truth=None if truth is None else Judgments.of(truth),
            labels=None if labels is None else Judgments.of(labels, needs_query=False),
            traps=traps if traps is None or isinstance(traps, Preferences) else Judgments.of(traps, needs_query=False),
            preferences=None if preferences is None else Preferences.of(preferences), confusion=confusion,
            correcting={} if design is None else {"design": design}, repeats=repeats, rel=rel, level=level,
            seed=seed,
        )
    )  # fmt: skip


def made_from(material: Material, only: Iterable[str] = (), progress: Callable[[str], None] = lambda _: None) -> Report:
    """The page about this material, or those of its sections that have one of these figures.

    Runs that cannot be measured are an error, and so is a page without any section; one section that cannot be made is
    not: it is told as absent, with the reason.
    """
    if bool(material.runs) != (material.judgments is not None):
        raise UsageError("runs are measured by judgments, and judgments measure runs: give both, or neither")
    if not material.runs and material.labels is None and material.preferences is None:
        raise UsageError("nothing to report: give runs and judgments, labels of several judges, or preferences")
    material.require()
    wanted, sections = set(only), []
    absent: dict[str, list[str]] = {}
    errors: list[InputError] = []
    for module in SECTIONS:
        if wanted and wanted.isdisjoint(module.FIGURES):
            continue
        progress(module.TITLE)
        try:
            made = module.section(material)
        except InputError as error:  # one section that cannot be made must not cost all the others
            absent.setdefault(str(error), []).append(module.TITLE)
            errors.append(error)
            continue
        if made is None:
            absent.setdefault(f"needs {module.NEEDS}", []).append(module.TITLE)
        else:
            sections.append(_with_doubt(made, module, material))
    if errors and not sections:
        raise errors[0]
    return Report(
        title=_title(material), asked=_asked(material), answers=tuple(one.answer for one in sections if one.answer),
        sections=tuple(sections), absent=tuple((", ".join(titles), why) for why, titles in absent.items()),
        seed=material.seed,
    )  # fmt: skip


def _with_doubt(made: Section, module: _Module, material: Material) -> Section:
    """The section, which says so where it does not count as somebody asked."""
    if module not in AS_USUAL or not (asked := _counting(material)):
        return made
    return replace(made, notes=(*made.notes, f"this section counts as usual, without regard to: {'; '.join(asked)}"))


def _counting(material: Material) -> list[str]:
    """How runs are counted, where that is not as usual."""
    given = material.evaluating
    told = {
        "a query that a run does not have is left out": given.get("missing") == "skip",
        "by each judge's labels, and averaged": given.get("judges") == "average",
        f"lists cut at rank {given.get('depth')}": given.get("depth"),
        f"as {given.get('compat')}": given.get("compat"),
        f"documents in all: {given.get('collection_size')}": given.get("collection_size"),
    }
    return [words for words, asked in told.items() if asked]


def _title(material: Material) -> str:
    if material.runs:
        names = [run.name for run in material.runs]
        if len(names) > MOST_NAMED:
            return f"{counted(len(names), 'run')} by {material.measure}"
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return "Judges" if material.labels is not None else "Preferences"


def _asked(material: Material) -> tuple[tuple[str, str], ...]:
    """What was given, in the words of those who gave it, and how much it is."""
    told: dict[str, str] = {}
    if material.judgments is not None:
        queries = material.judgments.frame["query"].n_unique()
        told["runs"] = counted(len(material.runs), "run")
        told["judgments"] = f"{counted(material.judgments.frame.height, 'label')} of {counted(queries, 'query')}"
        told["measures"] = "; ".join([", ".join(map(str, material.measures)), *_counting(material)])
    for name in ("gold", "truth", "labels", "traps", "preferences", "confusion"):
        if (table := getattr(material, name)) is not None:
            frame = getattr(table, "frame", None)
            told[name] = "a confusion matrix" if frame is None else counted(frame.height, "row")
    return tuple((name, f"{material.names[name]}: {words}" if name in material.names else words)
                 for name, words in told.items())  # fmt: skip
