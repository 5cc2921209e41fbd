"""`ringtrue pairs`: the contract that scripts rely on, the tasks that are written, and what is refused."""

from __future__ import annotations

import csv
import io
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ringtrue as rt

CONTRACT = ["pairs", "votes", "queries", "tasks", "traps", "design", "file", "seed", "notes", "note_codes"]
COLUMNS = ["batch", "place", "query", "left", "right", "trap", "vote", "design", "judge", "winner"]


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run and a pool of 12 documents for each of three queries, in opposite orders, and six traps of one query."""
    ranks = [(f"q{q}", f"d{rank:02}", rank) for q in range(3) for rank in range(1, 13)]
    (tmp_path / "a.run").write_text("".join(f"{q} Q0 {doc} {rank} {-rank} A\n" for q, doc, rank in ranks))
    pool = ["query,doc,runs,best_rank", *(f"{q},d{13 - rank:02},1,{rank}" for q, _, rank in ranks)]
    (tmp_path / "pool.csv").write_text("\n".join(pool) + "\n")
    (tmp_path / "traps.pref").write_text("".join(f"q0 good{n} bad{n} good{n}\n" for n in range(6)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def filled(path: str, name: str, *, rows: int | None = None, seed: int = 0) -> str:
    """The tasks as people give them back: documents with lower numbers are better, and one in ten is wrong."""
    frame = pl.read_csv(path, infer_schema=False)
    better = pl.when(pl.col("trap") == "true").then(pl.col("left").str.starts_with("good"))
    better = better.otherwise(pl.col("left") < pl.col("right"))
    wrong = pl.Series(np.random.default_rng(seed).random(frame.height) < 0.1)
    said = pl.when(better ^ wrong).then(pl.lit("left")).otherwise(pl.lit("right"))
    if rows is not None:
        said = pl.when(pl.int_range(pl.len()) < rows).then(said)
    frame.with_columns(judge=pl.lit("w") + pl.col("batch"), winner=said).write_csv(name)
    return name


def test_json_has_every_key_of_the_contract(shelf: Path, ringtrue) -> None:
    answer = ringtrue("pairs", "a.run", "--design", "seed", "-o", "out.csv", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert list(answer.json) == CONTRACT
    assert answer.json == {
        "pairs": 135, "votes": 540, "queries": 3, "tasks": 27, "traps": 0, "design": "seed", "file": "out.csv",
        "seed": 0, "notes": [], "note_codes": [],
    }  # fmt: skip


def test_the_file_has_a_row_for_every_vote_with_nothing_filled_in(shelf: Path, ringtrue) -> None:
    ringtrue("pairs", "a.run", "--traps", "traps.pref", "-o", "out.csv")
    frame = pl.read_csv("out.csv")
    assert frame.columns == COLUMNS
    assert frame["winner"].null_count() == frame["judge"].null_count() == frame.height
    assert frame.filter(~pl.col("trap")).height == 45
    assert set(frame["design"]) == {"active"}
    assert frame.group_by("batch").len()["len"].max() == 20


def test_a_pool_is_taken_in_its_own_order_and_a_run_by_its_scores(shelf: Path, ringtrue) -> None:
    for name, first in (("a.run", {"d01", "d02"}), ("pool.csv", {"d11", "d12"})):
        ringtrue("pairs", name, "--design", "seed", "--budget", "3", "-o", "out.csv")
        assert {doc for side in ("left", "right") for doc in pl.read_csv("out.csv")[side]} == first


def test_the_depth_cuts_the_ranking(shelf: Path, ringtrue) -> None:
    answer = ringtrue("pairs", "a.run", "--design", "seed", "--depth", "4", "--votes", "1", "-o", "out.csv", "--json")
    assert (answer.json["pairs"], answer.json["votes"]) == (18, 18)


def test_the_same_seed_gives_the_same_file(shelf: Path, ringtrue) -> None:
    texts = []
    for seed in ("1", "1", "2"):
        ringtrue("pairs", "a.run", "--seed", seed, "-o", "out.csv")
        texts.append(Path("out.csv").read_text())
    assert texts[0] == texts[1] != texts[2]


def test_people_see_what_to_do_next(shelf: Path, ringtrue) -> None:
    answer = ringtrue("pairs", "a.run", "--traps", "traps.pref", "-o", "out.csv")
    assert answer.code == 0
    calls = re.findall(r"`(ringtrue .*?)`", answer.out)
    assert [call.split()[1:3] for call in calls] == [["judges", "out.csv"], ["rate", "out.csv"], ["pairs", "…"]]
    assert all(option in calls[0] for option in ("--traps traps.", "--accept 4/5", "--repeats all"))
    assert calls[2].split()[-2:] == ["--preferences", "out.csv"]
    assert all(part in answer.err for part in ("5 traps", "2 of 5 ", "81% of", "--accept 4/5", "19%"))
    assert ringtrue("pairs", "a.run", "--traps", "traps.pref", "-o", "out.csv", "--json").notes == [
        "traps-of-other-queries",
        "accept-rule",
    ]


def test_the_chance_of_a_guesser_is_that_of_the_traps_that_the_tasks_have(shelf: Path, ringtrue) -> None:
    words = ("--traps", "traps.pref", "--design", "seed", "--votes", "1", "-o", "out.csv")
    small = ringtrue("pairs", "a.run", "--depth", "2", *words)
    assert (" 1 trap: " in small.err, small.err.count("50%")) == (True, 2)
    mixed = ringtrue("pairs", "a.run", "--budget", "17", "--design", "random", *words[:2], *words[4:])
    traps = pl.read_csv("out.csv").filter("trap").group_by("batch").len()["len"].to_list()
    assert sorted(traps) == [2, 2, 2]  # 5 or 6 pairs
    assert all(part in mixed.err for part in (" 2 traps: ", "75% of", "25%"))


def test_one_person_may_take_several_tasks_and_meet_a_trap_again(shelf: Path, ringtrue) -> None:
    ringtrue("pairs", "a.run", "--traps", "traps.pref", "--budget", "90", "-o", "out.csv")
    filled("out.csv", "back.csv")
    pl.read_csv("back.csv").with_columns(judge=pl.lit("ann")).write_csv("back.csv")
    hint = ("judges", "back.csv", "--traps", "traps.pref", "--accept", "4/5")
    assert ringtrue(*hint).code == 1
    judged = ringtrue(*hint, "--repeats", "all", "--json")
    assert judged.code == 0
    assert judged.json["judges"][0]["traps"]["n"] == 30


def test_several_runs_are_pooled_at_the_depth(shelf: Path, ringtrue) -> None:
    Path("b.run").write_text("q0 Q0 d09 1 9 B\nq0 Q0 d02 2 8 B\nq0 Q0 d03 3 7 B\n")
    words = ("--design", "seed", "--votes", "1", "--depth", "2", "-o", "out.csv", "--json")
    answer = ringtrue("pairs", "a.run", "b.run", *words)
    assert answer.json["pairs"] == 3 + 1 + 1
    frame = pl.read_csv("out.csv").filter(query="q0")
    assert set(frame["left"]) | set(frame["right"]) == {"d01", "d02", "d09"}
    choice = rt.choose_pairs([rt.read_run("a.run"), rt.read_run("b.run")], design="seed", votes=1, depth=2,
                             rng=np.random.default_rng(0))  # fmt: skip
    assert pl.read_csv("out.csv", schema=choice.frame.schema).equals(choice.frame)


def test_a_condition_is_about_the_preferences_and_comes_along_to_the_next_step(shelf: Path, ringtrue) -> None:
    ringtrue("pairs", "a.run", "-o", "out.csv")
    filled("out.csv", "back.csv")
    answer = ringtrue("pairs", "a.run", "--preferences", "back.csv", "--where", "judge!=w1", "-o", "next.csv")
    assert "note: 40 votes " in answer.err
    rate, pairs = [shlex.split(call)[1:] for call in re.findall(r"`(ringtrue .*?)`", answer.out)][-2:]
    assert rate == ["rate", "back.csv", "next.csv", "--where", "judge!=w1"]
    assert pairs[-6:] == ["--preferences", "back.csv", "--preferences", "next.csv", "--where", "judge!=w1"]


def test_what_is_left_of_a_budget_is_told(shelf: Path, ringtrue) -> None:
    answer = ringtrue("pairs", "a.run", "--depth", "2", "--budget", "1000", "-o", "out.csv", "--json")
    assert (answer.json["pairs"], answer.json["votes"]) == (3, 12)
    assert answer.notes[0] == "fewer-pairs"
    assert all(count in answer.err for count in ("1,000 votes", "only 12 "))


@pytest.mark.parametrize("text", ["q0 0 d01 1\nq0 0 d02 0\n", "query,doc,label\nq0,d01,1\n"])
def test_traps_for_labels_are_no_traps_for_pairs(shelf: Path, ringtrue, text: str) -> None:
    Path("labels.txt").write_text(text)
    answer = ringtrue("pairs", "a.run", "--traps", "labels.txt", "-o", "out.csv", "--json")
    assert answer.stop == (1, "other-kind", "traps")
    assert answer.error["message"].startswith("labels.txt: ")


def test_tasks_are_written_as_a_table_only(shelf: Path, ringtrue) -> None:
    for name in ("out.pref", "out", "out.run"):
        answer = ringtrue("pairs", "a.run", "-o", name, "--json")
        assert answer.stop == (2, "wrong-format", "output")
        assert all(part in answer.error["message"] for part in (name, ".csv", ".parquet"))
    assert ringtrue("pairs", "a.run", "-o", "out.csv.gz").code == 0


def test_csv_has_the_counts_in_a_row(shelf: Path, ringtrue) -> None:
    out = ringtrue("pairs", "a.run", "--design", "swiss", "-o", "out.csv", "--format", "csv").out
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["pairs"], row["votes"], row["design"]) == ("18", "72", "swiss")


@pytest.mark.parametrize("design", ["seed", "random", "swiss", "active"])
def test_a_file_that_was_filled_in_is_rated_judged_and_continued(shelf: Path, ringtrue, design: str) -> None:
    words = ("pairs", "a.run", "--design", design, "--votes", "1", "--budget", "60", "--traps", "traps.pref")
    assert ringtrue(*words, "-o", "out.csv").code == 0
    filled("out.csv", "back.csv")
    rated = ringtrue("rate", "back.csv", "--json")
    assert rated.code == 0
    docs = {row["doc"] for rows in rated.json["queries"].values() for row in rows}
    assert docs <= {f"d{rank:02}" for rank in range(1, 13)}
    judged = ringtrue("judges", "back.csv", "--traps", "traps.pref", "--json")
    assert judged.code == 0
    assert all(one["traps"]["n"] > 0 for one in judged.json["judges"])
    further = ringtrue(*words[:7], "20", "--preferences", "back.csv", "-o", "next.csv", "--json")
    assert further.code == 0
    assert any("60 votes on" in note for note in further.json["notes"])
    assert pl.read_csv("next.csv")["batch"].min() > pl.read_csv("back.csv")["batch"].max()  # type: ignore[operator]


def test_pairs_without_an_answer_are_left_out_with_a_word(shelf: Path, ringtrue) -> None:
    ringtrue("pairs", "a.run", "-o", "out.csv")
    filled("out.csv", "back.csv", rows=10)
    answer = ringtrue("pairs", "a.run", "--preferences", "back.csv", "-o", "next.csv", "--json")
    assert (answer.code, "unanswered-pairs" in answer.notes) == (0, True)
    assert all(part in answer.err for part in ("back.csv: ", "50 of 60 "))


def test_tasks_that_somebody_has_answered_are_not_written_over(shelf: Path, ringtrue) -> None:
    ringtrue("pairs", "a.run", "-o", "out.csv")
    assert ringtrue("pairs", "a.run", "-o", "out.csv").code == 0  # nobody has, so far
    filled("out.csv", "out.csv", rows=2)
    before = Path("out.csv").read_text()
    answer = ringtrue("pairs", "a.run", "-o", "out.csv", "--json")
    assert answer.stop == (2, "overwrites-answers", "output")
    assert all(part in answer.error["message"] for part in ("out.csv", "2 winners"))
    assert Path("out.csv").read_text() == before


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("a.run", "--design", "swis"), ("bad-value", "design")),
        (("a.run", "--budget", "0"), ("bad-value", "budget")),
        (("a.run", "--depth", "1"), ("bad-value", "depth")),
        (("a.run", "--documents", "d.csv"), ("needs-parameter", "topics")),
        (("a.run", "a.run"), ("repeated-run", "runs")),
        (("a.run", "pool.csv"), ("mixed-kinds", "candidates")),
        (("a.run", "--traps-per-task", "3"), ("traps-not-given", "traps_per_task")),
        (("a.run", "--budget", "1000000"), ("too-many-choices", "budget")),
        ((), ("needs-parameter", "candidates")),
        (("a.run", "--traps", "traps.pref", "--per-task", "5"), ("out-of-range", "traps_per_task")),
        (("-", "--preferences", "-"), ("input-read-twice", None)),
        (
            ("a.run", "--columns", "doc=nix"),
            ("no-column-names", "columns"),
        ),
        (("pool.csv", "--columns", "doc=nix"), ("unknown-column", "columns")),
    ],
)
def test_wrong_questions_are_refused(
    shelf: Path, ringtrue, words: tuple[str, ...], error: tuple[str, str | None]
) -> None:
    assert ringtrue("pairs", *words, "-o", "out.csv", "--json").stop == (2, *error)
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("q1 0 d1 1\nq1 0 d2 0\n", ("other-kind", "candidates")),
        ("q1 a b a\nq1 c b b\n", ("other-kind", "candidates")),
        ("query,title\nq1,bread\n", ("missing-column", None)),
        ("query,doc\nq1,a\nq1,a\n", ("duplicate-document", None)),
        ("query,doc\nq1,a\nq2,b\n", ("no-two-documents", None)),
        ("q1 Q0 d1 1 2.0 A\nq1 Q0 d1 2 1.0 A\n", ("duplicate-document", None)),
    ],
)
def test_files_of_another_kind_are_named_as_such(
    shelf: Path, ringtrue, text: str, error: tuple[str, str | None]
) -> None:
    Path("in.txt").write_text(text)
    answer = ringtrue("pairs", "in.txt", "-o", "out.csv", "--json")
    assert answer.stop == (1, *error)
    assert answer.error["message"].startswith("in.txt: ") or error[0] in ("duplicate-document", "no-two-documents")


def test_an_input_is_not_written_over(shelf: Path, ringtrue) -> None:
    assert ringtrue("pairs", "pool.csv", "-o", "pool.csv", "--json").stop == (2, "overwrites-input", "output")


def test_columns_with_other_names_are_found(shelf: Path, ringtrue) -> None:
    Path("in.csv").write_text("query,url\nq1,a\nq1,b\nq1,c\n")
    answer = ringtrue("pairs", "in.csv", "--columns", "doc=url", "--design", "seed", "-o", "out.csv", "--json")
    assert answer.json["pairs"] == 3


def test_texts_are_ranked_by_bm25_all_of_them_or_a_pool(shelf: Path, ringtrue) -> None:
    pytest.importorskip("bm25s")
    Path("topics.tsv").write_text("bread\tbread without an oven\n")
    texts = ["bread in an oven", "soup", "bread", "a bicycle and an umbrella", "flour, water, salt", "bread bread oven"]
    Path("docs.tsv").write_text("".join(f"t{n}\t{text}\n" for n, text in enumerate(texts)))
    words = ("--documents", "docs.tsv", "--topics", "topics.tsv", "--design", "seed", "--votes", "1", "-o", "out.csv")
    assert ringtrue("pairs", *words, "--json").json["pairs"] == 6  # four share a word
    Path("in.csv").write_text("query,doc\nbread,t1\nbread,t4\nbread,t2\n")
    ringtrue("pairs", "in.csv", *words, "--budget", "2")
    frame = pl.read_csv("out.csv")
    assert set(frame["left"]) | set(frame["right"]) <= {"t1", "t2", "t4"}
    assert all("t2" in pair for pair in frame.select("left", "right").rows())  # the only one with bread comes first


def test_python_and_the_command_line_choose_the_same(shelf: Path, ringtrue) -> None:
    ringtrue("pairs", "a.run", "--budget", "25", "--seed", "4", "-o", "out.csv")
    choice = rt.choose_pairs(rt.read_run("a.run"), budget=25, rng=np.random.default_rng(4))
    assert pl.read_csv("out.csv", schema=choice.frame.schema).equals(choice.frame)
