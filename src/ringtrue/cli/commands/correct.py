"""`ringtrue correct`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import SHARE, Command, option, output_options, seed_option
from ringtrue.cli.output import OutputFormat, emit, print_notes
from ringtrue.cli.tables.calculator import calculator_csv, calculator_grids, comparisons_by_title
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.gold.correction import BronzeScore, Rates, RatesDesign, ScoreCorrection
    from ringtrue.gold.correction.proportion import Interval
    from ringtrue.gold.correction.rate_inversion import Rate

INTERVALS = ("fieller", "wald", "bootstrap", "bayes")
DESIGNS = ("pool_random", "external", "known")


@click.command("correct", cls=Command)
@option("--score", "The mean over queries by the bronze judge, from 0 to 1.", required=True, type=float)
@option("--sd", "The standard deviation of the values of single queries; not needed with --k 1.", type=float)
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
@option("--difference-sd", "The standard deviation of the differences, where the queries are the same.", type=float)
@option(
    "--design", "The rates come from a random draw from these documents, from others, or are known.", choices=DESIGNS
)
@option("--interval", "How to make the interval.", choices=INTERVALS, default="fieller")
@option("--level", "How often intervals hold the truth.", type=SHARE, default=0.95)
@option(
    "--resamples", "How often to draw, for bootstrap and bayes.", type=click.IntRange(1, 10_000_000), default=10_000
)
@seed_option
@output_options
def command(
    score: float,
    sd: float | None,
    queries: int,
    k: int | None,
    relevant: str,
    nonrelevant: str,
    versus_score: float | None,
    versus_sd: float | None,
    versus_queries: int | None,
    versus_relevant: str | None,
    versus_nonrelevant: str | None,
    difference_sd: float | None,
    design: RatesDesign | None,
    interval: Interval,
    level: float,
    resamples: int,
    seed: int,
    form: OutputFormat,
) -> None:
    """I only have summary numbers: what is the corrected score?

    From a score by a judge who errs, such as P@3, and how often that judge is right, the score that a gold judge
    would give; and with a second score, whether the difference is real. Both judges' labels in files serve better:
    the rates of a judge on other documents may not hold for these.

    \b
    ringtrue correct --score .626 --sd .414 --queries 10278 --relevant 43/59 --nonrelevant 67/84
    """
    import numpy as np

    from ringtrue.gold.correction import correct_score

    bronze_score = _make_bronze_score(score, sd, queries, k, "")
    versus = _make_versus_score(versus_score, versus_sd, versus_queries, k)
    correction = correct_score(
        bronze_score,
        _make_rates(relevant, nonrelevant, ""),
        versus=versus,
        versus_rates=_make_versus_rates(versus_relevant, versus_nonrelevant),
        difference_sd=difference_sd,
        design=design,
        interval=interval,
        level=level,
        resamples=resamples,
        rng=np.random.default_rng(seed),
    )
    notes = _collect_correction_notes(correction)
    print_notes(notes)
    payload = correction.as_dict() | {"notes": notes, "seed": seed}
    emit(
        form, payload=payload, grid=partial(calculator_grids, correction), csv_grid=partial(calculator_csv, correction)
    )


def _make_bronze_score(mean: float, sd: float | None, queries: int, k: int | None, prefix: str) -> BronzeScore:
    from ringtrue.gold.correction import BronzeScore

    if sd is None and k != 1:
        raise UsageError(
            f"--{prefix}sd is missing, the standard deviation of the values of single queries; with one document for "
            f"each query, --k 1 says so instead"
        )
    with _attribute_errors(prefix):
        return BronzeScore(mean=mean, sd=sd, queries=queries, k=k)


@contextmanager
def _attribute_errors(prefix: str) -> Iterator[None]:
    """Say which of the two scores is meant."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"second score: {error}" if prefix else str(error)) from error


def _make_versus_score(mean: float | None, sd: float | None, queries: int | None, k: int | None) -> BronzeScore | None:
    if mean is None:
        if sd is not None or queries is not None:
            raise UsageError("--versus-score is missing: what was the second score?")
        return None
    if queries is None:
        raise UsageError("--versus-queries is missing: over how many queries is the second score?")
    return _make_bronze_score(mean, sd, queries, k, "versus-")


def _make_rates(relevant: str, nonrelevant: str, prefix: str) -> Rates:
    from ringtrue.gold.correction import Rates

    sensitivity, specificity = (
        _parse_rate(relevant, f"--{prefix}relevant"),
        _parse_rate(nonrelevant, f"--{prefix}nonrelevant"),
    )
    with _attribute_errors(prefix):
        return Rates(relevant=sensitivity, nonrelevant=specificity)


def _make_versus_rates(relevant: str | None, nonrelevant: str | None) -> Rates | None:
    if relevant is None and nonrelevant is None:
        return None
    if relevant is None or nonrelevant is None:
        missing = "relevant" if relevant is None else "nonrelevant"
        raise UsageError(f"--versus-{missing} is missing: judges of their own have both rates")
    return _make_rates(relevant, nonrelevant, "versus-")


def _parse_rate(text: str, option: str) -> Rate:
    """`43/59` as counts, `0.9` as a known share."""
    counts = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
    if counts:
        return int(counts[1]), int(counts[2])
    try:
        return float(text)
    except ValueError:
        percent = re.fullmatch(r"\s*([\d.]+)\s*%\s*", text)
        hint = f"; write {text.strip()} as {float(percent[1]) / 100:g}" if percent else ""
        raise UsageError(
            f"{option} expects right/labels, such as 43/59, or a known share, such as 0.9; found '{text}'{hint}"
        ) from None


def _collect_correction_notes(correction: ScoreCorrection) -> list[str]:
    """Every doubt once, those about the second score or one comparison with a word where they come from."""
    notes = list(correction.notes)
    if correction.versus:
        notes += [f"second score: {note}" for note in correction.versus.notes if note not in notes]
    for name, comparison in comparisons_by_title(correction).items():
        notes += [f"{name}: {note}" for note in comparison.difference.notes if note not in notes]
    return notes
