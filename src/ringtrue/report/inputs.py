"""What a report is made from: tables that were read, and what several sections need of them, made once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
import polars as pl

from ringtrue.errors import InputError, TableError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import Measure
from ringtrue.formatting.phrases import format_count
from ringtrue.gold.correction import Correction, correct
from ringtrue.gold.correction.gold_sample import comparison_measures
from ringtrue.judges.votes import Repeats
from ringtrue.judges.votes.columns import find_stray_labels
from ringtrue.messages import Note
from ringtrue.report.sections.number_phrases import join_names
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Comparison, Comparisons, Estimate
from ringtrue.tables import Judgments, Preferences, Run, Scores

Outcome = TypeVar("Outcome")
Means: TypeAlias = Mapping[str, Mapping[str, Estimate]]
PairComparisons: TypeAlias = Mapping[tuple[str, str], Comparison]

DEFAULT_DEPTH = 10  # ranks that people look at, where the measure looks at the whole list
EQUAL_DIGITS = 9  # digits in which values are the same that differ only by how they were added up
TRAP_MAJORITY = 0.5  # of the labels: traps that are more than this are no traps among other work
EXPECTED_TOP_LABELS = 10  # labels of a grade that a judge should have given by now


@dataclass(frozen=True, kw_only=True)
class ReportInputs:
    """All that was given. Sections leave alone what they are told of here, and ask for no file.

    `judgments` has one label for each document: bronze, where there is `gold` to correct it. `labels` are of several
    judges, `truth` those of a perfect judge for everything, which a simulation knows. `measures` come from what
    somebody asked for; the page is about the first. `paths` are the files of what was given, where there are files.
    """

    runs: tuple[Run, ...] = ()
    judgments: Judgments | None = None
    measures: tuple[Measure, ...] = ()
    gold: Judgments | Confusion | None = None
    truth: Judgments | None = None
    labels: Judgments | None = None
    traps: Judgments | Preferences | None = None
    preferences: Preferences | None = None
    confusion: Confusion | None = None
    correction_options: Mapping[str, Any] = field(default_factory=dict)  # design, method, population, bronze_rel
    # missing, judges, depth, compat, collection_size
    evaluation_options: Mapping[str, Any] = field(default_factory=dict)
    repeats: Repeats | None = None  # which label, or vote, of a judge counts where there are several of one item
    rel: int = 1
    level: float = 0.95
    seed: int = 0
    paths: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """The measure that the page is about."""
        return str(self.measures[0])

    @property
    def depth(self) -> int:
        """As deep as this measure looks."""
        return self.measures[0].reach or DEFAULT_DEPTH

    def rng(self, purpose: str) -> np.random.Generator:
        """Random numbers for one section: the same seed gives the same page, whichever other sections there are."""
        return np.random.default_rng([self.seed, *purpose.encode()])

    @cached_property
    def scores(self) -> Scores | None:
        """Each run's value for each query, by the judgments as they are."""
        if not self.runs or self.judgments is None:
            return None
        return evaluate(self.runs, self.judgments, self.measures, **self.evaluation_options)

    @property
    def correction(self) -> Correction | None:
        """The same as a perfect judge would have it, where there is gold; an error where this gold cannot tell."""
        return _raise_if_error(self.correction_or_error)

    @cached_property
    def correction_or_error(self) -> Correction | InputError | None:
        """The correction, or why there is none; worked out once, although several sections ask."""
        if not self.runs or self.judgments is None or self.gold is None:
            return None
        try:
            return self.correct_runs("correction", self.measures)
        except InputError as error:
            return error

    def correct_runs(self, purpose: str, measures: Iterable[Measure], **settings: Any) -> Correction:
        """Correct the values of the runs by gold; settings are those of `correct`, and win over those given."""
        options = {"level": self.level, "rng": self.rng(purpose), **self.correction_options, **settings}
        return correct(self.runs, self.judgments, self.gold, measures, **options)

    @property
    def comparisons(self) -> Comparisons | None:
        """All pairs of runs by the measure of the page; corrected, where there is gold."""
        return _raise_if_error(self.comparisons_or_error)

    @cached_property
    def comparisons_or_error(self) -> Comparisons | InputError | None:
        """The comparisons, or why there are none; worked out once."""
        try:
            return None if self.scores is None or len(self.runs) < 2 else self.compare_runs(level=self.level)
        except InputError as error:
            return error

    def compare_runs(self, **settings: Any) -> Comparisons:
        """Compare the runs by the measure of the page; settings are those of `compare`."""
        from ringtrue.evaluation.significance import compare
        from ringtrue.gold.correction import compare_corrected

        settings |= {"rng": self.rng("comparisons")}
        if self.gold is None:
            assert self.scores is not None
            return compare(Scores(self.scores.frame.filter(measure=self.measure)), **settings)
        settings |= self.correction_options
        return compare_corrected(self.runs, self.judgments, self.gold, self.measures[0], **settings)

    def require_measurable(self) -> None:
        """Refuse runs that cannot be measured, or corrected, in the words of `evaluate` and `compare`.

        Gold that was drawn to compare runs says nothing of a single one, and is enough if it compares them.
        """
        if self.gold is not None:
            to_compare = isinstance(self.gold, Judgments) and comparison_measures(self.gold)
            _raise_if_error(self.comparisons_or_error if to_compare else self.correction_or_error)
        _ = self.scores


def _raise_if_error(outcome: Outcome | InputError) -> Outcome:
    if isinstance(outcome, InputError):
        raise outcome
    return outcome


def sort_runs_by_mean(means: Means, measure: str) -> tuple[str, ...]:
    """The runs by their value, the best first; those without one last."""
    return _sort_highest_first({run: row[measure].value for run, row in means.items()})


def find_leaders(values_by_run: Mapping[str, float | None]) -> tuple[str, ...]:
    """The runs with the highest value: more than one, where several have the same.

    Examples:
        >>> find_leaders({"a": 0.5, "b": 0.1 + 0.2 + 0.2, "c": None})
        ('a', 'b')
    """
    rounded = {run: round(value, EQUAL_DIGITS) for run, value in values_by_run.items() if value is not None}
    return tuple(run for run, value in rounded.items() if value == max(rounded.values()))


def all_runs_phrase(runs: Sequence[str]) -> str:
    """All of them, in words.

    Examples:
        >>> all_runs_phrase(["a", "b"]), all_runs_phrase(["a", "b", "c"])
        ('both runs', 'all 3 runs')
    """
    return "both runs" if len(runs) == 2 else f"all {len(runs)} runs"


def drop_zero_width_intervals(means: Means) -> Means:
    """Without intervals of no length: where every query has the same value, they cannot tell what others would give."""
    return {
        run: {
            name: replace(estimate, low=None, high=None) if estimate.low == estimate.high else estimate
            for name, estimate in row.items()
        }
        for run, row in means.items()
    }


def estimate_run_means(inputs: ReportInputs) -> Means | None:
    """The value of each run, corrected where there is gold; None where gold serves for comparisons alone."""
    if inputs.gold is None:
        return None if inputs.scores is None else inputs.scores.means(level=inputs.level)
    correction = inputs.correction_or_error
    return None if correction is None or isinstance(correction, InputError) else correction.corrected


def fit_strengths(inputs: ReportInputs) -> dict[str, float | None]:
    """How far each run is ahead of all the others; where they cannot be compared, its value.

    Of a corrected difference more is known than of two corrected values, so that the differences have the last word.
    They need not fit together: the strengths are the values that fit them best, by least squares. Where every pair is
    compared, that is the mean of a run's differences from all, itself included.
    """
    outcome = inputs.comparisons_or_error
    pairs = outcome if isinstance(outcome, Comparisons) else ()
    if comparisons := [comparison for comparison in pairs if comparison.difference.value is not None]:
        return _fit_least_squares([run.name for run in inputs.runs], comparisons)
    means = estimate_run_means(inputs) or {}
    return {run.name: means[run.name][inputs.measure].value if means else None for run in inputs.runs}


def order_runs(inputs: ReportInputs) -> tuple[str, ...]:
    """The runs as the whole page has them, the best first by the measure of the page."""
    return _sort_highest_first(fit_strengths(inputs))


def compare_run_pairs(inputs: ReportInputs) -> dict[tuple[str, str], Comparison]:
    """Every pair of runs, either way round; none where they cannot be compared."""
    outcome = inputs.comparisons_or_error
    comparisons = outcome if isinstance(outcome, Comparisons) else ()
    by_pair = {(comparison.a, comparison.b): comparison for comparison in comparisons}
    return by_pair | {(b, a): comparison.turned() for (a, b), comparison in by_pair.items()}


def find_contradicted_pairs(means: Means, pairs: PairComparisons, measure: str) -> list[tuple[str, str]]:
    """The pairs of runs where the first has the higher value, and yet the second is ahead when they are compared."""
    contradicted = []
    for (a, b), comparison in pairs.items():
        first, second, gap = means[a][measure].value, means[b][measure].value, comparison.difference.value
        if first is None or second is None or gap is None:
            continue
        if round(first - second, EQUAL_DIGITS) > 0 > round(gap, EQUAL_DIGITS):
            contradicted.append((a, b))
    return contradicted


def score_as_labelled(inputs: ReportInputs) -> tuple[Scores, str]:
    """The value of each run and query by the labels as they are, and how the measure reads them.

    Bronze labels may count as relevant from another label on than gold ones.
    """
    assert inputs.scores is not None
    measure, rel = inputs.measures[0], inputs.correction_options.get("bronze_rel")
    if rel is None or "rel" not in measure.definition.defaults:
        return inputs.scores, str(measure)
    bronze_measure = measure.from_label(rel)
    return evaluate(inputs.runs, inputs.judgments, bronze_measure, **inputs.evaluation_options), str(bronze_measure)


def _sort_highest_first(values_by_run: Mapping[str, float | None]) -> tuple[str, ...]:
    """The highest first, those without a value last, and those with the same in the order in which they came."""
    sort_values = {
        run: float("-inf") if value is None else round(value, EQUAL_DIGITS) for run, value in values_by_run.items()
    }
    return tuple(sorted(sort_values, key=lambda run: -sort_values[run]))


def _fit_least_squares(run_names: list[str], comparisons: list[Comparison]) -> dict[str, float | None]:
    column_of_run = {run: column for column, run in enumerate(run_names)}
    design_matrix, rows = np.zeros((len(comparisons), len(run_names))), np.arange(len(comparisons))
    design_matrix[rows, [column_of_run[comparison.a] for comparison in comparisons]] = 1
    design_matrix[rows, [column_of_run[comparison.b] for comparison in comparisons]] = -1
    gaps = np.array([comparison.difference.value for comparison in comparisons], dtype=np.float64)
    fit = np.linalg.lstsq(design_matrix, gaps, rcond=None)[0]
    compared_runs = {run for comparison in comparisons for run in (comparison.a, comparison.b)}
    return {run: float(fit[column]) if run in compared_runs else None for run, column in column_of_run.items()}


def labels_without_slips(inputs: ReportInputs) -> tuple[Judgments | None, tuple[Note, ...]]:
    """All labels but slips, such as a 10 on a scale of 0 to 3, and those below 0, which say that nobody judged.

    With a word on these; None where there are no labels.
    """
    labels = inputs.labels
    if labels is None:
        return None, ()
    judged = labels.frame.filter(pl.col("label") >= 0)
    negative_count = labels.frame.height - judged.height
    if not judged.height:
        raise TableError("nothing-judged", "every label is below 0, which says 'not judged'")
    notes = []
    if negative_count:
        text = f"{format_count(negative_count, 'label')} below 0 ('not judged') left out"
        notes.append(Note("unjudged-labels", text))
    if slip_counts := find_stray_labels(judged["label"]):
        judged = judged.filter(~pl.col("label").is_in(list(slip_counts)))
        listing = ", ".join(f"{label} ({n:,} time{'s' * (n > 1)})" for label, n in slip_counts.items())
        notes.append(Note("stray-labels-left-out", f"labels that look like slips are left out: {listing}"))
    return Judgments(judged) if notes else labels, tuple(notes)


def labels_without_traps(inputs: ReportInputs) -> tuple[Judgments | None, tuple[Note, ...]]:
    """The labels without slips and without traps, and a word on these."""
    labels, notes = labels_without_slips(inputs)
    traps = inputs.traps
    if labels is None or not isinstance(traps, Judgments) or traps_dominate(traps, labels):
        return labels, notes
    without_traps = _anti_join(labels.frame, traps.frame, ["query", "doc"])
    return Judgments(without_traps), (*notes, *_trap_note(labels.frame.height - without_traps.height, "label"))


def votes_without_traps(inputs: ReportInputs) -> tuple[Preferences | None, tuple[Note, ...]]:
    """The votes without those on traps, whichever of the two documents stood left, and a word on these."""
    votes, traps = inputs.preferences, inputs.traps
    if votes is None or not isinstance(traps, Preferences):
        return votes, ()
    swapped = traps.frame.select("query", left="right", right="left")
    trap_pairs = pl.concat([traps.frame.select("query", "left", "right"), swapped])
    without_traps = _anti_join(votes.frame, trap_pairs, ["query", "left", "right"])
    if not without_traps.height:
        return votes, ()
    return Preferences(without_traps), _trap_note(votes.frame.height - without_traps.height, "vote")


def traps_dominate(traps: Judgments, labels: Judgments) -> bool:
    """Whether most labels are of traps: these are then gold, and leaving them out would leave little."""
    return _anti_join(labels.frame, traps.frame, ["query", "doc"]).height < TRAP_MAJORITY * labels.frame.height


def _anti_join(frame: pl.DataFrame, excluded: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    return frame.join(excluded.select(on).unique(), on=on, how="anti", maintain_order="left")


def _trap_note(trap_count: int, noun: str) -> tuple[Note, ...]:
    text = f"{format_count(trap_count, noun)} of traps left out: they are easier than the rest"
    return (Note("trap-labels-left-out", text),) if trap_count else ()


def scale_notes(labels: Judgments) -> tuple[Note, ...]:
    """A note on judges who never give the highest label, though others would have given it ten times on their share.

    Examples:
        >>> table = {"doc": [*range(60)] * 2, "judge": ["ann"] * 60 + ["bob"] * 60, "label": [0, 1] * 30 + [0, 2] * 30}
        >>> scale_notes(Judgments.of(table, needs_query=False))[0].code
        'label-never-given'
    """
    frame = labels.frame.filter(pl.col("label") >= 0)
    if not frame.height:
        return ()
    top = int(frame["label"].to_numpy().max())
    per_judge = frame.group_by("judge", maintain_order=True).agg(n=pl.len(), top=(pl.col("label") == top).sum())
    if per_judge.height < 2:
        return ()
    top_by_others, labels_by_others = pl.col("top").sum() - pl.col("top"), pl.col("n").sum() - pl.col("n")
    never_top = per_judge.filter(
        (pl.col("top") == 0) & (pl.col("n") * top_by_others / labels_by_others >= EXPECTED_TOP_LABELS)
    )["judge"].to_list()
    if not never_top:
        return ()
    names, verb = join_names(never_top), "says" if len(never_top) == 1 else "say"
    doubt = "are all judges on one scale? If not, numbers that compare them mislead"
    return (Note("label-never-given", f"{names} never {verb} {top}, which others do: {doubt}"),)
