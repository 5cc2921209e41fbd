"""What stopped a command, on standard error: a line for people, with `--json` one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise, takewhile

import click

from ringtrue.cli.spelling import CommandLine, find_option
from ringtrue.errors import FileError, MeasureError, RingtrueError, UsageError
from ringtrue.messages import Suggestion

Stop = RingtrueError | click.ClickException | click.Abort | OSError


class Misuse(click.UsageError):
    """An error of ours with the lines of click before it: how the command is used."""

    def __init__(self, error: UsageError, context: click.Context) -> None:
        super().__init__(error.spelled(CommandLine(context.command)), context)
        self.error = error


def wants_json(words: Sequence[str]) -> bool:
    """Whether an answer in JSON was asked for, as far as the words tell: they may be wrong."""
    options = list(takewhile(lambda word: word != "--", words))
    return "--json" in options or "--format=json" in options or ("--format", "json") in pairwise(options)


def report_error(stop: Stop, command: click.Command | None, *, as_json: bool) -> int:
    """Say what is the matter on standard error; the exit code."""
    spelling, error = CommandLine(command), as_error(stop, command)
    if as_json:
        content = error.as_dict(spelling) | {"parameter": _own_name(error.parameter, command)}
        click.echo(json.dumps({"error": content}, ensure_ascii=False), err=True)
    elif isinstance(stop, click.ClickException):
        stop.show()
    else:
        click.echo(f"ringtrue: {error.spelled(spelling)}", err=True)
    return 2 if isinstance(error, UsageError) else 1


class OptionError(UsageError):
    """A wrong use of the command line, in a sentence that names the options itself."""

    names_parameter = False


def as_error(stop: Stop, command: click.Command | None) -> RingtrueError:
    """What stopped the command as an error with a code."""
    match stop:
        case MeasureError(code="unknown-measure"):
            return stop.with_note(stop.note.changed(suggestions=[Suggestion("lists them all", function="parse")]))
        case RingtrueError():
            return stop
        case Misuse():
            return stop.error
        case click.MissingParameter():
            return OptionError("needs-parameter", _text(stop), parameter=name_of(stop.param))
        case click.BadParameter():
            return OptionError("bad-value", _text(stop), parameter=name_of(stop.param))
        case click.BadOptionUsage():
            return OptionError("bad-value", _text(stop), parameter=_find_name(stop.option_name, command))
        case click.NoSuchOption():
            return OptionError("unknown-parameter", _text(stop), parameter=_find_name(stop.option_name, command))
        case click.ClickException():
            return OptionError("unexpected-argument", _text(stop))
        case OSError():
            reason = stop.strerror or str(stop)
            return FileError("cannot-write-answer", f"the answer cannot be written ({reason})", file=stop.filename)
    return RingtrueError("interrupted", "interrupted")


def _text(stop: click.ClickException) -> str:
    return stop.format_message().rstrip(".")


def name_of(parameter: click.Parameter | None) -> str | None:
    """A parameter as Python writes it: `bronze_rel` for `--bronze-rel`."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len).lstrip("-").replace("-", "_")
    return parameter.name if parameter else None


def _own_name(parameter: str | None, command: click.Command | None) -> str | None:
    """A parameter of the library as this command calls it: `frame`, where it has `--frame` for `sampling_frame`."""
    if command is None or parameter is None:
        return parameter
    if any(f"--{parameter.replace('_', '-')}" in option.opts for option in command.params):
        return parameter
    option = find_option(command, parameter)
    return name_of(option) if option else parameter


def _find_name(option_name: str, command: click.Command | None) -> str:
    """The parameter behind an option; for one that a command does not have, its name as a parameter's would be."""
    names = (name_of(param) for param in (command.params if command else ()) if option_name in param.opts)
    return next(names, None) or option_name.lstrip("-").replace("-", "_")
