"""Options that several commands share, each written once, and what their values mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import reduce, wraps
from typing import Any, TypeAlias, TypeVar, get_args

import click

from ringtrue.cli.errors import Misuse, OptionError, name_of
from ringtrue.cli.output import OutputFormat
from ringtrue.errors import RingtrueError, UsageError, did_you_mean
from ringtrue.messages import Note

COLUMN_NAMES = (
    "query", "doc", "judge", "label", "score", "left", "right", "winner", "prob", "stratum", "design", "time",
    "seconds", "batch", "title", "text", "description", "narrative",
)  # fmt: skip
Function: TypeAlias = Callable[..., Any]
Decorator: TypeAlias = Callable[[Function], Function]
Value = TypeVar("Value")
ErrorT = TypeVar("ErrorT", bound=RingtrueError)
POSITIVE = click.IntRange(1, 2**31 - 1)
ALL_OTHERS = "put the others into files"
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
REL_HELP = "Minimum label that counts as relevant."
JUDGMENTS_HELP = "Relevance labels: qrels, or a table."
AS_HELP = "Read a file in this format; see docs/reference/formats.md."


def option(
    spelling: str, help_text: str, *, to: str | None = None, choices: Sequence[str] | None = None, **settings: Any
) -> Decorator:
    """An option as its line of the help begins, `-o, --output FILE`, and what it says; `to` names the parameter."""
    *short_names, last = spelling.split(", ")
    name, _, metavar = last.partition(" ")
    if choices is not None:
        settings["type"] = click.Choice(choices)
    return click.option(*short_names, name, *([to] if to else []), metavar=metavar or None, help=help_text, **settings)


def seed_option_with(default: int) -> Decorator:
    """What makes the same random numbers again."""
    return option("--seed N", "Random seed.", type=click.IntRange(0), default=default)


def resamples_option(default: int, lowest: int, highest: int = 10_000_000) -> Decorator:
    """How much is drawn, where intervals or tests come from draws."""
    help_text = "Number of resamples" + (", or 0 for no intervals." if lowest == 0 else ".")
    return option("--resamples N", help_text, type=click.IntRange(lowest, highest), default=default)


def measure_option(usual: Sequence[str], spelling: str = "-m, --measure MEASURE") -> Decorator:
    """What to measure, and by what where nothing is named."""
    help_text = "Measure, such as 'P(rel=2)@10'; may be repeated, or a list."
    return option(spelling, help_text, to="measures", multiple=True, show_default=", ".join(usual))


def repeats_option(choices: Sequence[str] = ("first", "last", "all")) -> Decorator:
    """Which of several labels of a judge for one document counts; where a measure needs one, it cannot be all."""
    help_text = "Which one counts where a judge labelled or voted again."
    return option("--repeats", help_text, choices=choices)


def output_option(formats: str, **settings: Any) -> Decorator:
    """Where to write the answer, and as what."""
    return option("-o, --output FILE", f"Output file: {formats}.", **settings)


def selection_options(prefix: str, file: str) -> Decorator:
    """`--PREFIX-columns` and `--PREFIX-where`, for a file beside that of `--columns` and `--where`."""
    return compose(
        option(f"--{prefix}-columns NAME=COLUMN", f"The same as --columns, for {file}.", multiple=True),
        option(f"--{prefix}-where COLUMN=VALUE", f"The same as --where, for {file}.", multiple=True),
    )


def compose(*decorators: Decorator) -> Decorator:
    """Options that go together as one decorator, in the order of the help."""
    return lambda command: reduce(lambda decorated, decorate: decorate(decorated), reversed(decorators), command)


seed_option = seed_option_with(0)
level_option = option("--level LEVEL", "Confidence level.", type=float, default=0.95)
rel_option = option("--rel LABEL", REL_HELP, type=POSITIVE, show_default="1")
bronze_rel_option = option(
    "--bronze-rel LABEL",
    "Minimum bronze label that counts as relevant.",
    type=POSITIVE,
    show_default="that of gold",
)
population_option = option(
    "--population",
    "Inference target: these queries only, or the population they were drawn from.",
    choices=["these", "like-these"],
    default="like-these",
)
gains_option = option("--gains FILE", "What each label is worth, as `ringtrue disagreement` writes it.")
judge_option = option("--judge NAME", "Use this judge's labels of --judgments only.")
missing_option = option(
    "--missing",
    "A judged query that a run does not have counts as 0, or is left out.",
    choices=["zero", "skip"],
    default="zero",
)
by_option = option("--by COLUMN", "Results for each value of a column, such as the kind of query.")
topics_option = option("--topics FILE", "Topics: a table with a row for each query.")
per_query_option = option("--per-query", "Show every query.", is_flag=True)
confusion_out_option = option(
    "--confusion-out FILE",
    "Write the confusion matrix of all judges together, for `ceiling --confusion` and `evaluate --gold`.",
)
name_option = option("--name", "Call a run by its file, or by the tag inside.", choices=["file", "tag"], default="file")
table_output_option = output_option(".csv, .tsv, .jsonl or .parquet", required=True)
as_option = option("--as FORMAT", AS_HELP, to="forced", multiple=True)
columns_option = option("--columns NAME=COLUMN", "What the file calls a column: label=nist_rel.", multiple=True)
where_option = option(
    "--where COLUMN=VALUE",
    "Keep only the rows of a table with this value; COLUMN!=VALUE, those without; COLUMN!= , those not empty.",
    multiple=True,
)
run_columns_option = option("--run-columns NAME=COLUMN", "The same as --columns, for the runs.", multiple=True)
gold_selection_options = selection_options("gold", "the gold labels")
label_selection_options = selection_options("label", "labels and preferences of several judges")
table_options = compose(columns_option, where_option)
input_options = compose(as_option, table_options)


def output_options(command: Function) -> Function:
    """`--format` and its short form `--json`; the command gets `form`."""

    @option("--format", "How to print the answer.", to="form", choices=get_args(OutputFormat), default="table")
    @option("--json", "Short for --format json.", to="as_json", is_flag=True)
    @wraps(command)
    def with_form(*args: object, form: OutputFormat, as_json: bool, **options: object) -> object:
        return command(*args, form="json" if as_json else form, **options)

    return with_form


def collect_as(name: str, kind: type[Any]) -> Decorator:
    """The options that are fields of a dataclass reach the command as one value of it."""

    def decorate(command: Function) -> Function:
        @wraps(command)
        def with_value(*args: object, **options: Any) -> object:
            value = take(kind, options)
            return command(*args, **{name: value}, **options)

        return with_value

    return decorate


def take(kind: type[Value], options: dict[str, Any]) -> Value:
    """A dataclass from the options that are its fields, which leave the others."""
    return kind(**{field.name: options.pop(field.name) for field in fields(kind) if field.name in options})  # type: ignore[arg-type]


def is_given(name: str) -> bool:
    """Whether an option of the command that runs was written out, rather than left to its default."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def option_name(name: str) -> str:
    """An option as it is written."""
    return f"--{name.replace('_', '-')}"


def refuse_set(settings: Mapping[str, object], why: str) -> None:
    """Refuse the first of these parameters that was set, by the name of its option."""
    for name, setting in settings.items():
        if setting:
            raise OptionError("unused-parameter", f"{option_name(name)} {why}", parameter=name)


def require_one_stdin(paths: Iterable[str | None], advice: str = "put one of the two into a file") -> None:
    """Refuse to read standard input twice."""
    if list(paths).count("-") > 1:
        raise OptionError("input-read-twice", f"standard input (-) can be read only once; {advice}")


class Command(click.Command):
    """A command that refuses an option given twice, where the last one would win without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Like click's, after a look at what was given."""
        _, _, given_params = self.make_parser(ctx).parse_args(list(args))
        for option, count in Counter(given_params).items():
            if count > 1 and isinstance(option, click.Option) and not option.multiple:
                text = f"{option.opts[0]} is given {count} times, and can be given once"
                raise Misuse(OptionError("repeated-parameter", text, parameter=name_of(option)), ctx)
        return super().parse_args(ctx, args)


def parse_columns(values: tuple[str, ...], parameter: str = "columns") -> dict[str, str]:
    """`--columns label=nist_rel,doc=url` as a dictionary from our names to the file's."""
    columns: dict[str, str] = {}
    for word in (word for value in values for word in value.split(",")):
        ours, equals, theirs = (part.strip() for part in word.partition("="))
        if not equals or not ours or not theirs:
            text = f"expected our name = the file's, such as label=nist_rel, found '{word}'"
            raise UsageError("bad-value", text, parameter=parameter)
        if ours not in COLUMN_NAMES:
            suggestion = (
                f"; did you mean {theirs}={ours}?" if theirs in COLUMN_NAMES else did_you_mean(ours, COLUMN_NAMES)
            )
            text = f"'{word}': '{ours}' is none of our names, {', '.join(COLUMN_NAMES)}{suggestion}"
            raise UsageError("bad-value", text, parameter=parameter)
        columns[ours] = theirs
    return columns


def parse_conditions(values: tuple[str, ...], parameter: str = "where") -> dict[str, str]:
    """`--where fold=1` as a dictionary; the name ends with ! where the value is what should not be."""
    conditions: dict[str, str] = {}
    for word in values:
        name, equals, value = (part.strip() for part in word.partition("="))
        if not equals or not name.removesuffix("!"):
            text = f"expected column=value or column!=value, found '{word}'"
            raise UsageError("bad-value", text, parameter=parameter)
        conditions[name] = value
    return conditions


def parse_selection(columns: tuple[str, ...], where: tuple[str, ...], prefix: str = "") -> dict[str, dict[str, str]]:
    """Both, as what reads a file takes them."""
    return {"columns": parse_columns(columns, f"{prefix}columns"), "where": parse_conditions(where, f"{prefix}where")}


def use_own_options(error: ErrorT, prefix: str) -> ErrorT:
    """An error about a file whose columns and rows are chosen by options of its own, such as `--gold-columns`."""
    return error.with_note(error.note.renamed(_own_options(prefix)))


def rename_selection(note: Note, prefix: str) -> Note:
    """A note about such a file."""
    return note.renamed(_own_options(prefix))


def _own_options(prefix: str) -> dict[str, str | None]:
    return {name: f"{prefix}_{name}" for name in ("columns", "where")}
