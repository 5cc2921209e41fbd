"""What stops a command, for programs: one JSON object on the last line of standard error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringtrue.cli.commands import version

COMMAND = str(Path(sys.executable).with_name("ringtrue"))


@pytest.mark.parametrize(
    ("words", "code", "parameter"),
    [
        ("evaluate --judgments j.qrels", "needs-parameter", "runs"),
        ("evaluate a.run", "needs-parameter", "judgments"),
        ("evaluate a.run --judgments j.qrels --bronze-rell 1", "unknown-parameter", "bronze_rell"),
        ("evaluate a.run --judgments j.qrels --missing none", "bad-value", "missing"),
        ("evaluate a.run --judgments j.qrels --rel 1.5", "bad-value", "rel"),
        ("evaluate a.run --judgments j.qrels -m", "bad-value", "measure"),
        ("evaluate a.run --judgments j.qrels --per-query=1", "bad-value", "per_query"),
        ("evaluate a.run --judgments j.qrels --judgments b.qrels", "repeated-parameter", "judgments"),
        ("version now", "unexpected-argument", None),
        ("evluate a.run", "unknown-command", None),
    ],
)
@pytest.mark.parametrize("form", ["--json", "--format json", "--format=json"])
def test_wrong_usage_has_a_code_and_names_the_parameter(
    world: Path, ringtrue: Callable[..., Any], words: str, code: str, parameter: str | None, form: str
) -> None:
    command, *others = words.split()
    answer = ringtrue(command, *form.split(), *others)
    error = answer.error
    assert (answer.code, error["code"], error["parameter"]) == (2, code, parameter)
    assert list(error) == ["code", "message", "parameter", "file", "line"]
    assert answer.err.count("\n") == 1


def test_people_see_how_a_command_is_used_and_no_json(world: Path, ringtrue: Callable[..., Any]) -> None:
    for words in (["evaluate", "a.run"], ["evaluate", "--as", "json", "a.run"], ["evaluate", "--", "--json"]):
        answer = ringtrue(*words)
        assert (answer.code, answer.out, answer.err.split()[:3]) == (2, "", ["Usage:", "ringtrue", "evaluate"])
        assert "{" not in answer.err


def test_data_that_cannot_be_used_are_named_with_file_and_line(world: Path, ringtrue: Callable[..., Any]) -> None:
    Path("cut.run").write_text("q1 Q0 d1 1 2.0 A\nq1 Q0 d2 2\n")
    answer = ringtrue("evaluate", "cut.run", "--judgments", "j.qrels", "--json")
    error = answer.error
    assert answer.code == 1
    assert error["message"].startswith("cut.run:2: ")
    assert "ringtrue: " not in answer.err


def test_notes_stand_before_the_error(world: Path, ringtrue: Callable[..., Any]) -> None:
    Path("j.csv").write_text("query,doc,label\nq1,d1,1\n")
    lines = ringtrue("convert", "j.csv", "j.xyz", "--json").err.splitlines()
    assert [line for line in lines if line.startswith("{")] == lines[-1:]


def test_an_interrupted_command_has_a_code(
    world: Path, ringtrue: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(version, "emit", interrupt)
    assert ringtrue("version", "--json").error["code"] == "interrupted"
    assert (ringtrue("version").code, ringtrue("version").err.strip()) == (1, "ringtrue: interrupted")


def test_columns_of_the_gold_file_are_named_by_their_own_option(world: Path, ringtrue: Callable[..., Any]) -> None:
    words = ("evaluate", "a.run", "--judgments", "j.qrels", "--gold", "j.qrels", "--gold-columns", "label")
    error = ringtrue(*words, "--json").error
    assert (error["code"], error["parameter"]) == ("bad-value", "gold_columns")
    assert "(--gold-columns)" in ringtrue(*words).err


@pytest.mark.slow
def test_an_answer_that_cannot_be_written_has_a_code(world: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COMMAND, "measures", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, json.loads(done.stderr)["error"]["code"]) == (1, "cannot-write-answer")
