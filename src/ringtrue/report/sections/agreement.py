"""How far do the judges agree, all together and two by two?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.judges.agreement import agree
from ringtrue.judges.agreement.alpha_thresholds import verdict_on
from ringtrue.report.inputs import Material
from ringtrue.report.limits import SHOWN
from ringtrue.report.model import Figure, Heatmap, Section
from ringtrue.report.sections.label_scales import scales_told
from ringtrue.report.sections.number_phrases import ends, listed, minus, percent_told
from ringtrue.report.sections.regular_labels import labels_of_work
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement, PairAgreement

__all__ = ["FIGURES", "NEEDS", "TITLE", "section"]

TITLE = "Agreement"
NEEDS = "labels of several judges"
FIGURES = {"agreement": "How far do the judges agree?"}
RESAMPLES = 500
ENOUGH = 10  # items in common, below which a coefficient is mostly chance
ALPHA = "Krippendorff's alpha (ordinal)"
SCALE = "alpha is 1 where two always agree, 0 where they agree as often as by chance, and below 0 where less often"


def section(material: Material) -> Section | None:
    """Agreement beyond chance of all judges, and of every two of them."""
    labels, notes = labels_of_work(material)
    if labels is None:
        return None
    counts = labels.frame["judge"].value_counts(sort=True, name="n").sort("n", "judge", descending=[True, False])
    few = counts.height <= SHOWN
    found = agree(labels, rel=material.rel, repeats=material.repeats, pairs=SHOWN * SHOWN if few else 0,
                  resamples=RESAMPLES, level=material.level, rng=material.rng("agreement"))  # fmt: skip
    if few:
        pairs: Sequence[PairAgreement] = found.pairs
    else:
        most = counts["judge"].head(SHOWN)
        some = Judgments(labels.frame.filter(pl.col("judge").is_in(most.implode())))
        pairs = agree(
            some, rel=material.rel, repeats=material.repeats, alone=True, pairs=SHOWN * SHOWN, resamples=0
        ).pairs
    shown = [pair for pair in pairs if pair.n >= ENOUGH] or list(pairs)
    figures = (_figure(pairs, shown, counts.height),) if shown else ()
    return Section(name="agreement", title=TITLE, answer=_answer(found), figures=figures,
                   notes=(*scales_told(labels), *notes, *found.notes))  # fmt: skip


def _answer(found: Agreement) -> str:
    alpha, same = found.overall["alpha_ordinal"], found.overall["agreement"]
    who = f"{counted(len(found.judges), 'judge')} of {counted(found.items, 'document')}"
    if alpha.value is None:
        return f"How far {who} agree beyond chance cannot be told: {'; '.join(alpha.notes)}."
    told = f"Two of the {who} give the same label in {percent_told(same)} of cases; {ALPHA} is {ends(alpha)}"
    verdict = verdict_on(alpha)
    return f"{told}, {verdict}" if verdict else f"{told}."


def _figure(pairs: Sequence[PairAgreement], shown: Sequence[PairAgreement], judges: int) -> Figure:
    known = {(pair.a, pair.b): pair for pair in shown if pair.alpha_ordinal.value is not None}
    known |= {(b, a): pair for (a, b), pair in known.items()}
    names = tuple(dict.fromkeys(name for pair in shown for name in (pair.a, pair.b)))
    usual = {name: _usual(name, known) for name in names}
    order = sorted(names, key=lambda name: (usual[name] is None, -(usual[name] or 0.0), name))
    values = tuple(tuple(_value(known, one, other) for other in order) for one in order)
    chart = Heatmap(
        rows=tuple(order), columns=tuple(order), values=values, up="judge", across="the other judge",
        texts=tuple(tuple("" if value is None else minus(value) for value in row) for row in values), kind="diverging",
        value_range=(-1.0, 1.0),
    )  # fmt: skip
    notes = [SCALE]
    if judges > len(order):
        whose = f" of the {SHOWN} with the most labels" if judges > SHOWN else ""
        notes.append(f"{len(order)} of {counted(judges, 'judge')} are here: those{whose} who share documents")
    if thin := len(pairs) - len(shown):
        notes.append(f"{counted(thin, 'pair')} with fewer than {ENOUGH} documents in common: only in the table")
    return Figure(name="agreement", title=FIGURES["agreement"], sentence=_sentence(order, usual, known),
                  charts=(chart,), table=_table(pairs), notes=tuple(notes))  # fmt: skip


def _value(known: Mapping[tuple[str, str], PairAgreement], one: str, other: str) -> float | None:
    pair = known.get((one, other))
    return None if pair is None else pair.alpha_ordinal.value


def _usual(name: str, known: Mapping[tuple[str, str], PairAgreement]) -> float | None:
    """A judge's mean alpha with the others."""
    values = [pair.alpha_ordinal.value or 0.0 for (one, _), pair in known.items() if one == name]
    return mean(values) if values else None


def _sentence(
    order: Sequence[str], usual: Mapping[str, float | None], known: Mapping[tuple[str, str], PairAgreement]
) -> str:
    told = [name for name in order if usual[name] is not None]
    if not told:
        return "No two judges have given different labels of documents that both saw: there is nothing to tell."
    if len(told) == 2:
        a, b = told
        pair = known[a, b]
        return f"On {counted(pair.n, 'document')} {a} and {b} agree with an alpha of {ends(pair.alpha_ordinal)}."
    by_alpha = sorted(known, key=lambda two: known[two].alpha_ordinal.value or 0.0)
    worst, best = by_alpha[0], by_alpha[-1]
    below = [name for name in told if (usual[name] or 0.0) <= 0]
    odd = f" No better than chance, on average: {listed(below)}." if below else ""
    return (
        f"Each cell is the alpha of two judges, and those who agree most with the others come first. "
        f"{told[0]} has {minus(usual[told[0]])} on average, {told[-1]} {minus(usual[told[-1]])}. "
        f"The closest two are {best[0]} and {best[1]} ({minus(known[best].alpha_ordinal.value)}), the furthest apart "
        f"{worst[0]} and {worst[1]} ({minus(known[worst].alpha_ordinal.value)}).{odd}"
    )


def _table(pairs: Sequence[PairAgreement]) -> Grid:
    closest = sorted(
        pairs, key=lambda pair: -(pair.alpha_ordinal.value if pair.alpha_ordinal.value is not None else -2)
    )
    return Grid(
        columns=["judge", "and", "documents", "same label", "kappa", "quadratic kappa", "alpha"],
        rows=[
            [pair.a, pair.b, f"{pair.n:,}", minus(pair.agreement.value), minus(pair.kappa.value),
             minus(pair.kappa_quadratic.value), ends(pair.alpha_ordinal)]
            for pair in closest
        ],
        caption=f"the closest first; kappa: Cohen's; alpha: {ALPHA}, with its interval where the judges are few",
        left=2,
    )  # fmt: skip
