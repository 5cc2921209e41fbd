"""Judgments that become the preferences that they imply."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ringtrue.files import read_judgments, read_preferences
from ringtrue.preference.implied_preferences import implied_preferences

IMPLIED = "q1 d1 d2 d2\nq1 d1 d3 d3\nq1 d2 d3 d2\n"


@pytest.mark.parametrize("words", [("out.pref",), ("out.pref.gz",), ("out.txt", "--to", "pairs")])
def test_judgments_become_pairs_where_the_target_says_so(world: Path, ringtrue, words: tuple[str, ...]) -> None:
    answer = ringtrue("convert", "j.qrels", *words, "--json")
    assert answer.json == {"kind": "preferences", "rows": 3, "format": "pairs", "file": words[0]}
    assert "3 preferences implied by 4 labels" in answer.err
    assert read_preferences(words[0]).frame.equals(implied_preferences(read_judgments("j.qrels")).frame)


def test_pairs_are_written_with_their_winners(world: Path, ringtrue) -> None:
    ringtrue("convert", "j.qrels", "out.pref")
    assert Path("out.pref").read_text() == IMPLIED


def test_a_table_of_preferences_is_asked_for(world: Path, ringtrue) -> None:
    assert ringtrue("convert", "j.qrels", "out.csv", "--json").json["kind"] == "judgments"
    answer = ringtrue("convert", "j.qrels", "out.csv", "--to-kind", "preferences", "--json")
    assert (answer.json["kind"], answer.json["rows"]) == ("preferences", 3)
    assert Path("out.csv").read_text().splitlines()[:2] == ["query,left,right,judge,winner", "q1,d1,d2,0,right"]


def test_trec_prefs_of_judgments_have_a_line_for_each_label(world: Path, ringtrue) -> None:
    answer = ringtrue("convert", "j.qrels", "out.prefs", "--json")
    assert (answer.json["rows"], answer.json["format"]) == (3, "trec-prefs")
    assert Path("out.prefs").read_text() == "q1 0 0 d1 0\nq1 0 0 d2 2\nq1 0 0 d3 1\nq2 0 0 d4 1\n"
    assert ringtrue("convert", "out.prefs", "back.pref").code == 0
    assert Path("back.pref").read_text() == IMPLIED


def test_labels_below_0_and_repeats_are_told(world: Path, ringtrue) -> None:
    Path("j.csv").write_text("query,doc,judge,label\nq,a,x,0\nq,b,x,2\nq,c,x,-1\nq,a,x,3\n")
    refused = ringtrue("convert", "j.csv", "out.pref")
    assert refused.code == 1
    assert "judge 'x' labelled document 'a' of query 'q' 2 times (0, 3)" in refused.err
    assert "(rows 1, 4)" in refused.err
    for keep, winner in (("first", "b"), ("last", "a")):
        answer = ringtrue("convert", "j.csv", "out.pref", "--repeats", keep)
        assert "1 preference implied by 2 labels; 2 labels left out (below 0, 'not judged', or repeated)" in answer.err
        assert Path("out.pref").read_text().split()[-1] == winner


def test_equal_labels_become_ties_where_asked(world: Path, ringtrue) -> None:
    Path("j.qrels").write_text("q 0 a 1\nq 0 b 1\n")
    refused = ringtrue("convert", "j.qrels", "out.pref")
    assert (refused.code, "j.qrels: no judge gave two documents" in refused.err) == (1, True)
    assert "--ties" in refused.err
    assert ringtrue("convert", "j.qrels", "out.pref", "--ties").code == 0
    assert Path("out.pref").read_text() == "q a b tie\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("a.run", "out.csv", "--to-kind", "preferences"), "IN holds run, and only judgments imply preferences"),
        (("a.run", "out.csv", "--ties"), "--ties: IN holds run"),
        (("j.qrels", "out.csv", "--ties"), "--ties is about preferences .*; say --to-kind preferences as well"),
        (("j.qrels", "out.csv", "--repeats", "last"), "--repeats last is about preferences"),
        (("j.qrels", "out.prefs", "--ties"), "trec-prefs has no place for ties; leave it out, or write csv"),
        (("j.qrels", "out.csv", "--to-kind", "run"), "'run'"),
    ],
)
def test_options_that_change_nothing_are_refused(world: Path, ringtrue, words: tuple[str, ...], says: str) -> None:
    answer = ringtrue("convert", *words)
    assert answer.code == 2
    assert re.search(says, answer.err)
    assert not Path(words[1]).exists()


def test_labels_of_preferences_are_made_by_rating(world: Path, ringtrue) -> None:
    Path("g.pref").write_text("q a b a\n")
    answer = ringtrue("convert", "g.pref", "back.qrels")
    assert answer.code == 2
    advice = "ringtrue rate g.pref --qrels back.qrels --threshold 0"
    assert f"ratings make labels of them: `{advice}`" in answer.err
    assert ringtrue(*advice.split()[1:]).code == 0
    assert Path("back.qrels").read_text() == "q 0 a 1\nq 0 b 0\n"
    assert "--qrels labels.qrels" in ringtrue("convert", "g.pref", "back.txt", "--to", "qrels-3").err


def test_queries_that_imply_nothing_are_counted(world: Path, ringtrue) -> None:
    assert (
        "1 of 2 queries implied no preference: nobody gave two different labels there"
        in ringtrue("convert", "j.qrels", "out.pref").err
    )
    Path("j.qrels").write_text("q 0 a 1\nq 0 b 0\nr 0 a 1\nr 0 b 1\ns 0 a 1\nt 0 a -1\n")
    assert "3 of 4 queries implied no preference" in ringtrue("convert", "j.qrels", "out.pref").err
    ties = ringtrue("convert", "j.qrels", "out.pref", "--ties").err
    assert "2 of 4 queries implied no preference: nobody gave two labels there" in ties
    Path("j.qrels").write_text("q 0 a 1\nq 0 b 0\n")
    assert "implied no preference" not in ringtrue("convert", "j.qrels", "out.pref").err


def test_help_says_which_preferences_are_those_of_trec_eval(ringtrue) -> None:
    shown = " ".join(ringtrue("convert", "--help").out.split())
    assert "a .prefs has documents in groups with levels, as trec_eval reads them" in shown
