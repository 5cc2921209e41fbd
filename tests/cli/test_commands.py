"""The other commands, and the command line as a whole."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from ringtrue import __version__
from ringtrue.cli import COMMANDS

COMMAND = str(Path(sys.executable).with_name("ringtrue"))


def test_pool_writes_the_union_with_how_many_runs_found_each(world: Path, ringtrue) -> None:
    answer = ringtrue("pool", "a.run", "b.run", "--depth", "2", "-o", "pool.csv", "--json")
    assert answer.json == {"pairs": 4, "queries": 2, "notes": [], "note_codes": []}
    rows = pl.read_csv("pool.csv").rows()
    assert rows == [("q1", "d1", 2, 1), ("q1", "d2", 2, 1), ("q2", "d4", 2, 1), ("q2", "d9", 1, 1)]


def test_convert_recognises_what_it_reads_and_writes_what_the_name_says(world: Path, ringtrue) -> None:
    assert ringtrue("convert", "j.qrels", "j.csv", "--json").json == {
        "kind": "judgments", "rows": 4, "format": "csv", "file": "j.csv", "notes": [], "note_codes": [],
    }  # fmt: skip
    assert ringtrue("convert", "j.csv", "back.qrels.gz", "--json").json["format"] == "trec-qrels"
    assert ringtrue("convert", "back.qrels.gz", "again.qrels").code == 0
    assert Path("again.qrels").read_text() == Path("j.qrels").read_text()
    assert ringtrue("convert", "a.run", "a.parquet", "--json").json["kind"] == "run"


def test_a_file_is_never_converted_onto_itself(world: Path, ringtrue) -> None:
    before = Path("j.qrels").read_text()
    assert ringtrue("convert", "j.qrels", "./j.qrels", "--json").stop == (2, "overwrites-input", "target")
    assert Path("j.qrels").read_text() == before


@pytest.mark.slow
def test_convert_reads_standard_input_and_recognises_it(world: Path) -> None:
    words = [COMMAND, "convert", "-", "piped.csv", "--json"]
    done = subprocess.run(words, input=Path("j.qrels").read_text(), capture_output=True, text=True, check=True)
    assert '"kind": "judgments"' in done.stdout
    assert Path("piped.csv").read_text().splitlines()[1] == "q1,d1,0,0"


def test_convert_says_what_the_target_cannot_hold(world: Path, ringtrue) -> None:
    Path("timed.csv").write_text("query,doc,judge,label,time\nq1,d1,ann,1,12:00\n")
    answer = ringtrue("convert", "timed.csv", "timed.qrels", "--json")
    assert answer.notes == ["lost-columns"]
    assert all(word in answer.err for word in ("trec-qrels", "time"))
    assert ringtrue("convert", "timed.csv", "timed.xyz").code == 2


def test_convert_recognises_a_table_by_the_columns_it_was_told(world: Path, ringtrue) -> None:
    Path("export.csv").write_text("topic,url,nist_rel\nq1,d1,2\n")
    answer = ringtrue("convert", "export.csv", "out.qrels", "--columns", "doc=url,label=nist_rel", "--json")
    assert answer.json["kind"] == "judgments"
    assert Path("out.qrels").read_text() == "q1 0 d1 2\n"


@pytest.mark.parametrize("name", ["pool.txt", "pool.qrels"])
def test_pool_says_how_its_file_may_end(world: Path, ringtrue, name: str) -> None:
    answer = ringtrue("pool", "a.run", "--depth", "2", "-o", name)
    assert answer.code == 2
    assert "csv" in answer.err
    assert "--to" not in answer.err


def test_measures_lists_every_measure_with_its_sentence(ringtrue) -> None:
    answer = ringtrue("measures", "--json").json["measures"]
    assert {"nDCG", "AP", "P", "RR", "RBP", "ERR", "Judged"} <= {row["name"] for row in answer}
    assert all(row["summary"] for row in answer)


@pytest.mark.slow
def test_demo_writes_its_files_and_shows_that_the_winner_changes(world: Path, ringtrue) -> None:
    answer = ringtrue("demo", "--folder", "d", "--json").json
    written = [*answer["files"], "README.txt", "report.html"]
    assert sorted(p.name for p in Path("d").iterdir()) == sorted(written)
    assert answer["report"] == "d/report.html"
    assert answer["winners"] == {"bronze": "keyword", "gold": "neural", "corrected": "neural"}
    again = ringtrue("evaluate", "d/neural.run", "--judgments", "d/gold.qrels", "-m", "nDCG@10", "--json").json
    assert again["runs"]["neural"]["nDCG@10"]["value"] == pytest.approx(answer["gold"]["neural"]["nDCG@10"]["value"])


def test_the_demo_explains_the_columns_of_its_tables(demo_world: Path) -> None:
    explained = Path("d/README.txt").read_text()
    for name in ("crowd.csv", "traps.csv"):
        columns = Path("d", name).read_text().splitlines()[0].split(",")
        line = next(line for line in explained.splitlines() if line.startswith(name))
        assert line.endswith(": " + ", ".join(columns))


def test_the_crowd_of_the_demo_names_the_winner_that_gold_names(demo_world: Path, ringtrue) -> None:
    ringtrue("aggregate", "d/crowd.csv", "-o", "d/crowd.qrels")
    runs = [f"d/{name}.run" for name in ("keyword", "neural", "hybrid")]
    words = ("stability", *runs, "--judgments", "d/gold.qrels", "--versus", "d/crowd.qrels")
    winner = ringtrue(*words, "--json").json["winner"]
    assert (winner["judgments"], winner["versus"], winner["changes"]) == (["neural"], ["neural"], False)


@pytest.mark.slow
def test_the_demo_does_not_touch_a_folder_of_yours(world: Path, ringtrue) -> None:
    before = Path("a.run").read_text()
    assert ringtrue("demo", "--folder", ".", "--json").stop == (1, "folder-in-use", "folder")
    assert Path("a.run").read_text() == before
    assert not Path("gold.qrels").exists()


@pytest.mark.slow
def test_the_same_seed_makes_the_same_demo(world: Path, ringtrue) -> None:
    words = ("demo", "--folder", "d", "--no-report", "--queries", "20", "--json")
    first, second, other = (ringtrue(*words, "--seed", seed).json for seed in "112")
    assert first == second
    assert first != other


def test_version_is_told(ringtrue) -> None:
    assert ringtrue("--version").out == f"{__version__}\n"
    assert ringtrue("version", "--json").json == {"version": __version__}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(command: str, ringtrue) -> None:
    answer = ringtrue(command, "--help")
    assert answer.code == 0
    assert COMMANDS[command] in answer.out
    assert "--json" in answer.out


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, ringtrue; print([m for m in ('numpy', 'polars', 'scipy', 'click', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.slow
def test_evaluating_loads_neither_scipy_nor_pandas_nor_rich(world: Path) -> None:
    code = (
        "import sys; from ringtrue.cli import main\n"
        "try: main(['evaluate', 'a.run', '--judgments', 'j.qrels', '--json'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('scipy', 'pandas', 'rich', 'pyarrow', 'matplotlib') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.slow
def test_a_run_can_come_through_a_pipe(world: Path) -> None:
    done = subprocess.run(
        [COMMAND, "evaluate", "-", "--judgments", "j.qrels", "-m", "RR", "--json"],
        input=Path("a.run").read_text(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert '"stdin"' in done.stdout


@pytest.mark.slow
def test_judgments_through_a_pipe_with_a_document_twice_are_refused(world: Path) -> None:
    done = subprocess.run(
        [COMMAND, "evaluate", "a.run", "--judgments", "-", "-m", "RR", "--json"],
        input="q1 0 d1 1\nq1 0 d1 0\n", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    error = json.loads(done.stderr)["error"]
    assert (error["code"], error["message"].split(":")[0]) == ("repeated-label", "standard input")


@pytest.mark.slow
def test_an_answer_that_cannot_be_written_is_said_in_one_line(world: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, "measures"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)


@pytest.mark.slow
def test_a_line_that_stands_there_a_hundred_thousand_times_is_refused_at_once(world: Path) -> None:
    Path("same.run").write_text("q1 Q0 d1 1 3 t\n" * 100_000)
    words = [COMMAND, "evaluate", "same.run", "--judgments", "j.qrels", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert json.loads(done.stderr)["error"]["code"] == "duplicate-document"


@pytest.mark.slow
def test_the_reader_of_the_output_may_stop_early(world: Path) -> None:
    done = subprocess.run(f"{COMMAND} measures | head -n 1", shell=True, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_long_work_shows_a_bar_to_whoever_looks(world: Path) -> None:
    lines = "".join(
        f"q1 Q0 a-document-with-quite-a-long-identifier-{i:07d} {i} {900000 - i} x\n" for i in range(600_000)
    )
    Path("long.run").write_text(lines)
    master, slave = pty.openpty()
    words = [COMMAND, "evaluate", "long.run", "--judgments", "j.qrels", "-m", "RR", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=slave, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(slave)
        shown = b""
        try:
            while part := os.read(master, 65536):
                shown += part
        except OSError:  # the other side is closed
            pass
        assert process.stdout is not None
        assert process.stdout.read().startswith(b"{")
    os.close(master)
    assert b"reading" in shown
    assert b"100%" in shown
