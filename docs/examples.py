"""Run every example on a page, in the order of the page, in a folder of its own.

    .venv/bin/python docs/examples.py docs/start/*.md    show these pages' commands with what they print now

- A block of `python` is executed, or checked as a doctest where it begins with `>>>`; the blocks of a page
  share one namespace.
- In a block of `console`, lines that begin with `$` are commands; those of `RUNS` are run, and what follows
  must be what they print (`...` stands for anything). A plain call of ringtrue runs in this process, others in a shell.
- A block after `<!-- file: NAME -->` is saved under that name first.

The tests call `replay` and want no complaint. Calling this file writes the pages anew; read the difference
before you keep it.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import traceback
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

BLOCK = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>[^\n]*)\n(?P<body>.*?)^(?P=indent)```$",
    re.M | re.S,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SHELL_SYNTAX = re.compile(r"[|<>;&`]|\$\(")  # what only a shell can do
RUNS = {"ringtrue", "cat", "head"}  # other commands, such as `make test`, are shown but not run


def main(names: list[str]) -> None:
    """Write pages anew, each command followed by what it prints now."""
    for page in [Path(name).resolve() for name in names]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text, complaints = replay(page.read_text(), page.name)
            os.chdir(page.parent)
        page.write_text(text)
        for complaint in complaints:
            print(complaint)


def replay(text: str, name: str) -> tuple[str, list[str]]:
    """Run a page in the current folder; the page as it should be, and what is wrong with it as it is."""
    names: dict[str, Any] = {"__name__": "__page__"}
    complaints: list[str] = []

    def rewritten(block: re.Match[str]) -> str:
        body = textwrap.dedent(block["body"])
        line = text[: block.start("body")].count("\n")
        if block["file"]:
            Path(block["file"]).parent.mkdir(parents=True, exist_ok=True)
            Path(block["file"]).write_text(body)
        elif block["language"] == "python" and body.lstrip().startswith(">>>"):
            complaints.extend(_checked(body, names, name, line))
        elif block["language"] == "python":
            exec(compile("\n" * line + body, name, "exec"), names)  # the page is our own
        elif block["language"] == "console":
            shown = (_shown(command, says, f"{name}:{line}", complaints) for command, says in _commands(body))
            before, after = block.start("body") - block.start(), block.end("body") - block.start()
            return block[0][:before] + textwrap.indent("".join(shown), block["indent"]) + block[0][after:]
        return block[0]

    return BLOCK.sub(rewritten, text), complaints


def _checked(body: str, names: dict[str, Any], name: str, line: int) -> list[str]:
    test = doctest.DocTestParser().get_doctest(body, names, name, name, line)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    return said


def _commands(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what follows it; a backslash continues a command on the next line."""
    for chunk in re.split(r"^\$ ", body, flags=re.M)[1:]:
        command = re.match(r"(?:.*\\\n)*.*", chunk)
        assert command is not None
        yield command[0], chunk[command.end() :].lstrip("\n")


def _shown(command: str, says: str, where: str, complaints: list[str]) -> str:
    """The command and what it prints; what the page says stays where it is right."""
    if command.split()[0] not in RUNS:
        return f"$ {command}\n{says}"
    printed, exit_code = _run(command)
    if not doctest.OutputChecker().check_output(_plain(says), _plain(printed), doctest.ELLIPSIS):
        complaints.append(f"{where}: $ {command}\nthe page says\n{says}\nbut it prints\n{printed}")
        says = _plain(printed)
    if (exit_code != 0) != says.startswith(("ringtrue: ", "Usage: ")):
        complaints.append(f"{where}: $ {command}\nended with exit code {exit_code}")
    return f"$ {command}\n{says}"


def _run(command: str) -> tuple[str, int]:
    """What a command prints, and its exit code; a plain call of ringtrue is made in this process."""
    executables = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": executables, "COLUMNS": "100"}
    if not command.startswith("ringtrue ") or SHELL_SYNTAX.search(command):
        ran = subprocess.run(
            command,
            shell=True,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            timeout=60,
            check=False,
        )
        return ran.stdout, ran.returncode
    # A shell splits the words and fills in names of files.
    split = subprocess.run(
        ["bash", "-c", f"ringtrue() {{ printf '%s\\0' \"$@\"; }}\n{command}"],
        text=True,
        capture_output=True,
        check=True,
    )
    return _call(split.stdout.removesuffix("\0").split("\0"), environment)


def _call(arguments: list[str], environment: dict[str, str]) -> tuple[str, int]:
    """The same for a call of ringtrue in this process; a crash is printed, as Python would."""
    from ringtrue.cli import main as ringtrue

    printed = io.BytesIO()
    output = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
    called_as = patch.object(sys, "argv", ["ringtrue", *arguments])  # what it is called as is in what it prints
    with called_as, patch.dict(os.environ, environment), redirect_stdout(output), redirect_stderr(output):
        try:
            ringtrue(arguments)
            exit_code = 0
        except SystemExit as end:
            exit_code = int(end.code or 0)
        except Exception:
            traceback.print_exc()
            exit_code = 1
    return printed.getvalue().decode(), exit_code


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
