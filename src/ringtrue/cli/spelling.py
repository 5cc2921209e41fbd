"""How the command line writes what its users can set: options of the command that runs, and other commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import click

from ringtrue.messages import Argument, Suggestion

# Which command does what a public function does.
COMMAND_BY_FUNCTION = {
    "aggregate": "aggregate",
    "agree": "agree",
    "choose_pairs": "pairs",
    "disagree": "disagreement",
    "estimate_query_confusions": "ceiling",
    "implied_preferences": "convert",
    "judge_quality": "judges",
    "parse": "measures",  # of measures: it lists those there are
    "plan": "plan",
    "rate": "rate",
    "sample": "sample",
    "sample_queries": "sample",
}
# Options whose parameter has another name than the argument of the function, by command.
OPTION_BY_ARGUMENT = {
    "": {"form": "forced"},  # in every command
    "aggregate": {"cell": "prior_text", "diagonal": "prior_text"},
    "agree": {"column": "panels"},
    "compare": {"sampling_frame": "frame"},
    "correct": {"versus": "versus_score"},
    "disagreement": {"gold_as_judge": "gold", "judges": "between", "levels": "level_texts"},
    "evaluate": {"sampling_frame": "frame"},
    "rate": {"by_judge": "judge_model", "methods": "method", "quantiles": "quantile", "thresholds": "threshold"},
    "report": {"sampling_frame": "frame"},
    "sample": {"compare": "comparing", "sampling_frame": "earlier_frame"},
    "stability": {"p": "persistence"},
}
# Functions that read what a command has options for: their arguments are options of the command that runs.
OPTION_BY_READER = {
    "read_judgments": {"where": "gold_where"},
}


def load_command(name: str) -> click.Command:
    """A command's module is imported when the command is called or named: start-up is a feature."""
    command: click.Command = import_module(f"ringtrue.cli.commands.{name}").command
    return command


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Spells for the users of one command; empty for what it does not have."""

    command: click.Command | None

    @classmethod
    def here(cls) -> CommandLine:
        """For the command that runs."""
        context = click.get_current_context(silent=True)
        return cls(context.command if context else None)

    def suggestion(self, suggestion: Suggestion) -> str:
        """`--repeats last`, or a whole call: `ringtrue sample … --queries 20`."""
        reader = OPTION_BY_READER.get(suggestion.function, {})
        is_here = bool(reader) or not suggestion.function
        command = self.command
        if not is_here:
            name = COMMAND_BY_FUNCTION.get(suggestion.function)
            command = load_command(name) if name else None
        if command is None:
            return ""
        options = [
            _spell_argument(command, reader.get(name, name), value) for name, value in suggestion.arguments.items()
        ]
        if not all(options):
            return ""
        if is_here:
            return " ".join(options)
        return f"`{' '.join(['ringtrue', command.name or '', '…', *options]).removesuffix(' …')}`"

    def parameter(self, name: str) -> str:
        """`--bronze-rel`, or nothing."""
        option = find_option(self.command, name) if self.command else None
        return max(option.opts, key=len) if option else ""


def find_option(command: click.Command, argument: str) -> click.Option | None:
    """The option of a command for an argument of the function behind it."""
    names = OPTION_BY_ARGUMENT[""] | OPTION_BY_ARGUMENT.get(command.name or "", {})
    name = names.get(argument, argument)
    return next((option for option in command.params if isinstance(option, click.Option) and option.name == name), None)


def _spell_argument(command: click.Command, argument: str, value: Argument) -> str:
    option = find_option(command, argument)
    if option is None:
        return ""
    name = max(option.opts, key=len)
    if value is None or value is False:
        return ""  # what is to be left out of another call is not written
    if option.is_flag:
        return name
    return f"{name} {_placeholder(option, command) if value is ... else _spell_value(value)}"


def _placeholder(option: click.Option, command: click.Command) -> str:
    """What stands for a value in a hint: `COLUMN`, and `N` for any number."""
    is_number = isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
    return "N" if is_number and option.metavar is None else option.make_metavar(click.Context(command))


def _spell_value(value: Argument) -> str:
    """`query=prompt`, `0-3` for a scale, `4/5` for a share, and other values as they are."""
    if isinstance(value, Mapping):
        pairs = ",".join(f"{key}={part}" for key, part in value.items())
        return shlex.quote(pairs) if " " in pairs else pairs
    if isinstance(value, range):
        return f"{value.start}-{value.stop - 1}"
    return "/".join(map(str, value)) if isinstance(value, tuple) else shlex.quote(f"{value}")
