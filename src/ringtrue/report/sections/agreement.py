"""How far do the judges agree, all together and two by two?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.agreement import agree
from ringtrue.judges.agreement.coefficients import describe_alpha
from ringtrue.messages import Note
from ringtrue.report.inputs import ReportInputs, labels_without_traps, scale_notes
from ringtrue.report.model import MAX_CHART_ROWS, Figure, Heatmap, Section, SectionOutline
from ringtrue.report.sections.number_phrases import (
    format_estimate,
    format_number,
    format_percent_estimate,
    join_names,
    join_reasons,
)
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement, PairAgreement

OUTLINE = SectionOutline(
    name="agreement",
    title="Agreement",
    needs="labels of several judges",
    figures={"agreement": "How far do the judges agree?"},
)
RESAMPLES = 500
MIN_COMMON_ITEMS = 10  # items in common, below which a coefficient is mostly chance
ALPHA = "Krippendorff's alpha (ordinal)"
SCALE = Note(
    "alpha-scale",
    "alpha is 1 where two always agree, 0 where they agree as often as by chance, and below 0 where less often",
)


def section(inputs: ReportInputs) -> Section | None:
    """Agreement beyond chance of all judges, and of every two of them."""
    labels, notes = labels_without_traps(inputs)
    if labels is None:
        return None
    counts = labels.frame["judge"].value_counts(sort=True, name="n").sort("n", "judge", descending=[True, False])
    all_judges_shown = counts.height <= MAX_CHART_ROWS
    agree_on = partial(agree, rel=inputs.rel, repeats=inputs.repeats)
    agreement = agree_on(
        labels,
        pairs=MAX_CHART_ROWS * MAX_CHART_ROWS if all_judges_shown else 0,
        resamples=RESAMPLES,
        level=inputs.level,
        rng=inputs.rng("agreement"),
    )
    pairs: Sequence[PairAgreement] = agreement.pairs
    if not all_judges_shown:
        busiest_judges = counts["judge"].head(MAX_CHART_ROWS)
        labels_shown = Judgments(labels.frame.filter(pl.col("judge").is_in(busiest_judges.implode())))
        pairs = agree_on(labels_shown, alone=True, pairs=MAX_CHART_ROWS * MAX_CHART_ROWS, resamples=0).pairs
    reliable_pairs = [pair for pair in pairs if pair.n >= MIN_COMMON_ITEMS] or list(pairs)
    figures = (_pair_heatmap(pairs, reliable_pairs, counts.height),) if reliable_pairs else ()
    return OUTLINE.section(
        _summarise_agreement(agreement), *figures, notes=(*scale_notes(labels), *notes, *agreement.notes)
    )


def _summarise_agreement(agreement: Agreement) -> str:
    alpha, same_label = agreement.overall["alpha_ordinal"], agreement.overall["agreement"]
    sample_phrase = f"{format_count(len(agreement.judges), 'judge')} of {format_count(agreement.items, 'document')}"
    if alpha.value is None:
        return f"How far {sample_phrase} agree beyond chance is unknown: {join_reasons(alpha.notes)}."
    summary = (
        f"Two of the {sample_phrase} give the same label in {format_percent_estimate(same_label)} of cases; "
        f"{ALPHA} is {format_estimate(alpha)}"
    )
    return f"{summary}, {verdict}" if (verdict := describe_alpha(alpha)) else f"{summary}."


def _pair_heatmap(pairs: Sequence[PairAgreement], shown: Sequence[PairAgreement], judges: int) -> Figure:
    pair_of = {(pair.a, pair.b): pair for pair in shown if pair.alpha_ordinal.value is not None}
    pair_of |= {(b, a): pair for (a, b), pair in pair_of.items()}
    names = tuple(dict.fromkeys(name for pair in shown for name in (pair.a, pair.b)))
    mean_alpha = {name: _mean_alpha_with_others(name, pair_of) for name in names}
    order = sorted(names, key=lambda name: (mean_alpha[name] is None, -(mean_alpha[name] or 0.0), name))
    alphas = {pair: agreement.alpha_ordinal.value for pair, agreement in pair_of.items()}
    values = tuple(tuple(alphas.get((judge, other)) for other in order) for judge in order)
    chart = Heatmap(
        rows=tuple(order),
        columns=tuple(order),
        values=values,
        up="judge",
        across="the other judge",
        texts=tuple(tuple("" if value is None else format_number(value) for value in row) for row in values),
        kind="diverging",
        value_range=(-1.0, 1.0),
    )
    notes = [SCALE]
    if judges > len(order):
        restriction = f" of the {MAX_CHART_ROWS} with the most labels" if judges > MAX_CHART_ROWS else ""
        total = format_count(judges, "judge")
        text = f"{len(order)} of {total} are here: those{restriction} who share documents"
        notes.append(Note("chart-shortened", text))
    if len(pairs) > len(shown):
        thin_pairs = format_count(len(pairs) - len(shown), "pair")
        text = f"{thin_pairs} with fewer than {MIN_COMMON_ITEMS} documents in common: only in the table"
        notes.append(Note("few-shared-documents", text))
    return OUTLINE.figure(
        "agreement", _describe_pairs(order, mean_alpha, pair_of), _pair_table(pairs), chart, notes=notes
    )


def _mean_alpha_with_others(name: str, pair_of: Mapping[tuple[str, str], PairAgreement]) -> float | None:
    """A judge's mean alpha with the others."""
    alphas = [pair.alpha_ordinal.value or 0.0 for (first, _), pair in pair_of.items() if first == name]
    return mean(alphas) if alphas else None


def _describe_pairs(
    order: Sequence[str], mean_alpha: Mapping[str, float | None], pair_of: Mapping[tuple[str, str], PairAgreement]
) -> str:
    judges = [name for name in order if mean_alpha[name] is not None]
    if not judges:
        return "No two judges have given different labels of documents that both saw: there is nothing to tell."
    if len(judges) == 2:
        a, b = judges
        documents, alpha = format_count(pair_of[a, b].n, "document"), format_estimate(pair_of[a, b].alpha_ordinal)
        return f"On {documents} {a} and {b} agree with an alpha of {alpha}."
    by_alpha = sorted(pair_of, key=lambda names: pair_of[names].alpha_ordinal.value or 0.0)
    furthest, closest = (
        f"{pair[0]} and {pair[1]} ({format_number(pair_of[pair].alpha_ordinal.value)})"
        for pair in (by_alpha[0], by_alpha[-1])
    )
    highest, lowest = (format_number(mean_alpha[judge]) for judge in (judges[0], judges[-1]))
    no_better_than_chance = [name for name in judges if (mean_alpha[name] or 0.0) <= 0]
    description = (
        f"Each cell is the alpha of two judges, and those who agree most with the others come first. {judges[0]} has "
        f"{highest} on average, {judges[-1]} {lowest}. The closest two are {closest}, the furthest apart {furthest}."
    )
    if not no_better_than_chance:
        return description
    return f"{description} No better than chance, on average: {join_names(no_better_than_chance)}."


def _pair_table(pairs: Sequence[PairAgreement]) -> Grid:
    def distance(pair: PairAgreement) -> float:
        return 2 if pair.alpha_ordinal.value is None else -pair.alpha_ordinal.value

    return Grid(
        columns=["judge", "and", "documents", "same label", "kappa", "quadratic kappa", "alpha"],
        rows=[
            [
                pair.a,
                pair.b,
                f"{pair.n:,}",
                format_number(pair.agreement.value),
                format_number(pair.kappa.value),
                format_number(pair.kappa_quadratic.value),
                format_estimate(pair.alpha_ordinal),
            ]
            for pair in sorted(pairs, key=distance)
        ],
        caption=f"the closest first; kappa: Cohen's; alpha: {ALPHA}, with its interval where the judges are few",
        left=2,
    )
