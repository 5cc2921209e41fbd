"""How the command line writes suggestions, and that it can write all of them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import ringtrue
from ringtrue.cli import COMMANDS
from ringtrue.cli.spelling import COMMAND_BY_FUNCTION, CommandLine, find_option, load_command
from ringtrue.messages import Suggestion

SOURCE = Path(ringtrue.__file__).parent
# Functions and arguments that no command has, and why.
ONLY_IN_PYTHON = {
    "read_judgments": "commands are given files anyway",
    "read_run": "commands are given files anyway",
    "tolerance": "commands set how many iterations there may be",
}
# Rooms whose suggestions have no function in Python, and why.
ONLY_IN_COMMANDS = {
    "cli": "its own options",
    "doctor": "what it suggests is commands",
    "service": "the server is started by its command",
}


@dataclass(frozen=True)
class Made:
    """A suggestion as the source has it: where, the function that it names, and the names of its arguments."""

    place: str
    function: str
    arguments: frozenset[str]


def suggestions() -> Iterator[Made]:
    """Every suggestion in the source whose function and arguments are written out."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Suggestion"):
                continue
            functions = [word.value for word in node.keywords if word.arg == "function"]
            names = [word.arg for word in node.keywords if word.arg not in ("function", "purpose")]
            names_own_class = path.parent.name == "doctor" and "verb" in names
            if (
                path.name == "messages.py"
                or names_own_class
                or None in names
                or not all(isinstance(f, ast.Constant) for f in functions)
            ):
                continue
            function = functions[0].value if functions and isinstance(functions[0], ast.Constant) else ""
            place = f"{path.relative_to(SOURCE)}:{node.lineno}"
            yield Made(place, str(function), frozenset(name for name in names if name))


def parameters(function: object) -> set[str]:
    return set(inspect.signature(function).parameters) if callable(function) else set()


def public_parameters() -> list[set[str]]:
    """The parameters of every public function, and of every method of a public class."""
    found = []
    for name in ringtrue.__all__:
        public = getattr(ringtrue, name)
        members = [m for _, m in inspect.getmembers(public, inspect.isroutine)] if inspect.isclass(public) else [public]
        for member in members:
            try:
                found.append(parameters(member))
            except ValueError:  # one of Python's own
                continue
    return found


MADE = list(suggestions())
FUNCTIONS = sorted({made.function for made in MADE} - {""})


def test_the_source_is_full_of_suggestions() -> None:
    assert len(MADE) > 20


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_that_is_suggested_is_public_and_has_a_command_with_the_same_arguments(function: str) -> None:
    command = None if function in ONLY_IN_PYTHON else load_command(COMMAND_BY_FUNCTION[function])
    for made in MADE:
        if made.function == function:
            if made.place.split("/")[0] not in ONLY_IN_COMMANDS:
                assert made.arguments <= parameters(getattr(ringtrue, function)), made.place
            assert command is None or all(find_option(command, name) for name in made.arguments), made.place


def test_arguments_of_the_call_at_hand_are_those_of_a_public_function_and_of_a_command() -> None:
    functions, commands = public_parameters(), [load_command(name) for name in COMMANDS]
    for made in MADE:
        if made.function:
            continue
        if made.place.split("/")[0] not in ONLY_IN_COMMANDS:
            assert any(made.arguments <= names for names in functions), (made.place, "no public function has these")
        if not made.arguments & ONLY_IN_PYTHON.keys():
            has_all = (all(find_option(command, name) for name in made.arguments) for command in commands)
            assert any(has_all), (made.place, "no command has these")


@pytest.mark.parametrize(
    ("command", "suggestion", "spelled"),
    [
        ("evaluate", Suggestion(repeats="last"), "--repeats last"),
        ("evaluate", Suggestion(columns={"label": "NAME"}), "--columns label=NAME"),
        ("evaluate", Suggestion(measures="P@10"), "--measure P@10"),
        ("evaluate", Suggestion(rel=...), "--rel LABEL"),
        ("evaluate", Suggestion(where={"kind of it": "first half"}), "--where 'kind of it=first half'"),
        ("ceiling", Suggestion(renormalise=True), "--renormalise"),
        ("measures", Suggestion(rel=1), ""),
        ("evaluate", Suggestion(rel=1, ridge=2), ""),
        ("evaluate", Suggestion(function="sample_queries", queries=20), "`ringtrue sample … --queries 20`"),
        ("evaluate", Suggestion(function="aggregate"), "`ringtrue aggregate`"),
    ],
)
def test_a_suggestion_is_written_with_the_options_of_the_command_or_not_at_all(
    command: str, suggestion: Suggestion, spelled: str
) -> None:
    assert CommandLine(load_command(command)).suggestion(suggestion) == spelled


def test_a_parameter_is_written_as_the_longest_name_of_its_option() -> None:
    spelling = CommandLine(load_command("evaluate"))
    assert [spelling.parameter(name) for name in ("bronze_rel", "judgments", "ridge")] == [
        "--bronze-rel",
        "--judgments",
        "",
    ]
