"""`ringtrue doctor`: the contract that scripts rely on, what people read, and commands that work when pasted."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringtrue.cli import COMMANDS
from ringtrue.cli.commands import serve
from ringtrue.cli.commands.doctor import SECTIONS

BIN = Path(sys.executable).parent
WIDTH = 80


@pytest.fixture
def demo(small_demo: Path) -> Path:
    return small_demo


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the commands are called."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line as somebody pastes it into a shell."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    there = os.environ | {"PATH": path, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=there, capture_output=True, text=True)


def words_of(line: str, folder: Path) -> list[str]:
    """What a shell hands to `ringtrue` when somebody pastes a line, which has to be one call of it and no more."""
    done = shell(f"ringtrue() {{ printf '%s\\0' ringtrue \"$@\"; }}\n{line}", folder)
    assert (done.returncode, done.stderr) == (0, ""), line
    command, *words = done.stdout.removesuffix("\0").split("\0")
    assert (command, words.count("ringtrue")) == ("ringtrue", 0), line
    return words


def examined(ringtrue: Callable[..., Any], *paths: object) -> Any:
    answer = ringtrue("doctor", *map(str, paths), "--json")
    assert answer.code == 0, answer.err
    return answer.json


def require_that_all_work(ringtrue: Callable[..., Any], found: Any, folder: Path, *, but: tuple[str, ...] = ()) -> None:
    """Paste every command into a shell and do here what it hands over; `serve` would not end, and is only parsed."""
    assert found["can"]
    for possible in found["can"]:
        words = words_of(possible["command"], folder)
        if possible["verb"] == "serve":
            serve.command.make_context("serve", words[1:])
        elif possible["verb"] not in but:
            answer = ringtrue(*words)
            assert answer.code == 0, f"{possible['command']}\n{answer.err}"


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_every_command_that_is_printed_works_on_the_demo(demo: Path, away: Path, ringtrue) -> None:
    found = examined(ringtrue, *sorted(demo.iterdir()))
    assert {one["verb"] for one in found["can"]} >= {
        "report", "evaluate", "evaluate --gold", "compare", "compare --gold", "stability", "curve", "ceiling", "agree",
        "judges", "aggregate", "disagreement", "rate", "sample", "plan", "pool", "pairs", "serve",
    }  # fmt: skip
    assert found["cannot"] == []
    require_that_all_work(ringtrue, found, away)


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ["neural.run"],
        ["neural.run", "gold.qrels"],
        ["neural.run", "hybrid.run", "bronze.qrels", "sample.csv"],
        ["keyword.run", "crowd.csv", "traps.csv", "gold.qrels"],
        ["crowd.csv", "sample.csv"],
        ["preferences.csv", "traps.pref"],
        ["topics.csv", "documents.jsonl", "neural.run", "keyword.run", "hybrid.run", "preferences.csv"],
    ],
    ids=lambda names: "+".join(names),
)
def test_every_command_works_with_some_files_of_the_demo(names: list[str], demo: Path, away: Path, ringtrue) -> None:
    found = examined(ringtrue, *(demo / name for name in names))
    require_that_all_work(ringtrue, found, away, but=("report",))


@pytest.mark.slow
def test_what_commands_write_can_be_given_to_doctor_again(demo: Path, away: Path, ringtrue) -> None:
    first = [demo / name for name in ("neural.run", "keyword.run", "bronze.qrels", "crowd.csv", "traps.csv")]
    require_that_all_work(ringtrue, examined(ringtrue, *first), away, but=("report",))
    assert ringtrue("judges", str(demo / "crowd.csv"), "--confusion-out", "matrix.json").code == 0
    written = sorted(path.name for path in away.iterdir())
    again = examined(ringtrue, *first, *written)
    kinds = {file["path"]: file["kind"] for file in again["files"]}
    assert {name: kinds[name] for name in written} == {
        "crowd-one-label.qrels": "judgments", "gains.json": "gains", "gold-sample.csv": "sample",
        "gold-sample.frame.csv": "frame", "matrix.json": "confusion", "pairs.csv": "pairs", "pool.csv": "pool",
    }  # fmt: skip
    assert "gold-sample-2.csv" in " ".join(one["command"] for one in again["can"])
    require_that_all_work(ringtrue, again, away, but=("report",))


@pytest.mark.slow
def test_commands_work_in_a_real_shell_also_where_they_are_folded(demo: Path, tmp_path: Path) -> None:
    done = shell(f"ringtrue doctor {shlex.quote(str(demo))}/*.run {shlex.quote(str(demo / 'gold.qrels'))}", tmp_path)
    lines = done.stdout.splitlines()
    start = next(place for place, line in enumerate(lines) if line.strip().startswith("ringtrue evaluate"))
    end = next(place for place in range(start, len(lines)) if not lines[place].endswith("\\"))
    assert end > start
    assert shell("\n".join(lines[start : end + 1]), tmp_path).returncode == 0


def test_json_has_files_overlaps_can_and_cannot(world: Path, ringtrue) -> None:
    answer = ringtrue("doctor", "a.run", "j.qrels", "--json")
    assert (answer.code, list(answer.json)) == (0, ["files", "overlaps", "can", "cannot"])
    run, judged = answer.json["files"]
    assert {name: run[name] for name in ("path", "kind", "format")} == {
        "path": "a.run", "kind": "run", "format": "trec-run",
    }  # fmt: skip
    assert run["counts"] == {"queries": 2, "documents": 4, "fewest": 1, "most": 3, "tag": "A"}
    assert judged["counts"]["shares"] == {"0": 0.25, "1": 0.5, "2": 0.25}
    assert answer.json["overlaps"][0]["judged_share"] == 1.0
    evaluate = next(one for one in answer.json["can"] if one["verb"] == "evaluate")
    assert list(evaluate) == ["verb", "question", "command", "call"]
    assert evaluate["command"] == "ringtrue evaluate a.run --judgments j.qrels"
    assert evaluate["call"] == {"command": "evaluate", "files": ["a.run"], "arguments": {"judgments": "j.qrels"}}
    compare = next(one for one in answer.json["cannot"] if one["verb"] == "compare")
    assert list(compare) == ["verb", "question", "needs", "code", "todo", "calls"]
    assert (compare["code"], compare["calls"]) == ("needs-two-runs", [])


def test_every_verb_is_a_command_of_ours(world: Path, ringtrue) -> None:
    answer = ringtrue("doctor", "a.run", "b.run", "j.qrels", "--json").json
    verbs = {one["verb"].split()[0] for one in (*answer["can"], *answer["cannot"])}
    assert verbs <= set(COMMANDS)


@pytest.mark.slow
def test_the_table_fits_a_terminal_and_says_first_what_the_files_are(demo: Path, ringtrue) -> None:
    answer = ringtrue("doctor", *map(str, sorted(demo.iterdir())))
    lines = answer.out.splitlines()
    assert (answer.code, answer.err) == (0, "")
    assert [line for line in lines if len(line) > WIDTH and str(demo) not in line] == []
    assert lines[0].split()[:4] == ["hybrid.run", "run", "20", "queries,"]
    headings = [line for line in lines if line and not line.startswith(" ")]
    assert headings[-4:] == list(SECTIONS)
    assert "README.txt" in answer.out


def test_many_runs_are_told_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ringtrue) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(15):
        lines = [f"q{q} Q0 d{rank + number} {rank} {50 - rank} t" for q in (1, 2) for rank in range(1, 12)]
        (tmp_path / f"r{number:02}.run").write_text("\n".join(lines) + "\n")
    (tmp_path / "j.qrels").write_text("".join(f"q{q} 0 d{d} {d % 2}\n" for q in (1, 2) for d in range(1, 18)))
    answer = ringtrue("doctor", *(path.name for path in sorted(tmp_path.iterdir())))
    lines = [line.split() for line in answer.out.splitlines()]
    assert lines[0][:5] == ["15", "runs", "run", "2", "queries,"]
    assert ["15", "runs", "30%", "to", "100%"] in lines
    assert ["ringtrue", "evaluate", "*.run", "--judgments", "j.qrels"] in lines


def test_the_same_doubt_about_several_files_is_told_once(world: Path, ringtrue) -> None:
    answer = ringtrue("doctor", "a.run", "b.run")
    notes = {file["path"]: file["note_codes"] for file in ringtrue("doctor", "a.run", "b.run", "--json").json["files"]}
    assert notes["a.run"] == notes["b.run"] == ["short-lists"]
    assert answer.out.count("a.run, b.run: ") == 1


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_other_formats_have_the_same_commands(form: str, world: Path, ringtrue) -> None:
    answer = ringtrue("doctor", "a.run", "j.qrels", "--format", form)
    assert answer.code == 0
    missing = ringtrue("doctor", "a.run", "j.qrels", "--json").json["cannot"]
    assert "ringtrue evaluate" in answer.out
    assert missing[0]["needs"] in answer.out


@pytest.mark.slow
def test_standard_input_is_a_file_too(demo: Path) -> None:
    done = shell("ringtrue doctor - --json < neural.run", demo)
    assert json.loads(done.stdout)["files"][0]["kind"] == "run"


def test_standard_input_can_be_read_only_once(ringtrue) -> None:
    answer = ringtrue("doctor", "-", "-")
    assert answer.code == 2


def test_the_exit_code_is_1_only_if_no_file_can_be_used(world: Path, ringtrue) -> None:
    (world / "empty.run.gz").touch()
    (world / "paper.pdf").write_text("%PDF-1.4\n")
    assert ringtrue("doctor", "a.run", "empty.run.gz", "no-such.run").code == 0
    answer = ringtrue("doctor", "empty.run.gz", "paper.pdf", "no-such.run", ".")
    assert answer.code == 1
    assert "ringtrue evaluate" not in answer.out
    told = ringtrue("doctor", "empty.run.gz", "paper.pdf", "no-such.run", ".", "--json")
    assert told.code == 1
    assert [(file["kind"], file["error_code"]) for file in told.json["files"]] == [
        (None, "empty-file"), (None, "binary-file"), (None, "no-such-file"), (None, "is-a-folder"),
    ]  # fmt: skip


def test_no_file_at_all_is_a_wrong_question(ringtrue) -> None:
    assert ringtrue("doctor").code == 2


SETS = {
    "dl19": ["runs/ICT-BERT2.run", "runs/bm25base_p.run", "runs/idst_bert_p1.run", "human.qrels",
             "llm-umbrela_gpt4.qrels", "llm-binary_gpt4.qrels", "topics.tsv"],
    "rf10": ["labels.csv"],
    "web5": ["label.csv", "truth.csv"],
    "nyt17": ["pilot_docs.csv", "pilot_labels.csv"],
    "arena": ["food.csv", "llmfao.csv", "llmfao-golden.csv", "codings.csv"],
}  # fmt: skip
KINDS = {
    "dl19": ["run", "run", "run", "judgments", "judgments", "judgments", "topics"],
    "rf10": ["judgments"],
    "web5": ["judgments", "judgments"],
    "nyt17": ["pool", "judgments"],
    "arena": ["preferences", "preferences", "run", None],
}


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_every_command_works_on_real_data(name: str, data: Path, away: Path, ringtrue) -> None:
    found = examined(ringtrue, *(data / name / file for file in SETS[name]))
    assert [file["kind"] for file in found["files"]] == KINDS[name]
    but = ("report", "agree") if name in ("arena", "web5", "nyt17") else ("report",)
    require_that_all_work(ringtrue, found, away, but=but)


@pytest.mark.slow
@pytest.mark.real
def test_real_data_are_told_for_what_they_are(data: Path, ringtrue) -> None:
    crowd = examined(ringtrue, data / "rf10/labels.csv")
    calls = {one["verb"]: one["call"]["arguments"] for one in crowd["can"]}
    assert (calls["judges"]["gold_columns"], calls["judges"]["gold_where"]) == ({"label": "gold"}, {"gold!": ""})
    assert calls["aggregate"]["repeats"] == "last"
    nist = examined(ringtrue, data / "nyt17/pilot_docs.csv", data / "nyt17/pilot_labels.csv")
    columns = [one["call"]["arguments"].get("gold_columns") for one in nist["can"]]
    assert {"label": "nist_rel"} in columns
    assert any("--where experiment=" in note for file in nist["files"] for note in file["notes"])
    passages = examined(ringtrue, *(data / "dl19" / file for file in SETS["dl19"]))
    roles = {Path(file["path"]).name: file.get("role") for file in passages["files"]}
    assert (roles["human.qrels"], roles["llm-umbrela_gpt4.qrels"]) == ("gold", "bronze")
    assert min(one["judged_share"] for one in passages["overlaps"]) > 0.99
