"""How good is each run? As the judgments have it, and corrected where there is gold."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

import polars as pl

from ringtrue.evaluation.evaluate import evaluate
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.report.inputs import Material
from ringtrue.report.limits import SHOWN
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.run_order import Means, best_first, known_intervals, order
from ringtrue.report.sections.best_run import answer
from ringtrue.stats.estimate_cells import estimate_column, footnotes, intervals_told
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

__all__ = ["FIGURES", "NEEDS", "TITLE", "section"]

TITLE = "The runs"
NEEDS = "runs and judgments"
FIGURES = {"forest": "How good is each run, raw and corrected?"}


def section(material: Material) -> Section | None:
    """The value of each run, a chart for each measure."""
    if material.scores is None:
        return None
    found = material.correction
    raw = material.scores.means(level=material.level) if found is None else found.raw
    kinds: dict[str, Means] = {"raw": raw} if found is None else {"raw": raw, "corrected": found.corrected}
    truth, doubts = _truth(material)
    if truth is not None:
        kinds["truth"] = truth
    kinds = {kind: known_intervals(means) for kind, means in kinds.items()}
    names = order(material)
    charts = tuple(_chart(kinds, names[:SHOWN], str(measure)) for measure in material.measures)
    figure = Figure(
        name="forest", title=FIGURES["forest"], sentence=_sentence(kinds, names, material), charts=charts,
        table=_table(kinds, names, material), notes=(*_doubts(material, raw), *doubts),
    )  # fmt: skip
    notes = material.scores.notes if found is None else (*found.methods.values(), *found.notes)
    return Section(name="levels", title=TITLE, answer=answer(kinds, material), figures=(figure,), notes=notes)


def _doubts(material: Material, raw: Means) -> list[str]:
    """What speaks against single values, and against the gold labels."""
    from ringtrue.gold.correction.results import doubts

    if material.correction is None:
        return footnotes(raw)
    failed = [check.text for check in material.correction.checks if not check.passed]
    return [*doubts(material.correction), *failed]


def _truth(material: Material) -> tuple[Means | None, list[str]]:
    """What the true labels say of the same queries; or why they say nothing of them."""
    if material.truth is None or material.scores is None:
        return None, []
    measured, known = material.scores.frame["query"].unique(), material.truth.frame["query"].unique()
    both = measured.is_in(known.implode()).sum()
    if both < len(measured):
        of = f"{both:,} of the {len(measured):,} queries" if both else "none of the queries"
        left_out = f"truth is left out: it has labels for {of} that the runs are measured by"
        return None, [f"{left_out}, and a mean over other queries cannot stand beside theirs"]
    labels = Judgments(material.truth.frame.filter(pl.col("query").is_in(measured.implode())))
    return evaluate(material.runs, labels, material.measures, **material.evaluating).means(level=material.level), []


def _chart(kinds: Mapping[str, Means], names: tuple[str, ...], measure: str) -> Forest:
    series = (Series(name=kind, values=tuple(means[run][measure] for run in names)) for kind, means in kinds.items())
    return Forest(names=names, across=measure, series=tuple(series))


def _sentence(kinds: Mapping[str, Means], names: tuple[str, ...], material: Material) -> str:
    parts = [_of_raw(kinds["raw"], material) if "corrected" not in kinds else _of_both(kinds, names, material)]
    if len(names) > SHOWN:
        parts.append(f"The first {SHOWN} of {len(names)} runs are drawn; the table has all.")
    return " ".join(parts)


def _of_raw(raw: Means, material: Material) -> str:
    means = {run: row[material.measure] for run, row in raw.items()}
    halves = [(one.high - one.low) / 2 for one in means.values() if one.low is not None and one.high is not None]
    if not halves:
        return "A dot is a run's mean over the queries."
    told = (
        f"A dot is a run's mean over the queries; the line is its {material.level:.0%} interval, for queries like "
        f"these and labels that are right."
    )
    names = best_first(raw, material.measure)
    high, low = (means[run].value for run in (names[0], names[-1]))
    if high is None or low is None or high == low:
        return told
    return (
        f"{told} {material.measure} reaches from {low:.3f} ({names[-1]}) to {high:.3f} ({names[0]}); half of an "
        f"interval is {median(halves):.3f} as a rule. Lines that overlap do not say that two runs are alike: queries "
        f"that are hard for one are hard for the other, and only a comparison takes that out."
    )


def _of_both(kinds: Mapping[str, Means], names: tuple[str, ...], material: Material) -> str:
    measure, found = material.measure, material.correction
    apart = [run for run in names if _misses(kinds["corrected"][run][measure], kinds["raw"][run][measure])]
    these = found is not None and found.population == "these"
    knows = "is about these queries and knows how the judge errs" if these else (
        "knows both how queries vary and how the judge errs")  # fmt: skip
    lies = "lies" if len(apart) == 1 else "lie"
    values = "value" if len(apart) == 1 else "values"
    return (
        f"Raw is what the judgments say; corrected is what gold would say of all of them, with a {material.level:.0%} "
        f"interval that {knows}. By {measure} the raw {values} of {counted(len(apart), 'run')} of {len(names)} {lies} "
        f"outside of it."
    )


def _misses(interval: Estimate, value: Estimate) -> bool:
    if interval.low is None or interval.high is None or value.value is None:
        return False
    return not interval.low <= value.value <= interval.high


def _table(kinds: Mapping[str, Means], names: tuple[str, ...], material: Material) -> Grid:
    columns = {
        f"{measure} {kind}" if len(kinds) > 1 else str(measure): [means[run][str(measure)] for run in names]
        for measure in material.measures
        for kind, means in kinds.items()
    }
    cells = [estimate_column(column) for column in columns.values()]
    shown = "corrected" if "corrected" in kinds else "raw"
    sorted_so = "" if names == best_first({run: kinds[shown][run] for run in names}, material.measure) else (
        "; the best first by their differences from each other")  # fmt: skip
    return Grid(
        columns=["run", *columns], rows=[[run, *row] for run, *row in zip(names, *cells, strict=True)],
        caption=f"mean over queries{intervals_told(cells, material.level)}{sorted_so}",
    )  # fmt: skip
