"""Options that several commands have."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import click

from ringtrue.cli import COMMANDS
from ringtrue.cli.spelling import load_command

# Options of one name that differ between commands, in what, and why.
DIFFERENT = {
    **dict.fromkeys(["--gold"], ({"help"}, "what becomes of known labels is the question of the command")),
    **dict.fromkeys(["--output"], ({"help"}, "what can be written")),
    **dict.fromkeys(["--repeats"], ({"type"}, "a measure takes one label of a document, agreement all of them")),
    **dict.fromkeys(["--rel"], ({"type"}, "gains of measures begin at 1, labels of judges anywhere")),
    **dict.fromkeys(["--measure"], ({"help"}, "a plan is for one measure")),
    **dict.fromkeys(["--depth", "--pairs", "--resamples"], ({"type", "help"}, "how few make sense")),
    **dict.fromkeys(
        ["--budget", "--design", "--interval", "--k", "--kind", "--method", "--queries", "--scale", "--ties"],
        ({"type", "metavar", "help"}, "a word of the field that has another meaning there"),
    ),
}


def facts_by_option() -> dict[str, list[dict[str, Any]]]:
    """Each option by its longest name: type, metavar and help in every command that has it."""
    facts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name in COMMANDS:
        for option in load_command(name).params:
            if isinstance(option, click.Option):
                facts[max(option.opts, key=len)].append(
                    {"type": repr(option.type), "metavar": option.metavar, "help": option.help}
                )
    return facts


def test_options_of_one_name_are_alike_in_all_commands() -> None:
    differing = {
        name: {field for field in facts[0] if len({command_facts[field] for command_facts in facts}) > 1}
        for name, facts in facts_by_option().items()
    }
    unreasoned = {
        name: fields - DIFFERENT.get(name, (set(), ""))[0]
        for name, fields in differing.items()
        if fields - DIFFERENT.get(name, (set(), ""))[0]
    }
    assert unreasoned == {}
    assert [name for name in DIFFERENT if not differing[name]] == []


def test_every_option_says_what_it_is() -> None:
    assert [name for name, facts in facts_by_option().items() if not all(fact["help"] for fact in facts)] == []
