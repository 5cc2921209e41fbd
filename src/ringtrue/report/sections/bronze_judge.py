"""What does the bronze judge mix up, and does it err alike at every rank and on every run?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.gold.correction import Correction
from ringtrue.gold.correction.diagnostics import CHECK_ALPHA, permutation_p, rank_bands
from ringtrue.messages import Note, Suggestion
from ringtrue.report.inputs import ReportInputs, order_runs
from ringtrue.report.model import MAX_CHART_ROWS, Figure, Forest, Section, SectionOutline, Series
from ringtrue.report.sections.confusion import (
    GoldPairs,
    confusion_grid,
    confusion_heatmap,
    describe_mistake,
    make_gold_problem,
    pair_gold_with_bronze,
    worst_mistake,
)
from ringtrue.report.sections.number_phrases import (
    capitalize_first,
    drop_if_unknown,
    format_p_value,
    format_percent,
    format_percent_estimate,
    join_names,
)
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from ringtrue.evaluation.measures import IntArray
    from ringtrue.gold.correction.results import CorrectionProblem

OUTLINE = SectionOutline(
    name="bronze-judge",
    title="The bronze judge",
    needs="runs, judgments and gold labels of some of their documents",
    figures={
        "confusion": "What does the bronze judge mix up?",
        "by-rank": "Is the bronze judge as good at the top as further down?",
        "by-run": "Is the bronze judge as good on one run as on another?",
    },
)
MIN_LABELS_PER_RUN = 5  # labels of a kind, below which a run is no example
KINDS = ("relevant documents", "the others")
UNSHARED = "Among documents that the runs do not share, "
COMPARISON_SAMPLE_NOTE = Note(
    "drawn-for-comparison",
    "the gold labels were drawn to compare runs, from documents that these do not share: nothing here is about what "
    "all have at the same rank",
)
UNCHECKED_GOLD = {
    "external": "Gold labels of documents from elsewhere",
    "known": "A confusion matrix alone",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupTest:
    """Whether accuracy differs between groups, and how sure that is; p is None where nothing can differ."""

    factor: str
    p: float | None

    @property
    def differs(self) -> bool:
        return self.p is not None and self.p < CHECK_ALPHA


def section(inputs: ReportInputs) -> Section | None:
    """The judge's confusion matrix, and its accuracy by rank and by run."""
    problem = make_gold_problem(inputs)
    if problem is None:
        return None
    if isinstance(problem.gold, Confusion):
        return _section_from_matrix(problem.gold)
    pairs = pair_gold_with_bronze(problem, inputs)
    bands = _documents_by_rank_band(pairs)
    by_rank, by_run = (
        _test_groups(factor, groups, pairs, inputs) for factor, groups in (("rank", bands), ("run", pairs.docs_by_run))
    )
    figures = [_confusion_figure(pairs, problem, inputs)]
    notes = [COMPARISON_SAMPLE_NOTE] if pairs.drawn_for_comparison else []
    if (pairs.best_rank > 0).any():
        if problem.method == "confusion" and (by_rank.differs or by_run.differs):
            notes.append(_unequal_rates_note())
        figures.append(_rank_figure(pairs, bands, _equal_rates_verdict(by_rank, pairs, problem)))
        figures.append(_run_figure(pairs, order_runs(inputs), _equal_rates_verdict(by_run, pairs, problem)))
    else:
        notes.append(_unchecked_note(problem.design))
    return OUTLINE.section(_summarise_bronze_judge(pairs, by_rank, by_run), *figures, notes=notes)


def _confusion_figure(pairs: GoldPairs, problem: CorrectionProblem, inputs: ReportInputs) -> Figure:
    shares, counts = pairs.weigh_confusion(), pairs.count_confusion()
    notes = []
    if np.ptp(pairs.weight):
        text = "shares are of all documents that the gold labels stand for; below them, the labels that were seen"
        notes.append(Note("weighted-shares", text))
    if without_bronze := int((pairs.bronze < 0).sum()):
        text = f"{format_count(without_bronze, 'gold label')} without a bronze label: not in the matrix"
        notes.append(Note("gold-partly-without-bronze", text))
    highest_gold, highest_bronze = max(pairs.gold.tolist()), max(pairs.bronze.tolist())
    words = []
    if highest_gold == highest_bronze:
        words.append(f"Bronze gives the same label as gold in {format_percent(shares.accuracy)} of cases.")
        if mistake := worst_mistake(shares):
            words.append(f"Most often it errs like this: {describe_mistake(mistake, 'gold', 'bronze')}.")
    else:
        scales = f"gold's labels go up to {highest_gold}, those of bronze to {highest_bronze}"
        notes.append(Note("different-scales", f"{scales}: what lies off the diagonal need not be a mistake"))
    missed, false_alarms = (format_percent(None if rate.value is None else 1 - rate.value) for rate in pairs.rates())
    words.append(
        f"{_threshold_phrase(problem, inputs)} it calls {false_alarms} of the documents that are not relevant "
        f"relevant, and misses {missed} of the relevant ones."
    )
    return OUTLINE.figure(
        "confusion",
        _prefix_unshared(pairs, " ".join(words)),
        confusion_grid(
            [("bronze", shares, counts)], "gold says", pairs.level, ends=pairs.intervals(), about=pairs.interval_method
        ),
        confusion_heatmap(shares, counts, up="gold says", across="bronze says"),
        notes=notes,
    )


def _prefix_unshared(pairs: GoldPairs, sentence: str) -> str:
    """The same words, and of which documents, where these are not all that the runs show."""
    return f"{UNSHARED}{sentence[0].lower()}{sentence[1:]}" if pairs.drawn_for_comparison else sentence


def _threshold_phrase(problem: CorrectionProblem, inputs: ReportInputs) -> str:
    measure = inputs.measures[0]
    gold, bronze = measure.rel, problem.bronze_threshold(measure)
    if gold == bronze:
        return "Counting all labels but 0 as relevant," if gold == 1 else f"Counting labels from {gold} on as relevant,"
    return f"Counting labels from {gold} on as relevant, and those of bronze from {bronze} on,"


def _rank_figure(pairs: GoldPairs, bands: Mapping[str, IntArray], verdict: str) -> Figure:
    rates = _rates_by_group(pairs, bands)
    words = []
    for kind_index, kind in enumerate(KINDS):
        shares = [
            (format_percent(rates[band][kind_index].value), f"at {band}" if band.startswith("rank") else band)
            for band in bands
            if rates[band][kind_index].n
        ]
        phrases = [f"{share}{'' if place else ' of cases'} {where}" for place, (share, where) in enumerate(shares)]
        if phrases:
            words.append(f"on {kind} in {join_names(phrases)}")
    opening = _prefix_unshared(pairs, f"Bronze is right {'; '.join(words)}. ")
    return OUTLINE.figure(
        "by-rank",
        f"{opening}{verdict}",
        _accuracy_table("rank", rates, pairs),
        _accuracy_forest(rates, pairs, bands),
        notes=[Note("best-rank-counts", "a document counts at the highest place that any run gives it")],
    )


def _run_figure(pairs: GoldPairs, order: tuple[str, ...], verdict: str) -> Figure:
    rates = _rates_by_group(pairs, {run: pairs.docs_by_run[run] for run in order})
    shown = {name: rates[name] for name in list(rates)[: MAX_CHART_ROWS + 1]}
    words = []
    for kind_index, kind in enumerate(KINDS):
        rate_by_run = {
            run: rates[run][kind_index].value or 0.0 for run in order if rates[run][kind_index].n >= MIN_LABELS_PER_RUN
        }
        if len(rate_by_run) > 1:
            words.append(f"on {kind} in {_rate_range(rate_by_run, len(order))}")
    opening = f"In the runs' first {pairs.depth} bronze is right {'; '.join(words)}. "
    shared = Note("runs-share-documents", "runs share documents, so that their rates are alike by that alone")
    notes = [shared] if len(order) > 1 else []
    if len(order) > MAX_CHART_ROWS:
        text = f"the chart has the best {MAX_CHART_ROWS} of {len(order)} runs, the table all"
        notes.append(Note("chart-shortened", text))
    return OUTLINE.figure(
        "by-run",
        f"{_prefix_unshared(pairs, opening) if words else ''}{verdict}",
        _accuracy_table("run", rates, pairs),
        _accuracy_forest(shown, pairs, pairs.docs_by_run),
        notes=notes,
    )


def _rates_by_group(pairs: GoldPairs, groups: Mapping[str, IntArray]) -> dict[str, tuple[Estimate, Estimate]]:
    """How often bronze is right on relevant and on other documents: of all, and of each group."""
    return {"all": pairs.rates()} | {name: pairs.rates(where) for name, where in groups.items()}


def _rate_range(rate_by_run: Mapping[str, float], run_count: int) -> str:
    """From the lowest to the highest rate of a run, with its name; or that they are all the same."""
    lowest, highest = min(rate_by_run, key=rate_by_run.__getitem__), max(rate_by_run, key=rate_by_run.__getitem__)
    low, high = format_percent(rate_by_run[lowest]), format_percent(rate_by_run[highest])
    if low != high:
        return f"{low} ({lowest}) to {high} ({highest}) of cases"
    if len(rate_by_run) == run_count:
        return f"{low} of cases on every run"
    return f"{low} of cases on all {len(rate_by_run)} runs with {MIN_LABELS_PER_RUN} such labels or more"


def _accuracy_forest(
    rates: Mapping[str, tuple[Estimate, Estimate]], pairs: GoldPairs, groups: Mapping[str, IntArray]
) -> Forest:
    return Forest(
        names=tuple(rates),
        across="how often bronze is right",
        marks_title="gold labels",
        series=tuple(
            Series(name=f"on {kind}", values=tuple(map(drop_if_unknown, estimates)))
            for kind, estimates in zip(KINDS, zip(*rates.values(), strict=True), strict=True)
        ),
        marks=tuple(f"{len(groups.get(name, pairs.gold)):,}" for name in rates),
    )


def _accuracy_table(group_name: str, rates: Mapping[str, tuple[Estimate, Estimate]], pairs: GoldPairs) -> Grid:
    return Grid(
        columns=[group_name, KINDS[0], "right on these", KINDS[1], "right on these"],
        rows=[
            [
                name,
                f"{on_relevant.n:,}",
                format_percent_estimate(on_relevant),
                f"{on_others.n:,}",
                format_percent_estimate(on_others),
            ]
            for name, (on_relevant, on_others) in rates.items()
        ],
        caption=f"gold labels, and how often bronze is right on them, with {pairs.level:.0%} intervals "
        f"({pairs.interval_method}); each label counts for as many documents as it stands for",
    )


def _equal_rates_verdict(test: _GroupTest, pairs: GoldPairs, problem: CorrectionProblem) -> str:
    """Does one pair of rates for all documents hold, and who needs it to?"""
    by_rates = problem.method == "confusion"
    if test.p is None:
        return "There is nothing in which the groups could differ."
    p_value, labels = format_p_value(test.p), format_count(len(pairs.gold), "gold label")
    if test.differs:
        finding = f"So it differs by {test.factor} ({p_value}): one pair of error rates for all would not hold."
        if by_rates:
            return f"{finding} The correction on this page takes it to hold, and is not to be relied on."
        return f"{finding} This is why ringtrue goes by documents or whole queries, and not by the judge's rates."
    finding = f"No difference by {test.factor} shows in {labels} ({p_value})"
    if test.p < 1 - pairs.level:
        finding = f"So it may well differ by {test.factor}, though {labels} do not show it beyond doubt ({p_value})"
    if by_rates:
        return f"{finding}; the correction on this page takes it that there is none."
    return f"{finding}; the correction on this page does not take the rates to be the same, and holds either way."


def _summarise_bronze_judge(pairs: GoldPairs, *tests: _GroupTest) -> str:
    phrases = [
        f"{format_percent_estimate(estimate)} of {kind}"
        for kind, estimate in zip(KINDS, pairs.rates(), strict=True)
        if estimate.value is not None
    ]
    differs = [test.factor for test in tests if test.differs]
    differences = f", and not equally so by {' and by '.join(differs)}" if differs else ""
    return _prefix_unshared(pairs, f"The bronze judge is right on {' and '.join(phrases)}{differences}.")


def _documents_by_rank_band(pairs: GoldPairs) -> dict[str, IntArray]:
    """The gold documents by the best place that any run gives them; without bands that are empty."""
    ends: dict[str, tuple[int, float]] = {
        **rank_bands(pairs.depth),
        f"below rank {pairs.depth}": (pairs.depth + 1, np.inf),
        "in no run": (0, 0),
    }
    band_documents = {
        name: np.flatnonzero((pairs.best_rank >= low) & (pairs.best_rank <= high)) for name, (low, high) in ends.items()
    }
    return {name: where for name, where in band_documents.items() if len(where)}


def _test_groups(group_name: str, groups: Mapping[str, IntArray], pairs: GoldPairs, inputs: ReportInputs) -> _GroupTest:
    """Whether accuracy differs: as the correction's own check has it, so that the page says one thing, or tested.

    Of a measure that looks at whole lists, the check has whole lists too, and not the tops that are shown here.
    """
    correction = None if inputs.measures[0].reach is None else inputs.correction_or_error
    for check in correction.checks if isinstance(correction, Correction) else ():
        if check.name == f"accuracy by {group_name}":
            return _GroupTest(factor=group_name, p=check.p_value)
    member = np.zeros((len(pairs.gold), len(groups)))
    for column, where in enumerate(groups.values()):
        member[where, column] = 1
    p = permutation_p(pairs.right, pairs.relevant, member, inputs.rng(f"by {group_name}"), pairs.queries)
    return _GroupTest(factor=group_name, p=p)


def _section_from_matrix(matrix: Confusion) -> Section:
    """All that can be told of a judge whose confusion matrix is given."""
    sentence, mistake = "The judge never errs.", worst_mistake(matrix)
    if mistake is not None:
        sentence = f"{capitalize_first(describe_mistake(mistake, 'gold', 'bronze'))}."
    figure = OUTLINE.figure(
        "confusion",
        sentence,
        confusion_grid([("bronze", matrix, None)], "gold says"),
        confusion_heatmap(matrix, up="gold says", across="bronze says"),
    )
    answer = f"The bronze judge by its matrix: {sentence[0].lower()}{sentence[1:]}"
    return OUTLINE.section(answer, figure, notes=(_unchecked_note("known"),))


def _unchecked_note(design: str) -> Note:
    return Note(
        "rates-unchecked",
        f"{UNCHECKED_GOLD.get(design, 'These gold labels')} cannot tell whether the judge errs alike at every rank and "
        "on every run, and a correction by them takes that for granted",
        suggestions=[Suggestion("draws gold that can", function="sample")],
    )


def _unequal_rates_note() -> Note:
    return Note(
        "unequal-rates",
        "the correction takes one pair of error rates for all documents, and they differ here",
        suggestions=[Suggestion("draws gold that needs no such rates", function="sample")],
    )
