"""`ringtrue curve`: the contract that scripts rely on, and what people read."""

from __future__ import annotations

import csv
import io
import os
import pty
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import click
import pytest

from ringtrue.cli.commands.curve import draw_curves

WORDS = ("curve", "a.run", "b.run", "--judgments", "j.qrels")
COMMAND = str(Path(sys.executable).with_name("ringtrue"))
BRAILLE = {chr(code) for code in range(0x2801, 0x2900)}


def shown(*words: str, **settings: str) -> str:
    """What the command prints on a terminal."""
    master, slave = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | settings
    with subprocess.Popen([COMMAND, *words], stdout=slave, stderr=subprocess.PIPE, env=environment):
        os.close(slave)
        text = b""
        try:
            while part := os.read(master, 65536):
                text += part
        except OSError:  # the other side is closed
            pass
    os.close(master)
    return text.decode()


# ── the contract ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("kind", "levels"), [("pr", 101), ("roc", 110), ("11pt", 11)])
def test_json_has_levels_values_and_the_area_of_every_run(world: Path, ringtrue, kind: str, levels: int) -> None:
    answer = ringtrue(*WORDS, "--kind", kind, "--json")
    assert answer.code == 0
    assert list(answer.json) == ["runs", "kind", "notes", "note_codes"]
    assert answer.json["kind"] == kind
    assert list(answer.json["runs"]) == ["a", "b"]
    for curve in answer.json["runs"].values():
        assert list(curve) == ["x", "y", "area"]
        assert len(curve["x"]) == len(curve["y"]) == levels
        assert (curve["x"][0], curve["x"][-1]) == (0.0, 1.0)
        assert 0 <= curve["area"] <= 1


def test_precision_against_recall_is_what_is_drawn_if_nothing_is_said(world: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--json").json
    assert answer["kind"] == "pr"
    # q1: relevant at ranks 2 and 3 of 2, AP 7/12; q2: the only document is found first.
    curve = answer["runs"]["a"]
    assert [curve["y"][i] for i in (0, 50, 51, 100)] == pytest.approx([0.75, 0.75, (2 / 3 + 1) / 2, (2 / 3 + 1) / 2])
    assert curve["area"] == pytest.approx((7 / 12 + 1) / 2)


@pytest.mark.parametrize(("kind", "measure"), [("pr", "AP"), ("roc", "AUC"), ("11pt", "IAP")])
@pytest.mark.parametrize(
    "options",
    [(), ("--rel", "2"), ("--depth", "1"), ("--compat", "trec_eval-9"), ("--name", "tag"), ("--missing", "skip")],
)
def test_the_area_is_what_evaluate_says(
    world: Path, ringtrue, kind: str, measure: str, options: tuple[str, ...]
) -> None:
    Path("j.qrels").write_text("q1 0 d1 0\nq1 0 d2 2\nq1 0 d3 1\nq2 0 d4 2\nq2 0 d7 0\nq5 0 d1 2\nq5 0 d2 0\n")
    curves = ringtrue(*WORDS, "--kind", kind, *options, "--json").json["runs"]
    means = ringtrue("evaluate", *WORDS[1:], "-m", measure, *options, "--json").json["runs"]
    assert list(curves) == list(means)
    for run, row in means.items():
        assert curves[run]["area"] == pytest.approx(next(iter(row.values()))["value"])


def test_csv_has_every_level_with_every_digit(world: Path, ringtrue) -> None:
    rows = list(csv.DictReader(io.StringIO(ringtrue(*WORDS, "--format", "csv").out)))
    curves = ringtrue(*WORDS, "--json").json["runs"]
    assert list(rows[0]) == ["run", "x", "y"]
    for run, curve in curves.items():
        mine = [row for row in rows if row["run"] == run]
        assert [float(row["x"]) for row in mine] == curve["x"]
        assert [float(row["y"]) for row in mine] == curve["y"]


def test_an_undefined_area_is_null_with_a_note_and_a_dash_for_people(world: Path, ringtrue) -> None:
    Path("all.qrels").write_text("q2 0 d4 1\n")
    words = ("curve", "a.run", "--judgments", "all.qrels", "--kind", "roc")
    answer = ringtrue(*words, "--json")
    assert answer.json["runs"]["a"] == {"x": [], "y": [], "area": None}
    assert "queries-without-nonrelevant" in answer.notes
    assert ringtrue(*words, "--draw").out.splitlines()[-2].split() == ["area", "(AUC)", "–"]
    assert ringtrue(*words, "--format", "csv").out == "run,x,y\n"


def test_notes_go_to_standard_error_and_into_the_json(world: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--kind", "roc", "--json")
    assert answer.notes == ["queries-without-nonrelevant", "collection-size-guessed"]
    assert answer.err == "".join(f"note: {note}\n" for note in answer.json["notes"])
    assert ringtrue(*WORDS, "--kind", "roc", "--collection-size", "50", "--json").notes == []


# ── what people read ───────────────────────────────────────────────────────────────────────────────────────


def test_the_table_has_a_row_for_each_recall_and_the_best_run_first(world: Path, ringtrue) -> None:
    lines = ringtrue(*WORDS).out.splitlines()
    assert lines[0].split() == ["recall", "a", "b"]
    assert [line.split()[0] for line in lines[2:13]] == [f"{i / 10:g}" for i in range(11)]
    assert lines[2].split() == ["0", "0.7500", "0.7500"]
    assert lines[13].split() == ["area", "(AP)", "0.7917", "0.5000"]
    assert lines[14].endswith(" 2 queries")
    assert len(lines) == 15


def test_a_roc_table_shows_the_lower_left_corner(world: Path, ringtrue) -> None:
    def levels(*words: str) -> list[str]:
        return [line.split()[0] for line in ringtrue(*WORDS, "--kind", "roc", *words).out.splitlines()[2:-2]]

    assert levels() == ["0", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"]
    assert levels("--collection-size", "2000000")[:5] == ["0", "0.000001", "0.00001", "0.0001", "0.001"]


@pytest.mark.slow
def test_a_table_of_many_runs_is_turned(world: Path, ringtrue) -> None:
    names = [f"system{i:02}.run" for i in range(37)]
    for i, name in enumerate(names):
        Path(name).write_text(Path("b.run" if i else "a.run").read_text())
    lines = ringtrue("curve", *reversed(names), "--judgments", "j.qrels").out.splitlines()
    assert lines[0].split() == ["run", "AP", "@0", "@0.2", "@0.4", "@0.6", "@0.8", "@1"]
    assert lines[2].split()[:2] == ["system00", "0.7917"]
    assert len(lines) == 2 + 37 + 1
    assert max(map(len, lines)) <= 80
    roc = ringtrue("curve", *names, "--judgments", "j.qrels", "--kind", "roc").out.splitlines()
    assert roc[0].split() == ["run", "AUC", "@0", "@0.001", "@0.01", "@0.1", "@0.5"]


def test_markdown_and_latex_are_what_they_say(world: Path, ringtrue) -> None:
    assert ringtrue(*WORDS, "--format", "markdown").out.splitlines()[1] == "| --- | ---: | ---: |"
    latex = ringtrue(*WORDS, "--format", "latex").out
    assert r"\begin{tabular}{lrr}" in latex
    assert r"area (AP) & 0.7917 & 0.5000 \\" in latex


# ── the picture ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_picture_is_drawn_on_a_terminal_and_not_into_a_pipe(world: Path, ringtrue) -> None:
    assert not BRAILLE & set(ringtrue(*WORDS).out)
    seen = shown(*WORDS)
    assert BRAILLE & set(seen)
    assert "\x1b[36mA\x1b[0m a" in seen
    assert not BRAILLE & set(shown(*WORDS, "--no-draw"))
    assert not BRAILLE & set(shown(*WORDS, "--format", "csv"))


@pytest.mark.slow
def test_who_wants_no_colour_gets_none(world: Path) -> None:
    seen = shown(*WORDS, NO_COLOR="1")
    assert BRAILLE & set(seen)
    assert "\x1b" not in seen


def test_a_picture_can_be_asked_for(world: Path, ringtrue) -> None:
    lines = ringtrue(*WORDS, "--draw").out.splitlines()
    assert lines[16] == "precision"
    assert lines[-1] == "A a   B b"
    assert lines[-2].endswith("recall")
    assert not any("\x1b" in line for line in lines)
    assert ringtrue(*WORDS, "--draw", "--json").stop == (2, "conflicting-parameters", "draw")


def test_a_falling_line_is_drawn_from_the_upper_left_to_the_lower_right() -> None:
    lines = click.unstyle(
        draw_curves({"x": ([0.0, 1.0], [1.0, 0.0])}, x_label="recall", y_label="precision")
    ).splitlines()
    rows = [line[5:] for line in lines[1:16]]
    marks = [[column for column, sign in enumerate(row) if sign != " "] for row in rows]
    assert marks[0][0] == 0
    assert marks[-1][-1] == 59
    assert all(lower[0] >= upper[0] for upper, lower in pairwise(marks))
    assert sorted({column for row in marks for column in row}) == list(range(60))
    assert sum(row.count("A") for row in rows) == 1


def test_at_most_five_runs_are_drawn_and_the_rest_is_counted() -> None:
    flat = {f"r{i}": ([0.0, 1.0], [i / 6, i / 6]) for i in range(7)}
    last = click.unstyle(draw_curves(flat, x_label="recall", y_label="precision")).splitlines()[-1]
    assert last == "A r0   B r1   C r2   D r3   E r4   (and 2 more)"


def test_a_vertical_step_has_no_gaps() -> None:
    lines = click.unstyle(
        draw_curves({"x": ([0.0, 0.5, 0.5001, 1.0], [0.0, 0.0, 1.0, 1.0])}, x_label="x", y_label="y")
    ).splitlines()
    assert all(line[5:].strip() for line in lines[1:16])


# ── bad input ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "stop"),
    [
        (("a.run", "--judgments", "j.qrels", "--kind", "prc"), (2, "bad-value", "kind")),
        (("a.run", "--judgments", "j.qrels", "--rel", "0"), (2, "bad-value", "rel")),
        (("a.run", "--judgments", "j.qrels", "--level", "0.9"), (2, "unknown-parameter", "level")),
        (("a.run", "--judgments", "j.qrels", "--kind", "pr", "--kind", "roc"), (2, "repeated-parameter", "kind")),
        (("--judgments", "j.qrels"), (2, "needs-parameter", "runs")),
        (("a.run",), (2, "needs-parameter", "judgments")),
        (
            ("a.run", "--judgments", "j.qrels", "--judge", "0", "--judges", "average"),
            (2, "conflicting-parameters", "judge"),
        ),
        (
            ("a.run", "--judgments", "j.qrels", "--kind", "roc", "--collection-size", "2"),
            (2, "small-collection", "collection_size"),
        ),
        (("no.run", "--judgments", "j.qrels"), (1, "no-such-file", None)),
        (("a.run", "--judgments", "no.qrels"), (1, "no-such-file", None)),
        (("a.run", "--judgments", "other.qrels"), (1, "no-common-query", None)),
        (("a.run", "--judgments", "twice.qrels"), (1, "repeated-label", None)),
        (("short.run", "--judgments", "j.qrels"), (1, "too-few-fields", None)),
    ],
)
def test_what_is_wrong_has_a_code(
    world: Path, ringtrue, words: tuple[str, ...], stop: tuple[int, str, str | None]
) -> None:
    Path("other.qrels").write_text("x9 0 d1 1\n")
    Path("twice.qrels").write_text("q1 0 d1 1\nq1 0 d1 0\n")
    Path("short.run").write_text("q1 Q0\n")
    answer = ringtrue("curve", *words, "--json")
    assert answer.stop == stop
    named = [word for word in words if word.startswith(("no.", "twice.", "short."))]
    assert all(name in answer.error["message"] for name in named)
    assert answer.err.count("\n") == 1


@pytest.mark.slow
def test_drawing_a_curve_loads_neither_scipy_nor_pandas_nor_rich(world: Path) -> None:
    code = (
        "import sys; from ringtrue.cli import main\n"
        "try: main(['curve', 'a.run', '--judgments', 'j.qrels', '--draw'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('scipy', 'pandas', 'rich', 'pyarrow', 'matplotlib') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.slow
@pytest.mark.real
def test_all_runs_of_a_real_collection_fit_on_a_page(data: Path, ringtrue) -> None:
    folder = data / "dl19"
    runs = sorted(map(str, (folder / "runs").glob("*.run")))
    for kind in ("pr", "roc", "11pt"):
        lines = ringtrue("curve", *runs, "--judgments", str(folder / "human.qrels"), "--kind", kind).out.splitlines()
        assert len(lines) == 2 + 37 + 1
        assert max(map(len, lines)) <= 100
        areas = [float(line.split()[1]) for line in lines[2:-1]]
        assert areas == sorted(areas, reverse=True)
