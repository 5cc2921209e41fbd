"""A small world for the commands: two runs, judgments, and a way to call the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ringtrue.cli import main
from ringtrue.report.html import page as html_page

RUN_A = "q1 Q0 d1 1 3.0 A\nq1 Q0 d2 2 2.0 A\nq1 Q0 d3 3 1.0 A\nq2 Q0 d4 1 1.0 A\n"
RUN_B = "q1 Q0 d2 1 9.0 B\nq1 Q0 d1 2 8.0 B\nq2 Q0 d9 1 1.0 B\nq2 Q0 d4 2 0.5 B\n"
QRELS = "q1 0 d1 0\nq1 0 d2 2\nq1 0 d3 1\nq2 0 d4 1\n"


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def notes(self) -> list[str]:
        """With `--json`, the codes of the notes on the whole answer."""
        codes: list[str] = self.json["note_codes"]
        return codes

    def note(self, code: str) -> str:
        """With `--json`, the sentence of the one note on the whole answer that has this code."""
        (sentence,) = [one for one, its_code in zip(self.json["notes"], self.notes, strict=True) if its_code == code]
        return str(sentence)

    @property
    def error(self) -> Any:
        """With `--json`, what stopped the command: its code, message, parameter, file and line."""
        assert self.out == ""
        return json.loads(self.err.splitlines()[-1])["error"]

    @property
    def stop(self) -> tuple[int, str, str | None]:
        """With `--json`, what stopped the command: the exit code, the code of the error and the parameter it names."""
        return self.code, self.error["code"], self.error["parameter"]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a.run, b.run and j.qrels, in which the commands are called."""
    (tmp_path / "a.run").write_text(RUN_A)
    (tmp_path / "b.run").write_text(RUN_B)
    (tmp_path / "j.qrels").write_text(QRELS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def leave_pictures_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing on pages of reports: that takes longer than all the rest of them."""
    monkeypatch.setattr(html_page, "inline_svg", lambda figure, *, width_px: f"<svg>{figure.name}</svg>")


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without their pictures, for tests that look at the rest."""
    leave_pictures_out(monkeypatch)


@pytest.fixture(scope="session")
def small_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a small demo, its report without pictures among them; for tests that only read them."""
    folder = tmp_path_factory.mktemp("doctor") / "the demo"
    with pytest.MonkeyPatch.context() as monkeypatch:
        leave_pictures_out(monkeypatch)
        with pytest.raises(SystemExit) as stop:
            main(["demo", "--folder", str(folder), "--queries", "20", "--json"])
    assert not stop.value.code
    return folder


@pytest.fixture(scope="session")
def demo_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that `ringtrue demo` writes without its report, to be copied."""
    folder = tmp_path_factory.mktemp("demo") / "d"
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--folder", str(folder), "--no-report", "--json"])
    assert not stop.value.code
    return folder


@pytest.fixture
def demo_world(world: Path, demo_files: Path) -> Path:
    """The small world with the files of the demo in `d`."""
    shutil.copytree(demo_files, world / "d")
    return world


@pytest.fixture
def ringtrue(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Call the command line with words; what it printed and its exit code."""

    def call(*words: str) -> Answer:
        capsys.readouterr()
        try:
            main(words)
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capsys.readouterr()
        return Answer(code, printed.out, printed.err)

    return call
