"""`ringtrue correct`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options.common import (
    Command,
    level_option,
    option,
    option_name,
    output_options,
    resamples_option,
    seed_option,
)
from ringtrue.cli.output import OutputFormat, emit, spelled
from ringtrue.errors import UsageError
from ringtrue.formatting.grid import Grid, exact_cells, format_interval, format_number, format_signed
from ringtrue.messages import Note
from ringtrue.stats.results import EXACT_FIELDS, exact_estimate

if TYPE_CHECKING:
    from ringtrue.gold.correction import BronzeScore, Rates, ScoreCorrection, ScoreDifference
    from ringtrue.gold.correction.rate_inversion import Rate
    from ringtrue.stats.results import Estimate

INTERVALS = ("fieller", "wald", "bootstrap", "bayes")
DESIGNS = ("pool_random", "external", "known")
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


@click.command("correct", cls=Command)
@option("--score", "Mean score over queries by the bronze labels, from 0 to 1.", required=True, type=float)
@option("--sd", "Standard deviation of the score over queries.", type=float)
@option("--queries", "How many queries.", required=True, type=click.IntRange(min=1))
@option("--k", "How many documents of each query: 3 for P@3.", type=click.IntRange(min=1))
@option(
    "--relevant X/N",
    "Bronze is right on X of N documents that gold calls relevant; or a known share: 0.9.",
    required=True,
)
@option("--nonrelevant X/N", "The same for documents that gold does not.", required=True)
@option("--versus-score", "A second score, to compare with.", type=float)
@option("--versus-sd", "Its standard deviation over queries.", type=float)
@option("--versus-queries", "Its number of queries.", type=click.IntRange(min=1))
@option("--versus-relevant X/N", "The rate of its judges, where they are others.")
@option("--versus-nonrelevant X/N", "The same for documents that gold does not call relevant.")
@option("--difference-sd", "Standard deviation of the difference over queries.", type=float)
@option(
    "--design", "The rates come from a random draw from these documents, from others, or are known.", choices=DESIGNS
)
@option("--interval", "How to make the interval.", choices=INTERVALS, default="fieller")
@level_option
@resamples_option(10_000, lowest=1)
@seed_option
@output_options
def command(k: int | None, seed: int, form: OutputFormat, **options: Any) -> None:
    """I only have summary numbers: what is the corrected score?

    From a score by a judge who errs, such as P@3, and how often that judge is right, the score that a gold judge
    would give; and with a second score, whether the difference is real. Both judges' labels in files serve better:
    the rates of a judge on other documents may not hold for these.

    \b
    ringtrue correct --score .626 --sd .414 --queries 10278 --relevant 43/59 --nonrelevant 67/84
    """
    import numpy as np

    from ringtrue.gold.correction import correct_score

    bronze_score, versus = _take_score(options, k, ""), _take_score(options, k, "versus_")
    rates, versus_rates = _take_rates(options, ""), _take_rates(options, "versus_")
    assert bronze_score is not None
    assert rates is not None  # since the options are required
    rng = np.random.default_rng(seed)
    correction = correct_score(bronze_score, rates, versus=versus, versus_rates=versus_rates, rng=rng, **options)
    emit(
        form,
        notes=_collect_correction_notes(correction),
        payload=correction.as_dict() | {"seed": seed},
        grid=partial(_calculator_grids, correction),
        csv_grid=partial(_calculator_csv, correction),
    )


def _take_score(options: dict[str, Any], k: int | None, prefix: str) -> BronzeScore | None:
    """The score that was given, or the second one; None where there is none."""
    from ringtrue.gold.correction import BronzeScore

    mean, sd, queries = (options.pop(prefix + name) for name in ("score", "sd", "queries"))
    if mean is None:
        if sd is not None or queries is not None:
            raise OptionError(
                "needs-parameter", "--versus-score is missing: what was the second score?", parameter="versus_score"
            )
        return None
    if queries is None:
        raise OptionError(
            "needs-parameter",
            "--versus-queries is missing: over how many queries is the second score?",
            parameter="versus_queries",
        )
    if sd is None and k != 1:
        raise OptionError(
            "needs-parameter",
            f"{option_name(prefix)}sd is missing, the standard deviation of the values of single queries; with one "
            f"document for each query, --k 1 says so instead",
            parameter=f"{prefix}sd",
        )
    with _attribute_errors(prefix):
        return BronzeScore(mean=mean, sd=sd, queries=queries, k=k)


def _take_rates(options: dict[str, Any], prefix: str) -> Rates | None:
    """How often the judge is right, or that of the second score; None where there is none of its own."""
    from ringtrue.gold.correction import Rates

    texts = {name: options.pop(prefix + name) for name in ("relevant", "nonrelevant")}
    missing = [name for name, text in texts.items() if text is None]
    if len(missing) == 2:
        return None
    if missing:
        raise OptionError(
            "needs-parameter",
            f"--versus-{missing[0]} is missing: judges of their own have both rates",
            parameter=f"versus_{missing[0]}",
        )
    rates = {name: _parse_rate(text, prefix + name) for name, text in texts.items()}
    with _attribute_errors(prefix):
        return Rates(**rates)


@contextmanager
def _attribute_errors(prefix: str) -> Iterator[None]:
    """Say which of the two scores is meant."""
    names: dict[str, str | None] = {"mean": f"{prefix}score"}
    names |= {name: f"{prefix}{name}" for name in ("sd", "queries", "relevant", "nonrelevant")}
    try:
        yield
    except UsageError as error:
        note = error.note.renamed(names)
        raise error.with_note(note.about("second score") if prefix else note) from error


def _parse_rate(text: str, name: str) -> Rate:
    """`43/59` as counts, `0.9` as a known share."""
    counts = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
    if counts:
        return int(counts[1]), int(counts[2])
    try:
        return float(text)
    except ValueError:
        percent = re.fullmatch(r"\s*([\d.]+)\s*%\s*", text)
        hint = f"; write {text.strip()} as {float(percent[1]) / 100:g}" if percent else ""
        expected = "right/labels, such as 43/59, or a known share, such as 0.9"
        message = f"{option_name(name)} expects {expected}; found '{text}'{hint}"
        raise OptionError("bad-value", message, parameter=name) from None


def _collect_correction_notes(correction: ScoreCorrection) -> list[Note]:
    """Every doubt once, those about the second score or one comparison with a word where they come from."""
    notes = list(correction.notes)
    if correction.versus:
        notes += [note.about("second score") for note in correction.versus.notes if note not in notes]
    for name, comparison in _comparisons_by_title(correction).items():
        notes += [note.about(name) for note in comparison.difference.notes if note not in notes]
    return notes


def _calculator_grids(correction: ScoreCorrection) -> list[Grid]:
    """The scores, the judge and, with a second score, how the two compare."""
    grids = [_score_grid(correction), _judge_rates_grid(correction)]
    return grids + ([_score_comparison_grid(correction)] if correction.comparison else [])


def _comparisons_by_title(correction: ScoreCorrection) -> dict[str, ScoreDifference]:
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
        return fill(f"No score can be corrected: {spelled(corrected.notes[0])}.", WIDTH)
    digits = corrected.decimals
    low, high, value = (format_number(end, digits) for end in (corrected.low, corrected.high, corrected.value))
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
    return [f"{rate.n:,}", f"{rate.value or 0:.3f}", format_interval(rate.low or 0, rate.high or 0, 3, between="–")]


def _score_comparison_grid(correction: ScoreCorrection) -> Grid:
    comparisons, level = correction.comparison or {}, correction.raw.level
    rows = [
        [name, *_difference_cells(difference.difference), _p_text(difference.p_value)]
        for name, difference in _comparisons_by_title(correction).items()
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
    return format_number(estimate.value, digits), format_interval(estimate.low, estimate.high, digits, between="–")


def _difference_cells(estimate: Estimate) -> tuple[str, str]:
    digits = min(estimate.decimals + 1, 6) if estimate.value is not None else 0
    value = "–" if estimate.value is None else format_signed(estimate.value, digits)
    ends = (format_signed(end, digits) for end in (estimate.low, estimate.high) if end is not None)
    return value, " to ".join(ends) or "–"


def _p_text(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def _calculator_csv(correction: ScoreCorrection) -> Grid:
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
    rows = [[name, *exact_estimate(estimate), *exact_cells([p])] for name, (estimate, p) in estimate_and_p.items()]
    return Grid(columns=["what", *EXACT_FIELDS, "p_value"], rows=rows)
