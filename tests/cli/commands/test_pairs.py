"""`ringtrue pairs`: the contract that scripts rely on, the tasks that are written, and what is refused."""

from __future__ import annotations

import csv
import io
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
    assert (
        "`ringtrue judges out.csv --traps traps.pref --accept 4/5 --repeats all` and `ringtrue rate out.csv`"
    ) in answer.out
    assert "`ringtrue pairs … --preferences out.csv` for the next pairs" in answer.out
    assert (
        "note: a task has 5 traps: with `ringtrue judges`, it is accepted at 2 of 5 passed, and so are 81% of tasks "
        "that are guessed; 4 of 5 (--accept 4/5) would let 19% through"
    ) in answer.err
    assert "traps are of another query than the rest of their task" in answer.err


def test_the_chance_of_a_guesser_is_that_of_the_traps_that_the_tasks_have(shelf: Path, ringtrue) -> None:
    words = ("--traps", "traps.pref", "--design", "seed", "--votes", "1", "-o", "out.csv")
    small = ringtrue("pairs", "a.run", "--depth", "2", *words)
    assert "a task has 1 trap: " in small.err
    assert "so are 50% of tasks that are guessed; 4 of 5 (--accept 4/5) would let 50% through" in small.err
    mixed = ringtrue("pairs", "a.run", "--budget", "17", "--design", "random", *words[:2], *words[4:])
    traps = pl.read_csv("out.csv").filter("trap").group_by("batch").len()["len"].to_list()
    assert sorted(traps) == [2, 2, 2]  # 5 or 6 pairs
    assert "a task has 2 traps: " in mixed.err
    assert "75% of tasks that are guessed; 4 of 5 (--accept 4/5) would let 25% through" in mixed.err


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
    assert "note: 40 votes on" in answer.err
    assert "`ringtrue rate back.csv next.csv --where 'judge!=w1'`" in answer.out
    assert "--preferences back.csv --preferences next.csv --where 'judge!=w1'` for the next pairs" in answer.out


def test_what_is_left_of_a_budget_is_told(shelf: Path, ringtrue) -> None:
    answer = ringtrue("pairs", "a.run", "--depth", "2", "--budget", "1000", "-o", "out.csv", "--json")
    assert (answer.json["pairs"], answer.json["votes"]) == (3, 12)
    assert answer.json["notes"][0].startswith("1,000 votes were asked for, and only 12 are possible: at once, a pair")
    assert "1,000 votes were asked for" in answer.err


@pytest.mark.parametrize("text", ["q0 0 d01 1\nq0 0 d02 0\n", "query,doc,label\nq0,d01,1\n"])
def test_traps_for_labels_are_no_traps_for_pairs(shelf: Path, ringtrue, text: str) -> None:
    Path("labels.txt").write_text(text)
    answer = ringtrue("pairs", "a.run", "--traps", "labels.txt", "-o", "out.csv")
    assert (answer.code, answer.out) == (1, "")
    assert "labels.txt: these look like traps for labels; pairs need two documents and a winner" in answer.err


def test_tasks_are_written_as_a_table_only(shelf: Path, ringtrue) -> None:
    for name in ("out.pref", "out", "out.run"):
        answer = ringtrue("pairs", "a.run", "-o", name)
        assert answer.code == 2
        assert f"-o {name}: a table is written here, as .csv, .tsv, .jsonl or .parquet" in answer.err
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
    answer = ringtrue("pairs", "a.run", "--preferences", "back.csv", "-o", "next.csv")
    assert answer.code == 0
    assert "note: back.csv: 50 of 60 pairs have no winner yet, and are left out" in answer.err


def test_tasks_that_somebody_has_answered_are_not_written_over(shelf: Path, ringtrue) -> None:
    ringtrue("pairs", "a.run", "-o", "out.csv")
    assert ringtrue("pairs", "a.run", "-o", "out.csv").code == 0  # nobody has, so far
    filled("out.csv", "out.csv", rows=2)
    before = Path("out.csv").read_text()
    answer = ringtrue("pairs", "a.run", "-o", "out.csv")
    assert (answer.code, answer.out) == (2, "")
    assert "-o out.csv has 2 winners, which would be lost; choose another name, or continue it" in answer.err
    assert Path("out.csv").read_text() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a.run", "--design", "swis"), "'swis' is not one of 'active'"),
        (("a.run", "--budget", "0"), "0 is not in the range x>=1"),
        (("a.run", "--depth", "1"), "1 is not in the range x>=2"),
        (("a.run", "--documents", "d.csv"), "BM25 needs the texts of both: --documents FILE and --topics FILE"),
        (("a.run", "a.run"), "run 'a.run' is given twice"),
        (("a.run", "pool.csv"), "pool.csv: this is a pool, and only runs are put together"),
        (("a.run", "--traps-per-task", "3"), "3 traps should be in a task, and no traps are given; --traps FILE"),
        (("a.run", "--budget", "1000000"), "chooses at most 100,000 pairs at once, and 1,000,000 are asked for"),
        ((), "which documents? Runs, a pool (`ringtrue pool`), or --documents FILE --topics FILE"),
        (("a.run", "--traps", "traps.pref", "--per-task", "5"), "a task of 5 pairs has room for 0 to 4 traps, found 5"),
        (("-", "--preferences", "-"), "standard input (-) can be read only once"),
        (
            ("a.run", "--columns", "doc=nix"),
            "a.run: columns and rows are chosen in a table with named columns, this is trec-run (--columns)",
        ),
        (("pool.csv", "--columns", "doc=nix"), "pool.csv: no column 'nix'; there is query"),
    ],
)
def test_wrong_questions_are_refused(shelf: Path, ringtrue, words: tuple[str, ...], said: str) -> None:
    answer = ringtrue("pairs", *words, "-o", "out.csv")
    assert answer.code == 2
    assert said in answer.err
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 0 d1 1\nq1 0 d2 0\n", "in.txt: this looks like judgments, expected a run or a pool"),
        ("q1 a b a\nq1 c b b\n", "this looks like preferences, expected a run or a pool; what people preferred so far"),
        ("query,title\nq1,bread\n", "a pool table needs a column 'doc'"),
        ("query,doc\nq1,a\nq1,a\n", "document 'a' stands twice under query 'q1' in the pool"),
        ("query,doc\nq1,a\nq2,b\n", "no query has two documents"),
        ("q1 Q0 d1 1 2.0 A\nq1 Q0 d1 2 1.0 A\n", "document 'd1' stands twice under query 'q1'"),
    ],
)
def test_files_of_another_kind_are_named_as_such(shelf: Path, ringtrue, text: str, said: str) -> None:
    Path("in.txt").write_text(text)
    answer = ringtrue("pairs", "in.txt", "-o", "out.csv")
    assert answer.code == 1
    assert said in answer.err


def test_an_input_is_not_written_over(shelf: Path, ringtrue) -> None:
    answer = ringtrue("pairs", "pool.csv", "-o", "pool.csv")
    assert answer.code == 2
    assert "-o pool.csv would overwrite a file that is read here" in answer.err


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
