"""How far do the judges agree, all together and two by two?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.agreement import agree
from ringtrue.judges.agreement.krippendorff import describe_alpha
from ringtrue.report.display_limits import MAX_CHART_ROWS
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Figure, Heatmap, Section
from ringtrue.report.sections.label_scales import scale_notes
from ringtrue.report.sections.labels_without_traps import labels_without_traps
from ringtrue.report.sections.number_phrases import format_estimate, format_number, format_percent_estimate, join_names
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement, PairAgreement

TITLE = "Agreement"
NEEDS = "labels of several judges"
FIGURES = {"agreement": "How far do the judges agree?"}
RESAMPLES = 500
MIN_COMMON_ITEMS = 10  # items in common, below which a coefficient is mostly chance
ALPHA = "Krippendorff's alpha (ordinal)"
SCALE = "alpha is 1 where two always agree, 0 where they agree as often as by chance, and below 0 where less often"


def section(inputs: ReportInputs) -> Section | None:
    """Agreement beyond chance of all judges, and of every two of them."""
    labels, notes = labels_without_traps(inputs)
    if labels is None:
        return None
    counts = labels.frame["judge"].value_counts(sort=True, name="n").sort("n", "judge", descending=[True, False])
    all_pairs_shown = counts.height <= MAX_CHART_ROWS
    agreement = agree(
        labels,
        rel=inputs.rel,
        repeats=inputs.repeats,
        pairs=MAX_CHART_ROWS * MAX_CHART_ROWS if all_pairs_shown else 0,
        resamples=RESAMPLES,
        level=inputs.level,
        rng=inputs.rng("agreement"),
    )
    if all_pairs_shown:
        pairs: Sequence[PairAgreement] = agreement.pairs
    else:
        busiest_judges = counts["judge"].head(MAX_CHART_ROWS)
        labels_shown = Judgments(labels.frame.filter(pl.col("judge").is_in(busiest_judges.implode())))
        pairs = agree(
            labels_shown,
            rel=inputs.rel,
            repeats=inputs.repeats,
            alone=True,
            pairs=MAX_CHART_ROWS * MAX_CHART_ROWS,
            resamples=0,
        ).pairs
    reliable_pairs = [pair for pair in pairs if pair.n >= MIN_COMMON_ITEMS] or list(pairs)
    figures = (_pair_heatmap(pairs, reliable_pairs, counts.height),) if reliable_pairs else ()
    return Section(
        name="agreement",
        title=TITLE,
        answer=_summarise_agreement(agreement),
        figures=figures,
        notes=(*scale_notes(labels), *notes, *agreement.notes),
    )


def _summarise_agreement(agreement: Agreement) -> str:
    alpha, same_label = agreement.overall["alpha_ordinal"], agreement.overall["agreement"]
    sample_phrase = f"{format_count(len(agreement.judges), 'judge')} of {format_count(agreement.items, 'document')}"
    if alpha.value is None:
        return f"How far {sample_phrase} agree beyond chance cannot be told: {'; '.join(alpha.notes)}."
    summary = (
        f"Two of the {sample_phrase} give the same label in {format_percent_estimate(same_label)} of cases; "
        f"{ALPHA} is {format_estimate(alpha)}"
    )
    verdict = describe_alpha(alpha)
    return f"{summary}, {verdict}" if verdict else f"{summary}."


def _pair_heatmap(pairs: Sequence[PairAgreement], shown: Sequence[PairAgreement], judges: int) -> Figure:
    pair_of = {(pair.a, pair.b): pair for pair in shown if pair.alpha_ordinal.value is not None}
    pair_of |= {(b, a): pair for (a, b), pair in pair_of.items()}
    names = tuple(dict.fromkeys(name for pair in shown for name in (pair.a, pair.b)))
    mean_alpha = {name: _mean_alpha_with_others(name, pair_of) for name in names}
    order = sorted(names, key=lambda name: (mean_alpha[name] is None, -(mean_alpha[name] or 0.0), name))
    values = tuple(tuple(_pair_alpha(pair_of, judge, other_judge) for other_judge in order) for judge in order)
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
        notes.append(
            f"{len(order)} of {format_count(judges, 'judge')} are here: those{restriction} who share documents"
        )
    if thin_pairs := len(pairs) - len(shown):
        notes.append(
            f"{format_count(thin_pairs, 'pair')} with fewer than {MIN_COMMON_ITEMS} documents in common: only in "
            "the table"
        )
    return Figure(
        name="agreement",
        title=FIGURES["agreement"],
        sentence=_describe_pairs(order, mean_alpha, pair_of),
        charts=(chart,),
        table=_pair_table(pairs),
        notes=tuple(notes),
    )


def _pair_alpha(pair_of: Mapping[tuple[str, str], PairAgreement], judge: str, other_judge: str) -> float | None:
    pair = pair_of.get((judge, other_judge))
    return None if pair is None else pair.alpha_ordinal.value


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
        pair = pair_of[a, b]
        return (
            f"On {format_count(pair.n, 'document')} {a} and {b} agree with an alpha of "
            f"{format_estimate(pair.alpha_ordinal)}."
        )
    by_alpha = sorted(pair_of, key=lambda names: pair_of[names].alpha_ordinal.value or 0.0)
    worst, best = by_alpha[0], by_alpha[-1]
    no_better_than_chance = [name for name in judges if (mean_alpha[name] or 0.0) <= 0]
    warning = (
        f" No better than chance, on average: {join_names(no_better_than_chance)}." if no_better_than_chance else ""
    )
    return (
        f"Each cell is the alpha of two judges, and those who agree most with the others come first. {judges[0]} has "
        f"{format_number(mean_alpha[judges[0]])} on average, {judges[-1]} {format_number(mean_alpha[judges[-1]])}. The "
        f"closest two are {best[0]} and {best[1]} ({format_number(pair_of[best].alpha_ordinal.value)}), the furthest "
        f"apart {worst[0]} and {worst[1]} ({format_number(pair_of[worst].alpha_ordinal.value)}).{warning}"
    )


def _pair_table(pairs: Sequence[PairAgreement]) -> Grid:
    closest = sorted(
        pairs, key=lambda pair: -(pair.alpha_ordinal.value if pair.alpha_ordinal.value is not None else -2)
    )
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
            for pair in closest
        ],
        caption=f"the closest first; kappa: Cohen's; alpha: {ALPHA}, with its interval where the judges are few",
        left=2,
    )
