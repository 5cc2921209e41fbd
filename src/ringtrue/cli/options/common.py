"""Options that several commands share, each written once, and what their values mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import reduce, wraps
from typing import Any, TypeAlias, TypeVar, get_args

import click

from ringtrue.cli.errors import Misuse, OptionError
from ringtrue.cli.output import OutputFormat
from ringtrue.errors import UsageError, did_you_mean

COLUMN_NAMES = (
    "query", "doc", "judge", "label", "score", "left", "right", "winner", "prob", "stratum", "design", "time",
    "seconds", "batch", "title", "text", "description", "narrative",
)  # fmt: skip
Function: TypeAlias = Callable[..., Any]
Decorator: TypeAlias = Callable[[Function], Function]
Value = TypeVar("Value")
POSITIVE = click.IntRange(1, 2**31 - 1)
ALL_OTHERS = "put the others into files"
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


def option(
    spelling: str, help_text: str, *, to: str | None = None, choices: Sequence[str] | None = None, **settings: Any
) -> Decorator:
    """An option as its line of the help begins, `-o, --output FILE`, and what it says; `to` names the parameter."""
    *short_names, last = spelling.split(", ")
    name, _, metavar = last.partition(" ")
    if choices is not None:
        settings["type"] = click.Choice(choices)
    return click.option(*short_names, name, *([to] if to else []), metavar=metavar or None, help=help_text, **settings)


seed_option = option("--seed", "Another seed, other draws.", type=click.IntRange(0), default=0)
level_option = option("--level", "How often such intervals hold.", type=float, default=0.95)
gains_option = option("--gains FILE", "What each label is worth, as `ringtrue disagreement` writes it.")
rel_option = option("--rel", "The lowest label that counts as relevant; 1 if not said.", type=POSITIVE)
bronze_rel_option = option(
    "--bronze-rel", "The lowest bronze label that counts as relevant; that of gold if not said.", type=POSITIVE
)
first_or_last_option = option(
    "--repeats", "Where a judge labelled a document again, keep the first or the last label.", choices=["first", "last"]
)
judge_option = option("--judge NAME", "Use this judge's labels of --judgments only.")
missing_option = option(
    "--missing",
    "A judged query that a run does not have counts as 0, or is left out.",
    choices=["zero", "skip"],
    default="zero",
)
name_option = option("--name", "Call a run by its file, or by the tag inside.", choices=["file", "tag"], default="file")
run_columns_option = option(
    "--run-columns NAME=COLUMN", "The same as --columns, for runs that are tables.", multiple=True
)
table_output_option = option("-o, --output FILE", "Where to write it: .csv, .tsv, .jsonl, .parquet.", required=True)
as_option = option("--as FORMAT", "Force a format; see docs/reference/formats.md.", to="forced", multiple=True)


def measure_option(purpose: str, remark: str, spelling: str = "-m, --measure MEASURE") -> Decorator:
    """What to measure: what for, and what else is to be known."""
    return option(spelling, f"{purpose}; may be repeated, or a list. {remark}", to="measures", multiple=True)


def population_option(default: str | None = None) -> Decorator:
    """What an interval is about."""
    help_text = "What the interval is about: these queries, or queries like these (usual)."
    return option("--population", help_text, choices=["these", "like-these"], default=default)


def repeats_option(remark: str = ", or each as its own") -> Decorator:
    """Which of several labels of a judge for one document counts, where all of them may."""
    help_text = f"Where a judge labelled or voted again: which one counts{remark}."
    return option("--repeats", help_text, choices=["first", "last", "all"])


def selection_options(prefix: str, file: str) -> Decorator:
    """`--PREFIX-columns` and `--PREFIX-where`, for a file beside that of `--columns` and `--where`."""
    return compose(
        option(f"--{prefix}-columns NAME=COLUMN", f"What {file} calls a column: label=human.", multiple=True),
        option(f"--{prefix}-where COLUMN=VALUE", f"Keep only these rows of {file}.", multiple=True),
    )


def compose(*decorators: Decorator) -> Decorator:
    """Options that go together as one decorator, in the order of the help."""
    return lambda command: reduce(lambda decorated, decorate: decorate(decorated), reversed(decorators), command)


table_options = compose(
    option("--columns NAME=COLUMN", "What the file calls a column: label=nist_rel.", multiple=True),
    option(
        "--where COLUMN=VALUE",
        "Keep only the rows of a table with this value; COLUMN!=VALUE, those without; COLUMN!= , those not empty.",
        multiple=True,
    ),
)
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
            raise UsageError(f"{option_name(name)} {why}")


def require_one_stdin(paths: Iterable[str | None], advice: str = "put one of the two into a file") -> None:
    """Refuse to read standard input twice."""
    if list(paths).count("-") > 1:
        raise UsageError(f"standard input (-) can be read only once; {advice}")


class Command(click.Command):
    """A command that refuses an option given twice, where the last one would win without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Like click's, after a look at what was given."""
        _, _, given_params = self.make_parser(ctx).parse_args(list(args))
        for option, count in Counter(given_params).items():
            if count > 1 and isinstance(option, click.Option) and not option.multiple:
                text = f"{option.opts[0]} is given {count} times, and can be given once"
                raise Misuse(OptionError("repeated-parameter", text, parameter=option.name), ctx)
        return super().parse_args(ctx, args)


def parse_columns(values: tuple[str, ...]) -> dict[str, str]:
    """`--columns label=nist_rel,doc=url` as a dictionary from our names to the file's."""
    columns: dict[str, str] = {}
    for word in (word for value in values for word in value.split(",")):
        ours, equals, theirs = (part.strip() for part in word.partition("="))
        if not equals or not ours or not theirs:
            raise UsageError(f"--columns expects our name = the file's, such as label=nist_rel; found '{word}'")
        if ours not in COLUMN_NAMES:
            suggestion = (
                f"; did you mean {theirs}={ours}?" if theirs in COLUMN_NAMES else did_you_mean(ours, COLUMN_NAMES)
            )
            raise UsageError(f"--columns {word}: '{ours}' is none of our names, {', '.join(COLUMN_NAMES)}{suggestion}")
        columns[ours] = theirs
    return columns


def parse_conditions(values: tuple[str, ...]) -> dict[str, str]:
    """`--where fold=1` as a dictionary; the name ends with ! where the value is what should not be."""
    conditions: dict[str, str] = {}
    for word in values:
        name, equals, value = (part.strip() for part in word.partition("="))
        if not equals or not name.removesuffix("!"):
            raise UsageError(f"--where expects column=value or column!=value, found '{word}'")
        conditions[name] = value
    return conditions


def parse_selection(columns: tuple[str, ...], where: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Both, as what reads a file takes them."""
    return {"columns": parse_columns(columns), "where": parse_conditions(where)}


def prefix_options(text: str, prefix: str) -> str:
    """A message about `--columns` and `--where`, in the words of a file that has options of its own.

    Examples:
        >>> prefix_options("no column 'label'; say --columns label=NAME", "gold")
        "no column 'label'; say --gold-columns label=NAME"
    """
    return re.sub(r"--(columns|where)\b", rf"--{prefix}-\1", text)
