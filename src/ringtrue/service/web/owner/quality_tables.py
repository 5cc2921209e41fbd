"""Agreement and judges' quality as tables and sentences for a page, in the words of `ringtrue agree` and `judges`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ringtrue.formatting.phrases import format_count
from ringtrue.judges.agreement.alpha_thresholds import describe_alpha

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement
    from ringtrue.judges.quality import JudgeQuality, JudgeReport
    from ringtrue.stats.results import Estimate

MAX_JUDGES_SHOWN, MAX_PAIRS_SHOWN = 200, 20
STATISTIC_NAMES = {
    "agreement": "Two labels of an item are equal",
    "overlap": "Overlap of the relevant (1 and above)",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "fleiss_kappa": "Fleiss' kappa",
    "ac1": "Gwet's AC1",
    "self_consistency": "The same judge again",
}
LABEL_STATISTICS = ("overlap", "alpha_ordinal")
NO_VALUE = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityTable:
    """Rows and columns of text; the first `words` columns are read from the left, the others are numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    words: int = 1
    legend: Sequence[tuple[str, str]] = ()


def make_agreement_table(agreement: Agreement) -> QualityTable:
    """The coefficients of all judges together, each with its interval, or the reason why there is no number."""
    of_pairs = agreement.transitivity is not None
    rows = []
    for name, label in STATISTIC_NAMES.items():
        estimate = agreement.overall[name]
        if (of_pairs and name in LABEL_STATISTICS) or (estimate.value is None and name == "self_consistency"):
            continue
        rows.append([label, *_estimate_cells(estimate)])
    unit = "pair" if of_pairs else "item"
    judges, labels = format_count(len(agreement.judges), "judge"), format_count(agreement.votes, "label")
    size = f"{judges}, {labels} of {format_count(agreement.items, unit)}"
    return QualityTable(
        columns=["Statistic", "Value", f"{agreement.overall['agreement'].level * 100:g}% interval"],
        rows=rows,
        caption=f"All judges together: {size}",
    )


def _estimate_cells(estimate: Estimate) -> list[str]:
    if estimate.value is None:
        return ["undefined", "; ".join(estimate.notes) or NO_VALUE]
    digits = estimate.decimals + 1 if estimate.se else 3
    if estimate.low is None or estimate.high is None:
        return [_with_minus_signs(f"{estimate.value:.{digits}f}"), NO_VALUE]
    return [
        _with_minus_signs(f"{estimate.value:.{digits}f}"),
        _with_minus_signs(f"{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"),
    ]


def describe_agreement(agreement: Agreement) -> list[str]:
    """What the numbers say, in sentences."""
    of_pairs = agreement.transitivity is not None
    metric = "nominal" if of_pairs else "ordinal"
    raw, alpha = agreement.overall["agreement"], agreement.overall[f"alpha_{metric}"]
    if raw.value is None:
        return [f"Nothing can be said about agreement yet: {'; '.join(raw.notes)}."]
    share_sentence = f"Two judges give the same answer in {100 * raw.value:.0f}% of cases"
    lines = [f"{share_sentence}; {'; '.join(alpha.notes)}."]
    if alpha.value is not None:
        lines = [f"{share_sentence}. {metric.capitalize()} alpha is {_format_estimate(alpha)}: {describe_alpha(alpha)}"]
    consensus = agreement.consensus
    if consensus is not None and consensus.agreement.value is not None:
        lines.append(
            f"The majority of the judges gives the gold label to {100 * consensus.agreement.value:.0f}% of "
            f"{format_count(consensus.n, 'item')}."
        )
    transitivity = agreement.transitivity
    if transitivity is not None and transitivity.majority.value is not None:
        lines.append(
            f"Of {format_count(transitivity.majority.n, 'triple')} of documents, the majority's preferences run in "
            f"a circle in {100 * (1 - transitivity.majority.value):.1f}% (coin flips: 25%)."
        )
    return lines


def make_pair_table(agreement: Agreement) -> QualityTable | None:
    """Judges two by two, those with gold first; None where there are no two."""
    pairs = [*agreement.gold, *agreement.pairs]
    if not pairs:
        return None
    more = len(pairs) - MAX_PAIRS_SHOWN
    return QualityTable(
        columns=["Judge", "Judge", "Items", "Equal", "Cohen's kappa"],
        rows=[
            [pair.a, pair.b, f"{pair.n:,}", _format_percent(pair.agreement.value), _format_estimate(pair.kappa)]
            for pair in pairs[:MAX_PAIRS_SHOWN]
        ],
        caption="Judges two by two" + (f", and {format_count(more, 'more pair')} in the exports" if more > 0 else ""),
        words=2,
    )


JUDGE_CELLS: dict[str, Callable[[JudgeReport], str]] = {
    "Others": lambda report: _format_percent(report.others_accuracy),
    "Lenient": lambda report: (
        NO_VALUE
        if report.leniency is None or report.leniency.value is None
        else _with_minus_signs(f"{report.leniency.value:+.2f}")
    ),
    "Traps": lambda report: (
        f"{report.traps.passed} of {report.traps.n}" if report.traps and report.traps.n else NO_VALUE
    ),
    "Seconds": lambda report: format_seconds(report.speed.median if report.speed else None),
    "Left": lambda report: _format_percent(report.side_bias.left.value) if report.side_bias else NO_VALUE,
    "Mostly": lambda report: (
        NO_VALUE if report.side_bias else f"{report.common_label} ({100 * report.common_share:.0f}%)"
    ),
}
COLUMN_MEANINGS = {
    "Labels": "answers that count, those to traps too",
    "Right": "how often the judge's label is the right one, by gold or by what most of the others say",
    "Others": "how often the others are right on the same items",
    "Lenient": "own label less the mean of the others' on the same items, on average",
    "Traps": "passed, of those met",
    "Seconds": "for an answer, the median",
    "Left": "how often the left document wins, of the answers for a side",
    "Mostly": "the label given most often, and how often",
}


def make_judge_table(quality: JudgeQuality) -> QualityTable:
    """A row for each judge, those to look at first; columns in which nothing is known are left out."""
    reports = quality.worst_first[:MAX_JUDGES_SHOWN]
    columns: dict[str, list[str]] = {
        "Judge": [report.judge for report in reports],
        "Flags": [", ".join(flag.kind for flag in report.flags) or NO_VALUE for report in reports],
        "Labels": [f"{report.labels:,}" for report in reports],
        "Right": [_format_percent_interval(report.accuracy) for report in reports],
    }
    columns |= {title: [cell(report) for report in reports] for title, cell in JUDGE_CELLS.items()}
    nonempty = {
        title: cells for title, cells in columns.items() if title in ("Judge", "Labels", "Right") or _has_content(cells)
    }
    more = len(quality) - len(reports)
    return QualityTable(
        columns=list(nonempty),
        rows=list(zip(*nonempty.values(), strict=True)),
        caption=format_count(len(quality), "judge") + (f", the first {MAX_JUDGES_SHOWN} of them" if more > 0 else ""),
        words=2 if "Flags" in nonempty else 1,
        legend=[(title, meaning) for title, meaning in COLUMN_MEANINGS.items() if title in nonempty],
    )


def list_flagged_judges(quality: JudgeQuality) -> list[tuple[str, list[str]]]:
    """Whom to look at and why, with what leaving that judge out would do."""
    return [(report.judge, [*map(str, report.flags), str(report.flags[0].effect)]) for report in quality.flagged]


def format_seconds(seconds: float | None) -> str:
    """A time for one answer, short ones with a decimal.

    Examples:
        >>> format_seconds(0.24), format_seconds(12.4), format_seconds(None)
        ('0.2', '12', '–')
    """
    return NO_VALUE if seconds is None else f"{seconds:.1f}" if seconds < 10 else f"{seconds:,.0f}"


def _has_content(cells: Sequence[str]) -> bool:
    return any(cell != NO_VALUE for cell in cells)


def _format_percent(share: float | None) -> str:
    return NO_VALUE if share is None else f"{100 * share:.0f}%"


def _format_percent_interval(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return _format_percent(estimate.value)
    return f"{100 * estimate.value:.0f}% ({100 * estimate.low:.0f}% to {100 * estimate.high:.0f}%)"


def _format_estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return _with_minus_signs(f"{estimate.value:.2f}")
    return _with_minus_signs(f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})")


def _with_minus_signs(text: str) -> str:
    return text.replace("-", "−")
