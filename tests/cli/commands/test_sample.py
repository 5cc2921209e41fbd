"""`ringtrue sample`: the contract that scripts rely on, what is written for the gold judge, and what is refused."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path

import polars as pl
import pytest

import ringtrue as rt

CONTRACT = ["design", "documents", "queries", "expected_half_width"]
COLUMNS = ["query", "doc", "prob", "stratum", "design"]
WORDS = ("sample", "a.run", "b.run", "--judgments", "j.qrels")


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of six documents over 20 queries: the first three are the same, the next two are each run's own."""
    lines: dict[str, list[str]] = {"a": [], "b": []}
    for q in range(20):
        for name in ("a", "b"):
            docs = ["d0", "d1", "d2", f"{name}3", f"{name}4", "d5"]
            lines[name] += [f"q{q} Q0 {doc} {rank} {10 - rank} {name}" for rank, doc in enumerate(docs, start=1)]
    for name, own in lines.items():
        (tmp_path / f"{name}.run").write_text("\n".join(own) + "\n")
    judged = ["d0", "d1", "d2", "a3", "a4", "b3", "b4", "d5", "z"]
    labels = [f"q{q} 0 {doc} {(q + place) % 3}" for q in range(20) for place, doc in enumerate(judged)]
    (tmp_path / "j.qrels").write_text("\n".join(labels) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def filled(path: str, name: str) -> str:
    """The file that was drawn, with labels where it has none: those of bronze, every seventh wrong."""
    rows = (line.split() for line in Path("j.qrels").read_text().splitlines())
    bronze = {(query, doc): int(label) for query, _, doc, label in rows}
    frame = pl.read_csv(path)
    pairs = enumerate(frame.select("query", "doc").rows())
    said = pl.Series("label", [(bronze[pair] + (place % 7 == 0)) % 3 for place, pair in pairs])
    known = frame["label"].fill_null(said) if "label" in frame.columns else said
    frame.with_columns(label=known).write_csv(name)
    return name


def test_json_has_every_key_of_the_contract(shelf: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--budget", "40", "--for", "P@5,DCG@5", "--gold-top", "2", "-o", "out.csv",
                      "--json")  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    found = answer.json
    assert [key for key in (*CONTRACT, "to_judge", "file", "seed", "notes") if key not in found] == []
    assert (found["design"], found["documents"], found["to_judge"]) == ("pool_stratified", 40, 40)
    assert (found["queries"], found["file"], found["seed"]) == (20, "out.csv", 0)
    assert {run: list(row) for run, row in found["expected_half_width"].items()} == {
        "a": ["P@5", "DCG@5"], "b": ["P@5", "DCG@5"],
    }  # fmt: skip
    assert all(0 < half < 1 for half in (row["P@5"] for row in found["expected_half_width"].values()))
    assert (found["population"], found["expected_range"]) == ("like-these", {})


def test_where_golds_scale_is_not_known_a_range_is_told_for_measures_that_count_grades(shelf: Path, ringtrue) -> None:
    words = *WORDS, "--budget", "40", "--for", "P@5,DCG@5", "-o", "out.csv"
    answer = ringtrue(*words, "--json")
    low, high = answer.json["expected_range"]["a"]["DCG@5"]
    assert 0 < low < high == answer.json["expected_half_width"]["a"]["DCG@5"]
    assert list(answer.json["expected_range"]["a"]) == ["DCG@5"]
    assert (answer.notes, " DCG@5 " in answer.err) == (["gold-top-unknown"], True)
    for top, expected in (("1", low), ("3", high)):
        found = ringtrue(*words, "--gold-top", top, "--json").json
        assert (found["expected_half_width"]["a"]["DCG@5"], found["expected_range"]) == (pytest.approx(expected), {})
    assert f"±{low:.3f} to {high:.3f}" in ringtrue(*words).out
    rows = list(csv.DictReader(io.StringIO(ringtrue(*words, "--format", "csv").out)))
    assert [float(rows[1][name]) for name in ("lowest", "expected_half_width")] == [low, high]
    refused = ringtrue(*words[:-4], "--for", "P(rel=2)@5", "--gold-top", "1", "-o", "out.csv", "--json")
    assert refused.stop == (2, "gold-top-too-low", "gold_top")
    assert "P(rel=2)@5" in refused.error["message"]


def test_the_forecast_is_for_the_population_asked_about(shelf: Path, ringtrue) -> None:
    words = *WORDS, "--budget", "40", "--for", "P@5", "-o", "out.csv"
    these, like_these = (ringtrue(*words, "--population", name, "--json").json for name in ("these", "like-these"))
    assert (these["population"], like_these["population"]) == ("these", "like-these")
    assert 0 < these["expected_half_width"]["a"]["P@5"] < like_these["expected_half_width"]["a"]["P@5"]
    assert "--population these" in ringtrue(*words, "--population", "these").out


def test_the_file_has_documents_that_the_runs_show_each_with_its_probability(shelf: Path, ringtrue) -> None:
    ringtrue(*WORDS, "--budget", "40", "--for", "P@5", "-o", "out.csv")
    frame = pl.read_csv("out.csv")
    assert frame.columns[:5] == COLUMNS
    assert frame.height == frame.unique(["query", "doc"]).height == 40
    assert frame["prob"].is_between(0, 1, closed="right").all()
    assert frame["design"].unique().to_list() == ["pool_stratified"]
    assert (frame["stratum"] == frame["query"]).all()
    assert set(frame["doc"]) <= {"d0", "d1", "d2", "a3", "a4", "b3", "b4"}  # d5 is sixth, and nobody shows z
    assert frame.group_by("query").len()["len"].is_between(1, 3).all()  # two of seven in each
    # The weights 1/π stand for all 140 documents of the two tops, give or take.
    assert (1 / frame["prob"]).sum() == pytest.approx(140, rel=0.25)


def test_the_half_width_told_before_gold_has_said_a_word_is_of_the_right_order(shelf: Path, ringtrue) -> None:
    expected = ringtrue(*WORDS, "--budget", "80", "--for", "P@5", "--population", "these", "-o", "out.csv", "--json")
    expected = expected.json["expected_half_width"]["a"]["P@5"]
    gold = filled("out.csv", "gold.csv")
    one = ringtrue("evaluate", "a.run", "b.run", "--judgments", "j.qrels", "--gold", gold, "-m", "P@5", "--population",
                   "these", "--json").json["corrected"]["a"]["P@5"]  # fmt: skip
    assert 0.4 < (one["high"] - one["low"]) / 2 / expected < 2.5


def test_a_sample_that_somebody_has_labelled_is_not_written_over(shelf: Path, ringtrue) -> None:
    ringtrue(*WORDS, "--budget", "40", "--for", "P@5", "-o", "out.csv")
    assert ringtrue(*WORDS, "--budget", "40", "--for", "P@5", "-o", "out.csv").code == 0  # nobody has, so far
    some = pl.read_csv("out.csv").with_columns(label=pl.Series([1, 0] + [None] * 38))
    some.write_csv("out.csv")
    answer = ringtrue(*WORDS, "--budget", "40", "--for", "P@5", "-o", "out.csv", "--json")
    assert answer.stop == (2, "overwrites-answers", "output")
    assert all(part in answer.error["message"] for part in ("out.csv", "2 labels", "--already"))
    assert pl.read_csv("out.csv").equals(some)


def test_the_table_says_what_comes_next(shelf: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--budget", "40", "--for", "P@5,DCG@5", "-o", "out.csv")
    lines = answer.out.splitlines()
    assert lines[0].split() == ["documents", "queries", "design", "file"]
    assert lines[2].split() == ["40", "20", "pool_stratified", "out.csv"]
    assert lines[3].rpartition(" `")[2].split() == [
        "ringtrue",
        "evaluate",
        "…",
        "--gold",
        "out.csv",
        "-m",
        "P@5,DCG@5`",
    ]
    assert lines[4].partition(" ")[0] == "out.frame.csv"
    assert lines[6].split() == ["P@5", "DCG@5"]
    assert lines[8].startswith("a  ±0.")
    assert all(part in lines[-1] for part in ("95%", "(--population", "like-these)"))
    assert [line for line in lines if line != line.rstrip()] == []


def test_csv_and_markdown(shelf: Path, ringtrue) -> None:
    words = (*WORDS, "--budget", "40", "--for", "P@5", "-o", "out.csv", "--format")
    rows = list(csv.DictReader(io.StringIO(ringtrue(*words, "csv").out)))
    assert [(row["run"], row["measure"]) for row in rows] == [("a", "P@5"), ("b", "P@5")]
    expected = ringtrue(*words, "json").json["expected_half_width"]["b"]["P@5"]
    assert float(rows[1]["expected_half_width"]) == expected
    assert ringtrue(*words, "markdown").out.splitlines()[2].split("|")[1:3] == [" 40 ", " 20 "]
    whole = ringtrue(*WORDS, "--queries", "10", "-o", "out.csv", "--format", "csv").out.splitlines()
    assert whole[0] == "run,measure,expected_half_width,lowest"


def test_many_runs_are_cut_in_the_table_and_counted(shelf: Path, ringtrue) -> None:
    for place in range(13):
        Path(f"r{place}.run").write_text(Path("a.run").read_text())
    runs = [f"r{place}.run" for place in range(13)]
    answer = ringtrue("sample", *runs, "--judgments", "j.qrels", "--budget", "20", "-o", "out.csv")
    assert "… and 1 more" in answer.out


@pytest.mark.parametrize("name", ["out.tsv", "out.jsonl", "out.parquet", "out.csv.gz"])
def test_every_table_format_holds_the_same_sample(shelf: Path, ringtrue, name: str) -> None:
    ringtrue(*WORDS, "--budget", "40", "-o", "out.csv")
    assert ringtrue(*WORDS, "--budget", "40", "-o", name).code == 0
    read = {"tsv": lambda path: pl.read_csv(path, separator="\t"), "jsonl": pl.read_ndjson, "parquet": pl.read_parquet,
            "gz": pl.read_csv}[name.rsplit(".", 1)[1]]  # fmt: skip
    assert read(name).rows() == pl.read_csv("out.csv").rows()


def test_the_same_seed_the_same_sample(shelf: Path, ringtrue) -> None:
    texts = []
    for seed in ("1", "1", "2"):
        ringtrue(*WORDS, "--budget", "40", "--seed", seed, "-o", "out.csv")
        texts.append(Path("out.csv").read_text())
    assert (texts[0] == texts[1], texts[0] == texts[2]) == (True, False)
    runs = [rt.read_run("a.run"), rt.read_run("b.run")]
    expected = rt.sample(runs, rt.read_judgments("j.qrels"), "P@10", budget=40)
    ringtrue(*WORDS, "--budget", "40", "-o", "out.csv")
    assert pl.read_csv("out.csv").rows() == expected.frame.rows()


def test_only_what_the_runs_do_not_share_is_drawn_for_a_comparison(shelf: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--budget", "40", "--compare", "--for", "P@5", "-o", "out.csv")
    assert set(pl.read_csv("out.csv")["doc"]) == {"a3", "a4", "b3", "b4"}
    assert "`ringtrue compare …" in answer.out
    assert "a − b  ±0." in answer.out
    gold = filled("out.csv", "gold.csv")
    words = ("a.run", "b.run", "--judgments", "j.qrels", "--gold", gold, "-m", "P@5", "--json")
    assert ringtrue("compare", *words).json["comparisons"][0]["difference"]["n"] == 40
    assert ringtrue("evaluate", *words).stop == (1, "drawn-for-comparison", None)
    continued = ringtrue(*WORDS, "--budget", "20", "--for", "P@5", "--already", gold, "-o", "more.csv")
    assert (continued.code, Path("more.csv").exists()) == (1, False)


def test_a_budget_for_everything_draws_everything(shelf: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--budget", "500", "--for", "P@5", "--population", "these", "-o", "out.csv",
                      "--json")  # fmt: skip
    assert answer.json["documents"] == 140
    assert answer.json["expected_half_width"]["a"]["P@5"] == 0
    assert pl.read_csv("out.csv")["prob"].unique().to_list() == [1]
    assert "all-drawn" in answer.notes
    assert all(count in answer.err for count in ("500 documents", "only 140"))


def test_documents_without_a_bronze_label_are_counted(shelf: Path, ringtrue) -> None:
    Path("j.qrels").write_text(
        "\n".join(line for line in Path("j.qrels").read_text().splitlines() if " b4 " not in line)
    )
    answer = ringtrue(*WORDS, "--budget", "40", "--for", "P@5", "-o", "out.csv", "--json")
    assert ("no-bronze-label" in answer.notes, "20 documents" in answer.err) == (True, True)


# Continuing.


def test_an_earlier_sample_is_continued_with_its_labels(shelf: Path, ringtrue) -> None:
    first = ringtrue(*WORDS, "--budget", "30", "--for", "P@5", "-o", "first.csv", "--json").json
    gold = filled("first.csv", "gold.csv")
    answer = ringtrue(*WORDS, "--budget", "40", "--for", "P@5", "--already", gold, "-o", "both.csv", "--json")
    assert (answer.json["documents"], answer.json["to_judge"]) == (70, 40)
    both, before = pl.read_csv("both.csv"), pl.read_csv("gold.csv")
    assert [name for name in (*COLUMNS, "label") if name not in both.columns] == []
    assert both.unique(["query", "doc"]).height == 70
    known = both.filter(pl.col("label").is_not_null()).join(before, on=["query", "doc"], suffix="_before")
    assert (known["label"] == known["label_before"]).all()
    assert known.height == 30
    assert (known["prob"] > known["prob_before"]).all()
    assert both["prob"].is_between(0, 1, closed="right").all()
    assert answer.json["expected_half_width"]["a"]["P@5"] < first["expected_half_width"]["a"]["P@5"]


def test_the_table_of_a_continued_sample_counts_what_is_left_to_judge(shelf: Path, ringtrue) -> None:
    ringtrue(*WORDS, "--budget", "30", "--for", "P@5", "-o", "first.csv")
    answer = ringtrue(*WORDS, "--budget", "40", "--for", "P@5", "--already", filled("first.csv", "gold.csv"), "-o",
                      "both.csv")  # fmt: skip
    lines = answer.out.splitlines()
    assert lines[2].split()[:3] == ["70", "30", "40"]
    assert "`ringtrue evaluate …" in lines[3]
    evaluated = ("evaluate", "a.run", "b.run", "--judgments", "j.qrels", "-m", "P@5", "--json", "--gold")
    unfinished = ringtrue(*evaluated, "both.csv")
    assert unfinished.stop == (1, "too-many-lost", None)
    assert all(count in unfinished.error["message"] for count in ("40 gold labels", "of 70", "40 blank"))
    assert ringtrue(*evaluated, filled("both.csv", "done.csv")).code == 0


def test_whole_queries_are_drawn_with_all_that_bronze_judged_and_the_runs_show(shelf: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--queries", "8", "--for", "nDCG@5", "-o", "out.csv", "--json")
    assert (answer.json["design"], answer.json["queries"], answer.json["documents"]) == ("whole_queries", 8, 72)
    assert all(0 < row["nDCG@5"] < 1 for row in answer.json["expected_half_width"].values())
    frame = pl.read_csv("out.csv")
    assert frame.columns[:5] == COLUMNS
    assert frame["prob"].unique().to_list() == [0.4]
    assert {frozenset(docs) for docs in frame.group_by("query").agg("doc")["doc"].to_list()} == {
        frozenset(["d0", "d1", "d2", "a3", "a4", "b3", "b4", "d5", "z"])
    }
    assert ("few-queries" in answer.notes, "8 queries" in answer.err) == (True, True)
    table = ringtrue(*WORDS, "--queries", "8", "--for", "nDCG@5", "-o", "out.csv").out
    assert ("each query" in table, "gold alone" in table) == (True, True)


def test_whole_queries_are_continued_with_whole_queries(shelf: Path, ringtrue) -> None:
    ringtrue(*WORDS, "--queries", "8", "-o", "first.csv")
    gold = filled("first.csv", "gold.csv")
    answer = ringtrue(*WORDS, "--queries", "6", "--already", gold, "-o", "both.csv", "--json")
    assert (answer.json["queries"], answer.json["to_judge"]) == (14, 54)
    both = pl.read_csv("both.csv")
    assert both["prob"].unique().to_list() == [0.7]
    assert set(both.filter(pl.col("label").is_not_null())["query"]) == set(pl.read_csv(gold)["query"])


def test_whole_queries_are_extended_to_a_new_run(shelf: Path, ringtrue) -> None:
    ringtrue(*WORDS, "--queries", "8", "--for", "nDCG@5", "-o", "first.csv")
    gold = filled("first.csv", "gold.csv")
    lines = [f"q{q} Q0 n{rank} {rank} {10 - rank} n" for q in range(20) for rank in range(1, 6)]
    Path("n.run").write_text("\n".join(lines) + "\n")
    words = ("a.run", "n.run", "--judgments", "j.qrels", "-m", "nDCG@5")
    refused = ringtrue("evaluate", *words, "--gold", gold, "--json")
    assert "top-not-judged" in refused.notes
    assert all(option in refused.err for option in ("`ringtrue sample …", "--already ", "--queries 0", "nDCG@5"))
    answer = ringtrue("sample", *words, "--already", gold, "--queries", "0", "-o", "both.csv", "--json")
    assert (answer.code, answer.json["queries"], answer.json["documents"], answer.json["to_judge"]) == (0, 8, 112, 40)
    assert "new-documents" in answer.notes
    assert all(count in answer.err for count in ("40 documents", "8 queries"))
    pl.read_csv("both.csv").with_columns(pl.col("label").fill_null(1)).write_csv("done.csv")
    assert ringtrue("evaluate", *words, "--gold", "done.csv", "--json").json["corrected"]["n"]["nDCG@5"]["n"] == 8


@pytest.mark.parametrize("words", [("--budget", "40"), ("--budget", "40", "--compare"), ("--queries", "10")])
def test_the_command_that_comes_next_can_be_pasted(shelf: Path, ringtrue, words: tuple[str, ...]) -> None:
    answer = ringtrue(*WORDS, *words, "--for", "P(rel=2)@5", "-o", "my sample.csv")
    command = answer.out.split("then `ringtrue ")[1].split("`")[0].replace("…", "a.run b.run --judgments j.qrels")
    filled("my sample.csv", "my sample.csv")
    found = ringtrue(*shlex.split(command), "--json")
    assert found.code == 0
    assert "P(rel=2)@5" in found.out


# What cannot be done is told in one line.


@pytest.mark.parametrize(
    ("words", "stop"),
    [
        ([], (2, "needs-parameter", "budget")),
        (["--budget", "9", "--queries", "9"], (2, "needs-parameter", "budget")),
        (["--budget", "1"], (2, "budget-too-small", "budget")),
        (["--queries", "1"], (2, "too-few-queries", "queries")),
        (["--queries", "9", "--compare"], (2, "conflicting-parameters", "compare")),
        (["--budget", "9", "--for", "nDCG@5"], (2, "needs-whole-queries", "measure")),
        (["--budget", "9", "--for", "P@@5"], (2, "not-a-measure", None)),
        (["--budget", "9", "--depth", "3"], (2, "conflicting-parameters", "depth")),
        (["--budget", "9", "--judges", "average"], (2, "conflicting-parameters", "judges")),
        (["--budget", "9", "--already", "gold.csv", "-o", "gold.csv"], (2, "overwrites-input", "output")),
        (["--budget", "9", "-o", "j.qrels"], (2, "overwrites-input", "output")),
        (["--budget", "9", "-o", "out.run"], (2, "wrong-format", None)),
        (["--budget", "9", "-o", "none/out.csv"], (1, "no-such-folder", None)),
        (["--budget", "9", "--already", "none.csv"], (1, "no-such-file", None)),
        (["--budget", "9", "--already", "drawn.csv"], (1, "missing-column", None)),
        (
            ["--budget", "9", "--already", "far.csv"],
            (1, "drawn-from-other-pool", "already"),
        ),
        (["--queries", "9", "--already", "gold.csv"], (1, "other-design", "already")),
        (["--budget", "9", "--already", "whole.csv"], (1, "other-design", "already")),
        (["--budget", "9", "--already", "empty.csv"], (1, "too-many-lost", None)),
        (["--budget", "9", "--already", "plain.csv"], (1, "missing-column", "already")),
        (["--budget", "9", "--already", "twice.csv"], (1, "repeated-label", None)),
        (["--budget", "9", "--already", "odd.csv"], (1, "bad-probability", None)),
        (["--budget", "9", "--already", "other.csv"], (1, "other-design", "already")),
        (["--budget", "9", "--already", "-", "--judgments", "-"], (2, "input-read-twice", None)),
    ],
)
def test_what_cannot_be_drawn_is_told_in_one_line(
    shelf: Path, ringtrue, words: list[str], stop: tuple[int, str, str | None]
) -> None:
    ringtrue(*WORDS, "--budget", "30", "--for", "P@5", "-o", "drawn.csv")
    gold = pl.read_csv(filled("drawn.csv", "gold.csv"))
    ringtrue(*WORDS, "--queries", "8", "-o", "queries.csv")
    filled("queries.csv", "whole.csv")
    gold.with_columns(label=pl.when(pl.int_range(pl.len()) > 2).then("label")).write_csv("empty.csv")
    gold.select("query", "doc", "label").write_csv("plain.csv")
    pl.concat([gold, gold[:1]]).write_csv("twice.csv")
    gold.with_columns(prob=pl.lit(1.5)).write_csv("odd.csv")
    gold.with_columns(pl.col("prob") / 9).write_csv("far.csv")
    gold.with_columns(design=pl.lit("external")).write_csv("other.csv")
    given = [] if "--judgments" in words else ["--judgments", "j.qrels"]
    output = [] if "-o" in words else ["-o", "out.csv"]
    answer = ringtrue("sample", "a.run", "b.run", *given, *words, *output, "--json")
    assert answer.stop == stop
    assert answer.err.count("\n") == 1
    assert not Path("out.csv").exists()


def test_a_comparison_needs_two_runs_that_differ(shelf: Path, ringtrue) -> None:
    words = ("--judgments", "j.qrels", "--budget", "9", "--compare", "-o", "out.csv", "--json")
    assert ringtrue("sample", "a.run", *words).stop == (2, "wrong-number-of-runs", "compare")
    Path("c.run").write_text(Path("a.run").read_text())
    assert ringtrue("sample", "a.run", "c.run", *words).stop == (1, "same-documents", None)


# The sampling frame, a new run, a deeper cutoff.


def test_the_frame_is_written_beside_the_sample_and_found_there(shelf: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--budget", "30", "--for", "P@5", "-o", "first.csv", "--json")
    assert answer.json["frame"] == "first.frame.csv"
    frame = pl.read_csv("first.frame.csv")
    assert frame.columns == ["query", "doc", "prob", "drawn", "drawn_from"]
    assert frame["drawn"].sum() == 30
    gold = filled("first.csv", "first.csv")
    evaluated = ("evaluate", "a.run", "b.run", "--judgments", "j.qrels", "-m", "P@5", "--json", "--gold")
    known = ringtrue(*evaluated, gold).json["corrected"]
    pl.read_csv(gold).select("query", "doc", "label").write_csv("bare.csv")
    assert ringtrue(*evaluated, "bare.csv").code == 1  # nothing tells how it was drawn
    bare = ringtrue(*evaluated, "bare.csv", "--frame", "first.frame.csv").json["corrected"]
    assert bare["a"]["P@5"]["value"] == pytest.approx(known["a"]["P@5"]["value"])


def test_a_new_run_is_told_and_the_sample_extended_to_it(shelf: Path, ringtrue) -> None:
    only_a = ("sample", "a.run", "--judgments", "j.qrels")
    ringtrue(*only_a, "--budget", "30", "--for", "P@5", "-o", "first.csv")
    gold = filled("first.csv", "first.csv")
    evaluated = ("evaluate", "a.run", "b.run", "--judgments", "j.qrels", "-m", "P@5", "--json", "--gold")
    early = ringtrue(*evaluated, gold)
    assert early.json["corrected"]["a"]["P@5"]["value"] is not None
    assert early.json["corrected"]["b"]["P@5"]["value"] is None
    assert "out-of-reach" in early.json["corrected"]["b"]["P@5"]["note_codes"]
    more = ringtrue(*WORDS, "--budget", "12", "--for", "P@5", "--already", gold, "-o", "second.csv", "--json")
    assert (more.code, more.json["to_judge"], more.json["documents"]) == (0, 12, 42)
    assert "new-stratum" in more.notes
    late = ringtrue(*evaluated, filled("second.csv", "second.csv"))
    assert all(row["P@5"]["value"] is not None for row in late.json["corrected"].values())
    Path("first.frame.csv").unlink()
    refused = ringtrue(*WORDS, "--budget", "12", "--for", "P@5", "--already", gold, "-o", "third.csv", "--json")
    assert refused.stop == (1, "drawn-from-other-pool", "already")
    assert "drawn-from-other-pool" in ringtrue(*evaluated, gold).notes


@pytest.mark.parametrize(("content", "error"), [
    ("", ("no-sampling-frame", None)),
    ("nothing of the kind\n1\n", ("no-sampling-frame", None)),
    ("query,doc,prob,drawn\nq,d,0.5,150\n", ("bad-drawn-mark", None)),
    ("query,doc,prob,drawn\nq,d,2,true\n", ("bad-frame-probability", None)),
    ("query,doc,prob,drawn\nother,d,0.5,true\n", ("frame-of-other-sample", "frame")),
    ("\x00\x01", ("no-sampling-frame", None)),
])  # fmt: skip
def test_a_frame_that_does_not_fit_is_told_in_one_line(
    shelf: Path, ringtrue, content: str, error: tuple[str, str | None]
) -> None:
    ringtrue(*WORDS, "--budget", "30", "--for", "P@5", "-o", "first.csv")
    gold = filled("first.csv", "first.csv")
    Path("bad.frame.csv").write_text(content)
    words = ("evaluate", "a.run", "b.run", "--judgments", "j.qrels", "-m", "P@5", "--gold", gold)
    answer = ringtrue(*words, "--frame", "bad.frame.csv", "--json")
    assert answer.stop == (1, *error)


def test_a_frame_needs_an_earlier_sample(shelf: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--budget", "30", "--for", "P@5", "--frame", "x.frame.csv", "-o", "out.csv", "--json")
    assert answer.stop == (2, "unused-parameter", "frame")
