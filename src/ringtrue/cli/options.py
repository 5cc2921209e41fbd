"""Options that several commands share, and what their values mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from ringtrue.cli.output import OutputFormat
from ringtrue.errors import UsageError

__all__ = ["input_options", "output_options", "pairs_of"]

F = TypeVar("F", bound=Callable[..., Any])


def output_options(command: F) -> F:
    """`--format` and its short form `--json`; the command gets `form`."""
    command = click.option("--json", "form", flag_value="json", help="Short for --format json.")(command)
    return click.option(
        "--format",
        "form",
        type=click.Choice(get_args(OutputFormat)),
        default="table",
        show_default=True,
        help="How to print the answer.",
    )(command)


def input_options(command: F) -> F:
    """`--where` and `--columns` for tables with a header."""
    command = click.option(
        "--where",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Keep only the rows of a table with this value.",
    )(command)
    return click.option(
        "--columns", multiple=True, metavar="NAME=COLUMN", help="What a column is called: label=nist_rel."
    )(command)


def pairs_of(values: tuple[str, ...], option: str) -> dict[str, str]:
    """`name=value` words, each of which may be a comma-separated list, as a dictionary."""
    pairs: dict[str, str] = {}
    for word in (word for value in values for word in value.split(",")):
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"{option} expects name=value, found '{word}'")
        pairs[name.strip()] = value.strip()
    return pairs
