"""`ringtrue sample`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.options.files import refuse_to_overwrite, refuse_to_overwrite_filled
from ringtrue.cli.options.gold import read_gold, refuse_uncorrectable_settings
from ringtrue.cli.options.runs import RunInputs, evaluation_options, runs_and_judgments
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.errors import InputError
from ringtrue.formatting.grid import Grid

if TYPE_CHECKING:
    from ringtrue.gold.designs import Population
    from ringtrue.gold.sampling import GoldDraw
    from ringtrue.tables import Judgments

DEFAULT_MEASURE = "P@10"
CONTINUABLE_DESIGNS = {  # which earlier samples can be continued, and by which option
    "--budget": ("pool_stratified", "pool_random"),
    "--queries": ("whole_queries",),
}
MAX_RUNS_SHOWN = 12


@click.command("sample", cls=common.Command)
@runs_and_judgments
@option("--budget DOCS", "How many documents gold can judge.", type=click.IntRange(1))
@option(
    "--queries N",
    "How many whole queries gold can judge: for nDCG, AP, RR, ERR. With --already, how many more; with 0, only what is "
    "new in those.",
    type=click.IntRange(0),
)
@common.measure_option([DEFAULT_MEASURE], "--for, -m, --measure MEASURE")
@option(
    "--compare",
    "Only to compare the runs: what they share at the same rank is not drawn.",
    to="comparing",
    is_flag=True,
)
@option("--already FILE", "Gold labels of an earlier sample: continued, or extended to new runs.")
@option("--frame FILE", "The sampling frame of the gold labels, if it is not beside them.", to="earlier_frame")
@option(
    "--gold-top LABEL",
    "The highest label that gold can give, for the forecast of measures that count grades.",
    type=click.IntRange(1),
)
@common.population_option
@common.seed_option
@common.table_output_option
@common.level_option
@evaluation_options
@common.output_options
def command(
    run_inputs: RunInputs,
    budget: int | None,
    queries: int | None,
    measures: tuple[str, ...],
    comparing: bool,
    already: str | None,
    earlier_frame: str | None,
    gold_top: int | None,
    population: Population,
    seed: int,
    output: str,
    form: OutputFormat,
) -> None:
    """Which documents should the gold judge see?

    Draws documents from what the runs show, each with a known probability: those that decide most, evenly over the
    queries. Fill in a column label, and give the file to evaluate or compare as --gold. Prints how wide the intervals
    will be.
    """
    import numpy as np

    from ringtrue.files import write_table
    from ringtrue.files.sampling_frames import find_frame, frame_path, read_sampling_frame
    from ringtrue.gold.sampling import sample, sample_queries

    if (budget is None) == (queries is None):
        raise OptionError(
            "needs-parameter",
            "how much can gold judge? --budget DOCS, or --queries N for whole queries: one of the two",
            parameter="budget",
        )
    if comparing and queries is not None:
        raise OptionError(
            "conflicting-parameters", "--compare draws single documents: it goes with --budget", parameter="compare"
        )
    refuse_uncorrectable_settings(
        run_inputs, "says nothing to sample, which draws for the measures as they are: leave it out"
    )
    if earlier_frame is not None and (already is None or queries is not None):
        raise OptionError(
            "unused-parameter",
            "--frame tells what an earlier sample could reach: it goes with --already and --budget",
            parameter="frame",
        )
    if earlier_frame is None and already is not None and queries is None:
        earlier_frame = find_frame(already)
    inputs = (run_inputs.judgments, *run_inputs.runs, *filter(None, (already, earlier_frame)))
    refuse_to_overwrite(inputs, output)
    refuse_to_overwrite(inputs, frame_path(output))
    refuse_to_overwrite_filled("label", output, instead=f"continue it (--already {output} -o ANOTHER)")
    parsed_measures = run_inputs.parse_measures(measures or [DEFAULT_MEASURE])
    notes = run_inputs.notes
    earlier_labels = (
        None
        if already is None
        else _read_earlier_labels(
            run_inputs, already, "--budget" if queries is None else "--queries", has_frame=earlier_frame is not None
        )
    )
    sampling_frame = None if earlier_frame is None else read_sampling_frame(earlier_frame)
    labels, runs, rng = run_inputs.read_labels(), list(run_inputs.read_runs()), np.random.default_rng(seed)

    def draw_gold() -> GoldDraw:
        if queries is not None:
            return sample_queries(
                runs,
                labels,
                parsed_measures,
                queries=queries,
                already=earlier_labels,
                gold_top=gold_top,
                population=population,
                level=run_inputs.level,
                rng=rng,
            )
        return sample(
            runs,
            labels,
            parsed_measures,
            budget=budget or 0,
            compare=comparing,
            already=earlier_labels,
            sampling_frame=sampling_frame,
            gold_top=gold_top,
            population=population,
            level=run_inputs.level,
            rng=rng,
        )

    gold_draw: GoldDraw = run_inputs.explain_errors(draw_gold)
    write_table(gold_draw.frame, output)
    if gold_draw.sampling_frame is not None:
        write_table(gold_draw.sampling_frame, frame_path(output))
    notes += gold_draw.notes
    to_judge = gold_draw.frame.height if earlier_labels is None else int(gold_draw.frame["label"].null_count())
    payload = {
        "design": gold_draw.design,
        "documents": gold_draw.frame.height,
        "to_judge": to_judge,
        "queries": gold_draw.frame["query"].n_unique(),
        "expected_half_width": gold_draw.expected,
        "expected_range": gold_draw.expected_range,
        "population": gold_draw.population,
        "file": output,
        "frame": None if gold_draw.sampling_frame is None else frame_path(output),
        "seed": seed,
    }
    sampled = shlex.quote(",".join(map(str, parsed_measures)))
    next_step = f"ringtrue {'compare' if comparing else 'evaluate'} … --gold {shlex.quote(output)} -m {sampled}"
    emit(
        form,
        notes=notes,
        payload=payload,
        grid=partial(_sample_grids, gold_draw, to_judge, output, frame_path(output), run_inputs.level, next_step),
        csv_grid=partial(_sample_csv, gold_draw, payload),
    )


def _read_earlier_labels(run_inputs: RunInputs, already: str, option: str, *, has_frame: bool) -> Judgments:
    """The gold labels of an earlier draw, of the kind that the option draws."""
    from ringtrue.files.byte_source import Source

    common.require_one_stdin([already, run_inputs.judgments, *run_inputs.runs])
    labels = read_gold(Source(already), "--already", run_inputs.notes.append, {}, {})
    for column in ("design", "prob"):
        if column not in labels.frame.columns and not has_frame:
            raise InputError(
                "missing-column",
                f"--already continues what `ringtrue sample` drew, and has no column {column}; draw a new "
                f"sample instead",
                parameter="already",
                file=already,
            )
    for design in labels.frame["design"].unique(maintain_order=True) if "design" in labels.frame.columns else ():
        if design not in CONTINUABLE_DESIGNS[option]:
            advice = next(
                (
                    f"continue it with {other_option}"
                    for other_option, designs in CONTINUABLE_DESIGNS.items()
                    if design in designs
                ),
                "draw a new sample",
            )
            raise InputError(
                "other-design",
                f"--already is a sample of the design '{design}', which {option} cannot continue; {advice}",
                parameter="already",
                file=already,
            )
    return labels


def _sample_grids(
    gold_draw: GoldDraw, to_judge: int, output: str, frame_file: str, level: float, next_step: str
) -> list[Grid]:
    n_labelled = gold_draw.frame.height - to_judge
    counts = {"documents": f"{gold_draw.frame.height:,}"}
    if n_labelled:
        counts |= {"with a label": f"{n_labelled:,}", "to judge": f"{to_judge:,}"}
    counts |= {"queries": str(gold_draw.frame["query"].n_unique()), "design": gold_draw.design, "file": output}
    column_text = "the column label where it is empty" if n_labelled else "a column label"
    caption = [f"next: let gold fill in {column_text}, then `{next_step}`"]
    if gold_draw.sampling_frame is not None:
        caption.append(f"{frame_file} lists all that could be drawn: keep it beside {output}")
    if gold_draw.design == "whole_queries":
        caption.append("of each query, gold judges what bronze judged and what the runs show")
    summary_grid = Grid(columns=list(counts), rows=[list(counts.values())], caption="\n".join(caption), left=0)
    if not gold_draw.expected:
        return [summary_grid]
    return [summary_grid, _forecast_grid(gold_draw, level, is_continued=bool(n_labelled))]


def _forecast_grid(gold_draw: GoldDraw, level: float, *, is_continued: bool) -> Grid:
    """The half-widths to expect, and what they rest on."""
    names = list(dict.fromkeys(name for row in gold_draw.expected.values() for name in row))
    runs = list(gold_draw.expected)
    more_lines = [f"… and {len(runs) - MAX_RUNS_SHOWN} more (--json shows all)"] if len(runs) > MAX_RUNS_SHOWN else []
    queries = {"these": "these queries", "like-these": "queries like these"}[gold_draw.population]
    subject = f"for {queries} (--population {gold_draw.population})"
    condition = "if bronze errs as judges usually do"
    if is_continued:
        condition = "if bronze errs as the labels so far show"
    elif gold_draw.design == "whole_queries":
        condition = "by gold alone: bronze may make it narrower"
    return Grid(
        columns=["", *names],
        rows=[[run, *(_half_width_cell(gold_draw, run, name) for name in names)] for run in runs[:MAX_RUNS_SHOWN]],
        caption="\n".join([*more_lines, f"half of the {level * 100:g}% interval to expect, {subject}, {condition}"]),
    )


def _half_width_cell(gold_draw: GoldDraw, run: str, measure: str) -> str:
    if bounds := gold_draw.expected_range.get(run, {}).get(measure):
        return "±{:.3f} to {:.3f}".format(*bounds)
    half_width = gold_draw.expected[run].get(measure)
    return "–" if half_width is None else f"±{half_width:.3f}"


def _sample_csv(gold_draw: GoldDraw, payload: Mapping[str, object]) -> Grid:
    """The half-widths to expect, with every digit; what was drawn, where none can be told."""
    if not gold_draw.expected:
        columns = ("design", "documents", "to_judge", "queries", "file")
        return Grid(columns=columns, rows=[[str(payload[name]) for name in columns]])
    rows = []
    for run, row in gold_draw.expected.items():
        for name, half_width in row.items():
            lowest, _ = gold_draw.expected_range.get(run, {}).get(name, (half_width, half_width))
            rows.append([run, name, str(half_width), str(lowest)])
    return Grid(columns=["run", "measure", "expected_half_width", "lowest"], rows=rows)
