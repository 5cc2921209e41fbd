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
    assert list(answer.json) == ["kind", "rows", "format", "file", "notes", "note_codes"]
    assert list(answer.json.values())[:4] == ["preferences", 3, "pairs", words[0]]
    assert answer.notes == ["implied-preferences", "no-implied-preference"]
    assert all(count in answer.err for count in ("3 preferences", "4 labels"))
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
    refused = ringtrue("convert", "j.csv", "out.pref", "--json")
    assert refused.stop == (1, "repeated-labels", None)
    assert all(part in refused.error["message"] for part in ("'x'", "'a'", "'q'", "(0, 3)", "(rows 1, 4)"))
    for keep, winner in (("first", "b"), ("last", "a")):
        answer = ringtrue("convert", "j.csv", "out.pref", "--repeats", keep, "--json")
        assert answer.notes == ["implied-preferences", "lost-columns"]
        assert all(count in answer.err for count in ("1 preference ", "by 2 labels; ", "2 labels left"))
        assert Path("out.pref").read_text().split()[-1] == winner


def test_equal_labels_become_ties_where_asked(world: Path, ringtrue) -> None:
    Path("j.qrels").write_text("q 0 a 1\nq 0 b 1\n")
    refused = ringtrue("convert", "j.qrels", "out.pref", "--json")
    assert refused.stop == (1, "only-equal-labels", None)
    assert all(part in refused.error["message"] for part in ("j.qrels", "--ties"))
    assert ringtrue("convert", "j.qrels", "out.pref", "--ties").code == 0
    assert Path("out.pref").read_text() == "q a b tie\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("a.run", "out.csv", "--to-kind", "preferences"), ("unused-parameter", "to_kind")),
        (("a.run", "out.csv", "--ties"), ("unused-parameter", "ties")),
        (("j.qrels", "out.csv", "--ties"), ("needs-parameter", "to_kind")),
        (("j.qrels", "out.csv", "--repeats", "last"), ("needs-parameter", "to_kind")),
        (("j.qrels", "out.prefs", "--ties"), ("wrong-format", "ties")),
        (("j.qrels", "out.csv", "--to-kind", "run"), ("bad-value", "to_kind")),
    ],
)
def test_options_that_change_nothing_are_refused(
    world: Path, ringtrue, words: tuple[str, ...], error: tuple[str, str | None]
) -> None:
    assert ringtrue("convert", *words, "--json").stop == (2, *error)
    assert not Path(words[1]).exists()


def test_labels_of_preferences_are_made_by_rating(world: Path, ringtrue) -> None:
    Path("g.pref").write_text("q a b a\n")
    answer = ringtrue("convert", "g.pref", "back.qrels", "--json")
    assert answer.stop == (2, "wrong-format", "target")
    (advice,) = re.findall(r"`ringtrue (.*?)`", answer.error["message"])
    assert ringtrue(*advice.split()).code == 0
    assert Path("back.qrels").read_text() == "q 0 a 1\nq 0 b 0\n"
    assert ringtrue("convert", "g.pref", "back.txt", "--to", "qrels-3", "--json").stop == (2, "wrong-format", "target")


def test_queries_that_imply_nothing_are_counted(world: Path, ringtrue) -> None:
    words = ("convert", "j.qrels", "out.pref", "--json")
    assert "1 of 2 queries" in ringtrue(*words).note("no-implied-preference")
    Path("j.qrels").write_text("q 0 a 1\nq 0 b 0\nr 0 a 1\nr 0 b 1\ns 0 a 1\nt 0 a -1\n")
    assert "3 of 4 queries" in ringtrue(*words).note("no-implied-preference")
    assert "2 of 4 queries" in ringtrue(*words, "--ties").note("no-implied-preference")
    Path("j.qrels").write_text("q 0 a 1\nq 0 b 0\n")
    assert ringtrue(*words).notes == ["implied-preferences"]


def test_help_says_which_preferences_are_those_of_trec_eval(ringtrue) -> None:
    shown = ringtrue("convert", "--help").out
    assert (".prefs" in shown, "trec_eval" in shown) == (True, True)
