"""`ringtrue stability`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.runs import Question, evaluation_options, gains_option, runs_and_judgments
from ringtrue.cli.output import Grid, OutputFormat, emit, progress_bar, signed, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.evaluation.measures import Measure
    from ringtrue.evaluation.stability import Stability
    from ringtrue.tables import Judgments, Scores

__all__ = ["command"]

USUAL = ("nDCG@10",)
SHOWN = 10  # pairs in the table


@click.command("stability", cls=Command)
@runs_and_judgments
@click.option("--versus", required=True, metavar="FILE", help="The other judge's labels.")
@click.option("--versus-judge", metavar="NAME", help="The judge to use in the other file; that of --judge if not said.")
@click.option("--versus-rel", type=click.IntRange(1, 2**31 - 1),
              help="The lowest label that is relevant in the other file; that of --rel if not said.")  # fmt: skip
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE",
              help=f"What to order the runs by; may be repeated, or a list. Usually {USUAL[0]}.")  # fmt: skip
@click.option("--resamples", type=click.IntRange(1, 10_000_000), default=10_000, show_default=True,
              help="How often to draw the queries anew.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other draws.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
              help="How much of the resamples the range of tau holds.")  # fmt: skip
@click.option("-p", "--persistence", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.9,
              show_default=True, help="The reader's patience in RBO.")  # fmt: skip
@gains_option
@evaluation_options
@output_options
def command(
    question: Question,
    versus: str,
    versus_judge: str | None,
    versus_rel: int | None,
    measures: tuple[str, ...],
    resamples: int,
    seed: int,
    persistence: float,
    form: OutputFormat,
) -> None:
    """Does the judge change the order of the runs?

    Evaluates the runs by the labels of --judgments and of --versus, compares the two orders, and draws the
    queries anew to tell which pairs of runs the judges order differently, and how much of that few queries do
    by themselves. Options for reading labels apply to both files.
    """
    import numpy as np

    from ringtrue.evaluation.stability import stability

    if [*question.runs, question.judgments, versus].count("-") > 1:
        raise UsageError("standard input (-) can be read only once; put one of the two into a file")
    asked = question.measures(measures or USUAL)
    if not asked:
        raise UsageError(f"-m names no measure; write it like -m {USUAL[0]}")
    other = replace(question, judge=versus_judge or question.judge)
    labels, labels_versus = question.labels(), other.labels(versus)
    asked_versus = _on_scale(asked, versus_rel)
    _require_relevant(asked, labels, question.judgments, "--rel")
    _require_relevant(asked_versus, labels_versus, versus, "--versus-rel")
    runs = list(question.each_run())
    scores = question.scores(runs, labels, asked)
    scores_versus = other.scores(runs, labels_versus, asked_versus, versus)
    judges = _names(question, other, versus)
    with progress_bar(resamples * len(runs) * (len(runs) - 1) // 2 * len(asked), what="resampling") as advance:
        found = stability(
            scores, scores_versus, resamples=resamples, level=question.level, persistence=persistence,
            rng=np.random.default_rng(seed), progress=advance,
        )  # fmt: skip
    notes = [
        *question.notes,
        *_told(scores, scores_versus, judges),
        *_differences(asked, labels, labels_versus, judges, given=versus_rel or question.rel),
        *dict.fromkeys(note for one in found.values() for note in one.notes),
    ]
    tell(notes)
    plain = {measure: one.as_dict() for measure, one in found.items()}
    first, whole = next(iter(plain.items()))
    data = whole | {"measure": first, "measures": plain, "seed": seed, "notes": notes}
    emit(form, data=data, grid=partial(_grids, list(found.values()), judges), flat=partial(_flat, found))


def _on_scale(measures: list[Measure], rel: int | None) -> list[Measure]:
    """The measures with another label as the lowest that is relevant."""
    if rel is None:
        return measures
    open_ = (replace(one, parameters=tuple((k, v) for k, v in one.parameters if k != "rel")) for one in measures)
    return [one.with_default("rel", rel) for one in open_]


def _lowest(measure: Measure) -> int | None:
    """The lowest label that counts as relevant, where the measure asks."""
    known = dict(measure.definition.defaults) | dict(measure.parameters)
    return known.get("rel")


def _require_relevant(measures: list[Measure], labels: Judgments, path: str, option: str) -> None:
    top = int(labels.frame["label"].max())  # type: ignore[arg-type]  # a table is never empty
    for measure in measures:
        lowest = _lowest(measure)
        if lowest is not None and 1 <= top < lowest:
            raise UsageError(
                f"{path}: {measure} counts labels of {lowest} or higher as relevant, and the highest is {top}; "
                f"say the lowest that counts, such as {option} {top}"
            )


def _names(question: Question, other: Question, versus: str) -> tuple[str, str]:
    """What the two judges are called: by their files, and by their names where these differ."""
    from pathlib import Path

    one, two = question.judgments, versus
    if one == two or Path(one).name != Path(two).name:
        one, two = Path(one).name, Path(two).name
    if other.judge != question.judge:
        one, two = f"{one} {question.judge or ''}".strip(), f"{two} {other.judge}"
    return one, two if one != two else f"{two} again"


def _told(scores: Scores, versus: Scores, judges: tuple[str, str]) -> list[str]:
    """What was doubtful in either evaluation, with the judge where it holds for one of them."""
    told = [note for note in scores.notes if note in versus.notes]
    told += [f"{judges[0]}: {note}" for note in scores.notes if note not in told]
    return told + [f"{judges[1]}: {note}" for note in versus.notes if note not in told]


def _differences(
    measures: list[Measure], labels: Judgments, versus: Judgments, judges: tuple[str, str], *, given: int | None
) -> list[str]:
    """Where the judges differ by more than their opinion: in what they saw, and in their scales."""
    notes = []
    frames = [table.frame.select("query", "doc").unique() for table in (labels, versus)]
    frames = [one.join(two, on="query", how="semi") for one, two in (frames, frames[::-1])]
    alone = [one.join(two, on=["query", "doc"], how="anti").height for one, two in (frames, frames[::-1])]
    if any(alone):
        told = " and ".join(f"{n} only by {who}" for n, who in zip(alone, judges, strict=True) if n)
        notes.append(f"documents judged by one alone, {told}: they count as not relevant for the other")
    tops = [int(table.frame["label"].max()) for table in (labels, versus)]  # type: ignore[arg-type]
    blind = [str(one) for one in measures if _lowest(one) is not None and "rel" not in dict(one.parameters)]
    if tops[0] != tops[1] and blind and given is None:
        notes.append(
            f"labels go to {tops[0]} in {judges[0]} and to {tops[1]} in {judges[1]}, and {', '.join(blind)} takes "
            f"labels of 1 or higher as relevant in both; --rel and --versus-rel set them apart"
        )
    return notes


def _grids(found: Sequence[Stability], judges: tuple[str, str]) -> list[Grid]:
    grids = []
    for one in found:
        grids += [_order(one, judges), *_pairs(one, judges)]
        last = grids[-1]
        grids[-1] = replace(last, caption=f"{last.caption}\n\n{_verdict(one, judges)}")
    return grids


def _order(one: Stability, judges: tuple[str, str]) -> Grid:
    def number(value: float | None) -> str:
        return "undefined" if value is None else f"{value:.3f}".replace("-", "−")

    low, high = one.tau_range or (None, None)
    over = "1 query" if one.queries == 1 else f"{one.queries} queries"
    spread = f" ({number(low)} to {number(high)} in {one.level * 100:g}% of {one.resamples:,} resamples of the queries)"
    return Grid(
        columns=["run", judges[0], "rank", judges[1], "rank"],
        rows=[
            [each.run, f"{each.mean:.4f}", str(each.rank), f"{each.versus_mean:.4f}", str(each.versus_rank)]
            for each in one.standings
        ],
        caption=f"mean {one.measure} over {over}\n"
        f"tau {number(one.tau)}{spread if one.tau_range else ''}\n"
        f"tau_AP {number(one.tau_ap)}, RBO {number(one.rbo)} (persistence {one.persistence:g}; "
        f"the reverse order has {number(one.rbo_reversed)})",
    )


def _pairs(one: Stability, judges: tuple[str, str]) -> list[Grid]:
    """The pairs most in doubt; none where the judges never disagree."""
    doubtful = [flip for flip in one.flips if flip.share > 0]
    if not doubtful:
        return []
    more = len(one.flips) - len(doubtful[:SHOWN])
    rest = f"\n{more:,} more {'pair' if more == 1 else 'pairs'}, where they differ as often or less" if more else ""
    return [
        Grid(
            columns=["run", "against", "differ", "flipped", *judges, "noise", "versus noise"],
            rows=[
                [
                    flip.a,
                    flip.b,
                    f"{100 * flip.share:.1f}%",
                    "yes" if flip.flipped else "no",
                    signed(flip.difference, 4),
                    signed(flip.versus_difference, 4),
                    f"{100 * flip.noise:.1f}%",
                    f"{100 * flip.versus_noise:.1f}%",
                ]
                for flip in doubtful[:SHOWN]
            ],
            caption="differ: resamples in which the judges order the two differently; flipped: they do on all queries\n"
            f"{judges[0]}, {judges[1]}: run − against by each judge\n"
            f"noise: resamples in which {judges[0]} departs from its own order on all queries; "
            f"versus noise: the same by {judges[1]}{rest}",
            left=2,
        )
    ]


def _verdict(one: Stability, judges: tuple[str, str]) -> str:
    """Does the judge change the winner? And is there one that other queries would confirm?"""
    first, second = (" and ".join(some) for some in one.winners)
    if first == second:
        says = f"On these queries no: both judges put {first} first."
    elif one.winner_changes:
        says = f"On these queries yes: {judges[0]} puts {first} first, {judges[1]} {second}."
    else:
        says = f"On these queries in part: {judges[0]} puts {first} first, {judges[1]} {second}."
    unsure = ": it is not sure of its own winner" if one.winner_noise > 1 - one.level else ""
    return (
        f"Does the judge change the winner? {says}\n"
        f"With the queries drawn anew, both name the same winner in {100 * one.same_winner:.1f}% of the resamples, and "
        f"{judges[0]} puts another than {first} first in {100 * one.winner_noise:.1f}%{unsure}."
    )


def _flat(found: dict[str, Stability]) -> Grid:
    from ringtrue.evaluation.stability import Flip

    columns = [field.name for field in fields(Flip)]
    rows = [
        [measure, *(str(value) for value in asdict(flip).values())]
        for measure, one in found.items()
        for flip in one.flips
    ]
    return Grid(columns=["measure", *columns], rows=rows)
