"""The tables of `ringtrue correct`, and its answers in words."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid, format_signed

if TYPE_CHECKING:
    from ringtrue.gold.correction import ScoreCorrection, ScoreDifference
    from ringtrue.stats.results import Estimate

WIDTH = 100
COMPARISON_TITLES = {
    "shared_judge": "one judge for both",
    "independent": "as if independent",
    "naive": "bronze scores as they are",
}
RATE_TITLES = {
    "relevant": "relevant documents",
    "nonrelevant": "other documents",
    "youden": "both − 1 (0: guesses, 1: perfect)",
}


def calculator_grids(correction: ScoreCorrection) -> list[Grid]:
    """The scores, the judge and, with a second score, how the two compare."""
    grids = [_score_grid(correction), _judge_rates_grid(correction)]
    return grids + ([_score_comparison_grid(correction)] if correction.comparison else [])


def comparisons_by_title(correction: ScoreCorrection) -> dict[str, ScoreDifference]:
    """The comparisons by what they are called on a screen."""
    comparisons = correction.comparison or {}
    own_titles = {} if "shared_judge" in comparisons else {"independent": "judges of their own"}
    return {(COMPARISON_TITLES | own_titles)[name]: comparison for name, comparison in comparisons.items()}


def _score_grid(correction: ScoreCorrection) -> Grid:
    corrections = {"score": correction} | ({"versus": correction.versus} if correction.versus else {})
    level = f"{correction.raw.level * 100:g}% CI"
    columns = ["", "queries", "bronze", level, "corrected", level]
    rows = [
        [
            name,
            f"{score_correction.raw.n:,}",
            *_score_cells(score_correction.raw),
            *_score_cells(score_correction.corrected),
        ]
        for name, score_correction in corrections.items()
    ]
    if correction.direct:
        columns += ["by bronze label", level]
        rows = [
            [*row, *_score_cells(score_correction.direct)]
            for row, score_correction in zip(rows, corrections.values(), strict=True)
            if score_correction.direct
        ]
    sentences = dict.fromkeys(
        _corrected_score_sentence(name, score_correction) for name, score_correction in corrections.items()
    )
    return Grid(columns=columns, rows=rows, caption="\n".join(["", *sentences]))


def _corrected_score_sentence(name: str, correction: ScoreCorrection) -> str:
    corrected = correction.corrected
    subject = "The score" if name == "score" else "The second score"
    if corrected.value is None or corrected.low is None or corrected.high is None:
        return fill(f"No score can be corrected: {corrected.notes[0]}.", WIDTH)
    digits = corrected.decimals
    low, high, value = (
        f"{end:.{digits}f}".replace("-", "−") for end in (corrected.low, corrected.high, corrected.value)
    )
    if corrected.high < 0 or corrected.low > 1:
        return fill(f"{subject} by a gold judge would lie between {low} and {high}, where no score can be.", WIDTH)
    confidence_text = f"with {corrected.level * 100:g}% confidence it lies between {low} and {high}"
    return fill(f"{subject} by a gold judge would be about {value}; {confidence_text}.", WIDTH)


def _judge_rates_grid(correction: ScoreCorrection) -> Grid:
    level = f"{correction.raw.level * 100:g}% CI"
    versus_rates = (
        correction.versus.judge if correction.versus and correction.versus.judge != correction.judge else None
    )
    rows = [[RATE_TITLES[name], *_rate_cells(rate)] for name, rate in correction.judge.items()]
    if versus_rates:
        rows += [[f"{RATE_TITLES[name]}, versus", *_rate_cells(rate)] for name, rate in versus_rates.items()]
    return Grid(columns=["the judge is right on", "labels", "share", level], rows=rows)


def _rate_cells(rate: Estimate) -> list[str]:
    if rate.method == "known":
        return ["known", f"{rate.value or 0:.3f}", "–"]
    return [f"{rate.n:,}", f"{rate.value or 0:.3f}", f"{rate.low or 0:.3f}–{rate.high or 0:.3f}".replace("-", "−")]


def _score_comparison_grid(correction: ScoreCorrection) -> Grid:
    comparisons, level = correction.comparison or {}, correction.raw.level
    rows = [
        [name, *_difference_cells(difference.difference), _p_text(difference.p_value)]
        for name, difference in comparisons_by_title(correction).items()
    ]
    lines = ["", _difference_verdict(comparisons, level)]
    shared = comparisons.get("shared_judge")
    if shared and shared.tipping and shared.difference.value:
        lines.append(
            _sensitivity_sentence(shared, decided=shared.p_value is not None and shared.p_value < round(1 - level, 12))
        )
    return Grid(
        columns=["score − versus", "difference", f"{level * 100:g}% CI", "p"],
        rows=rows,
        caption="\n".join(fill(line, WIDTH) for line in lines),
    )


def _difference_verdict(comparisons: Mapping[str, ScoreDifference], level: float) -> str:
    question = "Is the difference real?"
    name = "shared_judge" if "shared_judge" in comparisons else "independent"
    comparison, p = comparisons[name], comparisons[name].p_value
    if p is None:
        return f"{question} These numbers cannot tell."
    if p >= round(1 - level, 12):
        return f"{question} It may well be chance (p = {_p_text(p)})."
    size, digits = comparison.difference.value, comparison.difference.decimals
    if size is None:
        return f"{question} That of the bronze scores is (p = {_p_text(p)}), but a gold judge might see any other."
    condition = "if the judge errs alike on both systems" if name == "shared_judge" else "with judges of their own"
    return f"{question} Yes, {condition} (p = {_p_text(p)}); by a gold judge it would be about {abs(size):.{digits}f}."


def _sensitivity_sentence(shared: ScoreDifference, *, decided: bool) -> str:
    """How little would explain it otherwise."""

    def format_points(share: float | None) -> str:
        return "no number of points" if share is None else f"{100 * share:.2g} points"

    assert shared.tipping is not None
    relevant, nonrelevant = shared.tipping["relevant"], shared.tipping["nonrelevant"]
    to_explain_all = (
        f"{format_points(relevant.difference)} on relevant documents, or "
        f"{format_points(nonrelevant.difference)} on others"
    )
    if not decided:
        return f"A judge who is right more often on one of the systems would explain all of it with {to_explain_all}."
    to_lose_significance = (
        f"{format_points(relevant.significance)} on relevant documents, or "
        f"{format_points(nonrelevant.significance)} on others"
    )
    return (
        f"If the judge is right more often on one of the systems, {to_lose_significance}, take the "
        f"significance away; {to_explain_all}, explain "
        f"all of the difference."
    )


def _score_cells(estimate: Estimate) -> tuple[str, str]:
    """A value and its interval, with one digit more than the standard error supports."""
    digits = min(estimate.decimals + 1, 6) if estimate.value is not None else 0
    value = "–" if estimate.value is None else f"{estimate.value:.{digits}f}"
    interval = (
        f"{estimate.low:.{digits}f}–{estimate.high:.{digits}f}"
        if estimate.low is not None and estimate.high is not None
        else "–"
    )
    return value.replace("-", "−"), interval.replace("-", "−")


def _difference_cells(estimate: Estimate) -> tuple[str, str]:
    digits = min(estimate.decimals + 1, 6) if estimate.value is not None else 0
    value = "–" if estimate.value is None else format_signed(estimate.value, digits)
    ends = (format_signed(end, digits) for end in (estimate.low, estimate.high) if end is not None)
    return value, " to ".join(ends) or "–"


def _p_text(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def calculator_csv(correction: ScoreCorrection) -> Grid:
    """Every estimate on a line of its own, with all digits."""
    estimate_and_p: dict[str, tuple[Estimate, float | None]] = {}
    for prefix, score_correction in (("", correction), ("versus ", correction.versus)):
        if score_correction:
            estimate_and_p |= {
                f"{prefix}raw": (score_correction.raw, None),
                f"{prefix}corrected": (score_correction.corrected, None),
            }
            estimate_and_p |= {f"{prefix}direct": (score_correction.direct, None)} if score_correction.direct else {}
            estimate_and_p |= {f"{prefix}judge {name}": (rate, None) for name, rate in score_correction.judge.items()}
    estimate_and_p |= {
        name: (comparison.difference, comparison.p_value) for name, comparison in (correction.comparison or {}).items()
    }
    fields = ("value", "se", "low", "high", "level", "n", "method")
    rows = [
        [
            name,
            *("" if (cell := getattr(estimate, field)) is None else str(cell) for field in fields),
            "" if p is None else str(p),
        ]
        for name, (estimate, p) in estimate_and_p.items()
    ]
    return Grid(columns=["what", *fields, "p_value"], rows=rows)
