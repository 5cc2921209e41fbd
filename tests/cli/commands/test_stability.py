"""`ringtrue stability`: the contract that scripts rely on, and what people read."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

FLIP = ["a", "b", "share", "flipped", "difference", "versus_difference", "noise", "versus_noise"]
KEYS = [
    "tau", "tau_range", "tau_ap", "rbo", "rbo_reversed", "persistence",
    "flips", "winner", "runs", "queries", "resamples",
]  # fmt: skip
COMMAND = str(Path(sys.executable).with_name("ringtrue"))
OTHER = "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d4 0\nq2 0 d9 1\n"


@pytest.fixture
def judges(world: Path) -> Path:
    """The small world with a second judge, who likes other documents, in k.qrels."""
    (world / "k.qrels").write_text(OTHER)
    (world / "c.run").write_text("q1 Q0 d3 1 3.0 C\nq1 Q0 d2 2 2.0 C\nq2 Q0 d7 1 1.0 C\n")
    return world


RUNS = ("a.run", "b.run", "c.run")
WORDS = ("stability", *RUNS, "--judgments", "j.qrels", "--versus", "k.qrels", "--resamples", "200")


def test_json_has_the_first_measure_on_top_and_every_measure_below(judges: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "-m", "RR,nDCG@10", "--json")
    assert answer.code == 0
    assert list(answer.json) == [*KEYS, "measure", "measures", "seed", "notes", "note_codes"]
    assert answer.json["measure"] == "RR"
    assert list(answer.json["measures"]) == ["RR", "nDCG@10"]
    assert list(answer.json["measures"]["RR"]) == KEYS
    assert {key: answer.json[key] for key in KEYS} == answer.json["measures"]["RR"]
    assert len(answer.json["flips"]) == 3
    assert list(answer.json["flips"][0]) == FLIP
    assert all(isinstance(answer.json[key], float) for key in ("tau", "tau_ap", "rbo"))
    assert list(answer.json["winner"]) == ["judgments", "versus", "changes", "same", "noise"]


def test_the_means_and_ranks_are_those_of_evaluate(judges: Path, ringtrue) -> None:
    runs = ringtrue(*WORDS, "-m", "RR", "--json").json["runs"]
    for path, mean, rank in (("j.qrels", "mean", "rank"), ("k.qrels", "versus_mean", "versus_rank")):
        means = ringtrue("evaluate", *RUNS, "--judgments", path, "-m", "RR", "--json").json["runs"]
        values = {run: means[run]["RR"]["value"] for run in runs}
        assert {run: row[mean] for run, row in runs.items()} == pytest.approx(values)
        assert {run: row[rank] for run, row in runs.items()} == {
            run: 1 + sum(other > value for other in values.values()) for run, value in values.items()
        }


def test_the_table_shows_both_orders_the_pairs_and_the_answer(judges: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "-m", "RR")
    lines = answer.out.splitlines()
    assert lines[0].split() == ["run", "j.qrels", "rank", "k.qrels", "rank"]
    assert lines[2].split() == ["a", "0.7500", "1", "0.5000", "2"]
    assert any(line.endswith(" over 2 queries") for line in lines)
    assert any(line.startswith("tau ") and "95% of 200 resamples" in line for line in lines)
    assert any("RBO" in line and " 0.855)" in line for line in lines)
    (answered,) = [line.partition(" in part: ")[2] for line in lines if "winner?" in line]
    assert [word for word in answered.rstrip(".").split() if word in ("j.qrels", "k.qrels", "a", "b")] == [
        "j.qrels", "a", "b", "k.qrels", "b",
    ]  # fmt: skip


def test_without_a_measure_it_is_ndcg_at_10(judges: Path, ringtrue) -> None:
    assert list(ringtrue(*WORDS, "--json").json["measures"]) == ["nDCG@10"]


def test_the_same_file_twice_is_the_same_order(judges: Path, ringtrue) -> None:
    words = ("stability", *RUNS, "--judgments", "j.qrels", "--versus", "j.qrels")
    answer = ringtrue(*words, "-m", "nDCG@10", "--json")
    assert (answer.json["tau"], answer.json["winner"]["same"]) == (1.0, 1.0)
    assert {flip["share"] for flip in answer.json["flips"]} == {0.0}
    table = ringtrue(*words).out
    assert "j.qrels again" in table
    assert "queries no: " in table
    assert "differ:" not in table


def test_the_same_seed_gives_the_same_answer_and_another_seed_other_draws(judges: Path, ringtrue) -> None:
    first, second, other = (ringtrue(*WORDS, "-m", "RR", "--seed", seed, "--json").json for seed in "112")
    assert first == second
    assert first["flips"] != other["flips"]
    assert first["tau"] == other["tau"]


def test_csv_has_every_pair_of_every_measure_with_every_digit(judges: Path, ringtrue) -> None:
    json = ringtrue(*WORDS, "-m", "RR,AP", "--json").json
    rows = list(csv.DictReader(io.StringIO(ringtrue(*WORDS, "-m", "RR,AP", "--format", "csv").out)))
    assert list(rows[0]) == ["measure", *FLIP]
    assert [(row["measure"], row["a"], float(row["share"]), float(row["difference"])) for row in rows] == [
        (measure, flip["a"], flip["share"], flip["difference"])
        for measure, one in json["measures"].items()
        for flip in one["flips"]
    ]


def test_markdown_and_latex_are_what_they_say(judges: Path, ringtrue) -> None:
    markdown = ringtrue(*WORDS, "-m", "RR", "--format", "markdown").out
    assert markdown.splitlines()[1] == "| --- | ---: | ---: | ---: | ---: |"
    assert "| run | against |" in markdown
    latex = ringtrue(*WORDS, "-m", "RR", "--format", "latex").out
    assert latex.count(r"\begin{tabular}") == 2
    assert [line for line in latex.splitlines() if line.startswith("% ") and "winner?" in line]


def test_level_and_persistence_are_asked_for(judges: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "-m", "RR", "--level", "0.5", "-p", "0.5", "--json").json
    assert (answer["tau_range"]["level"], answer["persistence"]) == (0.5, 0.5)
    assert "50% of 200 resamples" in ringtrue(*WORDS, "-m", "RR", "--level", "0.5").out


def test_only_the_ten_most_doubtful_pairs_are_shown_and_the_rest_counted(judges: Path, ringtrue) -> None:
    names = [f"r{i}.run" for i in range(6)]
    for place, name in enumerate(names):
        docs = ["d1", "d2", "d3"][place % 3 :] + ["d1", "d2", "d3"][: place % 3]
        lines = [f"q1 Q0 {doc} {i} {9 - i} x\n" for i, doc in enumerate(docs)]
        Path(name).write_text("".join(lines) + f"q2 Q0 {'d4' if place < 3 else 'd9'} 1 1 x\n")
    words = ("stability", *names, "--judgments", "j.qrels", "--versus", "k.qrels", "-m", "RR", "--resamples", "50")
    assert "\n5 more pairs" in ringtrue(*words).out
    assert len(ringtrue(*words, "--json").json["flips"]) == 15


def test_two_judges_of_one_file_are_held_against_each_other(judges: Path, ringtrue) -> None:
    Path("both.qrels").write_text("".join(
        line.replace(" 0 ", f" {judge} ", 1) + "\n"
        for judge, file in (("ann", "j.qrels"), ("bob", "k.qrels"))
        for line in Path(file).read_text().splitlines()
    ))  # fmt: skip
    words = ("stability", *RUNS, "--judgments", "both.qrels", "--versus", "both.qrels", "-m", "RR", "--judge", "ann")
    answer = ringtrue(*words, "--versus-judge", "bob", "--resamples", "200", "--json").json
    assert answer["flips"] == ringtrue(*WORDS, "-m", "RR", "--json").json["flips"]
    assert ringtrue(*words, "--versus-judge", "bob").out.split()[1:6] == [
        "both.qrels",
        "ann",
        "rank",
        "both.qrels",
        "bob",
    ]


def test_a_binary_judge_against_a_graded_one_needs_a_scale_of_its_own(judges: Path, ringtrue) -> None:
    Path("graded.qrels").write_text("q1 0 d1 1\nq1 0 d2 3\nq1 0 d3 2\nq2 0 d4 2\n")
    Path("binary.qrels").write_text("q1 0 d1 0\nq1 0 d2 1\nq1 0 d3 1\nq2 0 d4 1\n")
    words = ("stability", *RUNS, "--judgments", "graded.qrels", "--versus", "binary.qrels", "--resamples", "50")
    refused = ringtrue(*words, "-m", "RR", "--rel", "2", "--json")
    assert refused.stop == (2, "nothing-relevant", "versus_rel")
    assert all(part in refused.error["message"] for part in ("binary.qrels: ", "RR(rel=2)", "--versus-rel 1"))
    for measure in (("RR", "--rel", "2"), ("RR(rel=2)",)):
        answer = ringtrue(*words, "-m", *measure, "--versus-rel", "1", "--json")
        assert list(answer.json["measures"]) == ["RR(rel=2)"]
        assert answer.json["tau"] == 1.0
        assert "different-rel" in answer.notes
    unsaid = ringtrue(*words, "-m", "RR,nDCG@10", "--json")
    assert all(part in unsaid.note("different-scales") for part in ("3 in graded", "1 in binary", "RR"))
    backwards = ringtrue(*(word.replace("graded", "tmp").replace("binary", "graded").replace("tmp", "binary")
                           for word in words), "-m", "RR", "--rel", "2", "--json")  # fmt: skip
    assert backwards.stop == (2, "nothing-relevant", "rel")
    assert " --rel 1" in backwards.error["message"]


def test_documents_that_one_judge_alone_saw_are_told(judges: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "-m", "RR", "--json")
    assert "judged-by-one" in answer.notes
    assert "by k.qrels: " in answer.err


def test_queries_of_one_judge_alone_are_not_used_and_told(judges: Path, ringtrue) -> None:
    Path("k.qrels").write_text("q1 0 d1 1\nq1 0 d3 1\nq8 0 d1 1\n")
    answer = ringtrue(*WORDS, "-m", "RR", "--json")
    assert answer.json["queries"] == 1
    assert answer.note("queries-not-in-run").startswith("k.qrels: a, b, c: ")
    assert sorted(note[-2:] for note in answer.json["notes"] if note.endswith((": q2", ": q8"))) == [
        "q2",
        "q2",
        "q8",
        "q8",
    ]
    assert answer.notes.count("unshared-queries") == 2


def test_queries_that_a_run_lacks_are_left_out_with_skip(judges: Path, ringtrue) -> None:
    Path("c.run").write_text("q1 Q0 d3 1 3.0 C\n")
    answer = ringtrue(*WORDS, "-m", "RR", "--missing", "skip", "--json")
    assert answer.json["queries"] == 1
    assert "queries-not-in-all-runs" in answer.notes
    assert ringtrue(*WORDS, "-m", "RR", "--json").json["queries"] == 2


def test_a_judge_who_saw_none_of_the_documents_leaves_tau_null_with_a_note(judges: Path, ringtrue) -> None:
    Path("k.qrels").write_text("q1 0 DOC-1 1\nq2 0 DOC-2 1\n")
    answer = ringtrue(*WORDS, "-m", "RR", "--json")
    assert answer.code == 0
    assert answer.json["tau"] is None
    assert answer.notes.count("no-common-document") == 3
    assert "all-runs-tied" in answer.notes
    assert "tau undefined\n" in ringtrue(*WORDS, "-m", "RR").out


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("q8 0 d1 1\n", ("no-common-query", None)),
        ("q1 0 d1 x\n", ("bad-label", "k.qrels")),
        ("", ("empty-file", "k.qrels")),
        ("q1 0 d1 1\nq1 0 d1 0\n", ("repeated-label", "k.qrels")),
    ],
)
def test_a_bad_second_file_brings_exit_1_one_line_and_no_number(
    judges: Path, ringtrue, content: str, error: tuple[str, str | None]
) -> None:
    Path("k.qrels").write_text(content)
    answer = ringtrue(*WORDS, "--json")
    assert answer.code == 1
    assert (answer.error["code"], answer.error["file"]) == error
    assert answer.err.count("\n") == 1


def test_judges_who_share_no_query_are_told_so(judges: Path, ringtrue) -> None:
    Path("j.qrels").write_text("q1 0 d1 1\n")
    Path("k.qrels").write_text("q2 0 d4 1\n")
    answer = ringtrue(*WORDS, "--json")
    assert answer.stop == (1, "no-common-query", None)
    assert all(query in answer.error["message"] for query in ("q1", "q2"))


def test_a_second_file_that_is_not_there_is_named(judges: Path, ringtrue) -> None:
    answer = ringtrue("stability", *RUNS, "--judgments", "j.qrels", "--versus", "nowhere.qrels", "--json")
    assert answer.stop == (1, "no-such-file", None)
    assert answer.error["file"] == "nowhere.qrels"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("stability", "a.run", "--judgments", "j.qrels", "--versus", "k.qrels"), ("needs-two-runs", None)),
        (("stability", "a.run", "b.run", "--judgments", "j.qrels"), ("needs-parameter", "versus")),
        (("stability", "a.run", "b.run", "--versus", "j.qrels"), ("needs-parameter", "judgments")),
        ((*WORDS, "-m", "nDGC@10"), ("unknown-measure", "measure")),
        ((*WORDS, "-m", ""), ("no-measure", "measure")),
        ((*WORDS, "--seed", "-1"), ("bad-value", "seed")),
        ((*WORDS, "--level", "95"), ("bad-level", "level")),
        ((*WORDS, "-p", "1"), ("bad-value", "persistence")),
        ((*WORDS, "--versus", "j.qrels"), ("repeated-parameter", "versus")),
        ((*WORDS, "--versus-judge", "zoe"), ("unknown-judge", "judge")),
        (("stability", "a.run", "b.run", "--judgments", "-", "--versus", "-"), ("input-read-twice", None)),
    ],
)
def test_wrong_usage_brings_exit_2_and_no_number(
    judges: Path, ringtrue, words: tuple[str, ...], error: tuple[str, str | None]
) -> None:
    assert ringtrue(*words, "--json").stop == (2, *error)


@pytest.mark.slow
def test_the_second_judge_can_come_through_a_pipe(judges: Path, ringtrue) -> None:
    words = [COMMAND, *("-" if word == "k.qrels" else word for word in WORDS), "-m", "RR", "--json"]
    done = subprocess.run(words, input=Path("k.qrels").read_text(), capture_output=True, text=True, check=True)
    assert done.stdout.split('"notes"')[0] == ringtrue(*WORDS, "-m", "RR", "--json").out.split('"notes"')[0]


@pytest.mark.slow
@pytest.mark.real
def test_all_37_runs_of_dl19_by_people_and_by_models(data: Path, ringtrue) -> None:
    runs = sorted(map(str, (data / "dl19/runs").glob("*.run")))
    words = ("stability", *runs, "--judgments", str(data / "dl19/human.qrels"), "--resamples", "1000", "--json")
    graded = ringtrue(*words, "--versus", str(data / "dl19/llm-umbrela_gpt4.qrels")).json
    assert round(graded["tau"], 4) == 0.8498
    assert (len(graded["flips"]), graded["winner"]["changes"]) == (666, False)
    binary = ringtrue(
        *words, "--versus", str(data / "dl19/llm-binary_gpt4.qrels"), "-m", "P@10", "--rel", "2", "--versus-rel", "1"
    ).json
    assert list(binary["measures"]) == ["P(rel=2)@10"]
    assert (round(binary["tau"], 3), binary["winner"]["changes"]) == (0.834, True)
