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
from ringtrue.report.display_limits import MAX_CHART_ROWS
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.run_order import order_runs
from ringtrue.report.sections.confusion_heatmaps import (
    confusion_grid,
    confusion_heatmap,
    describe_mistake,
    worst_mistake,
)
from ringtrue.report.sections.gold_pairs import GoldPairs, make_gold_problem, pair_gold_with_bronze
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
    from ringtrue.gold.correction.estimator import CorrectionProblem

TITLE = "The bronze judge"
NEEDS = "runs, judgments and gold labels of some of their documents"
FIGURES = {
    "confusion": "What does the bronze judge mix up?",
    "by-rank": "Is the bronze judge as good at the top as further down?",
    "by-run": "Is the bronze judge as good on one run as on another?",
}
MIN_LABELS_PER_RUN = 5  # labels of a kind, below which a run is no example
KINDS = ("relevant documents", "the others")
UNSHARED = "Among documents that the runs do not share, "
COMPARISON_SAMPLE_NOTE = (
    "the gold labels were drawn to compare runs, from documents that these do not share: nothing here is about what "
    "all have at the same rank"
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
    if (pairs.best_rank > 0).any():
        figures += [
            _rank_figure(pairs, bands, by_rank, problem),
            _run_figure(pairs, by_run, problem, order_runs(inputs)),
        ]
    notes = (
        *((COMPARISON_SAMPLE_NOTE,) if pairs.drawn_for_comparison else ()),
        *(() if len(figures) > 1 else (_unchecked_note(problem.design),)),
    )
    return Section(
        name="bronze-judge",
        title=TITLE,
        answer=_summarise_bronze_judge(pairs, by_rank, by_run),
        figures=tuple(figures),
        notes=notes,
    )


def _confusion_figure(pairs: GoldPairs, problem: CorrectionProblem, inputs: ReportInputs) -> Figure:
    shares, counts = pairs.weigh_confusion(), pairs.count_confusion()
    chart = confusion_heatmap(shares, counts, up="gold says", across="bronze says")
    equal_weights = np.ptp(pairs.weight) == 0
    notes = (
        []
        if equal_weights
        else ["shares are of all documents that the gold labels stand for; below them, the labels that were seen"]
    )
    without_bronze = int((pairs.bronze < 0).sum())
    if without_bronze:
        notes.append(f"{format_count(without_bronze, 'gold label')} without a bronze label: not in the matrix")
    highest_gold, highest_bronze = max(pairs.gold.tolist()), max(pairs.bronze.tolist())
    same_scale = highest_gold == highest_bronze
    words = []
    if same_scale:
        words.append(f"Bronze gives the same label as gold in {format_percent(shares.accuracy)} of cases.")
        if mistake := worst_mistake(shares):
            words.append(f"Most often it errs like this: {describe_mistake(mistake, 'gold', 'bronze')}.")
    else:
        notes.append(
            f"gold's labels go up to {highest_gold}, those of bronze to {highest_bronze}: what lies off the diagonal "
            "need not be a mistake"
        )
    on_relevant, on_others = pairs.rates()
    missed = None if on_relevant.value is None else 1 - on_relevant.value
    false_alarms = None if on_others.value is None else 1 - on_others.value
    words.append(
        f"{_threshold_phrase(problem, inputs)} it calls {format_percent(false_alarms)} of the documents that are not "
        f"relevant relevant, and misses {format_percent(missed)} of the relevant ones."
    )
    return Figure(
        name="confusion",
        title=FIGURES["confusion"],
        sentence=_prefix_unshared(pairs, " ".join(words)),
        charts=(chart,),
        table=confusion_grid(
            [("bronze", shares, counts)], "gold says", pairs.level, ends=pairs.intervals(), about=pairs.interval_method
        ),
        notes=tuple(notes),
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


def _rank_figure(
    pairs: GoldPairs, bands: Mapping[str, IntArray], test: _GroupTest, problem: CorrectionProblem
) -> Figure:
    rows = {"all": np.arange(len(pairs.gold)), **bands}
    rates = {name: pairs.rates(where) for name, where in rows.items()}
    words = []
    for kind_index, kind in enumerate(KINDS):
        share_by_band = {
            band: format_percent(rates[band][kind_index].value) for band in bands if rates[band][kind_index].n
        }
        phrases = [
            f"{share}{' of cases' if not position else ''} {_at_band(band)}"
            for position, (band, share) in enumerate(share_by_band.items())
        ]
        if phrases:
            words.append(f"on {kind} in {join_names(phrases)}")
    opening = _prefix_unshared(pairs, f"Bronze is right {'; '.join(words)}. ")
    return Figure(
        name="by-rank",
        title=FIGURES["by-rank"],
        sentence=f"{opening}{_equal_rates_verdict(test, pairs, problem)}",
        charts=(_accuracy_forest(rates, rows),),
        table=_accuracy_table("rank", rates, pairs),
        notes=("a document counts at the highest place that any run gives it",),
    )


def _run_figure(pairs: GoldPairs, test: _GroupTest, problem: CorrectionProblem, order: tuple[str, ...]) -> Figure:
    rows = {"all": np.arange(len(pairs.gold)), **{run: pairs.docs_by_run[run] for run in order}}
    rates = {name: pairs.rates(where) for name, where in rows.items()}
    shown = list(rows)[: MAX_CHART_ROWS + 1]
    words = []
    for kind_index, kind in enumerate(KINDS):
        rate_by_run = {
            run: rates[run][kind_index].value or 0.0 for run in order if rates[run][kind_index].n >= MIN_LABELS_PER_RUN
        }
        if len(rate_by_run) > 1:
            words.append(f"on {kind} in {_rate_range(rate_by_run, len(order))}")
    opening = f"In the runs' first {pairs.depth} bronze is right {'; '.join(words)}. " if words else ""
    opening = _prefix_unshared(pairs, opening) if opening else ""
    notes = ["runs share documents, so that their rates are alike by that alone"] if len(order) > 1 else []
    if len(order) > MAX_CHART_ROWS:
        notes.append(f"the chart has the best {MAX_CHART_ROWS} of {len(order)} runs, the table all")
    return Figure(
        name="by-run",
        title=FIGURES["by-run"],
        sentence=f"{opening}{_equal_rates_verdict(test, pairs, problem)}",
        charts=(_accuracy_forest({name: rates[name] for name in shown}, rows),),
        table=_accuracy_table("run", rates, pairs),
        notes=tuple(notes),
    )


def _rate_range(rate_by_run: Mapping[str, float], run_count: int) -> str:
    """From the lowest to the highest rate of a run, with its name; or that they are all the same."""
    low, high = min(rate_by_run, key=rate_by_run.__getitem__), max(rate_by_run, key=rate_by_run.__getitem__)
    if format_percent(rate_by_run[low]) == format_percent(rate_by_run[high]):
        where = (
            "on every run"
            if len(rate_by_run) == run_count
            else f"on all {len(rate_by_run)} runs with {MIN_LABELS_PER_RUN} such labels or more"
        )
        return f"{format_percent(rate_by_run[low])} of cases {where}"
    return f"{format_percent(rate_by_run[low])} ({low}) to {format_percent(rate_by_run[high])} ({high}) of cases"


def _accuracy_forest(rates: Mapping[str, tuple[Estimate, Estimate]], rows: Mapping[str, IntArray]) -> Forest:
    return Forest(
        names=tuple(rates),
        across="how often bronze is right",
        marks_title="gold labels",
        series=tuple(
            Series(
                name=f"on {kind}",
                values=tuple(drop_if_unknown(on_both_kinds[kind_index]) for on_both_kinds in rates.values()),
            )
            for kind_index, kind in enumerate(KINDS)
        ),
        marks=tuple(f"{len(rows[name]):,}" for name in rates),
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
    if test.differs:
        finding = (
            f"So it differs by {test.factor} ({format_p_value(test.p)}): one pair of error rates for all "
            "would not hold."
        )
        return f"{finding} " + (
            "The correction on this page takes it to hold, so doubt it; `ringtrue sample` draws gold that needs no "
            "such rates."
            if by_rates
            else "This is why ringtrue goes by documents or whole queries, and not by the judge's rates."
        )
    labels = format_count(len(pairs.gold), "gold label")
    if test.p < 1 - pairs.level:
        finding = (
            f"So it may well differ by {test.factor}, though {labels} do not show it beyond doubt "
            f"({format_p_value(test.p)})"
        )
    else:
        finding = f"No difference by {test.factor} shows in {labels} ({format_p_value(test.p)})"
    return f"{finding}; " + (
        "the correction on this page takes it that there is none."
        if by_rates
        else "the correction on this page does not take the rates to be the same, and holds either way."
    )


def _summarise_bronze_judge(pairs: GoldPairs, *tests: _GroupTest) -> str:
    on_relevant, on_others = pairs.rates()
    phrases = [
        f"{format_percent_estimate(estimate)} of {kind}"
        for kind, estimate in zip(KINDS, (on_relevant, on_others), strict=True)
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


def _at_band(band: str) -> str:
    return f"at {band}" if band.startswith("rank") else band


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
    mistake = worst_mistake(matrix)
    sentence = (
        "The judge never errs."
        if mistake is None
        else f"{capitalize_first(describe_mistake(mistake, 'gold', 'bronze'))}."
    )
    figure = Figure(
        name="confusion",
        title=FIGURES["confusion"],
        sentence=sentence,
        table=confusion_grid([("bronze", matrix, None)], "gold says"),
        charts=(confusion_heatmap(matrix, up="gold says", across="bronze says"),),
    )
    answer = f"The bronze judge by its matrix: {sentence[0].lower()}{sentence[1:]}"
    return Section(
        name="bronze-judge", title=TITLE, answer=answer, figures=(figure,), notes=(_unchecked_note("known"),)
    )


def _unchecked_note(design: str) -> str:
    return (
        f"{UNCHECKED_GOLD.get(design, 'These gold labels')} cannot tell whether the judge errs alike at every rank and "
        "on every run, and a correction by them takes that for granted; `ringtrue sample` draws gold that can"
    )
