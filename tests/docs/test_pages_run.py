"""Every example on every page runs, in the order of the page, in a folder of its own.

A block ```python is executed, or checked as a doctest where it begins with `>>>`; the blocks of a page share
one namespace. In a block ```console, lines that begin with `$` are commands, and what follows must be what
they print (`...` stands for anything). A block after `<!-- file: NAME -->` is written to that file first.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if page.exists()
]
BLOCK = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>[^\n]*)\n(?P<body>.*?)^(?P=indent)```$",
    re.M | re.S,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RUNS = {"ringtrue", "cat", "head"}  # other commands, such as `make test`, are shown but not run


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__page__"}
    text = page.read_text()
    for block in BLOCK.finditer(text):
        body = textwrap.dedent(block["body"])
        line = text[: block.start("body")].count("\n")
        if block["file"]:
            Path(block["file"]).parent.mkdir(parents=True, exist_ok=True)
            Path(block["file"]).write_text(body)
        elif block["language"] == "python":
            (check_doctest if body.lstrip().startswith(">>>") else execute)(body, names, page, line)
        elif block["language"] == "console":
            for command, expected in commands(body):
                check_command(command, expected, f"{page.relative_to(ROOT)}:{line + 1}")


def test_no_page_has_a_code_block_of_unknown_kind() -> None:
    known = {"python", "py", "console", "text", "csv", "json", "toml", "yaml", "sh"}
    for page in PAGES:
        for block in BLOCK.finditer(page.read_text()):
            assert block["language"] in known, f"{page}: ```{block['language']}"


def execute(body: str, names: dict[str, Any], page: Path, line: int) -> None:
    exec(compile("\n" * line + body, str(page), "exec"), names)  # the page is our own


def check_doctest(body: str, names: dict[str, Any], page: Path, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(body, names, page.name, str(page), line)
    said: list[str] = []
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False).failed
    names.update(test.globs)
    assert not failed, "".join(said)


def commands(body: str) -> Iterator[tuple[str, str]]:
    for chunk in re.split(r"^\$ ", body, flags=re.M)[1:]:
        command = re.match(r"(?:.*\\\n)*.*", chunk)
        assert command is not None
        yield command[0], chunk[command.end() :].lstrip("\n")


def check_command(command: str, expected: str, where: str) -> None:
    if shlex.split(command)[0] not in RUNS:
        return
    scripts = str(Path(sys.executable).parent)
    ran = subprocess.run(
        command,
        shell=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100", "PYTHONUTF8": "1"},
        timeout=60,
        check=False,
    )
    if not doctest.OutputChecker().check_output(plain(expected), plain(ran.stdout), doctest.ELLIPSIS):
        pytest.fail(f"{where}: $ {command}\nexpected:\n{expected}\nprinted:\n{ran.stdout}", pytrace=False)
    meant_to_fail = re.match(r"(ringtrue|Usage): ", expected) is not None
    if (ran.returncode != 0) != meant_to_fail:
        pytest.fail(f"{where}: $ {command}\nended with exit code {ran.returncode}", pytrace=False)


def plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"
