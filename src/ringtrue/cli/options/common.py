"""Options that several commands share, and what their values mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, get_args

import click

from ringtrue.cli.output import OutputFormat
from ringtrue.errors import UsageError, did_you_mean

COLUMN_NAMES = (
    "query", "doc", "judge", "label", "score", "left", "right", "winner", "prob", "stratum", "design", "time",
    "seconds", "batch", "title", "text", "description", "narrative",
)  # fmt: skip
Function: TypeAlias = Callable[..., Any]


def is_given(name: str) -> bool:
    """Whether an option of the command that runs was written out, rather than left to its default."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def output_options(command: Function) -> Function:
    """`--format` and its short form `--json`; the command gets `form`."""

    @click.option(
        "--format",
        "form",
        type=click.Choice(get_args(OutputFormat)),
        default="table",
        show_default=True,
        help="How to print the answer.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
    @wraps(command)
    def with_form(*args: object, form: OutputFormat, as_json: bool, **options: object) -> object:
        return command(*args, form="json" if as_json else form, **options)

    return with_form


def input_options(command: Function) -> Function:
    """`--where` and `--columns` for tables with a header."""
    command = click.option(
        "--where",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Keep only the rows of a table with this value; COLUMN!=VALUE, those without; COLUMN!= , those not empty.",
    )(command)
    return click.option(
        "--columns", multiple=True, metavar="NAME=COLUMN", help="What the file calls a column: label=nist_rel."
    )(command)


class Command(click.Command):
    """A command that refuses an option given twice, where the last one would win without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Like click's, after a look at what was given."""
        _, _, given_params = self.make_parser(ctx).parse_args(list(args))
        for option, count in Counter(given_params).items():
            if count > 1 and isinstance(option, click.Option) and not option.multiple:
                raise click.UsageError(f"{option.opts[0]} is given {count} times, and can be given once", ctx)
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
