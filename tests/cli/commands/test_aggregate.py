"""`ringtrue aggregate`: one label from many, as a table, as JSON and in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ringtrue.cli.commands.aggregate import METHODS
from ringtrue.judges import aggregation

LABELS = """query,doc,judge,label
q1,d1,ann,2
q1,d1,bob,2
q1,d1,cat,0
q1,d2,ann,0
q1,d2,bob,0
q1,d2,cat,0
q2,d3,ann,1
q2,d3,bob,0
"""
PREFERENCES = "query,left,right,judge,winner\nq,a,b,x,left\nq,b,a,y,right\nq,a,b,z,tie\n"


@pytest.fixture(autouse=True)
def labels(world: Path) -> Path:
    (world / "labels.csv").write_text(LABELS)
    (world / "pairs.csv").write_text(PREFERENCES)
    (world / "gold.csv").write_text("query,doc,label\nq2,d3,2\n")
    return world


def test_the_command_offers_every_method() -> None:
    assert METHODS == aggregation.METHODS


def test_the_json_keeps_the_contract(ringtrue: Callable) -> None:
    found = ringtrue("aggregate", "labels.csv", "--json").json
    assert list(found)[:6] == ["items", "method", "class_shares", "objective", "log_likelihood", "judges"]
    assert (found["items"], found["method"]) == (3, "dawid-skene")
    assert sum(found["class_shares"].values()) == pytest.approx(1)
    assert found["objective"] == sorted(found["objective"])
    assert found["iterations"] == len(found["objective"])
    assert found["prior"] == {"diagonal": 2.0, "cell": 1.0}
    assert [one["judge"] for one in found["judges"]] == ["ann", "bob", "cat"]
    assert set(found["judges"][0]["accuracy"]) == {
        "value",
        "se",
        "low",
        "high",
        "level",
        "n",
        "method",
        "notes",
        "note_codes",
    }
    assert found["judges"][0]["confusion"]["labels"] == [0, 1, 2]


@pytest.mark.parametrize("method", ["majority", "mean", "median", "dawid-skene", "one-coin", "mace"])
def test_every_method_writes_labels_that_can_be_evaluated(method: str, ringtrue: Callable, world: Path) -> None:
    answer = ringtrue("aggregate", "labels.csv", "--method", method, "-o", "one.qrels")
    assert answer.code == 0
    lines = (world / "one.qrels").read_text().splitlines()
    assert [line.rsplit(" ", 1)[0] for line in lines] == ["q1 0 d1", "q1 0 d2", "q2 0 d3"]
    assert lines[1] == "q1 0 d2 0"
    assert ringtrue("evaluate", "a.run", "--judgments", "one.qrels", "-m", "RR", "--json").code == 0


def test_tables_have_every_probability(ringtrue: Callable, world: Path) -> None:
    ringtrue("aggregate", "labels.csv", "--method", "mean", "-o", "one.csv")
    frame = pl.read_csv(world / "one.csv")
    assert frame.columns == ["query", "doc", "label", "probability", "p_0", "p_1", "p_2", "votes", "value"]
    assert frame.row(0) == ("q1", "d1", 1, 0.0, pytest.approx(1 / 3), 0, pytest.approx(2 / 3), 3, pytest.approx(4 / 3))
    ringtrue("aggregate", "labels.csv", "-o", "one.parquet")
    assert pl.read_parquet(world / "one.parquet").columns[-2:] == ["p_2", "votes"]
    ringtrue("aggregate", "labels.csv", "-o", "one.jsonl")
    assert '"p_0":' in (world / "one.jsonl").read_text()


def test_the_table_says_what_was_done(ringtrue: Callable) -> None:
    words = ("aggregate", "labels.csv", "--method", "majority")
    out = ringtrue(*words).out
    assert [count in out for count in ("8 labels", "3 judges", "3 items", "1 tie,")] == [True] * 4
    assert ringtrue(*words, "--json").notes == ["tied-items"]
    model = ringtrue("aggregate", "labels.csv", "--gold", "gold.csv", "--prior", "1,0.5").out
    assert [count in model for count in ("1 item keeps", "prior 1,0.5", "likelihood −")] == [True] * 3


@pytest.mark.parametrize("name", ["labels.csv", "pairs.csv"])
def test_csv_prints_what_a_file_would_have(name: str, ringtrue: Callable, world: Path) -> None:
    answer = ringtrue("aggregate", name, "--format", "csv", "-o", "one.csv")
    assert answer.code == 0
    assert answer.out == (world / "one.csv").read_text()
    assert answer.out.startswith("query,")


def test_the_table_says_where_the_labels_are_and_what_comes_next(ringtrue: Callable, world: Path) -> None:
    unwritten = ringtrue("aggregate", "labels.csv").out
    assert ("-o FILE" in unwritten, "--judgments" in unwritten) == (True, False)
    for name in ("one.qrels", "one.csv"):
        lines = ringtrue("aggregate", "labels.csv", "-o", name).out.splitlines()
        assert [line[:9] for line in lines if line.endswith(f"--judgments {name}")] == ["3 labels "]
        assert ringtrue("evaluate", "a.run", "--judgments", name).code == 0
    lines = ringtrue("aggregate", "pairs.csv", "-o", "p.csv").out.splitlines()
    assert [line[:8] for line in lines if line.endswith(" p.csv")] == ["1 label "]


def test_a_file_without_queries_says_that_they_have_a_made_up_name(ringtrue: Callable, world: Path) -> None:
    (world / "plain.csv").write_text("doc,judge,label\nd,ann,1\nd,bob,1\ne,ann,0\n")
    answer = ringtrue("aggregate", "plain.csv", "-o", "one.qrels")
    assert ("2 labels" in answer.out, "called 0" in answer.out) == (True, True)
    assert (world / "one.qrels").read_text() == "0 0 d 1\n0 0 e 0\n"
    answer = ringtrue("aggregate", "plain.csv", "--json")
    assert "no-query-column" in answer.notes
    assert "plain.csv" in answer.err


def test_one_is_not_several(ringtrue: Callable, world: Path) -> None:
    (world / "two.csv").write_text("query,doc,judge,label\nq,d,ann,1\nq,d,bob,1\n")
    lines = ringtrue("aggregate", "two.csv", "--method", "majority").out.splitlines()
    assert any("2 judges" in line and line.endswith(" 1 item") for line in lines)
    assert "\n1 iteration, log" in ringtrue("aggregate", "labels.csv", "--max-iterations", "1").out


@pytest.mark.parametrize("method", METHODS)
def test_a_lone_judge_is_believed_and_no_method_is_claimed(method: str, ringtrue: Callable, world: Path) -> None:
    (world / "lone.csv").write_text("query,doc,judge,label\nq,d,ann,1\nq,e,ann,0\n")
    answer = ringtrue("aggregate", "lone.csv", "--method", method)
    assert answer.out.splitlines()[0].split() == ["label", "items", "share"]
    assert [count in answer.out for count in ("2 labels", "1 judge ", "2 items:")] == [True] * 3
    assert method not in answer.out
    assert "votes" not in answer.out
    assert "accuracy" not in answer.out


def test_the_labels_of_preferences_are_explained(ringtrue: Callable) -> None:
    out = ringtrue("aggregate", "pairs.csv").out
    assert "'first'" in out
    assert "\n−1 " in out
    assert "'second'" not in ringtrue("aggregate", "labels.csv").out


def test_gold_is_kept(ringtrue: Callable, world: Path) -> None:
    found = ringtrue("aggregate", "labels.csv", "--gold", "gold.csv", "-o", "one.csv", "--json").json
    assert found["gold"] == 1
    assert pl.read_csv(world / "one.csv")["label"].to_list()[2] == 2


def test_ties_follow_the_rule_and_the_seed(ringtrue: Callable, world: Path) -> None:
    def third(*words: str) -> int:
        ringtrue("aggregate", "labels.csv", "--method", "majority", "-o", "one.csv", *words)
        return pl.read_csv(world / "one.csv")["label"][2]

    assert (third(), third("--ties", "high")) == (0, 1)
    assert {third("--ties", "random", "--seed", str(seed)) for seed in range(20)} == {0, 1}


def test_preferences_are_aggregated_too(ringtrue: Callable, world: Path) -> None:
    answer = ringtrue("aggregate", "pairs.csv", "--method", "majority", "-o", "one.csv")
    assert answer.code == 0, answer.err
    assert pl.read_csv(world / "one.csv").row(0)[:4] == ("q", "a", "b", 1)
    refused = ringtrue("aggregate", "pairs.csv", "-o", "one.qrels", "--json")
    assert refused.stop == (2, "wrong-format", "output")
    assert all(part in refused.error["message"] for part in ("one.qrels", ".csv, .tsv, .jsonl, .ndjson, .parquet"))


@pytest.mark.parametrize("ties", ["low", "high", "random"])
def test_preferences_that_balance_are_a_tie(ties: str, ringtrue: Callable, world: Path) -> None:
    (world / "even.csv").write_text("query,left,right,judge,winner\nq,a,b,x,left\nq,a,b,y,right\n")
    answer = ringtrue("aggregate", "even.csv", "--method", "majority", "--ties", ties, "-o", "one.csv", "--json")
    assert pl.read_csv(world / "one.csv")["label"].to_list() == [0]
    assert "tied-items" in answer.notes


def test_a_packed_file_is_named_by_what_is_in_it(ringtrue: Callable, world: Path) -> None:
    assert ringtrue("aggregate", "labels.csv", "-o", "one.qrels.gz").code == 0
    assert ringtrue("evaluate", "a.run", "--judgments", "one.qrels.gz").code == 0
    ringtrue("aggregate", "labels.csv", "-o", "one.qrels.csv")
    assert "p_0" in (world / "one.qrels.csv").read_text()


@pytest.mark.parametrize(
    ("words", "stop"),
    [
        (["labels.csv", "--method", "dawid"], (2, "bad-value", "method")),
        (["labels.csv", "--prior", "strong"], (2, "bad-value", "prior")),
        (["labels.csv", "--prior", "2,1", "--method", "mean"], (2, "unused-parameter", "prior")),
        (["labels.csv", "--prior", "-1,1"], (2, "out-of-range", "prior")),
        (["labels.csv", "--prior", "none", "--method", "mean"], (2, "unused-parameter", "prior")),
        (["labels.csv", "-o", "labels.csv"], (2, "overwrites-input", "output")),
        (["labels.csv", "--gold", "gold.csv", "-o", "gold.csv"], (2, "overwrites-input", "output")),
        (["labels.csv", "-o", "one.docx"], (2, "unknown-extension", "output")),
        (["labels.csv", "-o", "one"], (2, "unknown-extension", "output")),
        (["labels.csv", "-o", "one.run"], (2, "unknown-extension", "output")),
        (["labels.csv", "-o", "-"], (2, "not-a-file", "output")),
        (["missing.csv", "-o", "one.docx"], (2, "unknown-extension", "output")),
        (["missing.csv"], (1, "no-such-file", None)),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    words: list[str], stop: tuple[int, str, str | None], ringtrue: Callable
) -> None:
    answer = ringtrue("aggregate", *words, "--json")
    assert answer.stop == stop
    assert answer.err.count("\n") == 1


def test_repeats_are_told_with_their_rows(ringtrue: Callable, world: Path) -> None:
    (world / "twice.csv").write_text(LABELS + "q1,d1,ann,0\n")
    answer = ringtrue("aggregate", "twice.csv", "--json")
    assert answer.stop == (1, "repeated-labels", "repeats")
    assert all(part in answer.error["message"] for part in ("'ann'", "'d1'", "'q1'", "(2, 0)", "(rows 1, 9)"))
    assert ringtrue("aggregate", "twice.csv", "--repeats", "last").code == 0


def test_a_judge_is_told_once_about_labels_left_out(ringtrue: Callable, world: Path) -> None:
    (world / "more.csv").write_text(LABELS + "q2,d3,cat,-2\n")
    answer = ringtrue("aggregate", "more.csv", "--json")
    assert answer.notes.count("unjudged-labels") == 1


@pytest.mark.real
def test_the_anaesthetists_through_the_command_line(data: Path, ringtrue: Callable) -> None:
    path = str(data / "raters/anesthesia.csv")
    found = ringtrue("aggregate", path, "--repeats", "all", "--prior", "none", "--json").json
    assert list(found["class_shares"].values()) == pytest.approx([0.399969, 0.421576, 0.111788, 0.066667], abs=1e-5)
    assert found["log_likelihood"] == pytest.approx(-190.730997, abs=1e-5)
    assert found["judges"][0]["confusion"]["matrix"][0] == pytest.approx([0.907426, 0.092574, 0, 0], abs=1e-5)
