"""`ringtrue rate`: which documents are preferred, as tables, as JSON and in files."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ringtrue.cli.commands import rate as command
from ringtrue.preference.rating_methods import METHODS, RatingSettings
from ringtrue.tables import Preferences

PAIRS = "q1 a b a\nq1 b c b\nq1 a c a\nq1 a b a\nq2 x y y\nq2 x y tie\n"
VOTES = """query,left,right,judge,winner
q,a,b,ann,left
q,b,c,ann,left
q,c,a,ann,right
q,a,b,bob,left
q,c,b,bob,right
q,a,c,bob,left
q,a,b,eve,right
q,b,c,eve,right
"""


@pytest.fixture(autouse=True)
def files(world: Path) -> Path:
    (world / "pairs.pref").write_text(PAIRS)
    (world / "votes.csv").write_text(VOTES)
    (world / "gold.qrels").write_text("q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 x 0\nq2 0 y 0\n")
    (world / "of_q.qrels").write_text("q 0 a 1\nq 0 b 0\nq 0 c 0\n")
    return world


# What the command promises


def test_the_usual_numbers_are_those_of_the_library() -> None:
    assert command.METHODS == METHODS
    defaults = {name: one.default for name, one in RatingSettings.__dataclass_fields__.items()}
    options = {option.name: option.default for option in command.command.params}
    shown = ("ties", "k", "start", "scale", "variance", "ridge", "balance", "each", "interval", "resamples")
    assert {name: options[name] for name in shown} == {name: defaults[name] for name in shown}


def test_every_setting_of_a_method_is_an_option_for_it() -> None:
    own = {"em", "method", "level"}
    assert {*RatingSettings.__dataclass_fields__} - own == {*command.METHODS_BY_OPTION} - {"judge_model"}


def test_the_json_keeps_the_contract(ringtrue: Callable) -> None:
    found = ringtrue("rate", "pairs.pref", "--json").json
    assert list(found)[:3] == ["queries", "passes", "auc"]
    assert list(found)[-5:] == ["transitivity", "agreement", "files", "notes", "note_codes"]
    assert [one["doc"] for one in found["queries"]["q1"]] == ["a", "b", "c"]
    assert list(found["queries"]["q1"][0])[:5] == ["doc", "rating", "low", "high", "matches"]
    assert found["queries"]["q1"][0]["matches"] == 2
    assert found["method"] == "bradley-terry"
    assert found["settings"] == {"ridge": 0.25, "ties": "half"}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_rates(method: str, ringtrue: Callable) -> None:
    found = ringtrue("rate", "pairs.pref", "--method", method, "--json").json
    assert [one["doc"] for one in found["queries"]["q1"]] == ["a", "b", "c"]
    assert ringtrue("rate", "pairs.pref", "--method", method).code == 0


def test_the_numbers_of_a_method_are_options(ringtrue: Callable) -> None:
    words = ["--method", "elo", "--passes", "1", "-k", "32", "--start", "1500", "--scale", "400", "--each", "vote"]
    Path("one.pref").write_text("q a b a\n")
    found = ringtrue("rate", "one.pref", *words, "--json").json
    assert {one["doc"]: one["rating"] for one in found["queries"]["q"]} == pytest.approx({"a": 1516, "b": 1484})


def test_passes_tell_the_share_of_pairs_that_changed_places(ringtrue: Callable) -> None:
    answer = ringtrue("rate", "pairs.pref", "--method", "elo", "--passes", "3", "--json")
    assert [one["pass"] for one in answer.json["passes"]] == [2, 3]
    assert [one["inverted"] for one in answer.json["passes"]] == [0, 0]
    assert "pass 2: 0.0%, 3: 0.0%" in ringtrue("rate", "pairs.pref", "--method", "elo", "--passes", "3").out


def test_json_has_circles_and_agreement_as_agree_has_them(ringtrue: Callable) -> None:
    found = ringtrue("rate", "votes.csv", "--json").json
    agreed = ringtrue("agree", "votes.csv", "--json").json
    assert found["transitivity"] == agreed["transitivity"]
    assert found["agreement"]["agreement"]["value"] == agreed["overall"]["agreement"]["value"]
    assert found["agreement"]["alpha_nominal"]["value"] == agreed["overall"]["alpha_nominal"]["value"]


def test_without_judges_there_is_no_agreement_and_a_note_says_why(ringtrue: Callable) -> None:
    found = ringtrue("rate", "pairs.pref", "--json").json
    assert found["agreement"] is None
    assert "judges-not-named" in found["note_codes"]
    assert found["transitivity"]["majority"]["value"] == 1


def test_judges_who_share_no_pair_have_no_agreement(ringtrue: Callable, world: Path) -> None:
    (world / "apart.csv").write_text("query,left,right,judge,winner\nq,a,b,x,left\nq,b,c,y,left\n")
    found = ringtrue("rate", "apart.csv", "--json").json
    assert found["agreement"] is None
    assert "no-shared-items" in found["note_codes"]


def test_a_judges_own_repeats_are_no_agreement(ringtrue: Callable, world: Path) -> None:
    (world / "twice.csv").write_text("query,left,right,judge,winner\nq,a,b,x,left\nq,b,a,x,left\nq,b,c,y,left\n")
    assert ringtrue("rate", "twice.csv", "--repeats", "all", "--json").json["agreement"] is None


def test_of_many_votes_circles_and_agreement_are_left_out(ringtrue: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MAX_VOTES", 5)
    found = ringtrue("rate", "pairs.pref", "--json").json
    assert (found["transitivity"], found["agreement"]) == (None, None)
    assert (found["note_codes"][-1], "5 votes" in found["notes"][-1]) == ("agreement-left-out", True)
    assert ringtrue("rate", "pairs.pref").code == 0


# What a person reads


def test_the_table_ends_with_how_to_read_it_and_the_answer(ringtrue: Callable) -> None:
    lines = ringtrue("rate", "votes.csv").out.splitlines()
    assert lines[0].split() == [
        "query", "rank", "doc", "rating", "95%", "interval", "better", "than", "next", "matches", "votes",
    ]  # fmt: skip
    assert (" 1.1 in " in lines[-2], "75%" in lines[-2], lines[-1].count("%")) == (True, True, 2)
    assert "a before b" in lines[-1]


def test_of_several_queries_it_is_told_where_the_first_is_surely_better(ringtrue: Callable) -> None:
    Path("sure.pref").write_text("q1 a b a\n" * 60 + "q2 x y x\nq2 x y y\n")
    shown = ringtrue("rate", "sure.pref").out
    assert "1 of 2 queries" in shown
    assert ">99%" in shown
    assert "50%" in shown


def test_points_are_read_by_their_scale(ringtrue: Callable) -> None:
    for method in ("elo", "glicko", "win-rate"):
        shown = ringtrue("rate", "votes.csv", "--method", method).out
        assert ("% chance" in shown, "chance of" in shown, "order" in shown) == (False, False, True)
    shown = ringtrue("rate", "votes.csv", "--method", "glicko", "--variance", "30625").out
    assert ("100 points" in shown, "76% chance" in shown) == (True, True)


def test_of_many_documents_the_first_are_shown(ringtrue: Callable, world: Path) -> None:
    (world / "many.pref").write_text("".join(f"q d{n:02d} d{n + 1:02d} d{n:02d}\n" for n in range(14)))
    shown = ringtrue("rate", "many.pref").out
    assert ("… and 5 more" in shown, "-o FILE" in shown) == (True, True)
    (world / "queries.pref").write_text("".join(f"q{n} a b a\n" for n in range(7)))
    shown = ringtrue("rate", "queries.pref", "-o", "all.csv").out
    assert ("… and 4 more" in shown, "2 more queries" in shown, "-o FILE" in shown) == (True, True, False)


def test_where_nothing_names_a_query_no_column_does(ringtrue: Callable, world: Path) -> None:
    (world / "plain.csv").write_text("left,right,winner\na,b,left\n")
    assert ringtrue("rate", "plain.csv").out.split()[:2] == ["rank", "doc"]
    assert "no-query-column" in ringtrue("rate", "plain.csv", "--json").notes


def test_equal_ratings_prefer_nobody(ringtrue: Callable, world: Path) -> None:
    (world / "ties.pref").write_text("q a b tie\n")
    assert ringtrue("rate", "ties.pref").out.rstrip().partition(" None: ")[2].startswith("a and b ")


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
@pytest.mark.parametrize("words", [(), ("--by-judge",), ("--method", "all", "--gold", "of_q.qrels", "--folds", "2")])
def test_every_format_prints(form: str, words: tuple[str, ...], ringtrue: Callable) -> None:
    answer = ringtrue("rate", "votes.csv", *words, "--format", form)
    assert answer.code == 0
    assert answer.out


def test_csv_prints_every_rating(ringtrue: Callable) -> None:
    lines = ringtrue("rate", "pairs.pref", "--format", "csv").out.splitlines()
    assert lines[0] == "query,doc,rating,se,low,high,ahead,matches,votes,group"
    assert len(lines) == 6


# Judges


def test_judges_are_rated_and_the_contrary_one_comes_first(ringtrue: Callable, world: Path) -> None:
    rows = [
        f"q{n},a,b,{judge},{'right' if judge == 'eve' else 'left'}"
        for n in range(20)
        for judge in ("ann", "bob", "cat", "eve")
    ]
    (world / "many.csv").write_text("query,left,right,judge,winner\n" + "\n".join(rows) + "\n")
    shown = ringtrue("rate", "many.csv", "--by-judge").out
    row = next(line for line in shown.splitlines() if line.startswith("eve"))
    assert row.endswith("contrary")
    assert "4 judges, 1 contrary" in shown
    found = ringtrue("rate", "many.csv", "--judge-model", "crowd-bt", "--json").json
    assert {one["judge"]: one["honesty"] > 0.5 for one in found["judges"]} == {
        "ann": True, "bob": True, "cat": True, "eve": False
    }  # fmt: skip
    found = ringtrue("rate", "many.csv", "--judge-model", "sensitivity", "--json").json
    assert next(one for one in found["judges"] if one["judge"] == "eve")["sensitivity"] < 0


def test_judges_without_intervals_are_not_marked(ringtrue: Callable) -> None:
    shown = ringtrue("rate", "votes.csv", "--by-judge", "--interval", "none").out
    assert "seems" not in shown
    assert "sensitivity" in shown


def test_a_judge_with_one_vote_is_told(ringtrue: Callable, world: Path) -> None:
    (world / "few.csv").write_text(VOTES + "q,a,c,zoe,left\n")
    for option in ("--by-judge", "--em"):
        assert "single-vote-judges" in ringtrue("rate", "few.csv", option, "--json").notes


def test_em_needs_judges(ringtrue: Callable) -> None:
    for option in ("--em", "--by-judge"):
        parameter = option.removeprefix("--").replace("-", "_")
        assert ringtrue("rate", "pairs.pref", option, "--json").stop == (2, "one-judge", parameter)


# Gold


def test_gold_tells_the_area_of_each_query_and_their_mean(ringtrue: Callable) -> None:
    answer = ringtrue("rate", "pairs.pref", "--gold", "gold.qrels", "--rel", "2")
    assert ("\nAUC 1.000: " in answer.out, " 2 or higher " in answer.out) == (True, True)
    found = ringtrue("rate", "pairs.pref", "--gold", "gold.qrels", "--rel", "2", "--json").json
    assert found["auc"] == {"q1": 1.0, "q2": None, "all": 1.0}
    assert found["tau"]["q1"] == pytest.approx(1)


def test_gold_in_which_nothing_is_relevant_has_no_area(ringtrue: Callable) -> None:
    answer = ringtrue("rate", "pairs.pref", "--gold", "gold.qrels", "--rel", "9")
    assert answer.code == 0
    assert ("AUC 1.000" in answer.out, " 9 or higher " in answer.out) == (False, True)
    assert ringtrue("rate", "pairs.pref", "--gold", "gold.qrels", "--rel", "9", "--json").json["auc"]["all"] is None


def test_queries_of_gold_without_preferences_are_told(ringtrue: Callable, world: Path) -> None:
    (world / "more.qrels").write_text("q1 0 a 1\nq1 0 b 0\nq8 0 a 1\nq9 0 a 1\n")
    answer = ringtrue("rate", "pairs.pref", "--gold", "more.qrels", "--json")
    assert "queries-without-votes" in answer.notes
    assert "2 queries " in answer.err


def test_gold_of_other_documents_is_refused(ringtrue: Callable, world: Path) -> None:
    (world / "other.qrels").write_text("q1 0 z 1\n")
    answer = ringtrue("rate", "pairs.pref", "--gold", "other.qrels", "--json")
    assert answer.stop == (1, "gold-unlabelled", None)
    assert answer.error["message"].startswith("other.qrels: ")


def test_gold_that_contradicts_itself_is_refused_with_its_lines(ringtrue: Callable, world: Path) -> None:
    (world / "two.qrels").write_text("q1 0 a 1\nq1 1 a 0\n")
    answer = ringtrue("rate", "pairs.pref", "--gold", "two.qrels", "--json")
    assert answer.stop == (1, "several-labels", None)
    assert all(part in answer.error["message"] for part in ("two.qrels: ", "(0, 1)", "'a'", "'q1'", "(lines 1, 2)"))


def test_gold_may_call_its_columns_otherwise(ringtrue: Callable, world: Path) -> None:
    (world / "gold.csv").write_text("query,doc,stars,who\nq1,a,1,x\nq1,b,0,x\nq1,a,0,y\n")
    words = ["--gold", "gold.csv", "--gold-columns", "label=stars", "--gold-where", "who=x"]
    assert ringtrue("rate", "pairs.pref", *words, "--json").json["auc"]["all"] == 1
    answer = ringtrue("rate", "pairs.pref", "--gold", "gold.csv", "--gold-columns", "label=star")
    assert answer.code == 2
    assert "--gold-columns" in answer.err


@pytest.mark.parametrize(("name", "text"), [("w.csv", VOTES), ("w.pref", PAIRS), ("w.prefs", "q x 1 a 2\nq x 1 b 1\n")])
def test_preferences_are_no_gold(name: str, text: str, ringtrue: Callable, world: Path) -> None:
    (world / name).write_text(text)
    answer = ringtrue("rate", "votes.csv", "--gold", name, "--json")
    assert answer.stop == (1, "other-kind", "gold")
    assert answer.error["message"].startswith(f"{name}: ")


def test_gold_labels_that_all_say_not_judged_are_refused(ringtrue: Callable, world: Path) -> None:
    (world / "none.qrels").write_text("q1 0 a -1\n")
    answer = ringtrue("rate", "pairs.pref", "--gold", "none.qrels", "--json")
    assert answer.stop == (1, "nothing-judged", None)
    assert answer.error["message"].startswith("none.qrels: ")


# All methods


def test_all_methods_stand_side_by_side(ringtrue: Callable) -> None:
    answer = ringtrue("rate", "votes.csv", "--method", "all", "--gold", "of_q.qrels", "--folds", "4")
    header = answer.out.splitlines()[0].split()
    assert header == ["query", "win-rate", "elo", "glicko", "elo+em", "glicko+em", "bradley-terry",
                      "bradley-terry+em", "crowd-bt", "sensitivity"]  # fmt: skip
    assert [line.split()[0] for line in answer.out.splitlines()[2:5]] == ["q", "all", "tau"]
    assert ("highest AUC" in answer.out, "log loss" in answer.out) == (True, True)
    found = ringtrue("rate", "votes.csv", "--method", "all", "--gold", "of_q.qrels", "--folds", "4", "--json").json
    assert found["methods"]["elo"]["auc"] == {"q": 1.0, "all": 1.0}
    assert found["methods"]["win-rate"]["held_out"]["log_loss"] is None
    assert found["queries"] == ["q"]


def test_of_many_queries_the_means_are_shown_unless_all_are_asked_for(ringtrue: Callable, world: Path) -> None:
    (world / "many.pref").write_text("".join(f"q{n:02d} a b a\n" for n in range(20)))
    (world / "many.qrels").write_text("".join(f"q{n:02d} 0 a 1\nq{n:02d} 0 b 0\n" for n in range(20)))
    words = ["rate", "many.pref", "--method", "all", "--gold", "many.qrels"]
    short = ringtrue(*words)
    assert short.out.splitlines()[2].startswith("all")
    assert "one-judge" in ringtrue(*words, "--json").notes
    assert ringtrue(*words, "--per-query").out.splitlines()[2].startswith("q00")
    alone = ringtrue("rate", "many.pref", "--gold", "many.qrels").out
    assert "over 20 queries" in alone
    assert "\nq19" not in alone
    assert "\nq19" in ringtrue("rate", "many.pref", "--gold", "many.qrels", "--per-query").out


# Files


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.jsonl", "r.parquet", "r.csv.gz", "r.run"])
def test_all_ratings_are_written(name: str, ringtrue: Callable, world: Path) -> None:
    answer = ringtrue("rate", "pairs.pref", "-o", name)
    assert answer.code == 0
    assert name in answer.out
    assert (world / name).exists()
    if name == "r.run":
        assert ringtrue("evaluate", name, "--judgments", "gold.qrels", "-m", "nDCG@3", "--json").code == 0


def test_chances_are_written_for_every_pair(ringtrue: Callable, world: Path) -> None:
    ringtrue("rate", "pairs.pref", "--chances", "c.csv")
    chances = pl.read_csv(world / "c.csv")
    assert chances.select("query", "a", "b").rows() == [
        ("q1", "a", "b"), ("q1", "a", "c"), ("q1", "b", "c"), ("q2", "y", "x")
    ]  # fmt: skip
    assert (chances["chance"] > 0.5).all()


def test_chances_count_half_of_the_ties_and_leave_out_pairs_that_no_votes_join(ringtrue: Callable, world: Path) -> None:
    (world / "apart.pref").write_text("q1 a b a\nq1 c d c\nq2 x y x\n")
    answer = ringtrue("rate", "apart.pref", "--chances", "c.csv")
    assert "c.csv; half" in answer.out
    assert "c.csv: 4 of 7 " in answer.err
    assert "unconnected-pairs" in ringtrue("rate", "apart.pref", "--chances", "c.csv", "--json").notes
    chances = pl.read_csv(world / "c.csv")
    assert (chances.height, chances["tie"].null_count()) == (3, 3)  # ties are half wins, with no chance of their own
    ringtrue("rate", "pairs.pref", "--ties", "davidson", "--chances", "t.jsonl")
    assert pl.read_ndjson(world / "t.jsonl")["tie"].is_between(0, 1).all()
    assert "c.csv" not in ringtrue("rate", "pairs.pref", "--chances", "c.csv").err


def test_what_is_written_of_groups_is_told_to_say_nothing_about_each_other(ringtrue: Callable, world: Path) -> None:
    (world / "apart.pref").write_text("q1 a b a\nq1 c d c\nq2 x y x\n")
    words = ["-o", "r.run", "--qrels", "l.qrels", "--threshold", "0", "--json"]
    apart, joined = (ringtrue("rate", name, *words).notes for name in ("apart.pref", "pairs.pref"))
    assert [codes.count("unconnected-documents") for codes in (apart, joined)] == [1, 0]


def test_fewer_labels_than_asked_for_are_told(ringtrue: Callable) -> None:
    words = ["rate", "pairs.pref", "--qrels", "l.qrels", "--json", "--gaps"]
    few = ringtrue(*words, "3")
    assert ("fewer-labels" in few.notes, "1 of 2 queries" in few.err) == (True, True)
    assert "fewer-labels" not in ringtrue(*words, "2").notes


def test_csv_says_where_the_judges_are(ringtrue: Callable) -> None:
    assert "--json" in ringtrue("rate", "votes.csv", "--by-judge", "--format", "csv").err
    assert "--json" not in ringtrue("rate", "votes.csv", "--format", "csv").err


def test_one_vote_cannot_be_foretold(ringtrue: Callable, world: Path) -> None:
    (world / "one.pref").write_text("q a b a\n")
    answer = ringtrue("rate", "one.pref", "--method", "all", "--folds", "2", "--json")
    assert answer.stop == (1, "single-vote", "folds")
    assert answer.error["message"].startswith("one.pref: ")


def test_too_many_chances_are_refused(ringtrue: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtrue.cli.options.ratings.MAX_CHANCES", 3)
    answer = ringtrue("rate", "pairs.pref", "--chances", "c.csv", "--json")
    assert answer.stop == (1, "too-many-pairs", "chances")
    assert [word for word in answer.error["message"].split() if word.isdecimal()] == ["4", "3"]


@pytest.mark.parametrize(
    ("cut", "labels"),
    [
        (("--threshold", "-0.5,0.5"), [2, 1, 0]),
        (("--quantile", "0.9"), [1, 0, 0]),
        (("--gaps", "3"), [2, 1, 0]),
    ],
)
def test_ratings_become_labels_for_evaluation(
    cut: tuple[str, ...], labels: list[int], ringtrue: Callable, world: Path
) -> None:
    answer = ringtrue("rate", "pairs.pref", "--qrels", "new.qrels", *cut)
    assert " new.qrels\n" in answer.out
    lines = (world / "new.qrels").read_text().splitlines()
    assert lines[:3] == [f"q1 0 {doc} {label}" for doc, label in zip("abc", labels, strict=True)]


def test_labels_that_cannot_be_cut_leave_no_file_behind(ringtrue: Callable, world: Path) -> None:
    answer = ringtrue("rate", "pairs.pref", "-o", "r.csv", "--qrels", "new.qrels", "--threshold", "1,0")
    assert answer.code == 2
    assert not (world / "r.csv").exists()


def test_an_input_is_not_written_over(ringtrue: Callable, world: Path) -> None:
    assert ringtrue("rate", "votes.csv", "-o", "votes.csv", "--json").stop == (2, "overwrites-input", "output")
    assert (world / "votes.csv").read_text() == VOTES


def test_any_preferences_can_be_read(ringtrue: Callable, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (world / "packed.csv.gz").write_bytes(gzip.compress(VOTES.encode()))
    usual = ringtrue("rate", "votes.csv", "--json").json["queries"]
    assert ringtrue("rate", "packed.csv.gz", "--json").json["queries"] == usual
    renamed = VOTES.replace("query,left,right,judge,winner", "topic,model_a,model_b,worker,preferred")
    (world / "renamed.csv").write_text(renamed)
    assert ringtrue("rate", "renamed.csv", "--json").json["queries"] == usual
    (world / "renamed.csv").write_text(renamed.replace("model_a,model_b", "mine,theirs"))
    words = ["--columns", "left=mine,right=theirs"]
    assert ringtrue("rate", "renamed.csv", *words, "--json").json["queries"] == usual
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(VOTES.encode())))
    assert ringtrue("rate", "-", "--json").json["queries"] == usual
    (world / "levels.prefs").write_text("q x 1 a 2\nq x 1 b 1\n")
    assert [one["doc"] for one in ringtrue("rate", "levels.prefs", "--json").json["queries"]["q"]] == ["a", "b"]
    assert ringtrue("rate", "votes.csv", "--where", "judge=ann", "--json").json["votes"] == 3


def test_votes_on_traps_are_left_out(ringtrue: Callable, world: Path) -> None:
    rows = VOTES.replace("winner", "winner,trap").replace("left\n", "left,false\n").replace("right\n", "right,false\n")
    (world / "trapped.csv").write_text(rows + "q,t,u,ann,left,true\n")
    answer = ringtrue("rate", "trapped.csv", "--json")
    assert {one["doc"] for one in answer.json["queries"]["q"]} == {"a", "b", "c"}
    assert "votes-on-traps" in answer.notes


# What cannot be used


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("q a a a\n", ("self-comparison", 1)),
        ("q a b a\nq a b better\n", ("bad-winner", 2)),
        ("", ("empty-file", None)),
        ("\n\n", ("no-data", None)),
        ("hello world\n", ("too-few-fields", 1)),
        ("query,left,right\nq,a,b\n", ("missing-column", None)),
        ("query,left,right,winner\nq,a,b,\n", ("no-winner", None)),
        ("query,left,right,winner\nq,a,b,1\n", ("bad-winner", None)),
        ("left,right,winner,trap\na,b,left,true\n", ("only-traps", None)),
        ("q 0 a 1\nq 0 b 0\n", ("other-kind", None)),
        ("q 0 a 0\nq 0 b 0\n", ("other-kind", None)),
        ("query,doc,label\nq,a,1\n", ("other-kind", None)),
        ("q Q0 a 1 2.0 r\n", ("other-kind", None)),
        ("query,doc,score\nq,a,1\n", ("other-kind", None)),
        ("query,left,right,score\nq,a,b,1\n", ("missing-column", None)),
        ("query,mine,theirs,winner\nq,a,b,tie\n", ("missing-column", None)),
        ("query,left,theirs,winner\nq,a,b,tie\n", ("missing-column", None)),
        ("\0\1", ("binary-file", None)),
    ],
)
def test_what_is_no_preference_is_told_in_a_line(
    text: str, error: tuple[str, int | None], ringtrue: Callable, world: Path
) -> None:
    (world / "f.txt").write_text(text)
    answer = ringtrue("rate", "f.txt", "--json")
    assert (answer.code, answer.error["file"]) == (1, "f.txt")
    assert (answer.error["code"], answer.error["line"]) == error
    assert answer.err.count("\n") == 1


def test_a_judge_who_voted_twice_is_told_with_the_rows(ringtrue: Callable, world: Path) -> None:
    (world / "twice.csv").write_text(VOTES + "q,b,a,bob,left\n")
    answer = ringtrue("rate", "twice.csv", "--json")
    assert answer.stop == (1, "repeated-labels", "repeats")
    parts = ("twice.csv: ", "'bob'", "'a', 'b'", "'q' 2 times", "--repeats last", "(rows 4, 9)")
    assert all(part in answer.error["message"] for part in parts)
    assert ringtrue("rate", "twice.csv", "--repeats", "first", "--json").json["votes"] == 8
    assert ringtrue("rate", "twice.csv", "--repeats", "all", "--json").json["votes"] == 9


def test_votes_without_a_judge_all_count(ringtrue: Callable) -> None:
    assert ringtrue("rate", "pairs.pref", "--json").json["votes"] == 6


def test_documents_that_cannot_be_compared_are_named(ringtrue: Callable, world: Path) -> None:
    (world / "apart.pref").write_text("q a b a\nq c d c\n")
    answer = ringtrue("rate", "apart.pref")
    assert "2 groups 'a', 'b' | 'c', 'd'" in answer.err
    assert answer.out.splitlines()[0].endswith("group")
    assert [line.split()[-1] for line in answer.out.splitlines()[2:6]] == ["1", "1", "2", "2"]
    assert [line.split()[0] for line in answer.out.splitlines()[3:6]] == ["2", "1", "2"]
    assert answer.out.splitlines()[-1].count(" group") == 1
    answer = ringtrue("rate", "apart.pref", "--json")
    assert answer.json["groups"] == {"q": [["a", "b"], ["c", "d"]]}
    assert "unconnected-documents" in answer.notes


def test_a_document_that_never_won_has_a_rating_and_a_note(ringtrue: Callable) -> None:
    answer = ringtrue("rate", "pairs.pref", "--json")
    assert answer.json["queries"]["q1"][-1]["doc"] == "c"
    assert answer.json["queries"]["q1"][-1]["low"] is not None
    assert "one-sided-documents" in answer.notes
    assert ("1 document " in answer.err, "1 never lost" in answer.err) == (True, True)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--method", "elp"), ("bad-value", "method")),
        (("--k", "3"), ("unused-parameter", "k")),
        (("--method", "elo", "--ridge", "1"), ("unused-parameter", "ridge")),
        (("--method", "elo", "--ties", "davidson"), ("unused-parameter", "ties")),
        (("--method", "elo", "--by-judge"), ("unused-parameter", "by_judge")),
        (("--method", "elo", "--interval", "none"), ("unused-parameter", "interval")),
        (("--method", "glicko", "--interval", "laplace"), ("unused-parameter", "interval")),
        (("--method", "elo", "--em", "--each", "vote"), ("conflicting-parameters", "each")),
        (("--each", "vote"), ("unused-parameter", "each")),
        (("--passes", "3"), ("unused-parameter", "passes")),
        (("--resamples", "200"), ("unused-parameter", "resamples")),
        (("--em", "--by-judge"), ("conflicting-parameters", "em")),
        (("--rel", "2"), ("needs-parameter", "gold")),
        (("--per-query",), ("needs-parameter", "gold")),
        (("--gold-columns", "label=x"), ("needs-parameter", "gold")),
        (("--folds", "3"), ("needs-parameter", "method")),
        (("--method", "all"), ("needs-parameter", "gold")),
        (("--method", "all", "--folds", "2", "--em"), ("unused-parameter", "em")),
        (("--method", "all", "--folds", "2", "--k", "3"), ("unused-parameter", "k")),
        (("--method", "all", "--folds", "2", "-o", "x.csv"), ("conflicting-parameters", "method")),
        (("--method", "all", "--folds", "99"), ("out-of-range", "folds")),
        (("-o", "x.txt"), ("unknown-extension", "output")),
        (("-o", "-"), ("not-a-file", "output")),
        (("-o", "x.csv", "--chances", "x.csv"), ("repeated-output", "output")),
        (("--method", "win-rate", "--chances", "x.csv"), ("conflicting-parameters", "chances")),
        (("--qrels", "x.qrels"), ("needs-parameter", "threshold")),
        (("--qrels", "x.qrels", "--gaps", "2", "--threshold", "1"), ("conflicting-parameters", "threshold")),
        (("--threshold", "1"), ("needs-parameter", "qrels")),
        (("--qrels", "x.qrels", "--threshold", "one"), ("bad-value", "threshold")),
        (("--qrels", "x.qrels", "--threshold", "nan"), ("bad-value", "threshold")),
        (("--qrels", "x.qrels", "--threshold", "0,inf"), ("bad-value", "threshold")),
        (("--qrels", "x.qrels", "--threshold", "1,0"), ("unordered-cuts", "threshold")),
        (("--qrels", "x.qrels", "--quantile", "1.5"), ("out-of-range", "quantile")),
        (("--method", "elo", "--passes", "10001"), ("bad-value", "passes")),
        (("--qrels", "x.qrels", "--quantile", "2"), ("out-of-range", "quantile")),
        (("--level", "2"), ("bad-level", "level")),
        (("--ridge", "1e-300"), ("out-of-range", "ridge")),
        (("--method", "elo", "--k", "1e9"), ("out-of-range", "k")),
        (("--method", "elo", "--start", "1e300"), ("out-of-range", "start")),
        (("--as", "trec-run"), ("wrong-format", "as")),
        (("--where", "judge=zoe"), ("no-such-rows", "where")),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_together_is_told(
    words: tuple[str, ...], error: tuple[str, str | None], ringtrue: Callable
) -> None:
    assert ringtrue("rate", "votes.csv", *words, "--json").stop == (2, *error)


def test_standard_input_is_read_once(ringtrue: Callable) -> None:
    assert ringtrue("rate", "-", "--gold", "-", "--json").stop == (2, "input-read-twice", None)


def test_the_same_seed_draws_the_same_votes(ringtrue: Callable) -> None:
    Path("often.pref").write_text("q a b a\nq b c b\nq a c a\nq a b b\nq b c c\n" * 10)
    words = ["rate", "often.pref", "--interval", "bootstrap", "--resamples", "100", "--json", "--seed"]
    one, two, other = (ringtrue(*words, seed).json["queries"] for seed in "112")
    assert one == two
    assert one != other


# The demo


@pytest.mark.slow
def test_the_demo_has_votes_that_find_what_is_odd_and_what_is_good(ringtrue: Callable, demo_world: Path) -> None:
    votes = Preferences.of(pl.read_csv(demo_world / "d/preferences.csv"))
    assert votes.frame.height < 1_000
    found = ringtrue("rate", "d/preferences.csv", "--by-judge", "--gold", "d/gold.qrels", "--rel", "2", "--json").json
    lowest = sorted(found["judges"], key=lambda one: one["sensitivity"])
    assert {one["judge"] for one in lowest[:3]} == {"v10", "v11", "v12"}
    assert lowest[0]["judge"] == "v11"
    assert found["auc"]["all"] > 0.95
    judged = ringtrue("judges", "d/preferences.csv", "--traps", "d/traps.pref", "--json").json["judges"]
    assert all(one["traps"]["passed"] >= 4 for one in judged if one["judge"] < "v10")


def test_several_files_count_together(ringtrue: Callable) -> None:
    Path("more.csv").write_text("query,left,right,winner,judge,batch\nq,c,a,left,zoe,7\n")
    both = ringtrue("rate", "votes.csv", "more.csv", "--json").json
    assert both["votes"] == 9
    Path("all.csv").write_text(VOTES + "q,c,a,zoe,left\n")
    assert ringtrue("rate", "all.csv", "--json").json["queries"] == both["queries"]


def test_what_is_wrong_with_several_files_names_them(ringtrue: Callable) -> None:
    answer = ringtrue("rate", "votes.csv", "votes.csv", "--json")
    assert answer.stop == (1, "repeated-labels", "repeats")
    files, _, message = answer.error["message"].partition(": ")
    assert (files.split(", "), "'ann'" in message) == (["votes.csv", "votes.csv"], True)
