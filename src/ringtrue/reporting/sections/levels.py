"""How good is each run? As the judgments have it, and corrected where there is gold."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from ringtrue.evaluation import evaluate
from ringtrue.grids import Grid, estimate_column
from ringtrue.reporting.content import Figure, Forest, Section, Series
from ringtrue.reporting.material import Material
from ringtrue.reporting.sections.telling import minus
from ringtrue.reporting.standing import Means, best_first
from ringtrue.results import Estimate
from ringtrue.wording import counted

__all__ = ["FIGURES", "NEEDS", "TITLE", "best_first", "section"]

TITLE = "The runs"
NEEDS = "runs and judgments"
FIGURES = {"forest": "How good is each run, raw and corrected?"}
SHOWN = 25  # runs in a chart


def section(material: Material) -> Section | None:
    """The value of each run, a chart for each measure."""
    if material.scores is None:
        return None
    found = material.correction
    raw = material.scores.means(level=material.level) if found is None else found.raw
    kinds: dict[str, Means] = {"raw": raw} if found is None else {"raw": raw, "corrected": found.corrected}
    names = best_first(kinds[list(kinds)[-1]], material.measure)
    if material.truth is not None:
        kinds["truth"] = evaluate(material.runs, material.truth, material.measures).means(level=material.level)
    charts = tuple(_chart(kinds, names[:SHOWN], str(measure)) for measure in material.measures)
    figure = Figure(
        name="forest", title=FIGURES["forest"], sentence=_sentence(kinds, names, material), charts=charts,
        table=_table(kinds, names, material),
        notes=() if found is None else tuple(check.text for check in found.checks if not check.passed),
    )  # fmt: skip
    notes = material.scores.notes if found is None else (*found.methods.values(), *found.notes)
    return Section(name="levels", title=TITLE, answer=_answer(kinds, material), figures=(figure,), notes=notes)


def _chart(kinds: Mapping[str, Means], names: tuple[str, ...], measure: str) -> Forest:
    series = (Series(name=kind, values=tuple(means[run][measure] for run in names)) for kind, means in kinds.items())
    return Forest(names=names, across=measure, series=tuple(series))


def _answer(kinds: Mapping[str, Means], material: Material) -> str:
    measure = material.measure
    best = {kind: best_first(means, measure)[0] for kind, means in kinds.items()}
    told = {kind: f"{best[kind]} ({_value(kinds[kind][best[kind]][measure])})" for kind in kinds}
    truth = f" In truth it is {told['truth']}." if "truth" in kinds else ""
    if len(kinds["raw"]) == 1:
        values = ", ".join(f"{kind} {_value(means[best[kind]][measure])}" for kind, means in kinds.items())
        return f"By {measure}, {best['raw']} has {values.removeprefix('raw ') if len(kinds) == 1 else values}."
    if "corrected" not in kinds:
        return f"By {measure} the best of {counted(len(kinds['raw']), 'run')} is {told['raw']}.{truth}"
    if best["raw"] == best["corrected"]:
        return f"By {measure} the best is {told['corrected']}, by the raw labels and corrected.{truth}"
    return f"By {measure} the raw labels call {told['raw']} the best; corrected, it is {told['corrected']}.{truth}"


def _value(one: Estimate) -> str:
    if one.value is None or one.low is None or one.high is None:
        return str(one)
    value, low, high = (minus(number, one.decimals) for number in (one.value, one.low, one.high))
    return f"{value}, {one.level:.0%} interval {low} to {high}"


def _sentence(kinds: Mapping[str, Means], names: tuple[str, ...], material: Material) -> str:
    parts = [_of_raw(kinds["raw"], names, material) if "corrected" not in kinds else _of_both(kinds, names, material)]
    if len(names) > SHOWN:
        parts.append(f"The first {SHOWN} of {len(names)} runs are drawn; the table has all.")
    return " ".join(parts)


def _of_raw(raw: Means, names: tuple[str, ...], material: Material) -> str:
    told = (
        f"A dot is a run's mean over the queries; the line is its {material.level:.0%} interval, for queries like "
        f"these and labels that are right."
    )
    ends = [raw[run][material.measure].value for run in (names[0], names[-1])]
    halves = [(one.high - one.low) / 2 for run in names
              if (one := raw[run][material.measure]).low is not None and one.high is not None]  # fmt: skip
    if len(names) == 1 or ends[0] is None or ends[1] is None or not halves:
        return told
    return (
        f"{told} {material.measure} reaches from {ends[1]:.3f} ({names[-1]}) to {ends[0]:.3f} ({names[0]}); half of an "
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
    cells = zip(*map(estimate_column, columns.values()), strict=True)
    return Grid(
        columns=["run", *columns], rows=[[run, *row] for run, row in zip(names, cells, strict=True)],
        caption=f"mean over queries; ± half of the {material.level:.0%} interval",
    )  # fmt: skip
