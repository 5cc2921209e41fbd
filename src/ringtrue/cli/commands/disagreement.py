"""`ringtrue disagreement`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options.common import (
    Command,
    by_option,
    option,
    output_option,
    output_options,
    parse_columns,
    parse_conditions,
    resamples_option,
    seed_option,
)
from ringtrue.cli.options.files import columns_per_file, refuse_to_overwrite_source
from ringtrue.cli.options.labels import LabelInputs, label_options
from ringtrue.cli.output import OutputFormat, emit, progress_bar
from ringtrue.messages import Note

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.judges.disagreement import Disagreement

VERIFIED_SHARES = ("1/2", "1/3", "1/4", "1/5", "2/3", "2/4", "2/5")  # what the source of the model verified
GOLD_COLUMN = "gold"  # the column that has it, where no file does


@click.command("disagreement", cls=Command)
@label_options
@option("--at-least M/N", "How many of how many users should call it top: 1/3.", required=True)
@option("--min-labels", "Only documents with so many labels.", type=click.IntRange(min=2), default=2)
@option(
    "--levels [COLUMN=]A,B,C",
    "Labels that are words, the lowest first; of two columns, each combination is one.",
    to="level_texts",
    multiple=True,
)
@option("--top COLUMN", "Of combined levels: the column whose top counts. Usually all of them.")
@option("--keep-lowest", "Weigh the lowest level as well; it is usually worth 0.", is_flag=True)
@option("--gold-as-judge", "Count gold as one more label: --gold FILE, or the column 'gold'.", is_flag=True)
@by_option
@option("--verify", "Hold the model's predictions for several M/N against what happened.", is_flag=True)
@option(
    "--mutual",
    "Rank by one judge and score by the other: how much each measure depends on whose labels it uses.",
    is_flag=True,
)
@option("--between JUDGE,JUDGE", "With --mutual: these two judges, in every query.")
@resamples_option(1_000, lowest=0, highest=1_000_000)
@seed_option
@output_option("the weights as gains, such as gains.json")
@output_options
def command(
    label_inputs: LabelInputs,
    at_least: str,
    level_texts: tuple[str, ...],
    gold_as_judge: bool,
    by: str | None,
    verify: bool,
    mutual: bool,
    between: str | None,
    resamples: int,
    seed: int,
    output: str | None,
    form: OutputFormat,
    **settings: Any,
) -> None:
    """What is each label worth when users disagree?

    LABELS are judgments of several judges (query, doc, judge, label). From documents with two labels or more comes the
    chance that another user calls a document top, given one label; and from that each label's weight: the chance that
    at least M of N users call it top. The weights are gains for measures such as nDCG.
    """
    import numpy as np

    from ringtrue.cli.tables.disagreement import disagreement_csv, disagreement_grids
    from ringtrue.files import write_gains
    from ringtrue.judges.disagreement import disagree, mutual_evaluation, parse_user_share
    from ringtrue.judges.disagreement.mutual_evaluation import USUAL_SHARES

    share = "/".join(map(str, parse_user_share(at_least)))
    shares_to_verify = list(dict.fromkeys([*VERIFIED_SHARES, share])) if verify else []
    levels = _parse_levels(level_texts)
    _require_mutual(mutual, between, levels)
    _require_output(output, label_inputs)
    if label_inputs.gold is not None and not gold_as_judge:
        raise OptionError(
            "needs-parameter",
            "--gold is used with --gold-as-judge only, which counts it as one more label",
            parameter="gold_as_judge",
        )
    labels = label_inputs.read_votes() if levels is None else _read_labels_in_words(label_inputs, levels)
    gold = None
    if gold_as_judge:
        gold = GOLD_COLUMN if label_inputs.gold is None else label_inputs.read_gold_votes()
    size = getattr(labels, "size", 0) if levels is None else 0
    with progress_bar(resamples * int(size), description="resampling") as advance:
        disagreement: Disagreement = label_inputs.explain_errors(
            lambda: disagree(
                labels,
                at_least,
                levels=levels,
                repeats=label_inputs.repeats,
                gold_as_judge=gold,
                by=by,
                verify=shares_to_verify,
                resamples=resamples,
                level=label_inputs.level,
                rng=np.random.default_rng(seed),
                progress=advance,
                **settings,
            )
        )
    cross_evaluation = None
    if mutual:
        judge_names = None if between is None else [name.strip() for name in between.split(",")]
        cross_evaluation = mutual_evaluation(
            labels,
            judges=judge_names,
            at_least=dict.fromkeys([*USUAL_SHARES, share]),
            levels=cast("Sequence[str] | None", levels),
            repeats=label_inputs.repeats,
            keep_lowest=settings["keep_lowest"],
        )
    notes = label_inputs.merge_notes(disagreement.notes)
    if output is not None:
        write_gains(output, disagreement)
        notes += _note_missing_gains(disagreement, output)
    payload = disagreement.as_dict() | ({} if cross_evaluation is None else {"mutual": cross_evaluation.as_dict()})
    emit(
        form,
        notes=notes,
        payload=payload | {"seed": seed, "file": output},
        grid=partial(disagreement_grids, disagreement, by, output, cross_evaluation),
        csv_grid=partial(disagreement_csv, disagreement, by, cross_evaluation),
    )


def _require_mutual(
    mutual: bool, between: str | None, levels: Sequence[str] | Mapping[str, Sequence[str]] | None
) -> None:
    if between is not None and not mutual:
        raise OptionError("needs-parameter", "--between says nothing without --mutual", parameter="mutual")
    if mutual and isinstance(levels, Mapping):
        raise OptionError(
            "conflicting-parameters",
            "--mutual ranks by the labels, and combined levels have no order: leave one of the two out",
            parameter="mutual",
        )


def _parse_levels(level_texts: Sequence[str]) -> Sequence[str] | Mapping[str, Sequence[str]] | None:
    """`Non,Rel,Key` as levels; `snippet=No,Sure` and `page=Non,Key` as levels of two columns."""
    if not level_texts:
        return None
    parts = [level_text.partition("=") for level_text in level_texts]
    levels = [[word.strip() for word in (names if equals else column).split(",")] for column, equals, names in parts]
    columns = [column.strip() for column, equals, _ in parts if equals]
    if not columns and len(level_texts) == 1:
        return levels[0]
    if len(columns) < len(level_texts):
        raise OptionError(
            "bad-value",
            "--levels, given several times, needs a column each: --levels snippet=No,Sure",
            parameter="levels",
        )
    if len(set(columns)) < len(columns):
        raise OptionError(
            "bad-value",
            f"--levels names column '{next(c for c in columns if columns.count(c) > 1)}' twice",
            parameter="levels",
        )
    return dict(zip(columns, levels, strict=True))


def _read_labels_in_words(
    label_inputs: LabelInputs, levels: Sequence[str] | Mapping[str, Sequence[str]]
) -> pl.DataFrame:
    """The table of labels as it is, since they are no numbers yet."""
    from ringtrue.cli.options.files import formats_by_kind
    from ringtrue.files.formats import TABLE_FORMATS, recognise_format
    from ringtrue.files.tabular import read_table
    from ringtrue.tables.columns import COLUMN_ALIASES, suggest_columns

    if label_inputs.scale is not None:
        raise OptionError(
            "conflicting-parameters", "--levels says which labels there are; leave --scale out", parameter="scale"
        )
    if label_inputs.gold is not None:
        raise OptionError(
            "conflicting-parameters",
            "with --levels, --gold-as-judge counts the column 'gold' of LABELS; leave --gold out",
            parameter="gold",
        )
    if len(label_inputs.labels) > 1:
        raise OptionError(
            "conflicting-parameters", "with --levels, LABELS is one file: put the tables into one", parameter="labels"
        )
    (path,) = label_inputs.labels
    source = label_inputs.sources[path]
    form = formats_by_kind(("judgments",), label_inputs.forced)["judgments"]
    columns, where = parse_columns(label_inputs.columns), parse_conditions(label_inputs.where)
    extra_columns = [*columns.values(), *(levels if isinstance(levels, Mapping) else ())]
    form = form or recognise_format(source, "judgments", columns=extra_columns)
    if form not in TABLE_FORMATS:
        raise OptionError(
            "wrong-format",
            f"--levels needs a table with named columns, this is {form}",
            parameter="levels",
            file=source.display_name,
        )
    ((columns, where),) = columns_per_file([source], columns, where, form)
    frame = read_table(source, form, columns=columns, where=where)
    if not {name.lower() for name in frame.columns} & set(COLUMN_ALIASES["query"]):
        text = "no column names the query: each document is an item of its own"
        hints = suggest_columns("query", frame.columns)
        note = Note("no-query-column", text, parameter="columns", subject=source.display_name, suggestions=hints)
        label_inputs.notes.append(note)
    return frame


def _require_output(output: str | None, label_inputs: LabelInputs) -> None:
    """Refuse a file that cannot be written, before all the work is done."""
    if output is None:
        return
    if output == "-":
        raise OptionError("not-a-file", "-o - is no file; --json prints the weights", parameter="output")
    if not output.lower().endswith((".json", ".json.gz", ".json.zst")):
        raise OptionError(
            "unknown-extension", "gains are written as JSON; end it with .json", parameter="output", file=output
        )
    refuse_to_overwrite_source((*label_inputs.labels, label_inputs.gold), output)


def _note_missing_gains(disagreement: Disagreement, output: str) -> list[Note]:
    missing = [name for name, weight in disagreement.weights.items() if weight.value is None]
    if not missing:
        return []
    text = f"{output} has no gain for {', '.join(missing)}: no document with enough labels has this level"
    return [Note("level-without-gain", text)]
