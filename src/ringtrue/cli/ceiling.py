"""`ringtrue ceiling`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from ringtrue.cli.options import Command, columns_of, conditions_of, input_options, output_options
from ringtrue.cli.output import OutputFormat, emit, tell
from ringtrue.errors import DuplicateError, InputError, UsageError

if TYPE_CHECKING:
    from ringtrue.ceilings import Ceiling, CeilingScatter
    from ringtrue.ceilings.bounding import Method
    from ringtrue.cli.labelling import Labelling
    from ringtrue.confusion import Confusion
    from ringtrue.lineup import Missing
    from ringtrue.tables import Judgments
    from ringtrue.votes import Repeats, Votes

__all__ = ["command"]

METHODS = ("exact", "simulation", "closed-form")
NO_QUERY = "no column names the query"
LABELS_OPTION = re.compile(r"--(columns|where)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """Which files, and how to read them."""

    judgments: str
    confusion: str | None
    labels: str | None
    gold: str | None
    testing: str | None
    training: str | None
    runs: tuple[str, ...]
    judge: str | None
    repeats: Repeats | None
    renormalise: bool
    label_columns: tuple[str, ...]
    label_where: tuple[str, ...]
    gold_columns: tuple[str, ...]
    gold_where: tuple[str, ...]
    run_columns: tuple[str, ...]
    forced: tuple[str, ...]
    columns: tuple[str, ...]
    where: tuple[str, ...]


@click.command("ceiling", cls=Command)
@click.argument("more", nargs=-1, metavar="[RUN…]")
@click.option("--judgments", "--qrels", required=True, metavar="FILE", help="The testing judge's labels.")
@click.option("--confusion", metavar="FILE",
              help="What the training judge says given the testing judge's label: a matrix in JSON.")  # fmt: skip
@click.option("--labels", metavar="FILE", help="Or labels of several judges, to estimate that matrix from.")
@click.option("--gold", metavar="FILE", help="With --labels: gold labels, which then are the testing judge's.")
@click.option(
    "--testing", metavar="NAME", help="With --labels: the testing judge; usually every pair counts both ways."
)
@click.option("--training", metavar="NAME", help="With --labels: the training judge.")
@click.option("--method", type=click.Choice(METHODS), default="exact", show_default=True,
              help="Exact, or as the paper has it: by draws, or by taking ranks for normal.")  # fmt: skip
@click.option("--gain", type=click.Choice(["exp", "linear"]),
              help="What a label is worth: 2^label − 1 (usual), or the label.")  # fmt: skip
@click.option("--gains", metavar="FILE", help="What each label is worth, as `ringtrue disagreement` writes it.")
@click.option("-k", type=click.IntRange(1, 2**31 - 1), help="Of nDCG@k; usually of the whole list.")
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Where does this run stand? May be repeated.")
@click.option("--per-query", is_flag=True, help="Every query as well.")
@click.option("--scatter", is_flag=True,
              help="With --labels: what each judge's ranking reaches by another, beside the prediction.")  # fmt: skip
@click.option("--pairs", type=click.IntRange(min=1), default=100, show_default=True,
              help="For --scatter: so many pairs of judges, those with the most documents in common.")  # fmt: skip
@click.option("--confusion-out", metavar="FILE", help="With --labels: write the estimated matrix here.")
@click.option("--renormalise", is_flag=True, help="Make rows of --confusion that do not add up to 1 do so.")
@click.option("--draws", type=click.IntRange(2, 10_000_000), default=1_000, show_default=True,
              help="For --method simulation: draws for each query.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other draws.")
@click.option("--level", type=float, default=0.95, show_default=True,
              help="How often such intervals hold, for queries like these.")  # fmt: skip
@click.option("--missing", type=click.Choice(["zero", "skip"]), default="zero", show_default=True,
              help="A judged query that a run does not have counts as 0, or is left out.")  # fmt: skip
@click.option("--judge", metavar="NAME", help="Use this judge's labels of --judgments only.")
@click.option("--repeats", type=click.Choice(["first", "last", "all"]),
              help="Where a judge labelled a document again: which label counts; all only for --labels.")  # fmt: skip
@click.option("--label-columns", multiple=True, metavar="NAME=COLUMN",
              help="What the file of --labels calls a column: judge=worker.")  # fmt: skip
@click.option("--label-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of --labels.")
@click.option("--gold-columns", multiple=True, metavar="NAME=COLUMN", help="What the file of --gold calls a column.")
@click.option("--gold-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of --gold.")
@click.option("--run-columns", multiple=True, metavar="NAME=COLUMN", help="The same as --columns, for runs.")
@click.option("--as", "forced", multiple=True, metavar="FORMAT", help="Force a format; see docs/reference/formats.md.")
@input_options
@output_options
def command(
    more: tuple[str, ...],
    method: Method,
    gain: Literal["exp", "linear"] | None,
    gains: str | None,
    k: int | None,
    per_query: bool,
    scatter: bool,
    pairs: int,
    confusion_out: str | None,
    draws: int,
    seed: int,
    level: float,
    missing: Missing,
    form: OutputFormat,
    **given: Any,
) -> None:
    """What is the best nDCG that disagreement allows?

    A ranker that has learned one judge's labels perfectly is not perfect by another judge. From the testing judge's
    labels (--judgments) and how the training judge differs (--confusion, or --labels of several judges) follows how
    high its nDCG can be expected to go, and where given runs stand below that. --columns and --where are about
    --judgments.
    """
    import numpy as np

    from ringtrue.ceilings import ceiling, ceiling_scatter
    from ringtrue.cli.ceiling_tables import flat, grids
    from ringtrue.files import read_gains, write_confusion

    if gain is not None and gains is not None:
        raise UsageError("--gain and --gains both say what a label is worth: choose one of the two")
    files = _Files(**given | {"runs": (*given["runs"], *more)})
    _require(files, scatter=scatter, per_query=per_query, confusion_out=confusion_out, form=form)
    notes: list[str] = []
    votes, table = _matrix(files, notes, level)
    labels, explained = _judgments(files, notes)
    notes += _another_judge(files, votes, labels)
    worth = read_gains(gains) if gains is not None else gain or "exp"
    settings: dict[str, Any] = {"gain": worth, "k": k, "method": method, "draws": draws, "level": level}
    found: Ceiling = explained(
        lambda: ceiling(labels, table, runs=_runs(files, notes), missing=missing, rng=np.random.default_rng(seed),
                        **settings)
    )  # fmt: skip
    points: CeilingScatter | None = None
    if scatter:
        told = table if files.confusion else None
        points = ceiling_scatter(votes, confusion=told, repeats=files.repeats, pairs=pairs,
                                 rng=np.random.default_rng(seed), **settings)  # fmt: skip
    if confusion_out is not None:
        write_confusion(confusion_out, table)
    notes += [note for note in (*found.notes, *(points.notes if points else ())) if note not in notes]
    tell(notes)
    data = found.as_dict(per_query=per_query) | {"seed": seed, "notes": notes}
    if points is not None:
        data["scatter"] = points.as_dict()
    emit(
        form,
        data=data,
        grid=partial(grids, found, points, per_query=per_query, written=confusion_out),
        flat=partial(flat, found, points, per_query=per_query),
    )


def _require(files: _Files, *, scatter: bool, per_query: bool, confusion_out: str | None, form: OutputFormat) -> None:
    """Refuse what cannot be asked together."""
    if files.confusion is None and files.labels is None:
        raise UsageError(
            "how do the judges differ? Give --confusion FILE, a matrix, or --labels FILE of several judges"
        )
    if files.confusion and files.labels and not scatter:
        raise UsageError("--confusion has the matrix, and --labels would estimate another: choose one of the two")
    if files.labels is None:
        named = {"--gold": files.gold, "--testing": files.testing, "--training": files.training, "--scatter": scatter,
                 "--confusion-out": confusion_out, "--label-columns": files.label_columns,
                 "--label-where": files.label_where}  # fmt: skip
        for option, given in named.items():
            if given:
                raise UsageError(f"{option} is about labels of several judges, and there is no --labels FILE")
    if files.confusion:
        for option, said in (("--gold", files.gold), ("--testing", files.testing), ("--training", files.training),
                             ("--confusion-out", confusion_out)):  # fmt: skip
            if said:
                raise UsageError(f"{option} is about estimating a matrix from --labels, and --confusion gives one")
    elif files.renormalise:
        raise UsageError("--renormalise is about the matrix of --confusion; one that is estimated adds up by itself")
    if scatter and per_query and form == "csv":
        raise UsageError("--format csv prints one table: --per-query or --scatter; --json has both")
    if [files.judgments, files.confusion, files.labels, files.gold, *files.runs].count("-") > 1:
        raise UsageError("standard input (-) can be read only once; put one of the two into a file")


def _matrix(files: _Files, notes: list[str], level: float) -> tuple[Votes | None, Confusion]:
    """The labels of several judges, where there are any, and the matrix, read or estimated."""
    from ringtrue.ceilings import estimate_confusion
    from ringtrue.cli.labelling import Labelling
    from ringtrue.files import read_confusion

    table = read_confusion(files.confusion, renormalise=files.renormalise) if files.confusion else None
    if files.labels is None:
        assert table is not None
        return None, table
    asked = Labelling(labels=files.labels, gold=files.gold, scale=None, outside="refuse", repeats=files.repeats,
                      level=level, gold_columns=files.gold_columns, gold_where=files.gold_where, forced=files.forced,
                      columns=files.label_columns, where=files.label_where)  # fmt: skip
    try:
        votes, gold = asked.votes(), asked.gold_votes()
        table = table or asked.explained(
            lambda: estimate_confusion(
                votes, testing=files.testing, training=files.training, gold=gold, repeats=files.repeats
            )
        )
    except (InputError, UsageError) as error:
        raise type(error)(_in_our_words(str(error), asked)) from error
    notes += [LABELS_OPTION.sub(r"--label-\1", note) for note in asked.notes]
    assert table is not None
    return votes, table


def _another_judge(files: _Files, votes: Votes | None, labels: Judgments) -> list[str]:
    """A word where the matrix is about judges who test each other, and somebody else's labels test."""
    if votes is None or files.confusion or files.gold or files.testing or set(labels.judges) & set(votes.judges):
        return []
    told = (
        f"no judge of {files.labels} is that of {files.judgments} ('{labels.judges[0]}'): the ceiling holds if it "
        f"differs from these as they do from each other; --gold {files.judgments} makes it the testing judge"
    )
    return [told]


def _in_our_words(told: str, asked: Labelling) -> str:
    """What is wrong with the labels, with the file and the names of the options here."""
    told = LABELS_OPTION.sub(r"--label-\1", told)
    return told if any(str(path) in told for path in (asked.labels, asked.gold)) else f"{asked.labels}: {told}"


def _judgments(files: _Files, notes: list[str]) -> tuple[Judgments, Callable[[Callable[[], Any]], Any]]:
    """The testing judge's labels, and what tells the lines of a document with two."""
    from ringtrue.cli.inputs import forms_for
    from ringtrue.files import read_judgments
    from ringtrue.files.reading import explain_duplicate

    reading: dict[str, Any] = {
        "form": forms_for(("run", "judgments"), files.forced)["judgments"],
        "columns": columns_of(files.columns),
        "where": conditions_of(files.where),
    }

    def note(text: str) -> None:
        notes.append(f"{text.split(': each document')[0]}: all are taken for one list" if NO_QUERY in text else text)

    labels = read_judgments(files.judgments, needs_query=bool(files.runs), note=note, **reading)
    if files.judge is not None:
        labels = labels.by(files.judge)
    if files.repeats == "first" or files.repeats == "last":
        labels = labels.without_repeats(files.repeats)

    def explained(compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except DuplicateError as error:
            if error.table == "run":
                raise
            told = str(explain_duplicate(error, files.judgments, **reading))
            # One label for each document: there is nothing to average here.
            told = told.replace(" or average over the judges (--judges average)", "")
            raise InputError(told) from error

    return labels, explained


def _runs(files: _Files, notes: list[str]) -> Any:
    from ringtrue.cli.inputs import forms_for, read_runs

    if not files.runs:
        return None
    form = forms_for(("run", "judgments"), files.forced)["run"]
    return read_runs(files.runs, form=form, columns=columns_of(files.run_columns), note=notes.append)
