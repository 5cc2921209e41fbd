"""What does the bronze judge mix up, and does it err alike at every rank and on every run?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.gold.correction import Correction
from ringtrue.gold.correction.diagnostics import DOUBTFUL, alike_p, rank_bands
from ringtrue.report.inputs import Material
from ringtrue.report.limits import SHOWN
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.run_order import order
from ringtrue.report.sections.confusion_heatmaps import as_grid, as_heatmap, mistake_told, worst_mistake
from ringtrue.report.sections.gold_pairs import GoldPairs, gold_task, pairs_of
from ringtrue.report.sections.number_phrases import capital, listed, or_none, p_told, percent, percent_told
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from ringtrue.evaluation.measures import IntArray
    from ringtrue.gold.correction.estimator import Task

__all__ = ["FIGURES", "NEEDS", "TITLE", "section"]

TITLE = "The bronze judge"
NEEDS = "runs, judgments and gold labels of some of their documents"
FIGURES = {
    "confusion": "What does the bronze judge mix up?",
    "by-rank": "Is the bronze judge as good at the top as further down?",
    "by-run": "Is the bronze judge as good on one run as on another?",
}
FEW = 5  # labels of a kind, below which a run is no example
KINDS = ("relevant documents", "the others")
UNSHARED = "Among documents that the runs do not share, "
COMPARED = (
    "the gold labels were drawn to compare runs, from documents that these do not share: nothing here is about what "
    "all have at the same rank"
)
UNTOLD = {
    "external": "Gold labels of documents from elsewhere",
    "known": "A confusion matrix alone",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    """Whether accuracy differs between groups, and how sure that is; p is None where nothing can differ."""

    what: str
    p: float | None

    @property
    def differs(self) -> bool:
        return self.p is not None and self.p < DOUBTFUL


def section(material: Material) -> Section | None:
    """The judge's confusion matrix, and its accuracy by rank and by run."""
    task = gold_task(material)
    if task is None:
        return None
    if isinstance(task.gold, Confusion):
        return _of_matrix(task.gold)
    pairs = pairs_of(task, material)
    bands = _bands(pairs)
    by_rank, by_run = (
        _tested(what, groups, pairs, material) for what, groups in (("rank", bands), ("run", pairs.shown))
    )
    figures = [_confusion(pairs, task, material)]
    if (pairs.best > 0).any():
        figures += [_by_rank(pairs, bands, by_rank, task), _by_run(pairs, by_run, task, order(material))]
    notes = (*((COMPARED,) if pairs.compared else ()), *(() if len(figures) > 1 else (_unchecked(task.design),)))
    return Section(name="bronze-judge", title=TITLE, answer=_answer(pairs, by_rank, by_run), figures=tuple(figures),
                   notes=notes)  # fmt: skip


def _confusion(pairs: GoldPairs, task: Task, material: Material) -> Figure:
    shares, counts = pairs.weighted(), pairs.counted()
    chart = as_heatmap(shares, counts, up="gold says", across="bronze says")
    even = np.ptp(pairs.weight) == 0
    notes = (
        []
        if even
        else ["shares are of all documents that the gold labels stand for; below them, the labels that were seen"]
    )
    unsaid = int((pairs.bronze < 0).sum())
    if unsaid:
        notes.append(f"{counted(unsaid, 'gold label')} without a bronze label: not in the matrix")
    of_gold, of_bronze = max(pairs.gold.tolist()), max(pairs.bronze.tolist())
    same_scale = of_gold == of_bronze
    words = []
    if same_scale:
        words.append(f"Bronze gives the same label as gold in {percent(shares.accuracy)} of cases.")
        if mistake := worst_mistake(shares):
            words.append(f"Most often it errs like this: {mistake_told(mistake, 'gold', 'bronze')}.")
    else:
        notes.append(
            f"gold's labels go up to {of_gold}, those of bronze to {of_bronze}: what lies off the diagonal need not be "
            f"a mistake"
        )
    on_relevant, on_others = pairs.rates()
    missed = None if on_relevant.value is None else 1 - on_relevant.value
    wrongly = None if on_others.value is None else 1 - on_others.value
    words.append(
        f"{_threshold(task, material)} it calls {percent(wrongly)} of the documents that are not relevant relevant, "
        f"and misses {percent(missed)} of the relevant ones."
    )
    return Figure(
        name="confusion", title=FIGURES["confusion"], sentence=_among(pairs, " ".join(words)), charts=(chart,),
        table=as_grid([("bronze", shares, counts)], "gold says", pairs.level, ends=pairs.intervals(),
                      about=pairs.about),
        notes=tuple(notes),
    )  # fmt: skip


def _among(pairs: GoldPairs, told: str) -> str:
    """The same words, and of which documents, where these are not all that the runs show."""
    return f"{UNSHARED}{told[0].lower()}{told[1:]}" if pairs.compared else told


def _threshold(task: Task, material: Material) -> str:
    measure = material.measures[0]
    gold, bronze = measure.rel, task.threshold(measure)
    if gold == bronze:
        return "Counting all labels but 0 as relevant," if gold == 1 else f"Counting labels from {gold} on as relevant,"
    return f"Counting labels from {gold} on as relevant, and those of bronze from {bronze} on,"


def _by_rank(pairs: GoldPairs, bands: Mapping[str, IntArray], test: _Test, task: Task) -> Figure:
    rows = {"all": np.arange(len(pairs.gold)), **bands}
    rates = {name: pairs.rates(where) for name, where in rows.items()}
    words = []
    for place, kind in enumerate(KINDS):
        known = {band: percent(rates[band][place].value) for band in bands if rates[band][place].n}
        each = [f"{share}{' of cases' if not at else ''} {_at(band)}" for at, (band, share) in enumerate(known.items())]
        if each:
            words.append(f"on {kind} in {listed(each)}")
    told = _among(pairs, f"Bronze is right {'; '.join(words)}. ")
    return Figure(
        name="by-rank", title=FIGURES["by-rank"], sentence=f"{told}{_verdict(test, pairs, task)}",
        charts=(_forest(rates, rows),), table=_table("rank", rates, pairs),
        notes=("a document counts at the highest place that any run gives it",),
    )  # fmt: skip


def _by_run(pairs: GoldPairs, test: _Test, task: Task, order: tuple[str, ...]) -> Figure:
    rows = {"all": np.arange(len(pairs.gold)), **{run: pairs.shown[run] for run in order}}
    rates = {name: pairs.rates(where) for name, where in rows.items()}
    shown = list(rows)[: SHOWN + 1]
    words = []
    for place, kind in enumerate(KINDS):
        known = {run: rates[run][place].value or 0.0 for run in order if rates[run][place].n >= FEW}
        if len(known) > 1:
            words.append(f"on {kind} in {_spread(known, len(order))}")
    told = f"In the runs' first {pairs.depth} bronze is right {'; '.join(words)}. " if words else ""
    told = _among(pairs, told) if told else ""
    notes = ["runs share documents, so that their rates are alike by that alone"] if len(order) > 1 else []
    if len(order) > SHOWN:
        notes.append(f"the chart has the best {SHOWN} of {len(order)} runs, the table all")
    return Figure(
        name="by-run", title=FIGURES["by-run"], sentence=f"{told}{_verdict(test, pairs, task)}",
        charts=(_forest({name: rates[name] for name in shown}, rows),),
        table=_table("run", rates, pairs), notes=tuple(notes),
    )  # fmt: skip


def _spread(known: Mapping[str, float], runs: int) -> str:
    """From the lowest to the highest rate of a run, with its name; or that they are all the same."""
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    if percent(known[low]) == percent(known[high]):
        where = "on every run" if len(known) == runs else f"on all {len(known)} runs with {FEW} such labels or more"
        return f"{percent(known[low])} of cases {where}"
    return f"{percent(known[low])} ({low}) to {percent(known[high])} ({high}) of cases"


def _forest(rates: Mapping[str, tuple[Estimate, Estimate]], rows: Mapping[str, IntArray]) -> Forest:
    return Forest(
        names=tuple(rates), across="how often bronze is right", marks_title="gold labels",
        series=tuple(
            Series(name=f"on {kind}", values=tuple(or_none(both[place]) for both in rates.values()))
            for place, kind in enumerate(KINDS)
        ),
        marks=tuple(f"{len(rows[name]):,}" for name in rates),
    )  # fmt: skip


def _table(what: str, rates: Mapping[str, tuple[Estimate, Estimate]], pairs: GoldPairs) -> Grid:
    return Grid(
        columns=[what, KINDS[0], "right on these", KINDS[1], "right on these"],
        rows=[
            [name, f"{one.n:,}", percent_told(one), f"{other.n:,}", percent_told(other)]
            for name, (one, other) in rates.items()
        ],
        caption=f"gold labels, and how often bronze is right on them, with {pairs.level:.0%} intervals "
        f"({pairs.about}); each label counts for as many documents as it stands for",
    )


def _verdict(test: _Test, pairs: GoldPairs, task: Task) -> str:
    """Does one pair of rates for all documents hold, and who needs it to?"""
    by_rates = task.method == "confusion"
    if test.p is None:
        return "There is nothing in which the groups could differ."
    if test.differs:
        found = f"So it differs by {test.what} ({p_told(test.p)}): one pair of error rates for all would not hold."
        return f"{found} " + (
            "The correction on this page takes it to hold, so doubt it; `ringtrue sample` draws gold that needs no "
            "such rates."
            if by_rates
            else "This is why ringtrue goes by documents or whole queries, and not by the judge's rates."
        )
    labels = counted(len(pairs.gold), "gold label")
    if test.p < 1 - pairs.level:
        found = f"So it may well differ by {test.what}, though {labels} do not show it beyond doubt ({p_told(test.p)})"
    else:
        found = f"No difference by {test.what} shows in {labels} ({p_told(test.p)})"
    return f"{found}; " + (
        "the correction on this page takes it that there is none."
        if by_rates
        else "the correction on this page does not take the rates to be the same, and holds either way."
    )


def _answer(pairs: GoldPairs, *tests: _Test) -> str:
    on_relevant, on_others = pairs.rates()
    told = [f"{percent_told(one)} of {kind}" for kind, one in zip(KINDS, (on_relevant, on_others), strict=True)
            if one.value is not None]  # fmt: skip
    differs = [test.what for test in tests if test.differs]
    so = f", and not equally so by {' and by '.join(differs)}" if differs else ""
    return _among(pairs, f"The bronze judge is right on {' and '.join(told)}{so}.")


def _bands(pairs: GoldPairs) -> dict[str, IntArray]:
    """The gold documents by the best place that any run gives them; without bands that are empty."""
    ends: dict[str, tuple[int, float]] = {
        **rank_bands(pairs.depth), f"below rank {pairs.depth}": (pairs.depth + 1, np.inf), "in no run": (0, 0),
    }  # fmt: skip
    found = {name: np.flatnonzero((pairs.best >= low) & (pairs.best <= high)) for name, (low, high) in ends.items()}
    return {name: where for name, where in found.items() if len(where)}


def _at(band: str) -> str:
    return f"at {band}" if band.startswith("rank") else band


def _tested(what: str, groups: Mapping[str, IntArray], pairs: GoldPairs, material: Material) -> _Test:
    """Whether accuracy differs: as the correction's own check has it, so that the page says one thing, or tested.

    Of a measure that looks at whole lists, the check has whole lists too, and not the tops that are shown here.
    """
    found = None if material.measures[0].reach is None else material.corrected
    for check in found.checks if isinstance(found, Correction) else ():
        if check.name == f"accuracy by {what}":
            return _Test(what=what, p=check.p_value)
    member = np.zeros((len(pairs.gold), len(groups)))
    for column, where in enumerate(groups.values()):
        member[where, column] = 1
    p = alike_p(pairs.right, pairs.relevant, member, material.rng(f"by {what}"), pairs.queries)
    return _Test(what=what, p=p)


def _of_matrix(known: Confusion) -> Section:
    """All that can be told of a judge whose confusion matrix is given."""
    mistake = worst_mistake(known)
    told = "The judge never errs." if mistake is None else f"{capital(mistake_told(mistake, 'gold', 'bronze'))}."
    figure = Figure(
        name="confusion", title=FIGURES["confusion"], sentence=told,
        table=as_grid([("bronze", known, None)], "gold says"),
        charts=(as_heatmap(known, up="gold says", across="bronze says"),),
    )  # fmt: skip
    answer = f"The bronze judge by its matrix: {told[0].lower()}{told[1:]}"
    return Section(name="bronze-judge", title=TITLE, answer=answer, figures=(figure,), notes=(_unchecked("known"),))


def _unchecked(design: str) -> str:
    return (
        f"{UNTOLD.get(design, 'These gold labels')} cannot tell whether the judge errs alike at every rank and on "
        f"every run, and a correction by them takes that for granted; `ringtrue sample` draws gold that can"
    )
