"""The tables of `ringtrue correct`, and its answers in words."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING

from ringtrue.cli.output import Grid, signed

if TYPE_CHECKING:
    from ringtrue.gold.correction import ScoreCorrection, ScoreDifference
    from ringtrue.stats.results import Estimate

__all__ = ["flat_estimates", "named_comparisons", "tables_of_correction"]

WIDTH = 100
HOW = {"shared_judge": "one judge for both", "independent": "as if independent", "naive": "bronze scores as they are"}
JUDGED = {
    "relevant": "relevant documents",
    "nonrelevant": "other documents",
    "youden": "both − 1 (0: guesses, 1: perfect)",
}


def tables_of_correction(answer: ScoreCorrection) -> list[Grid]:
    """The scores, the judge and, with a second score, how the two compare."""
    grids = [_scores(answer), _judges(answer)]
    return grids + ([_comparison(answer)] if answer.comparison else [])


def named_comparisons(answer: ScoreCorrection) -> dict[str, ScoreDifference]:
    """The comparisons by what they are called on a screen."""
    compared = answer.comparison or {}
    own = {} if "shared_judge" in compared else {"independent": "judges of their own"}
    return {(HOW | own)[name]: one for name, one in compared.items()}


def _scores(answer: ScoreCorrection) -> Grid:
    answers = {"score": answer} | ({"versus": answer.versus} if answer.versus else {})
    level = f"{answer.raw.level * 100:g}% CI"
    columns = ["", "queries", "bronze", level, "corrected", level]
    rows = [[name, f"{one.raw.n:,}", *_cells(one.raw), *_cells(one.corrected)] for name, one in answers.items()]
    if answer.direct:
        columns += ["by bronze label", level]
        rows = [[*row, *_cells(one.direct)] for row, one in zip(rows, answers.values(), strict=True) if one.direct]
    told = dict.fromkeys(_sentence(name, one) for name, one in answers.items())
    return Grid(columns=columns, rows=rows, caption="\n".join(["", *told]))


def _sentence(name: str, one: ScoreCorrection) -> str:
    found = one.corrected
    who = "The score" if name == "score" else "The second score"
    if found.value is None or found.low is None or found.high is None:
        return fill(f"No score can be corrected: {found.notes[0]}.", WIDTH)
    digits = found.decimals
    low, high, value = (f"{end:.{digits}f}".replace("-", "−") for end in (found.low, found.high, found.value))
    if found.high < 0 or found.low > 1:
        return fill(f"{who} by a gold judge would lie between {low} and {high}, where no score can be.", WIDTH)
    sure = f"with {found.level * 100:g}% confidence it lies between {low} and {high}"
    return fill(f"{who} by a gold judge would be about {value}; {sure}.", WIDTH)


def _judges(answer: ScoreCorrection) -> Grid:
    level = f"{answer.raw.level * 100:g}% CI"
    other = answer.versus.judge if answer.versus and answer.versus.judge != answer.judge else None
    rows = [[JUDGED[name], *_rate_cells(one)] for name, one in answer.judge.items()]
    if other:
        rows += [[f"{JUDGED[name]}, versus", *_rate_cells(one)] for name, one in other.items()]
    return Grid(columns=["the judge is right on", "labels", "share", level], rows=rows)


def _rate_cells(one: Estimate) -> list[str]:
    if one.method == "known":
        return ["known", f"{one.value or 0:.3f}", "–"]
    return [f"{one.n:,}", f"{one.value or 0:.3f}", f"{one.low or 0:.3f}–{one.high or 0:.3f}".replace("-", "−")]


def _comparison(answer: ScoreCorrection) -> Grid:
    comparison, level = answer.comparison or {}, answer.raw.level
    rows = [[name, *_difference_cells(one.difference), _p(one.p_value)]
            for name, one in named_comparisons(answer).items()]  # fmt: skip
    lines = ["", _verdict(comparison, level)]
    shared = comparison.get("shared_judge")
    if shared and shared.tipping and shared.difference.value:
        lines.append(_tipping(shared, decided=shared.p_value is not None and shared.p_value < round(1 - level, 12)))
    return Grid(columns=["score − versus", "difference", f"{level * 100:g}% CI", "p"], rows=rows,
                caption="\n".join(fill(line, WIDTH) for line in lines))  # fmt: skip


def _verdict(comparison: Mapping[str, ScoreDifference], level: float) -> str:
    asked = "Is the difference real?"
    name = "shared_judge" if "shared_judge" in comparison else "independent"
    found, p = comparison[name], comparison[name].p_value
    if p is None:
        return f"{asked} These numbers cannot tell."
    if p >= round(1 - level, 12):
        return f"{asked} It may well be chance (p = {_p(p)})."
    size, digits = found.difference.value, found.difference.decimals
    if size is None:
        return f"{asked} That of the bronze scores is (p = {_p(p)}), but a gold judge might see any other."
    condition = "if the judge errs alike on both systems" if name == "shared_judge" else "with judges of their own"
    return f"{asked} Yes, {condition} (p = {_p(p)}); by a gold judge it would be about {abs(size):.{digits}f}."


def _tipping(shared: ScoreDifference, *, decided: bool) -> str:
    """How little would explain it otherwise."""

    def points(share: float | None) -> str:
        return "no number of points" if share is None else f"{100 * share:.2g} points"

    assert shared.tipping is not None
    relevant, others = shared.tipping["relevant"], shared.tipping["nonrelevant"]
    whole = f"{points(relevant.difference)} on relevant documents, or {points(others.difference)} on others"
    if not decided:
        return f"A judge who is right more often on one of the systems would explain all of it with {whole}."
    some = f"{points(relevant.significance)} on relevant documents, or {points(others.significance)} on others"
    return (
        f"If the judge is right more often on one of the systems, {some}, take the significance away; {whole}, explain "
        f"all of the difference."
    )


def _cells(one: Estimate) -> tuple[str, str]:
    """A value and its interval, with one digit more than the standard error supports."""
    digits = min(one.decimals + 1, 6) if one.value is not None else 0
    value = "–" if one.value is None else f"{one.value:.{digits}f}"
    ends = f"{one.low:.{digits}f}–{one.high:.{digits}f}" if one.low is not None and one.high is not None else "–"
    return value.replace("-", "−"), ends.replace("-", "−")


def _difference_cells(one: Estimate) -> tuple[str, str]:
    digits = min(one.decimals + 1, 6) if one.value is not None else 0
    value = "–" if one.value is None else signed(one.value, digits)
    ends = (signed(end, digits) for end in (one.low, one.high) if end is not None)
    return value, " to ".join(ends) or "–"


def _p(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def flat_estimates(answer: ScoreCorrection) -> Grid:
    """Every estimate on a line of its own, with all digits."""
    named: dict[str, tuple[Estimate, float | None]] = {}
    for prefix, one in (("", answer), ("versus ", answer.versus)):
        if one:
            named |= {f"{prefix}raw": (one.raw, None), f"{prefix}corrected": (one.corrected, None)}
            named |= {f"{prefix}direct": (one.direct, None)} if one.direct else {}
            named |= {f"{prefix}judge {name}": (rate, None) for name, rate in one.judge.items()}
    named |= {name: (one.difference, one.p_value) for name, one in (answer.comparison or {}).items()}
    fields = ("value", "se", "low", "high", "level", "n", "method")
    rows = [
        [name, *("" if (cell := getattr(one, field)) is None else str(cell) for field in fields),
         "" if p is None else str(p)]
        for name, (one, p) in named.items()
    ]  # fmt: skip
    return Grid(columns=["what", *fields, "p_value"], rows=rows)
