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
    assert all(part in lines[-1] for part in ("2 queries", " nDCG@10;", "95% interval (t)"))


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
    assert answer.notes[0] == "queries-not-in-run"
    assert ("1 of 2 " in answer.json["notes"][0], answer.json["notes"][0].endswith(": q7")) == (True, True)
    assert answer.err == "".join(f"note: {note}\n" for note in answer.json["notes"])
    skipped = ringtrue("evaluate", "a.run", "--judgments", "more.qrels", "-m", "RR", "--missing", "skip", "--json")
    assert skipped.json["runs"]["a"]["RR"]["n"] == 1


def test_a_single_query_has_no_interval_and_null_in_the_json(world: Path, ringtrue) -> None:
    Path("one.qrels").write_text("q1 0 d1 1\n")
    estimate = ringtrue("evaluate", "a.run", "--judgments", "one.qrels", "-m", "RR", "--json").json["runs"]["a"]["RR"]
    assert (estimate["value"], estimate["se"], estimate["low"]) == (1.0, None, None)
    assert estimate["note_codes"] == ["single-query"]


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
    assert " 1 more: " in answer.err
    assert " 1 query, " in answer.out.splitlines()[-1]
    answer = ringtrue("evaluate", "a.run", "--judgments", "one.qrels", "-m", "RR,AP", "--json")
    assert answer.json["runs"]["a"]["RR"]["note_codes"] == ["single-query"]


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
    assert both.stop == (1, "repeated-label", None)
    assert "(1 by w1, 0 by w1)" in both.error["message"]


def test_one_judge_or_the_average_over_all(world: Path, ringtrue) -> None:
    Path("two.qrels").write_text("q1 ann d1 1\nq1 bob d1 0\nq1 bob d2 1\nq2 ann d4 1\n")
    words = ("evaluate", "a.run", "--judgments", "two.qrels", "-m", "RR", "--json", "--missing", "skip")
    refused = ringtrue(*words)
    assert refused.stop == (1, "several-judges", None)
    assert all(part in refused.error["message"] for part in ("--judges average", "(lines 1, 2)"))
    assert ringtrue(*words, "--judge", "bob").json["runs"]["a"]["RR"]["value"] == 0.5
    assert ringtrue(*words, "--judges", "average", "--per-query").json["queries"]["a"]["q1"]["RR"] == 0.75
    wrong = ringtrue(*words, "--judge", "bobb")
    assert (wrong.stop, "'bob'?" in wrong.error["message"]) == ((2, "unknown-judge", "judge"), True)


def test_repeated_labels_of_one_judge_can_be_resolved(world: Path, ringtrue) -> None:
    Path("again.csv").write_text("query,doc,worker,label\nq1,d1,w,0\nq1,d1,w,1\nq2,d4,w,1\n")
    words = ("evaluate", "a.run", "--qrels", "again.csv", "-m", "P@1", "--json")
    refused = ringtrue(*words)
    assert (refused.stop, "--repeats first" in refused.err) == ((1, "repeated-label", None), True)
    assert ringtrue(*words, "--repeats", "first").json["runs"]["a"]["P@1"]["value"] == 0.5
    assert ringtrue(*words, "--repeats", "last").json["runs"]["a"]["P@1"]["value"] == 1.0


def test_judges_who_saw_little_bring_a_warning(world: Path, ringtrue) -> None:
    Path("crowd.qrels").write_text("q1 ann d1 1\nq1 bob d2 0\nq1 bob d3 1\n")
    words = ("evaluate", "a.run", "--judgments", "crowd.qrels", "-m", "RR(rel=2)", "--judges", "average", "--json")
    answer = ringtrue(*words)
    assert answer.notes == ["partly-judged-queries", "queries-not-judged", "queries-without-relevant", "single-query"]
    assert ("50% of" in answer.err, "of 2 or" in answer.err) == (True, True)


def test_ids_of_another_kind_and_equal_scores_bring_a_warning(world: Path, ringtrue) -> None:
    Path("other.run").write_text("q1 Q0 DOC-1 1 1.0 x\nq1 Q0 DOC-2 2 1.0 x\n")
    answer = ringtrue("evaluate", "other.run", "--judgments", "j.qrels", "-m", "RR", "--json")
    assert answer.notes == ["queries-not-in-run", "no-common-document", "constant-scores", "equal-values"]
    assert "'DOC-1'" in answer.err


def test_means_over_different_numbers_of_queries_say_so(world: Path, ringtrue) -> None:
    Path("short.run").write_text("q1 Q0 d1 1 1.0 x\n")
    answer = ringtrue("evaluate", "a.run", "short.run", "--judgments", "j.qrels", "-m", "RR", "--missing", "skip")
    assert "1 to 2 queries" in answer.out


def test_the_collections_size_is_an_option(world: Path, ringtrue) -> None:
    words = ("evaluate", "a.run", "--judgments", "j.qrels", "-m", "TN", "--per-query", "--json")
    assert ringtrue(*words, "--collection-size", "100").json["queries"]["a"]["q1"]["TN"] == 97


def test_a_forced_format_is_used_and_a_wrong_one_refused(world: Path, ringtrue) -> None:
    Path("ranks.tsv").write_text("q1\td2\t1\nq1\td1\t2\nq2\td4\t1\n")
    words = ("evaluate", "ranks.tsv", "--judgments", "j.qrels", "-m", "RR", "--json")
    assert ringtrue(*words, "--as", "msmarco-run").json["runs"]["ranks"]["RR"]["value"] == 1.0
    wrong = ringtrue(*words, "--as", "msmarco-rum")
    assert (wrong.stop, "'msmarco-run'" in wrong.error["message"]) == ((2, "unknown-format", "as"), True)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("q1 Q0 d1 1 abc x\n", ("bad-score", 1)),
        ("q1 Q0 d1 1 2 x\nq1 Q0 d2 2 nan x\n", ("bad-score", 2)),
        ("q1 Q0 d1 1 2 x\nq1 Q0 d1 2 1 x\n", ("duplicate-document", None)),
        ("q1 Q0 d1 1 2 x\nq1 Q0 d2\n", ("too-few-fields", 2)),
        ("", ("empty-file", None)),
        ("# nothing\n", ("no-data", None)),
        ("\0\1\2" * 50, ("binary-file", None)),
        ("zz Q0 d1 1 2 x\n", ("no-common-query", None)),
    ],
)
def test_a_bad_run_brings_exit_1_one_line_and_no_number(
    world: Path, ringtrue, content: str, error: tuple[str, int | None]
) -> None:
    Path("bad.run").write_text(content)
    answer = ringtrue("evaluate", "a.run", "bad.run", "--judgments", "j.qrels", "-m", "AP", "--json")
    assert (answer.code, len(answer.err.splitlines())) == (1, 1)
    assert (answer.error["code"], answer.error["line"]) == error
    assert "bad" in answer.error["message"]


@pytest.mark.parametrize("measure", ["nDCG(dcg=exp-log2)@10", "ERR", "SDCG(dcg=exp-log2)@2"])
def test_a_label_too_large_for_its_gain_is_refused(world: Path, ringtrue, measure: str) -> None:
    Path("huge.qrels").write_text("q1 0 d1 1100\nq1 0 d2 1\nq2 0 d4 1\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "huge.qrels", "-m", measure, "--json")
    assert answer.stop == (2, "label-too-large", None)
    assert " 1100 " in answer.error["message"]


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
    answer = ringtrue("evaluate", "a.run", "--judgments", "run.csv", "-m", "nDCG@10", "--json")
    assert (answer.stop, "'label'" in answer.error["message"]) == ((1, "missing-column", None), True)


def test_blanks_after_commas_and_capitals_in_headers_are_understood(world: Path, ringtrue) -> None:
    Path("j.csv").write_text("Query, Doc, Label\nq1, d1, 1\nq2, d4, 1\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "j.csv", "-m", "P@1", "--json")
    assert answer.json["runs"]["a"]["P@1"]["value"] == 1.0


def test_lines_that_end_as_on_old_macs_are_refused(world: Path, ringtrue) -> None:
    Path("mac.run").write_bytes(b"q1 Q0 d1 1 3 t\rq1 Q0 d2 2 2 t\rq2 Q0 d4 1 1 t\r")
    assert ringtrue("evaluate", "mac.run", "--judgments", "j.qrels", "-m", "AP", "--json").stop == (
        1,
        "carriage-return",
        None,
    )


def test_the_lines_of_a_document_twice_are_those_of_the_judge_in_question(world: Path, ringtrue) -> None:
    Path("two.qrels").write_text("q1 A d1 1\nq1 B d1 1\nq1 A d1 0\n")
    answer = ringtrue("evaluate", "a.run", "--judgments", "two.qrels", "-m", "AP", "--judge", "A")
    assert "(lines 1, 3)" in answer.err


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "nDGC@10"), ("unknown-measure", "measure"), "'nDCG@10'"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "P(rl=2)@10"), ("unknown-parameter", None), "'rel'"),
        (("evaluate", "a.run", "a.run", "--judgments", "j.qrels"), ("repeated-run", "runs"), ""),
        (("evaluate", "a.run"), ("needs-parameter", "judgments"), "--judgments"),
        (("evaluate", "--judgments", "j.qrels"), ("needs-parameter", "runs"), ""),
        (("evaluate", "a.run", "--judgements", "j.qrels"), ("unknown-parameter", "judgements"), "--judgments"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--level", "95"), ("bad-level", "level"), ""),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--by", "kind"), ("unknown-column", "by"), "'kind'"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--topics", "t.csv"), ("needs-parameter", "by"), "--by"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--by", "x", "--per-query"), ("unknown-column", "by"), ""),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--as", "pairs"), ("wrong-format", "as"), ""),
        (
            ("evaluate", "a.run", "--judgments", "j.qrels", "--judgments", "k.qrels"),
            ("repeated-parameter", "judgments"),
            "--judgments",
        ),
        (
            ("evaluate", "a.run", "--judgments", "j.qrels", "--judge", "0", "--judges", "average"),
            ("conflicting-parameters", "judge"),
            "",
        ),
        (("evaluate", "-", "--judgments", "-"), ("input-read-twice", None), ""),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", ""), ("no-measure", "measure"), ""),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "nDCG10"), ("unknown-measure", "measure"), "'nDCG@10'"),
        (
            ("evaluate", "a.run", "--judgments", "j.qrels", "--columns", "gold=label"),
            ("bad-value", "columns"),
            "label=gold",
        ),
        (
            ("evaluate", "a.run", "--judgments", "j.qrels", "--columns", "lable=gold"),
            ("bad-value", "columns"),
            "'label'",
        ),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--where", "fold"), ("bad-value", "where"), ""),
        (("evaluate", "a.run", "--judgments", "j.qrels", "--depth", "9" * 30), ("bad-value", "depth"), "--depth"),
        (
            ("evaluate", "a.run", "--judgments", "j.qrels", "-m", "F(beta=1e200)@2"),
            ("bad-value", None),
            "0.001 to 1000",
        ),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "ERR(max_rel=2000)"), ("bad-value", None), "1 to 400"),
        (("evaluate", "a.run", "--judgments", "j.qrels", "-m", "SDCG@2147483647"), ("bad-cutoff", None), ""),
        (
            ("evaluate", "a.run", "--judgments", "j.qrels", "-m", "TN", "--collection-size", "1"),
            ("small-collection", "collection_size"),
            "",
        ),
        (("demo", "--queries", "1000000000"), ("bad-value", "queries"), "--queries"),
        (("evaluat", "a.run"), ("unknown-command", None), "'evaluate'"),
        (("xyzzy",), ("unknown-command", None), "`ringtrue --help`"),
    ],
)
def test_wrong_usage_brings_exit_2_and_the_near_miss(
    world: Path, ringtrue, words: tuple[str, ...], error: tuple[str, str | None], says: str
) -> None:
    answer = ringtrue(*words, "--json")
    assert answer.stop == (2, *error)
    assert says in answer.error["message"]


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
    assert ringtrue(*words, "-m", asked, "--gains", "gains.json", "--json").notes == ["gains-of-labels"]
    (world / "falling.json").write_text('{"gains": {"0": 0, "1": 0.5, "2": 0.4}}')
    falling = ringtrue(*words, "-m", "DCG@10", "--gains", "falling.json", "--json")
    assert falling.notes == ["gains-of-labels"]
    plain = ringtrue(*words, "-m", f"DCG({gains})@10", "--json").json["runs"]["a"]
    assert found[f"DCG({gains})@10"] == plain[f"DCG({gains})@10"]


@pytest.mark.parametrize(
    ("gains", "measure", "stop"),
    [
        ('{"gains": {"1": 0.5, "2": 1}}', "P@1", (2, "unused-parameter", "gains")),
        ('{"gains": {"7": 1}}', "nDCG@10", (2, "level-without-gain", None)),
        ('{"gains": {}}', "nDCG@10", (1, "empty-gains", None)),
        ('{"gains": {"1": 0, "2": 0}}', "nDCG@10", (1, "zero-gains", None)),
        ("no JSON", "nDCG@10", (1, "bad-json", None)),
    ],
)
def test_gains_that_do_not_serve_are_told(
    world: Path, ringtrue, gains: str, measure: str, stop: tuple[int, str, str | None]
) -> None:  # fmt: skip
    (world / "gains.json").write_text(gains)
    answer = ringtrue("evaluate", "a.run", "--judgments", "j.qrels", "-m", measure, "--gains", "gains.json", "--json")
    assert answer.stop == stop
    assert answer.err.count("\n") == 1
