"""`ringtrue evaluate`: the contract that scripts rely on, and what people read."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest

ESTIMATE = ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]


def test_json_has_an_estimate_for_every_run_and_measure(world: Path, ringtrue) -> None:
    answer = ringtrue("evaluate", "a.run", "b.run", "--judgments", "j.qrels", "-m", "RR", "-m", "nDCG@10,P@1", "--json")
    assert answer.code == 0
    assert list(answer.json) == ["runs", "notes", "note_codes"]
    assert list(answer.json["runs"]) == ["a", "b"]
    row = answer.json["runs"]["a"]
    assert list(row) == ["RR", "nDCG@10", "P@1", "Judged@1", "Judged@10"]
    assert list(row["RR"]) == ESTIMATE
    assert row["RR"]["value"] == 0.75
    assert (row["RR"]["n"], row["RR"]["method"], row["RR"]["level"]) == (2, "t", 0.95)


def test_per_query_adds_every_query(world: Path, ringtrue) -> None:
    answer = ringtrue("evaluate", "a.run", "--judgments", "j.qrels", "-m", "RR", "--per-query", "--json")
    assert answer.json["queries"]["a"]["q1"]["RR"] == 0.5
    assert answer.json["queries"]["a"]["q2"]["RR"] == 1.0
    table = ringtrue("evaluate", "a.run", "--judgments", "j.qrels", "-m", "RR", "--per-query")
    assert "q1     0.5000" in table.out


def test_the_table_shows_the_best_run_first_and_what_the_numbers_mean(world: Path, ringtrue) -> None:
    answer = ringtrue("evaluate", "a.run", "b.run", "--judgments", "j.qrels", "-m", "nDCG@10")
    lines = answer.out.splitlines()
    assert lines[0].split() == ["run", "nDCG@10", "Judged@10"]
    assert lines[2].startswith("a")
    assert lines[-1] == "mean over 2 queries, sorted by nDCG@10; ± half of the 95% interval (t)"


def test_without_measures_the_usual_ones_are_shown(world: Path, ringtrue) -> None:
    answer = ringtrue("evaluate", "a.run", "--judgments", "j.qrels", "--json")
    assert list(answer.json["runs"]["a"]) == ["nDCG@10", "AP", "P@10", "RR", "Judged@10"]


def test_csv_keeps_every_digit(world: Path, ringtrue) -> None:
    answer = ringtrue("evaluate", "a.run", "--judgments", "j.qrels", "-m", "nDCG@10", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    json = ringtrue("evaluate", "a.run", "--judgments", "j.qrels", "-m", "nDCG@10", "--json").json
    assert float(rows[0]["value"]) == json["runs"]["a"]["nDCG@10"]["value"]
    assert list(rows[0]) == ["run", "measure", *ESTIMATE[:-2]]


def test_markdown_and_latex_are_what_they_say(world: Path, ringtrue) -> None:
    words = ("evaluate", "a.run", "--judgments", "j.qrels", "-m", "RR")
    assert ringtrue(*words, "--format", "markdown").out.splitlines()[1] == "| --- | ---: | ---: |"
    latex = ringtrue(*words, "--format", "latex").out
    assert r"\begin{tabular}{lrr}" in latex
    assert r"$\pm$" in latex
    assert r"100.0\%" in latex


def test_rel_reaches_every_measure_that_knows_it(world: Path, ringtrue) -> None:
    answer = ringtrue(
        "evaluate", "a.run", "--judgments", "j.qrels", "-m", "P@1,nDCG@1,P(rel=1)@2", "--rel", "2", "--json"
    )
    assert list(answer.json["runs"]["a"])[:3] == ["P(rel=2)@1", "nDCG@1", "P(rel=1)@2"]


def test_notes_go_to_standard_error_and_into_the_json(world: Path, ringtrue) -> None:
    Path("more.qrels").write_text("q1 0 d1 1\nq7 0 d1 1\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "more.qrels", "-m", "RR", "--json")
    assert "1 of 2 judged queries not in the run, counted as having found nothing: q7" in answer.err
    assert any("q7" in note for note in answer.json["notes"])
    skipped = ringtrue("evaluate", "a.run", "--judgments", "more.qrels", "-m", "RR", "--missing", "skip", "--json")
    assert skipped.json["runs"]["a"]["RR"]["n"] == 1


def test_a_single_query_has_no_interval_and_null_in_the_json(world: Path, ringtrue) -> None:
    Path("one.qrels").write_text("q1 0 d1 1\n")
    estimate = ringtrue("evaluate", "a.run", "--judgments", "one.qrels", "-m", "RR", "--json").json["runs"]["a"]["RR"]
    assert (estimate["value"], estimate["se"], estimate["low"]) == (1.0, None, None)
    assert "single query" in estimate["notes"][0]


def test_runs_of_one_name_are_told_apart_by_their_folder(world: Path, ringtrue) -> None:
    for folder in ("x", "y"):
        Path(folder).mkdir()
        Path(folder, "bm25.run.gz").write_bytes(gzip.compress(Path("a.run").read_bytes()))
    answer = ringtrue("evaluate", "x/bm25.run.gz", "y/bm25.run.gz", "--judgments", "j.qrels", "-m", "RR", "--json")
    assert list(answer.json["runs"]) == ["x/bm25", "y/bm25"]
    tagged = ringtrue("evaluate", "a.run", "b.run", "--judgments", "j.qrels", "-m", "RR", "--name", "tag", "--json")
    assert list(tagged.json["runs"]) == ["A", "B"]


def test_a_breakdown_by_a_column_of_the_topics(world: Path, ringtrue) -> None:
    Path("topics.csv").write_text("query,kind\nq1,easy\nq2,hard\n")
    words = ("evaluate", "a.run", "--judgments", "j.qrels", "-m", "RR", "--topics", "topics.csv", "--by", "kind")
    groups = ringtrue(*words, "--json").json["groups"]
    assert groups["easy"]["runs"]["a"]["RR"]["value"] == 0.5
    assert groups["hard"]["queries"] == 1
    assert "easy" in ringtrue(*words).out
    rows = list(csv.DictReader(io.StringIO(ringtrue(*words, "--format", "csv").out)))
    assert [(row["kind"], row["value"]) for row in rows if row["measure"] == "RR"] == [("easy", "0.5"), ("hard", "1.0")]


def test_doubts_about_a_mean_are_told_beside_the_table(world: Path, ringtrue) -> None:
    Path("one.qrels").write_text("q1 0 d1 1\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "one.qrels", "-m", "RR,AP")
    assert "note: RR of a and 1 more: a single query: no interval can be given" in answer.err
    assert answer.out.endswith("mean over 1 query, sorted by RR\n")


def test_a_missing_query_is_a_dash_where_it_has_no_value(world: Path, ringtrue) -> None:
    Path("more.qrels").write_text("q1 0 d1 1\nq7 0 d1 1\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "more.qrels", "-m", "RR", "--per-query")
    assert answer.out.splitlines()[-1].split() == ["a", "q7", "0.0000", "–"]


def test_a_table_of_labels_with_other_names_and_several_experiments(world: Path, ringtrue) -> None:
    Path("labels.csv").write_text("exp,topic,doc,worker,nist\nX,q1,d1,w1,1\nY,q1,d1,w1,0\nX,q2,d4,w1,0\n")
    words = ("evaluate", "a.run", "--judgments", "labels.csv", "-m", "P@1", "--columns", "label=nist")
    x = ringtrue(*words, "--where", "exp=X", "--json").json["runs"]["a"]["P@1"]
    assert (x["value"], x["n"]) == (0.5, 2)
    both = ringtrue(*words, "--json")
    assert both.code == 1
    assert "has 2 labels (1 by w1, 0 by w1)" in both.err


def test_one_judge_or_the_average_over_all(world: Path, ringtrue) -> None:
    Path("two.qrels").write_text("q1 ann d1 1\nq1 bob d1 0\nq1 bob d2 1\nq2 ann d4 1\n")
    words = ("evaluate", "a.run", "--judgments", "two.qrels", "-m", "RR", "--json", "--missing", "skip")
    refused = ringtrue(*words)
    assert refused.code == 1
    assert "--judges average" in refused.err
    assert "(lines 1, 2)" in refused.err
    assert ringtrue(*words, "--judge", "bob").json["runs"]["a"]["RR"]["value"] == 0.5
    assert ringtrue(*words, "--judges", "average", "--per-query").json["queries"]["a"]["q1"]["RR"] == 0.75
    wrong = ringtrue(*words, "--judge", "bobb")
    assert (wrong.code, "did you mean 'bob'" in wrong.err) == (2, True)


def test_repeated_labels_of_one_judge_can_be_resolved(world: Path, ringtrue) -> None:
    Path("again.csv").write_text("query,doc,worker,label\nq1,d1,w,0\nq1,d1,w,1\nq2,d4,w,1\n")
    words = ("evaluate", "a.run", "--qrels", "again.csv", "-m", "P@1", "--json")
    refused = ringtrue(*words)
    assert (refused.code, "--repeats first" in refused.err) == (1, True)
    assert ringtrue(*words, "--repeats", "first").json["runs"]["a"]["P@1"]["value"] == 0.5
    assert ringtrue(*words, "--repeats", "last").json["runs"]["a"]["P@1"]["value"] == 1.0


def test_judges_who_saw_little_bring_a_warning(world: Path, ringtrue) -> None:
    Path("crowd.qrels").write_text("q1 ann d1 1\nq1 bob d2 0\nq1 bob d3 1\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "crowd.qrels", "-m", "RR(rel=2)", "--judges", "average")
    assert "on average a judge labelled 50% of the judged documents of a query" in answer.err
    assert "1 query to which some judges gave no label of 2 or higher, where most measures are 0" in answer.err


def test_ids_of_another_kind_and_equal_scores_bring_a_warning(world: Path, ringtrue) -> None:
    Path("other.run").write_text("q1 Q0 DOC-1 1 1.0 x\nq1 Q0 DOC-2 2 1.0 x\n")
    answer = ringtrue("evaluate", "other.run", "--judgments", "j.qrels", "-m", "RR")
    assert "no document of the run was judged: it has 'DOC-1', the judgments have 'd" in answer.err
    assert "all scores are equal" in answer.err


def test_means_over_different_numbers_of_queries_say_so(world: Path, ringtrue) -> None:
    Path("short.run").write_text("q1 Q0 d1 1 1.0 x\n")
    answer = ringtrue("evaluate", "a.run", "short.run", "--judgments", "j.qrels", "-m", "RR", "--missing", "skip")
    assert "mean over 1 to 2 queries" in answer.out


def test_the_collections_size_is_an_option(world: Path, ringtrue) -> None:
    words = ("evaluate", "a.run", "--judgments", "j.qrels", "-m", "TN", "--per-query", "--json")
    assert ringtrue(*words, "--collection-size", "100").json["queries"]["a"]["q1"]["TN"] == 97


def test_a_forced_format_is_used_and_a_wrong_one_refused(world: Path, ringtrue) -> None:
    Path("ranks.tsv").write_text("q1\td2\t1\nq1\td1\t2\nq2\td4\t1\n")
    words = ("evaluate", "ranks.tsv", "--judgments", "j.qrels", "-m", "RR", "--json")
    assert ringtrue(*words, "--as", "msmarco-run").json["runs"]["ranks"]["RR"]["value"] == 1.0
    wrong = ringtrue(*words, "--as", "msmarco-rum")
    assert (wrong.code, "did you mean 'msmarco-run'" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("q1 Q0 d1 1 abc x\n", "bad.run:1: expected a number as score, found 'abc'"),
        ("q1 Q0 d1 1 2 x\nq1 Q0 d2 2 nan x\n", "bad.run:2: expected a finite score, found 'nan'"),
        ("q1 Q0 d1 1 2 x\nq1 Q0 d1 2 1 x\n", "(lines 1, 2)"),
        ("q1 Q0 d1 1 2 x\nq1 Q0 d2\n", "bad.run:2: expected 6 fields (query Q0 doc rank score tag), found 3"),
        ("", "bad.run: the file is empty"),
        ("# nothing\n", "bad.run: no line of data"),
        ("\0\1\2" * 50, "bad.run: this is a binary file"),
        ("zz Q0 d1 1 2 x\n", "no query in common"),
    ],
)
def test_a_bad_run_brings_exit_1_one_line_and_no_number(world: Path, ringtrue, content: str, says: str) -> None:
    Path("bad.run").write_text(content)
    answer = ringtrue("evaluate", "a.run", "bad.run", "--judgments", "j.qrels", "-m", "AP", "--json")
    assert (answer.code, len(answer.err.splitlines())) == (1, 1)
    assert says in answer.error["message"]


@pytest.mark.parametrize("measure", ["nDCG(dcg=exp-log2)@10", "ERR", "SDCG(dcg=exp-log2)@2"])
def test_a_label_too_large_for_its_gain_is_refused(world: Path, ringtrue, measure: str) -> None:
    Path("huge.qrels").write_text("q1 0 d1 1100\nq1 0 d2 1\nq2 0 d4 1\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "huge.qrels", "-m", measure, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert "label 1100 is too large" in answer.err


def test_a_run_with_other_column_names_and_a_table_with_a_document_twice(world: Path, ringtrue) -> None:
    Path("run.csv").write_text("frage,dok,punkte\nq1,d1,2\nq2,d4,1\n")
    words = ("evaluate", "run.csv", "--judgments", "j.qrels", "-m", "RR", "--json")
    named = ringtrue(*words, "--run-columns", "query=frage,doc=dok,score=punkte")
    assert named.json["runs"]["run"]["RR"]["value"] == 0.5
    Path("twice.csv").write_text("query,doc,score\nq1,d1,2\nq1,d2,1\nq1,d1,1\n")
    twice = ringtrue("evaluate", "twice.csv", "--judgments", "j.qrels", "-m", "RR")
    assert (twice.code, "(rows 1, 3)" in twice.err) == (1, True)


def test_a_run_given_as_judgments_in_a_table_is_refused(world: Path, ringtrue) -> None:
    Path("run.csv").write_text("query,doc,score\nq1,d1,30\nq1,d2,2\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "run.csv", "-m", "nDCG@10")
    assert (answer.code, "needs a column 'label'" in answer.err) == (1, True)


def test_blanks_after_commas_and_capitals_in_headers_are_understood(world: Path, ringtrue) -> None:
    Path("j.csv").write_text("Query, Doc, Label\nq1, d1, 1\nq2, d4, 1\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "j.csv", "-m", "P@1", "--json")
    assert answer.json["runs"]["a"]["P@1"]["value"] == 1.0


def test_lines_that_end_as_on_old_macs_are_refused(world: Path, ringtrue) -> None:
    Path("mac.run").write_bytes(b"q1 Q0 d1 1 3 t\rq1 Q0 d2 2 2 t\rq2 Q0 d4 1 1 t\r")
    answer = ringtrue("evaluate", "mac.run", "--judgments", "j.qrels", "-m", "AP")
    assert (answer.code, "a carriage return inside a line" in answer.err) == (1, True)


def test_the_lines_of_a_document_twice_are_those_of_the_judge_in_question(world: Path, ringtrue) -> None:
    Path("two.qrels").write_text("q1 A d1 1\nq1 B d1 1\nq1 A d1 0\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "two.qrels", "-m", "AP", "--judge", "A")
    assert "(lines 1, 3)" in answer.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "nDGC@10"), "did you mean 'nDCG@10'"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "P(rl=2)@10"), "did you mean 'rel'"),
        (("evaluate", "a.run", "a.run", "--judgments", "j.qrels"), "given twice"),
        (("evaluate", "a.run"), "--judgments"),
        (("evaluate", "--judgments", "j.qrels"), "RUN"),
        (("evaluate", "a.run", "--judgements", "j.qrels"), "--judgments"),
        (
            ("evaluate", "a.run", "--judgments", "j.qrels", "--level", "95"),
            "level must lie between 0 and 0.999999, found 95",
        ),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--by", "kind"), "no column 'kind'"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--topics", "t.csv"), "without --by"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--by", "x", "--per-query"), "two tables"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--as", "pairs"), "have no such format"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--judgments", "k.qrels"), "--judgments is given 2 times"),
        (
            ("evaluate", "a.run", "--judgments", "j.qrels", "--judge", "0", "--judges", "average"),
            "choose one of the two",
        ),
        (("evaluate", "-", "--judgments", "-"), "can be read only once"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", ""), "-m names no measure"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "nDCG10"), "did you mean 'nDCG@10'?"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--columns", "gold=label"), "did you mean label=gold?"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--columns", "lable=gold"), "did you mean 'label'?"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--where", "fold"), "column=value"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--depth", "9" * 30), "--depth"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "F(beta=1e200)@2"), "from 0.001 to 1000"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "ERR(max_rel=2000)"), "from 1 to 400"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "SDCG@2147483647"), "whole number"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "TN", "--collection-size", "1"), "one query alone has"),
        (("demo", "--queries", "1000000000"), "--queries"),
        (("evaluat", "a.run"), "did you mean 'evaluate'"),
        (("xyzzy",), "`ringtrue --help` lists them all"),
    ],
)
def test_wrong_usage_brings_exit_2_and_the_near_miss(world: Path, ringtrue, words: tuple[str, ...], says: str) -> None:
    answer = ringtrue(*words)
    assert answer.code == 2
    assert says in answer.err
    assert answer.out == ""


@pytest.mark.real
def test_all_37_runs_of_dl19_in_one_command(data: Path, ringtrue) -> None:
    runs = sorted(map(str, (data / "dl19/runs").glob("*.run")))
    judgments = str(data / "dl19/human.qrels")
    answer = ringtrue("evaluate", *runs, "--judgments", judgments, "-m", "nDCG@10,P@10,AP,RR", "--json")
    assert len(answer.json["runs"]) == 37
    # BM25's precision by the human labels, as published with the collection's model judgments: .412
    level2 = ringtrue(
        "evaluate", str(data / "dl19/runs/bm25base_p.run"), "--judgments", judgments, "-m", "P(rel=2)@10", "--json"
    )
    assert round(level2.json["runs"]["bm25base_p"]["P(rel=2)@10"]["value"], 3) == 0.412


def test_gains_from_a_file_are_what_labels_are_worth(world: Path, ringtrue) -> None:
    (world / "gains.json").write_text('{"gains": {"0": 0, "1": 0.5, "2": 1}}')
    words = ("evaluate", "a.run", "--judgments", "j.qrels")
    asked = "DCG@10,GAP,nDCG(dcg=exp-log2)@10,P@1"
    found = ringtrue(*words, "-m", asked, "--gains", "gains.json", "--json").json["runs"]["a"]
    gains = "gains={0:0.0,1:0.5,2:1.0}"
    assert list(found)[:4] == [f"DCG({gains})@10", f"GAP({gains})", "nDCG(dcg='exp-log2')@10", "P@1"]
    answer = ringtrue(*words, "-m", asked, "--gains", "gains.json")
    assert "DCG(gains=…)@10" in answer.out
    assert answer.err == "note: gains of gains.json: 0 is worth 0, 1 is worth 0.5, 2 is worth 1\n"
    (world / "falling.json").write_text('{"gains": {"0": 0, "1": 0.5, "2": 0.4}}')
    assert "is that meant?" in ringtrue(*words, "-m", "DCG@10", "--gains", "falling.json").err
    plain = ringtrue(*words, "-m", f"DCG({gains})@10", "--json").json["runs"]["a"]
    assert found[f"DCG({gains})@10"] == plain[f"DCG({gains})@10"]


@pytest.mark.parametrize(
    ("gains", "measure", "code", "says"),
    [
        ('{"gains": {"1": 0.5, "2": 1}}', "P@1", 2, "--gains gains.json says nothing to P@1: ask for a measure that"),
        ('{"gains": {"7": 1}}', "nDCG@10", 2, "say nothing about label"),
        ('{"gains": {}}', "nDCG@10", 1, "gains.json: gains is empty; give every label its gain"),
        ('{"gains": {"1": 0, "2": 0}}', "nDCG@10", 1, "gains.json: every gain is 0"),
        ("no JSON", "nDCG@10", 1, "gains.json: expected gains as JSON"),
    ],
)
def test_gains_that_do_not_serve_are_told(
    world: Path, ringtrue, gains: str, measure: str, code: int, says: str
) -> None:  # fmt: skip
    (world / "gains.json").write_text(gains)
    answer = ringtrue("evaluate", "a.run", "--judgments", "j.qrels", "-m", measure, "--gains", "gains.json")
    assert (answer.code, answer.out) == (code, "")
    assert says in answer.err
    assert len(answer.err.splitlines()) == 1
