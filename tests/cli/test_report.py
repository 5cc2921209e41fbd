"""`ringtrue report` and `ringtrue plot`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ringtrue.reporting.making import FIGURES

RUNS = ("d/hybrid.run", "d/keyword.run", "d/neural.run")
EVERYTHING = (
    *RUNS, "--judgments", "d/bronze.qrels", "--gold", "d/sample.csv", "--labels", "d/crowd.csv", "--traps",
    "d/traps.csv", "--preferences", "d/preferences.csv", "-m", "P(rel=2)@10", "--rel", "2",
)  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the demo in `d`."""
    folder = tmp_path_factory.mktemp("report")
    words = [str(Path(sys.executable).parent / "ringtrue"), "demo", "--folder", "d", "--no-report", "--json"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def here(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(world)
    return world


def test_everything_is_on_one_page(here: Path, ringtrue) -> None:
    answer = ringtrue("report", *EVERYTHING, "-o", "all.html", "--json").json
    assert answer["report"] == "all.html"
    assert set(answer["figures"]) == set(FIGURES)
    assert "corrected" in answer["answers"][0]
    page = Path("all.html").read_text()
    assert all(f'id="figure-{name}"' in page for name in FIGURES)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert "<script" not in page


def test_the_same_question_gives_the_same_page(here: Path, ringtrue) -> None:
    words = ("report", *RUNS, "--judgments", "d/gold.qrels", "-m", "nDCG@10")
    for name in ("one.html", "two.html"):
        ringtrue(*words, "-o", name)
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


def test_sections_appear_for_what_is_given(here: Path, ringtrue) -> None:
    runs = ringtrue("report", *RUNS, "--judgments", "d/gold.qrels", "--json").json
    assert "forest" in runs["figures"]
    assert "ratings" not in runs["figures"]
    votes = ringtrue("report", "--preferences", "d/preferences.csv", "--json").json
    assert votes["figures"] == ["judges", "ratings"]
    assert "needs runs and judgments" in votes["absent"].values()
    crowd = ringtrue("report", "--labels", "d/crowd.csv", "--traps", "d/traps.csv", "--json").json
    assert {"agreement", "judges", "traps", "weights"} <= set(crowd["figures"])


def test_what_is_printed_is_for_people(here: Path, ringtrue) -> None:
    told = ringtrue("report", *RUNS, "--judgments", "d/gold.qrels", "-o", "p.html").out
    assert "The runs: By nDCG@10 the best of 3 runs is neural" in told
    assert "p.html has it all on one page" in told


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("report",), 2, "nothing to report"),
        (("report", "d/neural.run"), 2, "add --judgments FILE"),
        (("report", "--judgments", "d/gold.qrels"), 2, "add the run files"),
        (("report", "--labels", "d/crowd.csv", "--gold", "d/sample.csv"), 2, "--gold corrects the judgments of runs"),
        (("report", "--preferences", "missing.csv"), 1, "missing.csv"),
        (("report", "--traps", "d/traps.csv", "d/neural.run", "--judgments", "d/gold.qrels"), 2, "add --labels"),
        (("report", *RUNS, "--judgments", "d/gold.qrels", "-o", "x.pdf"), 2, "ends in .html"),
        (("report", *RUNS, "--judgments", "d/gold.qrels", "-o", "no/where.html"), 1, "no folder"),
        (("report", *RUNS, "--judgments", "d/gold.qrels", "-m", "nDGC"), 2, "nDCG"),
        (("report", *RUNS, "--judgments", "d/neural.run"), 1, "d/neural.run"),
        (("report", *RUNS, "--judgments", "-", "--labels", "-"), 2, "only once"),
        (("plot", "fores", *RUNS, "--judgments", "d/gold.qrels"), 2, "did you mean 'forest'"),
        (("plot", "ratings", *RUNS, "--judgments", "d/gold.qrels"), 2, "needs "),
        (("plot", "forest", *RUNS, "--judgments", "d/gold.qrels", "-o", "x.gif"), 2, ".svg, .png or .pdf"),
        (("plot", "forest", *RUNS, "--judgments", "d/gold.qrels", "-o", "d/gold.qrels"), 2, "would overwrite"),
        (("plot", "forest", *RUNS, "--judgments", "d/gold.qrels", "--width", "0"), 2, "width"),
    ],
)  # fmt: skip
def test_bad_input_is_told_in_one_line(here: Path, ringtrue, words: tuple[str, ...], code: int, told: str) -> None:
    answer = ringtrue(*words)
    assert answer.code == code
    assert told in answer.err
    assert "Traceback" not in answer.err
    assert answer.out == ""


@pytest.mark.parametrize(("suffix", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_figure_is_written_for_papers(here: Path, ringtrue, suffix: str, begins: bytes) -> None:
    path = f"forest.{suffix}"
    words = ("plot", "forest", *RUNS, "--judgments", "d/gold.qrels", "-m", "nDCG@10", "-o", path, "--json")
    answer = ringtrue(*words).json
    assert Path(path).read_bytes().startswith(begins)
    assert (answer["plot"], answer["figure"], answer["table"]["rows"][0][0]) == (path, "forest", "neural")


@pytest.mark.parametrize("figure", sorted(FIGURES))
def test_every_figure_can_be_had_alone(here: Path, ringtrue, figure: str) -> None:
    answer = ringtrue("plot", figure, *EVERYTHING, "-o", f"{figure}.svg", "--json").json
    assert answer["sentence"].endswith(".")
    assert answer["table"]["rows"]
    assert json.dumps(answer)
    assert Path(f"{figure}.svg").stat().st_size > 1_000
