"""The command line: one verb for each question a person asks, one module for each verb."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from ringtrue._version import __version__
from ringtrue.cli.errors import Misuse, report_error, wants_json
from ringtrue.cli.spelling import load_command
from ringtrue.errors import RingtrueError, UsageError, did_you_mean

# Before NumPy is loaded: the products here are small, and threads that wait for each other cost more than they bring.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The sentence is its help.
COMMANDS = {
    "doctor": "What can I do with these files?",
    "evaluate": "How good is each run?",
    "compare": "Is A better than B?",
    "curve": "Precision against recall, or ROC.",
    "stability": "Does the judge change the order of the runs?",
    "agree": "How far do the judges agree?",
    "aggregate": "What is the one label?",
    "judges": "How good is each judge?",
    "report": "Show me everything on one page.",
    "plot": "One figure of the report, for a paper or a slide.",
    "serve": "Collect judgments in a browser.",
    "pairs": "Which pairs should be compared next?",
    "rate": "Which documents are preferred?",
    "ceiling": "What is the best nDCG that disagreement allows?",
    "disagreement": "What is each label worth when users disagree?",
    "correct": "I only have summary numbers: what is the corrected score?",
    "simulate": "Do the intervals and tests keep their promise?",
    "pool": "Which documents should be judged at all?",
    "sample": "Which documents should the gold judge see?",
    "plan": "How many queries and gold labels do I need?",
    "convert": "The same data in another format.",
    "measures": "Which measures are there, and how are they written?",
    "demo": "See it work on data made on the spot.",
    "version": "Which version is this?",
}


class _LazyCommands(click.Group):
    """Commands that are loaded when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS:
            suggestion = did_you_mean(name, COMMANDS) or "; `ringtrue --help` lists them all"
            raise Misuse(UsageError("unknown-command", f"no command '{name}'{suggestion}"), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_LazyCommands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
)
@click.version_option(__version__, message="%(version)s")
def _ringtrue() -> None:
    """Search evaluation when the judges are imperfect.

    Every command takes --json, and --help says what it asks for.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; what stops it is said on standard error, with exit code 1, or 2 for a wrong question."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = _ringtrue.main(words, prog_name="ringtrue", standalone_mode=False)
    except (RingtrueError, click.ClickException, click.Abort, OSError) as stop:
        command = load_command(words[0]) if words and words[0] in COMMANDS else None
        status = report_error(stop, command, as_json=wants_json(words))
    sys.exit(status)
