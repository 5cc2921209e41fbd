"""How good is each judge, whom should somebody look at, and what do they mix up?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ringtrue.errors import MismatchError
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.judges.quality import judge_quality
from ringtrue.report.inputs import Material
from ringtrue.report.limits import SHOWN
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.sections.confusion_heatmaps import as_grid, as_heatmap, mistake_told, worst_mistake
from ringtrue.report.sections.label_scales import scales_told
from ringtrue.report.sections.number_phrases import capital, listed, minus, or_none, percent, percent_told
from ringtrue.report.sections.regular_labels import are_most, labels_given
from ringtrue.report.sections.traps import QUESTION, trap_figure
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from ringtrue.judges.quality import JudgeQuality, JudgeReport
    from ringtrue.stats.results import Estimate

__all__ = ["FIGURES", "NEEDS", "TITLE", "section"]

TITLE = "The judges"
NEEDS = "labels or preferences of several judges"
FIGURES = {
    "judges": "How good is each judge?",
    "traps": QUESTION,
    "confusion-by-judge": "What do the judges mix up?",
}
MATRICES = 6
TOLD = 3  # reasons in the notes
RIGHT = {"gold": "right by gold", "consensus": "who say what most of the others say"}
AGAINST = {"gold": "gold", "consensus": "what most of the others say"}
NO_TRAPS = "no traps were given: items among the others with a known answer show who looks at all"
MEANT = "a flag is a reason to look at somebody's work, not to drop it unseen"


def section(material: Material) -> Section | None:
    """Accuracy by judge with flags, traps against speed, and confusion matrices."""
    labels, slips = labels_given(material)
    given: Judgments | Preferences | None = labels or material.preferences
    if given is None:
        return None
    quality, notes = _quality(given, material)
    if len(quality) == 1 and quality.against is None and not any(one.traps and one.traps.n for one in quality):
        return None
    figures = [_judges(quality)]
    if (trapped := trap_figure(quality)) is not None:
        figures.append(trapped)
    if isinstance(given, Judgments) and (mixed := _confusions(quality)) is not None:
        figures.append(mixed)
    scale = scales_told(given) if isinstance(given, Judgments) else ()
    wanted = () if trapped is not None else (NO_TRAPS,)
    return Section(name="judges", title=TITLE, answer=_answer(quality), figures=tuple(figures),
                   notes=(*scale, *slips, *notes, *quality.notes, *wanted))  # fmt: skip


def _quality(given: Judgments | Preferences, material: Material) -> tuple[JudgeQuality, tuple[str, ...]]:
    """The judges by gold, where that is about what they labelled, by traps, and by each other."""
    kind = type(given)
    traps = material.traps if isinstance(material.traps, kind) else None
    gold = material.gold if isinstance(material.gold, Judgments) and isinstance(given, Judgments) else None
    if gold is None and isinstance(given, Judgments) and isinstance(traps, Judgments) and are_most(traps, given):
        gold = traps
    if gold is not None:
        try:
            return judge_quality(given, gold=gold, traps=traps, repeats=material.repeats, level=material.level), ()
        except MismatchError as error:
            notes = (f"gold says nothing about these judges: {error}",)
            return judge_quality(given, traps=traps, repeats=material.repeats, level=material.level), notes
    return judge_quality(given, traps=traps, repeats=material.repeats, level=material.level), ()


def _answer(quality: JudgeQuality) -> str:
    size = counted(len(quality), "judge")
    right = (
        "" if quality.against is None else f", {RIGHT[quality.against]} in {percent_told(quality.accuracy)} of cases"
    )
    flagged = [one.judge for one in quality.flagged]
    return f"{size}{right}: " + (f"look at {listed(flagged)}." if flagged else "nobody stands out.")


def _judges(quality: JudgeQuality) -> Figure:
    shown = quality.worst_first[:SHOWN]
    kinds: dict[str, list[Estimate | None]] = {
        "by gold": [one.gold_accuracy for one in shown],
        "by the others": [one.consensus_accuracy for one in shown],
    }
    series = tuple(
        Series(name=name, values=tuple(map(or_none, values)))
        for name, values in kinds.items()
        if any(map(or_none, values))
    )
    chart = Forest(
        names=tuple(one.judge for one in shown), series=series, across="share of labels that are right",
        marks=tuple(_kinds(one) for one in shown), marks_title="flags", at=quality.accuracy.value,
    )  # fmt: skip
    notes = [MEANT] if quality.flagged else []
    if quality.accuracy.value is not None:
        notes.append(f"the line across is all judges together, by {AGAINST[quality.against or 'consensus']}")
    if len(quality) > SHOWN:
        more = len(quality.flagged) - SHOWN
        others = f", {more:,} of the others flagged too" if more > 0 else ""
        notes.append(f"the chart has {SHOWN} of {len(quality):,} judges, those to look at first{others}; the table all")
    return Figure(name="judges", title=FIGURES["judges"], sentence=_sentence(quality), charts=(chart,),
                  table=_table(quality), notes=tuple(notes))  # fmt: skip


def _kinds(one: JudgeReport) -> str:
    """The first two flags, and how many more there are; the table has them all."""
    kinds = [flag.kind for flag in one.flags]
    return ", ".join(kinds[:2]) + (f" +{len(kinds) - 2}" if len(kinds) > 2 else "")


def _sentence(quality: JudgeQuality) -> str:
    known = sorted(
        (one for one in quality if one.accuracy.value is not None), key=lambda one: one.accuracy.value or 0.0
    )
    enough = [one for one in known if not any("too little" in note for note in one.notes)] or known
    words = []
    if len(enough) > 1:
        low, high = enough[0], enough[-1]
        words.append(
            f"By {AGAINST[quality.against or 'consensus']}, the judges are right in {percent(low.accuracy.value)} "
            f"({low.judge}) to {percent(high.accuracy.value)} ({high.judge}) of cases."
        )
    elif enough:
        words.append(f"{enough[0].judge} is right in {percent_told(enough[0].accuracy)} of labels.")
    if not quality.flagged:
        return " ".join([*words, "Nobody is further from the others than chance explains."])
    reasons = [f"{one.judge} is flagged ({one.flags[0].kind}): {one.flags[0].reason}" for one in quality.flagged]
    more = len(reasons) - TOLD
    words.append(". ".join(reasons[:TOLD]) + (f"; and {counted(more, 'more judge')}." if more > 0 else "."))
    return " ".join(words)


def _table(quality: JudgeQuality) -> Grid:
    columns = {
        "judge": [one.judge for one in quality.worst_first],
        "flags": [", ".join(flag.kind for flag in one.flags) for one in quality.worst_first],
        "labels": [f"{one.labels:,}" for one in quality.worst_first],
        "right by gold": [_told(one.gold_accuracy) for one in quality.worst_first],
        "right by the others": [_told(one.consensus_accuracy) for one in quality.worst_first],
        "others on the same, by gold": [_others(one, "gold") for one in quality.worst_first],
        "others on the same": [_others(one, "consensus") for one in quality.worst_first],
        "lenient by": [minus(None if one.leniency is None else one.leniency.value) for one in quality.worst_first],
        "without this judge": [str(one.flags[0].effect).partition(": ")[2] if one.flags else ""
                               for one in quality.worst_first],
    }  # fmt: skip
    kept = {title: cells for title, cells in columns.items() if title == "judge" or set(cells) - {"–", ""}}
    return Grid(
        columns=list(kept), rows=list(zip(*kept.values(), strict=True)), left=2 if "flags" in kept else 1,
        caption=f"those to look at first; {quality.level:.0%} intervals; others on the same: how often these are right "
        f"on the same documents, {_others_by(quality)}; lenient by: own label less the mean of the others'",
    )  # fmt: skip


def _others(one: JudgeReport, against: str) -> str:
    return percent(one.others_accuracy) if one.against == against else "–"


def _others_by(quality: JudgeQuality) -> str:
    """By what the others are right; a flag goes by what tells more, and so may have other numbers than the table."""
    if all(one.against != "gold" for one in quality):
        return "by what most say"
    odd = " (a flag may go by the other of the two, and says so)" if quality.flagged else ""
    return f"by gold where the judge met some, else by what most say{odd}"


def _told(one: Estimate | None) -> str:
    return "–" if one is None else percent_told(one)


def _confusions(quality: JudgeQuality) -> Figure | None:
    """The matrices of the judges to look at, and then of those with the most labels that can be checked."""
    known = [one for one in quality if one.confusion.counts.sum()]
    by_work = sorted(known, key=lambda one: (not one.flags, -int(one.confusion.counts.sum())))
    shown = by_work[:MATRICES]
    if not shown:
        return None
    charts = tuple(
        as_heatmap(one.confusion, up=_truth(one), across=f"{one.judge} says", title=_titled(one)) for one in shown
    )
    notes = ["documents on which the others tie are not in a matrix"] if any(_by_others(one) for one in shown) else []
    if len(known) > len(shown):
        notes.append(f"{len(shown)} of {len(quality):,} judges: flagged ones first, then those with the most labels")
    return Figure(
        name="confusion-by-judge", title=FIGURES["confusion-by-judge"], sentence=_mixed(shown), charts=charts,
        table=as_grid([(one.judge, one.confusion, None) for one in shown], "truth", quality.level,
                      about="Wilson, as if every label were drawn by itself"),
        notes=tuple(notes),
    )  # fmt: skip


def _by_others(one: JudgeReport) -> bool:
    return one.confusion.rows == "consensus"


def _truth(one: JudgeReport) -> str:
    return "most others say" if _by_others(one) else "gold says"


def _titled(one: JudgeReport) -> str:
    return f"{one.judge} ({_kinds(one)})" if one.flags else one.judge


def _mixed(shown: Sequence[JudgeReport]) -> str:
    """The worst mistake of each in words, the most frequent first."""
    found = [(mistake, one) for one in shown if (mistake := worst_mistake(one.confusion)) is not None]
    if not found:
        return "None of these judges ever errs."
    found.sort(key=lambda pair: -pair[0].share)
    words = [mistake_told(mistake, "the majority of others" if _by_others(one) else "gold", one.judge)
             for mistake, one in found[:TOLD]]  # fmt: skip
    return f"{capital('; '.join(words))}."
