"""Agreement and judges' quality as tables and sentences for a page, in the words of `ringtrue agree` and `judges`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ringtrue.formatting.phrases import counted
from ringtrue.judges.agreement.alpha_thresholds import verdict_on

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement
    from ringtrue.judges.quality import JudgeQuality, JudgeReport
    from ringtrue.stats.results import Estimate

__all__ = [
    "Table",
    "agreement_in_words",
    "agreement_table",
    "flagged",
    "judge_table",
    "pair_table",
    "seconds_told",
]

SHOWN_JUDGES, SHOWN_PAIRS = 200, 20
STATISTICS = {
    "agreement": "Two labels of an item are equal",
    "overlap": "Overlap of the relevant (1 and above)",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "fleiss_kappa": "Fleiss' kappa",
    "ac1": "Gwet's AC1",
    "self_consistency": "The same judge again",
}
ONLY_OF_LABELS = ("overlap", "alpha_ordinal")
NOTHING = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows and columns of text; the first `words` columns are read from the left, the others are numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    words: int = 1
    legend: Sequence[tuple[str, str]] = ()


def agreement_table(found: Agreement) -> Table:
    """The coefficients of all judges together, each with its interval, or the reason why there is no number."""
    of_pairs = found.transitivity is not None
    rows = []
    for name, words in STATISTICS.items():
        one = found.overall[name]
        if (of_pairs and name in ONLY_OF_LABELS) or (one.value is None and name == "self_consistency"):
            continue
        rows.append([words, *_cells(one)])
    what = "pair" if of_pairs else "item"
    size = f"{counted(len(found.judges), 'judge')}, {counted(found.votes, 'label')} of {counted(found.items, what)}"
    return Table(
        columns=["Statistic", "Value", f"{found.overall['agreement'].level * 100:g}% interval"],
        rows=rows,
        caption=f"All judges together: {size}",
    )


def _cells(one: Estimate) -> list[str]:
    if one.value is None:
        return ["undefined", "; ".join(one.notes) or NOTHING]
    digits = one.decimals + 1 if one.se else 3
    if one.low is None or one.high is None:
        return [_signed(f"{one.value:.{digits}f}"), NOTHING]
    return [_signed(f"{one.value:.{digits}f}"), _signed(f"{one.low:.{digits}f} to {one.high:.{digits}f}")]


def agreement_in_words(found: Agreement) -> list[str]:
    """What the numbers say, in sentences."""
    of_pairs = found.transitivity is not None
    which = "nominal" if of_pairs else "ordinal"
    raw, alpha = found.overall["agreement"], found.overall[f"alpha_{which}"]
    if raw.value is None:
        return [f"Nothing can be said about agreement yet: {'; '.join(raw.notes)}."]
    share = f"Two judges give the same answer in {100 * raw.value:.0f}% of cases"
    lines = [f"{share}; {'; '.join(alpha.notes)}."]
    if alpha.value is not None:
        lines = [f"{share}. {which.capitalize()} alpha is {_with_ends(alpha)}: {verdict_on(alpha)}"]
    gold = found.consensus
    if gold is not None and gold.agreement.value is not None:
        lines.append(
            f"The majority of the judges gives the gold label to {100 * gold.agreement.value:.0f}% of "
            f"{counted(gold.n, 'item')}."
        )
    circles = found.transitivity
    if circles is not None and circles.majority.value is not None:
        lines.append(
            f"Of {counted(circles.majority.n, 'triple')} of documents, the majority's preferences run in a circle in "
            f"{100 * (1 - circles.majority.value):.1f}% (coin flips: 25%)."
        )
    return lines


def pair_table(found: Agreement) -> Table | None:
    """Judges two by two, those with gold first; None where there are no two."""
    pairs = [*found.gold, *found.pairs]
    if not pairs:
        return None
    more = len(pairs) - SHOWN_PAIRS
    return Table(
        columns=["Judge", "Judge", "Items", "Equal", "Cohen's kappa"],
        rows=[
            [one.a, one.b, f"{one.n:,}", _percent(one.agreement.value), _with_ends(one.kappa)]
            for one in pairs[:SHOWN_PAIRS]
        ],
        caption="Judges two by two" + (f", and {counted(more, 'more pair')} in the exports" if more > 0 else ""),
        words=2,
    )


CELLS: dict[str, Callable[[JudgeReport], str]] = {
    "Others": lambda one: _percent(one.others_accuracy),
    "Lenient": lambda one: NOTHING if one.leniency is None or one.leniency.value is None
    else _signed(f"{one.leniency.value:+.2f}"),
    "Traps": lambda one: f"{one.traps.passed} of {one.traps.n}" if one.traps and one.traps.n else NOTHING,
    "Seconds": lambda one: seconds_told(one.speed.median if one.speed else None),
    "Left": lambda one: _percent(one.side_bias.left.value) if one.side_bias else NOTHING,
    "Mostly": lambda one: NOTHING if one.side_bias else f"{one.common_label} ({100 * one.common_share:.0f}%)",
}  # fmt: skip
MEANINGS = {
    "Labels": "answers that count, those to traps too",
    "Right": "how often the judge's label is the right one, by gold or by what most of the others say",
    "Others": "how often the others are right on the same items",
    "Lenient": "own label less the mean of the others' on the same items, on average",
    "Traps": "passed, of those met",
    "Seconds": "for an answer, the median",
    "Left": "how often the left document wins, of the answers for a side",
    "Mostly": "the label given most often, and how often",
}


def judge_table(quality: JudgeQuality) -> Table:
    """A row for each judge, those to look at first; columns in which nothing is known are left out."""
    shown = quality.worst_first[:SHOWN_JUDGES]
    columns: dict[str, list[str]] = {
        "Judge": [one.judge for one in shown],
        "Flags": [", ".join(flag.kind for flag in one.flags) or NOTHING for one in shown],
        "Labels": [f"{one.labels:,}" for one in shown],
        "Right": [_share_with_ends(one.accuracy) for one in shown],
    }
    columns |= {title: [cell(one) for one in shown] for title, cell in CELLS.items()}
    kept = {title: cells for title, cells in columns.items() if title in ("Judge", "Labels", "Right") or _any(cells)}
    more = len(quality) - len(shown)
    return Table(
        columns=list(kept),
        rows=list(zip(*kept.values(), strict=True)),
        caption=counted(len(quality), "judge") + (f", the first {SHOWN_JUDGES} of them" if more > 0 else ""),
        words=2 if "Flags" in kept else 1,
        legend=[(title, meaning) for title, meaning in MEANINGS.items() if title in kept],
    )


def flagged(quality: JudgeQuality) -> list[tuple[str, list[str]]]:
    """Whom to look at and why, with what leaving that judge out would do."""
    return [(one.judge, [*map(str, one.flags), str(one.flags[0].effect)]) for one in quality.flagged]


def seconds_told(seconds: float | None) -> str:
    """A time for one answer, short ones with a decimal.

    Examples:
        >>> seconds_told(0.24), seconds_told(12.4), seconds_told(None)
        ('0.2', '12', '–')
    """
    return NOTHING if seconds is None else f"{seconds:.1f}" if seconds < 10 else f"{seconds:,.0f}"


def _any(cells: Sequence[str]) -> bool:
    return any(cell != NOTHING for cell in cells)


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.0f}%"


def _share_with_ends(one: Estimate) -> str:
    if one.value is None or one.low is None or one.high is None:
        return _percent(one.value)
    return f"{100 * one.value:.0f}% ({100 * one.low:.0f}% to {100 * one.high:.0f}%)"


def _with_ends(one: Estimate) -> str:
    if one.value is None:
        return "undefined"
    if one.low is None or one.high is None:
        return _signed(f"{one.value:.2f}")
    return _signed(f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})")


def _signed(text: str) -> str:
    return text.replace("-", "−")
