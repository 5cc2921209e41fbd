"""`ringtrue disagreement`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

import click

from ringtrue.cli.options.common import Command, columns_of, conditions_of, output_options
from ringtrue.cli.options.files import same_file, shared_out
from ringtrue.cli.options.labels import Labelling, labelling_options
from ringtrue.cli.output import OutputFormat, emit, progress_bar, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.judges.disagreement import Disagreement

__all__ = ["command"]

VERIFIED = ("1/2", "1/3", "1/4", "1/5", "2/3", "2/4", "2/5")  # what the source of the model verified
GOLD = "gold"  # the column that has it, where no file does


@click.command("disagreement", cls=Command)
@labelling_options
@click.option("--at-least", required=True, metavar="M/N", help="How many of how many users should call it top: 1/3.")
@click.option("--min-labels", type=click.IntRange(min=2), default=2, show_default=True,
              help="Only documents with so many labels.")  # fmt: skip
@click.option("--levels", "said", multiple=True, metavar="[COLUMN=]A,B,C",
              help="Labels that are words, the lowest first; of two columns, each combination is one.")  # fmt: skip
@click.option("--top", metavar="COLUMN", help="Of combined levels: the column whose top counts. Usually all of them.")
@click.option("--keep-lowest", is_flag=True, help="Weigh the lowest level as well; it is usually worth 0.")
@click.option("--gold-as-judge", is_flag=True, help="Count gold as one more label: --gold FILE, or the column 'gold'.")
@click.option("--by", metavar="COLUMN", help="The same for each value of a column, such as the kind of query.")
@click.option("--verify", is_flag=True, help="Hold the model's predictions for several M/N against what happened.")
@click.option(
    "--mutual",
    is_flag=True,
    help="Rank by one judge and score by the other: how much each measure depends on whose labels it uses.",
)
@click.option("--between", metavar="JUDGE,JUDGE", help="With --mutual: these two judges, in every query.")
@click.option("--resamples", type=click.IntRange(0, 1_000_000), default=1_000, show_default=True,
              help="How often to draw the queries anew for intervals; 0 for none.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other draws.")
@click.option("-o", "--output", metavar="FILE", help="Where to write the weights as gains, such as gains.json.")
@output_options
def command(
    labelling: Labelling,
    at_least: str,
    min_labels: int,
    said: tuple[str, ...],
    top: str | None,
    keep_lowest: bool,
    gold_as_judge: bool,
    by: str | None,
    verify: bool,
    mutual: bool,
    between: str | None,
    resamples: int,
    seed: int,
    output: str | None,
    form: OutputFormat,
) -> None:
    """What is each label worth when users disagree?

    LABELS are judgments of several judges (query, doc, judge, label). From documents with two labels or more comes the
    chance that another user calls a document top, given one label; and from that each label's weight: the chance that
    at least M of N users call it top. The weights are gains for measures such as nDCG.
    """
    import numpy as np

    from ringtrue.cli.tables.disagreement import flat, grids
    from ringtrue.files import write_gains
    from ringtrue.judges.disagreement import disagree, mutual_evaluation, share_of_users
    from ringtrue.judges.disagreement.mutual_evaluation import USUAL

    share = "/".join(map(str, share_of_users(at_least)))
    verified = list(dict.fromkeys([*VERIFIED, share])) if verify else []
    levels = _levels(said)
    _require_mutual(mutual, between, levels)
    _require_output(output, labelling)
    if labelling.gold is not None and not gold_as_judge:
        raise UsageError("--gold is used with --gold-as-judge only, which counts it as one more label")
    labels = labelling.votes() if levels is None else _table(labelling, levels)
    gold = None
    if gold_as_judge:
        gold = GOLD if labelling.gold is None else labelling.gold_votes()
    size = getattr(labels, "size", 0) if levels is None else 0
    with progress_bar(resamples * int(size), what="resampling") as advance:
        found: Disagreement = labelling.explained(
            lambda: disagree(
                labels, at_least, levels=levels, top=top, repeats=labelling.repeats, gold_as_judge=gold,
                min_labels=min_labels, keep_lowest=keep_lowest, by=by, verify=verified,
                resamples=resamples, level=labelling.level, rng=np.random.default_rng(seed), progress=advance,
            )
        )  # fmt: skip
    each_other = None
    if mutual:
        names = None if between is None else [name.strip() for name in between.split(",")]
        each_other = mutual_evaluation(
            labels, judges=names, at_least=dict.fromkeys([*USUAL, share]), levels=cast("Sequence[str] | None", levels),
            repeats=labelling.repeats, keep_lowest=keep_lowest,
        )  # fmt: skip
    notes = labelling.told(found.notes)
    if output is not None:
        write_gains(output, found)
        notes += _without_gain(found, output)
    tell(notes)
    data = found.as_dict() | ({} if each_other is None else {"mutual": each_other.as_dict()})
    emit(form, data=data | {"seed": seed, "file": output, "notes": notes},
         grid=partial(grids, found, by, output, each_other), flat=partial(flat, found, by, each_other))  # fmt: skip


def _require_mutual(
    mutual: bool, between: str | None, levels: Sequence[str] | Mapping[str, Sequence[str]] | None
) -> None:
    if between is not None and not mutual:
        raise UsageError("--between says nothing without --mutual")
    if mutual and isinstance(levels, Mapping):
        raise UsageError("--mutual ranks by the labels, and combined levels have no order: leave one of the two out")


def _levels(said: Sequence[str]) -> Sequence[str] | Mapping[str, Sequence[str]] | None:
    """`Non,Rel,Key` as levels; `snippet=No,Sure` and `page=Non,Key` as levels of two columns."""
    if not said:
        return None
    parts = [one.partition("=") for one in said]
    words = [[word.strip() for word in (names if equals else column).split(",")] for column, equals, names in parts]
    columns = [column.strip() for column, equals, _ in parts if equals]
    if not columns and len(said) == 1:
        return words[0]
    if len(columns) < len(said):
        raise UsageError("--levels, given several times, needs a column each: --levels snippet=No,Sure")
    if len(set(columns)) < len(columns):
        raise UsageError(f"--levels names column '{next(c for c in columns if columns.count(c) > 1)}' twice")
    return dict(zip(columns, words, strict=True))


def _table(labelling: Labelling, levels: Sequence[str] | Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """The table of labels as it is, since they are no numbers yet."""
    from ringtrue.cli.options.files import forms_for
    from ringtrue.files.formats import TABLES, recognise
    from ringtrue.files.tabular import read_table
    from ringtrue.tables.columns import NAMES, which_column

    if labelling.scale is not None:
        raise UsageError("--levels says which labels there are; leave --scale out")
    if labelling.gold is not None:
        raise UsageError("with --levels, --gold-as-judge counts the column 'gold' of LABELS; leave --gold out")
    if len(labelling.labels) > 1:
        raise UsageError("with --levels, LABELS is one file: put the tables into one")
    (path,) = labelling.labels
    source = labelling.sources[path]
    form = forms_for(("judgments",), labelling.forced)["judgments"]
    columns, where = columns_of(labelling.columns), conditions_of(labelling.where)
    further = [*columns.values(), *(levels if isinstance(levels, Mapping) else ())]
    form = form or recognise(source, "judgments", columns=further)
    if form not in TABLES:
        raise UsageError(f"{source.shown}: --levels needs a table with named columns, this is {form}")
    ((columns, where),) = shared_out([source], columns, where, form)
    frame = read_table(source, form, columns=columns, where=where)
    if not {name.lower() for name in frame.columns} & set(NAMES["query"]):
        labelling.notes.append(
            f"{source.shown}: no column names the query: each document is an item of its own"
            f"{which_column('query', frame.columns)}"
        )
    return frame


def _require_output(output: str | None, labelling: Labelling) -> None:
    """Refuse a file that cannot be written, before all the work is done."""
    if output is None:
        return
    if output == "-":
        raise UsageError("-o - is no file; --json prints the weights")
    if not output.lower().endswith((".json", ".json.gz", ".json.zst")):
        raise UsageError(f"{output}: gains are written as JSON; end it with .json")
    if any(
        path is not None and path != "-" and same_file(path, output) for path in (*labelling.labels, labelling.gold)
    ):
        raise UsageError(f"{output}: the answer cannot be written onto what it is made from; write to another file")


def _without_gain(found: Disagreement, output: str) -> list[str]:
    missing = [name for name, one in found.weights.items() if one.value is None]
    if not missing:
        return []
    return [f"{output} has no gain for {', '.join(missing)}: no document with enough labels has this level"]
