"""`ringtrue disagreement`: what each label is worth, as a table, as JSON and as gains."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ringtrue.files import read_gains

LABELS = """query,doc,judge,label,gold,kind
q1,a,x,2,2,nav
q1,a,y,1,2,nav
q1,b,x,1,,nav
q1,b,y,2,,nav
q2,c,x,2,,info
q2,c,y,2,,info
q3,d,x,0,1,info
q3,d,y,1,1,info
q3,e,x,0,,info
q3,e,y,0,,info
q3,f,y,0,,info
"""
PAIRS = """query,doc,judge,snippet,page
q1,a,x,Sure,Key
q1,a,y,Maybe,HRel
q1,b,x,Maybe,HRel
q1,b,y,Sure,Key
q2,c,x,No,Non
q2,c,y,No,Non
"""
ESTIMATE = {"value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"}


@pytest.fixture(autouse=True)
def labels(world: Path) -> Path:
    (world / "labels.csv").write_text(LABELS)
    (world / "pairs.csv").write_text(PAIRS)
    (world / "again.csv").write_text(LABELS + "q1,a,x,2,2,nav\nq2,c,x,2,,info\n")
    return world


def test_the_json_keeps_the_contract(ringtrue: Callable) -> None:
    found = ringtrue("disagreement", "labels.csv", "--at-least", "1/3", "--json").json
    assert list(found)[:4] == ["p", "weights", "cases", "flags"]
    assert set(found["p"]["1"]) == set(found["weights"]["1"]) == ESTIMATE
    assert found["p"]["1"]["value"] == pytest.approx(2 / 3)
    assert found["weights"]["1"]["value"] == pytest.approx(8 / 9)
    assert found["weights"]["0"]["value"] == 0
    assert found["cases"] == {"0": 3, "1": 3, "2": 4}
    assert found["flags"][0].startswith("level 0: 3 cases")
    assert (found["at_least"], found["top"], found["documents"]) == ("1/3", ["2"], 5)
    assert "thinly-labelled-items" in found["note_codes"]


def test_the_table_says_what_a_weight_is_and_what_to_do_next(ringtrue: Callable) -> None:
    answer = ringtrue("disagreement", "labels.csv", "--at-least", "1/3", "-o", "gains.json")
    assert "1 of 3 users" in answer.out
    assert "1 for 0.89, 2 for 1.00." in answer.out
    assert ("--gains " in answer.out, "-o " in answer.out) == (True, False)
    assert "1 of 6 documents" in answer.err
    assert "-o gains.json" in ringtrue("disagreement", "labels.csv", "--at-least", "1/3").out


def test_gains_are_written_for_measures(ringtrue: Callable, world: Path) -> None:
    ringtrue("disagreement", "labels.csv", "--at-least", "1/3", "-o", "gains.json")
    assert read_gains(world / "gains.json") == {0: 0, 1: 0.8889, 2: 1}
    assert json.loads((world / "gains.json").read_text())["at_least"] == "1/3"


def test_a_level_without_a_gain_is_told(ringtrue: Callable, world: Path) -> None:
    rows = [f"q{q},d{q},{judge},{label}" for q in range(4) for judge, label in zip("xyz", (0, 1, 3), strict=True)]
    (world / "gap.csv").write_text("query,doc,judge,label\n" + "\n".join(rows))
    words = ("disagreement", "gap.csv", "--at-least", "2/3", "--scale", "0-3", "-o", "gains.json")
    assert "level-without-gain" in ringtrue(*words, "--json").notes
    assert set(read_gains(world / "gains.json")) == {0, 1, 3}
    assert "undefined: 2" in ringtrue(*words).out


def test_gold_counts_as_one_more_label_by_column_or_by_file(ringtrue: Callable) -> None:
    words = ["disagreement", "labels.csv", "--at-least", "1/3", "--gold-as-judge", "--json"]
    column = ringtrue(*words)
    other = ringtrue(*words, "--gold", "labels.csv", "--gold-columns", "label=gold", "--gold-where", "gold!=")
    assert column.json["p"] == other.json["p"]
    assert column.json["cases"]["1"] > 3
    assert ("gold-as-judge" in column.notes, " 2 documents" in column.err) == (True, True)


def test_other_settings_reach_the_library(ringtrue: Callable) -> None:
    words = ["disagreement", "labels.csv", "--at-least", "1/3", "--json"]
    assert ringtrue(*words, "--keep-lowest").json["weights"]["0"]["method"] != "lowest level"
    assert ringtrue(*words, "--gold-as-judge", "--min-labels", "3").json["documents"] == 2
    assert ringtrue(*words, "--resamples", "0").json["p"]["1"]["low"] is None
    assert ringtrue(*words, "--level", "0.5").json["p"]["1"]["level"] == 0.5
    assert ringtrue(*words, "--seed", "7").json["seed"] == 7


def test_strata_have_counts_and_brackets_where_they_are_few(ringtrue: Callable) -> None:
    words = ["disagreement", "labels.csv", "--at-least", "1/3", "--by", "kind"]
    found = ringtrue(*words, "--json").json["strata"]
    assert {name: part["cases"]["2"] for name, part in found.items()} == {"info": 2, "nav": 2}
    answer = ringtrue(*words)
    assert "kind  documents" in answer.out
    assert "fewer than 50" in answer.out
    assert ringtrue(*words, "--format", "csv").out.startswith("kind,level,label,statistic,value")


def test_predictions_stand_beside_what_happened(ringtrue: Callable) -> None:
    words = ["disagreement", "labels.csv", "--at-least", "2/2", "--verify"]
    found = ringtrue(*words, "--json").json["verification"]
    assert {one["at_least"] for one in found} == {"1/2", "2/2"}
    assert "unverifiable-share" in ringtrue(*words, "--json").notes
    answer = ringtrue(*words)
    assert "3 labels: 1/3 " in answer.err
    assert "\nexperimental: " in answer.out
    assert "experimental 2/2" in ringtrue(*words, "--format", "csv").out


def test_a_judge_who_labels_again_is_shown_beside_others(ringtrue: Callable) -> None:
    words = ["disagreement", "again.csv", "--at-least", "1/3", "--repeats", "last"]
    found = ringtrue(*words, "--json").json["consistency"]
    assert (found["documents"], found["within"]["2"]["value"]) == (2, 1)
    assert sum(found["histograms"]["judges"]["within"]) == 1
    assert "on 2 documents" in ringtrue(*words).out
    assert ringtrue(*words[:2], "--at-least", "1/3").code == 1


def test_words_have_an_order(ringtrue: Callable) -> None:
    answer = ringtrue(
        "disagreement",
        "pairs.csv",
        "--at-least",
        "1/3",
        "--columns",
        "label=page",
        "--levels",
        "Non,HRel,Key",
        "--json",
    )
    assert answer.json["p"]["HRel"]["value"] == 1
    assert answer.json["levels"] == {"Non": 0, "HRel": 1, "Key": 2}


def test_a_table_of_words_without_queries_is_told(ringtrue: Callable, world: Path) -> None:
    (world / "words.csv").write_text("doc,judge,label\na,x,Key\na,y,Non\nb,x,Key\nb,y,Key\n")
    answer = ringtrue("disagreement", "words.csv", "--at-least", "1/2", "--levels", "Non,Key", "--json")
    assert (answer.code, "no-query-column" in answer.notes) == (0, True)
    assert "words.csv: " in answer.err


def test_gold_that_is_nowhere_is_told_with_what_to_do(ringtrue: Callable) -> None:
    answer = ringtrue(
        "disagreement", "pairs.csv", "--at-least", "1/2", "--levels", "page=Non,HRel,Key", "--gold-as-judge", "--json"
    )
    assert answer.stop == (2, "unknown-column", "gold_as_judge")
    assert "--gold FILE" in answer.error["message"]


def test_two_columns_make_combined_levels(ringtrue: Callable) -> None:
    words = ["disagreement", "pairs.csv", "--at-least", "1/3", "--levels", "snippet=No,Maybe,Sure"]
    words += ["--levels", "page=Non,HRel,Key"]
    found = ringtrue(*words, "--json").json
    assert found["cases"]["Maybe/HRel"] == 2
    assert found["top"] == ["Sure/Key"]
    assert ringtrue(*words, "--top", "page", "--json").json["top"] == ["No/Key", "Maybe/Key", "Sure/Key"]
    (few,) = [line for line in ringtrue(*words).out.splitlines() if "fewer than 50" in line]
    assert few.rpartition(": ")[2].split(", ") == ["No/Non", "Maybe/HRel", "Sure/Key"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--at-least", "4/3"], ("impossible-user-share", "at_least")),
        (["--at-least", "few"], ("bad-user-share", "at_least")),
        (["--at-least", "1/3", "--gold", "j.qrels"], ("needs-parameter", "gold_as_judge")),
        (["--at-least", "1/3", "-o", "gains.csv"], ("unknown-extension", "output")),
        (["--at-least", "1/3", "-o", "-"], ("not-a-file", "output")),
        (["--at-least", "1/3", "--by", "knd"], ("unknown-column", "by")),
        (["--at-least", "1/3", "--levels", "0"], ("too-few-levels", "levels")),
        (["--at-least", "1/3", "--levels", "0,1,2", "--scale", "0-2"], ("conflicting-parameters", "scale")),
        (["--at-least", "1/3", "--levels", "0,1", "--levels", "2,3"], ("bad-value", "levels")),
        (["--at-least", "1/3", "--levels", "kind=a,b", "--levels", "kind=c,d"], ("bad-value", "levels")),
        (
            ["--at-least", "1/3", "--levels", "0,1,2", "--gold", "j.qrels", "--gold-as-judge"],
            ("conflicting-parameters", "gold"),
        ),
        (["--at-least", "1/3", "--top", "page"], ("top-without-levels", "top")),
    ],
)
def test_wrong_questions_end_with_2(words: list[str], error: tuple[str, str | None], ringtrue: Callable) -> None:
    assert ringtrue("disagreement", "labels.csv", *words, "--json").stop == (2, *error)


def test_unusable_labels_end_with_1_and_the_file(ringtrue: Callable) -> None:
    alone = ringtrue("disagreement", "labels.csv", "--at-least", "1/3", "--where", "judge=x", "--json")
    assert alone.stop == (1, "one-judge", None)
    assert all(part in alone.error["message"] for part in ("labels.csv: ", "judge=x: ", "5 labels", "'x'"))
    again = ringtrue("disagreement", "again.csv", "--at-least", "1/3", "--json")
    assert again.stop == (1, "repeated-labels", "repeats")
    assert "(rows 1, 12)" in again.error["message"]
    word = ringtrue("disagreement", "labels.csv", "--at-least", "1/3", "--levels", "0,1", "--json")
    assert word.stop == (1, "unknown-level", None)
    assert all(part in word.error["message"] for part in ("labels.csv: ", "row 1: "))


def test_qrels_have_no_columns_for_levels(ringtrue: Callable) -> None:
    answer = ringtrue("disagreement", "j.qrels", "--at-least", "1/3", "--levels", "0,1,2", "--json")
    assert answer.stop == (2, "wrong-format", "levels")


def test_qrels_with_several_judges_serve_as_well(ringtrue: Callable, world: Path) -> None:
    (world / "two.qrels").write_text("q1 x d1 1\nq1 y d1 0\nq2 x d2 1\nq2 y d2 1\n")
    assert ringtrue("disagreement", "two.qrels", "--at-least", "1/2", "--json").json["p"]["0"]["value"] == 1


def test_the_answer_does_not_overwrite_what_it_is_made_from(ringtrue: Callable, world: Path) -> None:
    (world / "labels.json").write_text((world / "labels.csv").read_text())
    answer = ringtrue("disagreement", "labels.json", "--at-least", "1/3", "-o", "labels.json", "--json")
    assert answer.stop == (2, "overwrites-input", "output")


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_every_format_is_printed(form: str, ringtrue: Callable) -> None:
    words = ["disagreement", "again.csv", "--at-least", "1/3", "--repeats", "all", "--verify", "--by", "kind"]
    answer = ringtrue(*words, "--format", form)
    assert answer.code == 0
    assert answer.out


def test_mutual_evaluation_is_a_table_and_in_json(ringtrue: Callable, world: Path) -> None:
    rows = [("q1", "a", "x", 2), ("q1", "a", "y", 2), ("q1", "b", "x", 1), ("q1", "b", "y", 0),
            ("q2", "a", "x", 2), ("q2", "a", "y", 1), ("q2", "b", "x", 0), ("q2", "b", "y", 1)]  # fmt: skip
    (world / "two.csv").write_text("query,doc,judge,label\n" + "\n".join(",".join(map(str, row)) for row in rows))
    words = ("disagreement", "two.csv", "--at-least", "1/5", "--mutual")
    answer = ringtrue(*words)
    assert "x and y" in answer.out
    found = ringtrue(*words, "--between", "y, x", "--json").json["mutual"]
    assert [one["measure"] for one in found["measures"]][-1] == "nDCG(1/5)"
    assert found["judges"] == {"q1": ["x", "y"], "q2": ["x", "y"]}
    (ap,) = [one for one in found["measures"] if one["measure"] == "AP"]
    assert (ap["mean"], ap["sd"], ap["queries"], ap["left_out"]) == (1.0, None, 1, 1)  # in q2 y calls nothing top


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--between", "x,y"], ("needs-parameter", "mutual")),
        (["--mutual", "--between", "x"], ("not-two-judges", "between")),
        (["--mutual", "--levels", "a=x,y", "--levels", "b=x,y"], ("conflicting-parameters", "mutual")),
    ],
)
def test_a_wrong_question_about_mutual_evaluation_is_told(
    ringtrue: Callable, words: list[str], error: tuple[str, str | None]
) -> None:
    assert ringtrue("disagreement", "labels.csv", "--at-least", "1/3", *words, "--json").stop == (2, *error)


def test_gains_are_not_written_where_nobody_said_the_top(ringtrue: Callable, world: Path) -> None:
    words = ("disagreement", "labels.csv", "--at-least", "1/3", "--scale", "0-4", "-o", "gains.json", "--json")
    assert ringtrue(*words).stop == (1, "unused-top-level", None)
    assert not (world / "gains.json").exists()


def test_csv_has_mutual_evaluation_too(ringtrue: Callable, world: Path) -> None:
    rows = [f"q{q},d{d},{judge},{(q + d) % 3}" for q in range(3) for d in range(3) for judge in "xy"]
    (world / "same.csv").write_text("query,doc,judge,label\n" + "\n".join(rows))
    answer = ringtrue("disagreement", "same.csv", "--at-least", "1/3", "--mutual", "--format", "csv")
    rows = list(csv.reader(answer.out.splitlines()))
    assert next(row[4:] for row in rows if "mutual nDCG(1/4)" in row[3]) == ["1.0", "", "", "", "3", ""]
