"""`ringtrue stability`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.options.runs import RunInputs, evaluation_options, runs_and_judgments
from ringtrue.cli.output import OutputFormat, emit, progress_bar
from ringtrue.formatting.grid import Grid, format_interval, format_number, format_signed
from ringtrue.formatting.phrases import format_range
from ringtrue.messages import Note

if TYPE_CHECKING:
    from ringtrue.evaluation.measures import Measure
    from ringtrue.evaluation.stability import Stability
    from ringtrue.tables import Judgments, Scores

DEFAULT_MEASURES = ("nDCG@10",)
MAX_PAIRS_SHOWN = 10  # pairs in the table


@click.command("stability", cls=common.Command)
@runs_and_judgments
@option("--versus FILE", "The other judge's labels.", required=True)
@option("--versus-judge NAME", "The judge to use in the other file; that of --judge if not said.")
@option(
    "--versus-rel LABEL",
    "Minimum label that counts as relevant in the other file.",
    type=common.POSITIVE,
    show_default="that of --rel",
)
@common.measure_option(DEFAULT_MEASURES)
@common.resamples_option(10_000, lowest=1)
@common.seed_option
@common.level_option
@option("-p, --persistence", "The reader's patience in RBO.", type=common.SHARE, default=0.9)
@common.gains_option
@evaluation_options
@common.output_options
def command(
    run_inputs: RunInputs,
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

    common.require_one_stdin([*run_inputs.runs, run_inputs.judgments, versus])
    parsed_measures = run_inputs.parse_measures(measures or DEFAULT_MEASURES)
    if not parsed_measures:
        raise OptionError(
            "no-measure", f"-m names no measure; write it like -m {DEFAULT_MEASURES[0]}", parameter="measure"
        )
    versus_inputs = replace(run_inputs, judge=versus_judge or run_inputs.judge)
    labels, versus_labels = run_inputs.read_labels(), versus_inputs.read_labels(versus)
    versus_measures = _with_relevance(parsed_measures, versus_rel)
    _require_relevant(parsed_measures, labels, run_inputs.judgments, "rel")
    _require_relevant(versus_measures, versus_labels, versus, "versus_rel")
    runs = list(run_inputs.read_runs())
    scores = run_inputs.evaluate(runs, labels, parsed_measures)
    versus_scores = versus_inputs.evaluate(runs, versus_labels, versus_measures, versus)
    judges = _name_judges(run_inputs, versus_inputs, versus)
    with progress_bar(
        resamples * len(runs) * (len(runs) - 1) // 2 * len(parsed_measures), description="resampling"
    ) as advance:
        stabilities = stability(
            scores,
            versus_scores,
            resamples=resamples,
            level=run_inputs.level,
            persistence=persistence,
            rng=np.random.default_rng(seed),
            progress=advance,
        )
    notes = [
        *run_inputs.notes,
        *_merge_score_notes(scores, versus_scores, judges),
        *_note_judge_differences(parsed_measures, labels, versus_labels, judges, rel=versus_rel or run_inputs.rel),
        *dict.fromkeys(note for outcome in stabilities.values() for note in outcome.notes),
    ]
    payload_by_measure = {measure: outcome.as_dict() for measure, outcome in stabilities.items()}
    main_measure, main_payload = next(iter(payload_by_measure.items()))
    payload = main_payload | {"measure": main_measure, "measures": payload_by_measure, "seed": seed}
    emit(
        form,
        notes=notes,
        payload=payload,
        grid=partial(_stability_grids, list(stabilities.values()), judges),
        csv_grid=partial(_flips_csv, stabilities),
    )


def _with_relevance(measures: list[Measure], rel: int | None) -> list[Measure]:
    """The measures with another label as the lowest that is relevant."""
    if rel is None:
        return measures
    without_rel = (
        replace(measure, parameters=tuple((k, v) for k, v in measure.parameters if k != "rel")) for measure in measures
    )
    return [measure.with_default("rel", rel) for measure in without_rel]


def _lowest_relevant_label(measure: Measure) -> int | None:
    """The lowest label that counts as relevant, where the measure asks."""
    parameters = dict(measure.definition.defaults) | dict(measure.parameters)
    return parameters.get("rel")


def _require_relevant(measures: list[Measure], labels: Judgments, path: str, parameter: str) -> None:
    top = int(labels.frame["label"].max())  # type: ignore[arg-type]  # a table is never empty
    for measure in measures:
        lowest = _lowest_relevant_label(measure)
        if lowest is not None and 1 <= top < lowest:
            raise OptionError(
                "nothing-relevant",
                f"{measure} counts labels of {lowest} or higher as relevant, and the highest is {top}; "
                f"say the lowest that counts, such as {common.option_name(parameter)} {top}",
                parameter=parameter,
                file=path,
            )


def _name_judges(run_inputs: RunInputs, versus_inputs: RunInputs, versus: str) -> tuple[str, str]:
    """What the two judges are called: by their files, and by their names where these differ."""
    from pathlib import Path

    name, versus_name = run_inputs.judgments, versus
    if name == versus_name or Path(name).name != Path(versus_name).name:
        name, versus_name = Path(name).name, Path(versus_name).name
    if versus_inputs.judge != run_inputs.judge:
        name, versus_name = f"{name} {run_inputs.judge or ''}".strip(), f"{versus_name} {versus_inputs.judge}"
    return name, versus_name if name != versus_name else f"{versus_name} again"


def _merge_score_notes(scores: Scores, versus: Scores, judges: tuple[str, str]) -> list[Note]:
    """What was doubtful in either evaluation, with the judge where it holds for one of them."""
    notes = [note for note in scores.notes if note in versus.notes]
    notes += [note.about(judges[0]) for note in scores.notes if note not in notes]
    return notes + [note.about(judges[1]) for note in versus.notes if note not in notes]


def _note_judge_differences(
    measures: list[Measure], labels: Judgments, versus: Judgments, judges: tuple[str, str], *, rel: int | None
) -> list[Note]:
    """Where the judges differ by more than their opinion: in what they saw, and in their scales."""
    notes = []
    frames = [table.frame.select("query", "doc").unique() for table in (labels, versus)]
    frames = [frame.join(other_frame, on="query", how="semi") for frame, other_frame in (frames, frames[::-1])]
    only_counts = [
        frame.join(other_frame, on=["query", "doc"], how="anti").height for frame, other_frame in (frames, frames[::-1])
    ]
    if any(only_counts):
        counts_text = " and ".join(f"{n} only by {judge}" for n, judge in zip(only_counts, judges, strict=True) if n)
        text = f"documents judged by one alone, {counts_text}: they count as not relevant for the other"
        notes.append(Note("judged-by-one", text))
    tops = [int(table.frame["label"].max()) for table in (labels, versus)]  # type: ignore[arg-type]
    default_rel_measures = [
        str(measure)
        for measure in measures
        if _lowest_relevant_label(measure) is not None and "rel" not in dict(measure.parameters)
    ]
    if tops[0] != tops[1] and default_rel_measures and rel is None:
        text = (
            f"labels go to {tops[0]} in {judges[0]} and to {tops[1]} in {judges[1]}, and "
            f"{', '.join(default_rel_measures)} takes "
            f"labels of 1 or higher as relevant in both; --rel and --versus-rel set them apart"
        )
        notes.append(Note("different-scales", text, parameter="versus_rel"))
    return notes


def _stability_grids(stabilities: Sequence[Stability], judges: tuple[str, str]) -> list[Grid]:
    grids = []
    for stability in stabilities:
        grids += [_order_grid(stability, judges), *_flip_grids(stability, judges)]
        last = grids[-1]
        grids[-1] = replace(last, caption=f"{last.caption}\n\n{_winner_verdict(stability, judges)}")
    return grids


def _order_grid(stability: Stability, judges: tuple[str, str]) -> Grid:
    tau, tau_ap, rbo, rbo_reversed = (
        format_number(value, 3, missing="undefined")
        for value in (stability.tau, stability.tau_ap, stability.rbo, stability.rbo_reversed)
    )
    low, high = stability.tau_range or (None, None)
    range_text = (
        f" ({format_interval(low, high, 3)} in {stability.level * 100:g}% "
        f"of {stability.resamples:,} resamples of the queries)"
    )
    return Grid(
        columns=["run", judges[0], "rank", judges[1], "rank"],
        rows=[
            [row.run, f"{row.mean:.4f}", str(row.rank), f"{row.versus_mean:.4f}", str(row.versus_rank)]
            for row in stability.standings
        ],
        caption=f"mean {stability.measure} over {format_range([stability.queries], 'query')}\n"
        f"tau {tau}{range_text if stability.tau_range else ''}\n"
        f"tau_AP {tau_ap}, RBO {rbo} "
        f"(persistence {stability.persistence:g}; "
        f"the reverse order has {rbo_reversed})",
    )


def _flip_grids(stability: Stability, judges: tuple[str, str]) -> list[Grid]:
    """The pairs most in doubt; none where the judges never disagree."""
    doubtful = [flip for flip in stability.flips if flip.share > 0]
    if not doubtful:
        return []
    n_more = len(stability.flips) - len(doubtful[:MAX_PAIRS_SHOWN])
    more_text = (
        f"\n{n_more:,} more {'pair' if n_more == 1 else 'pairs'}, where they differ as often or less" if n_more else ""
    )
    return [
        Grid(
            columns=["run", "against", "differ", "flipped", *judges, "noise", "versus noise"],
            rows=[
                [
                    flip.a,
                    flip.b,
                    f"{flip.share:.1%}",
                    "yes" if flip.flipped else "no",
                    format_signed(flip.difference, 4),
                    format_signed(flip.versus_difference, 4),
                    f"{flip.noise:.1%}",
                    f"{flip.versus_noise:.1%}",
                ]
                for flip in doubtful[:MAX_PAIRS_SHOWN]
            ],
            caption="differ: resamples in which the judges order the two differently; flipped: they do on all queries\n"
            f"{judges[0]}, {judges[1]}: run − against by each judge\n"
            f"noise: resamples in which {judges[0]} departs from its own order on all queries; "
            f"versus noise: the same by {judges[1]}{more_text}",
            left=2,
        )
    ]


def _winner_verdict(stability: Stability, judges: tuple[str, str]) -> str:
    """Does the judge change the winner? And is there one that other queries would confirm?"""
    first, second = (" and ".join(winners) for winners in stability.winners)
    if first == second:
        verdict = f"On these queries no: both judges put {first} first."
    elif stability.winner_changes:
        verdict = f"On these queries yes: {judges[0]} puts {first} first, {judges[1]} {second}."
    else:
        verdict = f"On these queries in part: {judges[0]} puts {first} first, {judges[1]} {second}."
    unsure_text = ": it is not sure of its own winner" if stability.winner_noise > 1 - stability.level else ""
    return (
        f"Does the judge change the winner? {verdict}\nWith the queries drawn anew, both name the same winner in "
        f"{stability.same_winner:.1%} of the resamples, and {judges[0]} puts another than {first} first in "
        f"{stability.winner_noise:.1%}{unsure_text}."
    )


def _flips_csv(stabilities: dict[str, Stability]) -> Grid:
    from ringtrue.evaluation.stability import Flip

    columns = [field.name for field in fields(Flip)]
    rows = [
        [measure, *(str(value) for value in asdict(flip).values())]
        for measure, stability in stabilities.items()
        for flip in stability.flips
    ]
    return Grid(columns=["measure", *columns], rows=rows)
