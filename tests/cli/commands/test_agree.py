"""ringtrue agree."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]

# Ann and Ben differ on d2 of bread; Cid saw two documents alone with Ann.
LABELS = """query,doc,judge,label
bread,d1,ann,2
bread,d1,ben,2
bread,d2,ann,0
bread,d2,ben,1
soup,d3,ann,1
soup,d3,ben,1
soup,d4,ann,0
soup,d4,ben,0
tea,d5,ann,2
tea,d5,cid,2
tea,d6,ann,0
tea,d6,cid,0
"""
GOLD = "query,doc,human\nbread,d1,2\nbread,d2,0\nsoup,d3,0\n"
PANELS = """query,doc,judge,label,panel
q1,d1,a,0,crowd
q1,d1,b,0,crowd
q1,d1,c,1,crowd
q1,d2,a,1,crowd
q1,d2,b,1,crowd
q1,d2,c,1,crowd
q2,d3,a,1,crowd
q2,d3,b,0,crowd
q2,d3,c,0,crowd
q1,d1,n,0,nist
q1,d2,n,1,nist
q2,d3,n,1,nist
"""
PREFERENCES = """query,left,right,judge,winner
q1,a,b,x,left
q1,b,c,x,left
q1,a,c,x,right
q1,b,a,y,right
q1,b,c,y,left
q1,a,c,y,right
q2,a,b,x,left
q2,a,b,y,tie
"""
ESTIMATE = ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"l.csv": LABELS, "g.csv": GOLD, "panels.csv": PANELS, "p.csv": PREFERENCES}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


def test_the_json_has_every_key_of_the_contract(ringtrue: Call) -> None:
    answer = ringtrue("agree", "l.csv", "--json")
    assert answer.code == 0
    found = answer.json
    overall = {"agreement", "overlap", "fleiss_kappa", "alpha_nominal", "alpha_ordinal", "alpha_interval",
               "alpha_ratio", "scott_pi", "ac1", "self_consistency"}  # fmt: skip
    assert overall <= set(found["overall"])
    assert all(list(one) == ESTIMATE for one in found["overall"].values())
    pair = {
        "a",
        "b",
        "n",
        "agreement",
        "overlap",
        "kappa",
        "kappa_linear",
        "kappa_quadratic",
        "alpha_ordinal",
        "confusion",
    }
    assert [(one["a"], one["b"], one["n"]) for one in found["pairs"]] == [("ann", "ben", 4), ("ann", "cid", 2)]
    assert all(pair <= set(one) for one in found["pairs"])
    assert found["pairs"][0]["confusion"] == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert found["pairs"][0]["agreement"]["value"] == 0.75
    assert (found["judges"], found["items"], found["queries"], found["votes"], found["labels"]) == (
        3,
        6,
        3,
        12,
        [0, 1, 2],
    )
    assert (found["seed"], found["drift"], found["transitivity"], found["consensus"]) == (0, [], None, None)


def test_notes_are_on_standard_error_and_in_the_json(ringtrue: Call) -> None:
    answer = ringtrue("agree", "l.csv", "--json")
    assert answer.notes == ["pairs-without-overlap", "few-clusters"]
    assert answer.err == "".join(f"note: {note}\n" for note in answer.json["notes"])
    assert "note:" not in answer.out


def test_the_table_says_it_in_words(ringtrue: Call) -> None:
    out = ringtrue("agree", "l.csv").out
    lines = [line.split() for line in out.splitlines()]
    assert ["raw", "agreement", "0.83"] in [line[:3] for line in lines]
    assert ["ann", "ben", "4", "0.75"] in [line[:4] for line in lines]
    assert all(count in out for count in ("3 judges", "12 labels", "6 items", "3 queries", "labels 0, 1, 2", "(≥ 1)"))
    assert all(number in out for number in ("in 83% of", "alpha is 0.88 ("))  # 1 − 11 · 32 / 3024
    assert not any("same" in line for line in lines)  # nobody labelled anything again


@pytest.mark.parametrize(
    ("labels", "times", "words"),
    [
        ([0, 0, 1, 1] * 10, 30, "reliable by"),
        ([0, 1, 1, 0] * 10, 30, "below"),
        ([0, 0, 1, 1] * 9 + [0, 1, 1, 0], 30, "tentative conclusions by"),
        ([0, 0, 1, 1] * 9 + [0, 1, 1, 0], 5, "around"),
    ],
)
def test_alpha_is_read_by_its_cautious_end(labels: list[int], times: int, words: str, ringtrue: Call) -> None:
    rows = [f"q{place // 4},d{place // 2},{'xy'[place % 2]},{label}" for place, label in enumerate(labels * times)]
    Path("many.csv").write_text("query,doc,judge,label\n" + "\n".join(rows) + "\n")
    verdict = ringtrue("agree", "many.csv", "--resamples", "200").out.rstrip().splitlines()[-1]
    assert verdict.partition(" Krippendorff's mark ")[0].endswith(words)


def test_rel_moves_what_overlap_is_about(ringtrue: Call) -> None:
    low, high = (ringtrue("agree", "l.csv", "--rel", rel, "--json").json["overall"] for rel in "12")
    assert (low["overlap"]["value"], high["overlap"]["value"]) == (3 / 4, 1)
    assert low["alpha_ordinal"] == high["alpha_ordinal"]
    none = ringtrue("agree", "l.csv", "--rel", "3", "--json").json["overall"]["overlap"]
    assert (none["value"], none["note_codes"]) == (None, ["nothing-relevant"])


def test_gold_is_compared_with_everybody(ringtrue: Call) -> None:
    words = ("agree", "l.csv", "--gold", "g.csv", "--columns", "label=human")
    found = ringtrue(*words, "--json").json
    assert [(pair["a"], pair["b"], pair["n"]) for pair in found["pairs"][:2]] == [
        ("gold", "ann", 3),
        ("gold", "ben", 3),
    ]
    assert found["consensus"]["agreement"]["value"] == pytest.approx(2 / 3)
    assert found["note_codes"][-1] == "items-with-gold"
    lines = ringtrue(*words).out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("gold ")] == ["majority", "ann", "ben"]
    assert any(number in line for line in lines for number in ("67% of 3 items", "(kappa 0.50)"))


def test_no_resamples_no_intervals(ringtrue: Call) -> None:
    found = ringtrue("agree", "l.csv", "--resamples", "0", "--json").json
    assert {(one["low"], one["high"], one["se"]) for one in found["overall"].values()} == {(None, None, None)}
    assert "no intervals" in ringtrue("agree", "l.csv", "--resamples", "0").out
    assert found["overall"]["agreement"]["value"] == pytest.approx(5 / 6)


def test_the_same_seed_gives_the_same_answer_and_another_seed_other_draws(ringtrue: Call) -> None:
    first, second, other = (ringtrue("agree", "l.csv", "--seed", seed, "--json").json for seed in "112")
    assert first == second
    assert first["overall"]["alpha_ordinal"]["se"] != other["overall"]["alpha_ordinal"]["se"]
    assert first["overall"]["alpha_ordinal"]["value"] == other["overall"]["alpha_ordinal"]["value"]


def test_csv_has_every_statistic_with_every_digit(ringtrue: Call) -> None:
    found = ringtrue("agree", "l.csv", "--json").json
    rows = list(csv.DictReader(io.StringIO(ringtrue("agree", "l.csv", "--format", "csv").out)))
    assert list(rows[0]) == ["a", "b", "statistic", "value", "se", "low", "high", "n"]
    by_name = {(row["a"], row["b"], row["statistic"]): row for row in rows}
    assert len(by_name) == len(rows)
    for name, one in found["overall"].items():
        row = by_name["", "", name]
        assert [row[key] for key in ("value", "low", "n")] == [
            "" if one[key] is None else str(one[key]) for key in ("value", "low", "n")
        ]
    for pair in found["pairs"]:
        assert float(by_name[pair["a"], pair["b"], "kappa"]["value"]) == pair["kappa"]["value"]


def test_markdown_and_latex_are_what_they_say(ringtrue: Call) -> None:
    markdown = ringtrue("agree", "l.csv", "--format", "markdown").out
    assert markdown.splitlines()[1] == "| --- | ---: | ---: |"
    assert sum(line.startswith("| --- |") for line in markdown.splitlines()) == 2
    latex = ringtrue("agree", "l.csv", "--format", "latex").out
    assert latex.count(r"\begin{tabular}") == 2
    assert [line for line in latex.splitlines() if line.startswith("% ") and "83% of" in line]


def test_only_ten_pairs_are_shown_and_the_rest_counted(ringtrue: Call) -> None:
    rows = [f"d{doc},j{judge},{(doc * judge) % 2}" for doc in range(5) for judge in range(6)]
    Path("six.csv").write_text("doc,judge,label\n" + "\n".join(rows) + "\n")
    answer = ringtrue("agree", "six.csv")
    assert "5 more pairs" in answer.out
    assert sum(line.startswith("j") for line in answer.out.splitlines()) == 10
    few = ringtrue("agree", "six.csv", "--pairs", "3")
    assert sum(line.startswith("j") for line in few.out.splitlines()) == 3
    assert "pairs-left-out" in ringtrue("agree", "six.csv", "--pairs", "3", "--json").notes


# Panels


def test_panels_are_compared_by_their_majorities_and_each_within_itself(ringtrue: Call) -> None:
    found = ringtrue("agree", "panels.csv", "--panels", "panel", "--json").json
    assert list(found["panels"]) == ["crowd", "nist"]
    assert (found["panels"]["crowd"]["judges"], found["panels"]["crowd"]["votes"]) == (3, 9)
    assert found["panels"]["crowd"]["overall"]["agreement"]["value"] == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)
    (pair,) = found["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["confusion"]) == ("crowd", "nist", 3, [[1, 1], [0, 1]])
    table = ringtrue("agree", "panels.csv", "--panels", "panel").out
    assert table.startswith("panel ")
    assert all(count in table for count in ("of panels", "2 panels", "6 labels", "3 items", "2 queries"))


def test_a_panel_of_one_judge_has_no_agreement_within_and_is_compared_all_the_same(ringtrue: Call) -> None:
    answer = ringtrue("agree", "panels.csv", "--panels", "panel", "--json")
    assert answer.code == 0
    nist = answer.json["panels"]["nist"]
    assert (nist["judges"], nist["overall"]["agreement"]["value"]) == (1, None)
    assert nist["overall"]["agreement"]["note_codes"] == ["no-shared-items"]


def test_a_panel_that_saw_no_gold_document_stands_beside_one_that_did(ringtrue: Call) -> None:
    Path("more.csv").write_text(PANELS + "q9,d9,m,1,late\nq9,d9,n,1,late\n")
    Path("gold.csv").write_text("query,doc,label\nq1,d1,0\nq1,d2,1\nq2,d3,1\n")
    words = ("agree", "more.csv", "--panels", "panel", "--gold", "gold.csv")
    panels = ringtrue(*words, "--json").json["panels"]
    assert panels["late"]["consensus"] is None
    assert panels["nist"]["consensus"]["agreement"]["value"] == 1
    assert ringtrue(*words).out.splitlines()[0].split()[-1] == "gold"


def test_a_column_that_tells_no_panels_is_refused(ringtrue: Call) -> None:
    answer = ringtrue("agree", "panels.csv", "--panels", "panle", "--json")
    assert answer.stop == (2, "unknown-column", "panels")
    assert "'panel'" in answer.error["message"]


# Preferences


def test_preferences_have_circles_and_no_overlap(ringtrue: Call) -> None:
    found = ringtrue("agree", "p.csv", "--json").json
    assert found["overall"]["agreement"]["value"] == 0.75
    assert found["overall"]["overlap"]["value"] is None
    assert (found["transitivity"]["within"]["value"], found["transitivity"]["majority"]["n"]) == (0, 1)
    assert found["transitivity"]["cycle"]["query"] == "q1"
    assert sorted(found["transitivity"]["cycle"]["docs"]) == ["a", "b", "c"]
    table = ringtrue("agree", "p.csv").out
    assert all(count in table for count in ("2 judges", "8 labels", "4 pairs", "2 queries"))
    assert all(number in table for number in ("1 triple", " 100.0% ", "query q1: "))
    assert "overlap" not in table
    assert ringtrue("agree", "p.csv", "--scale", "0-1", "--json").stop == (2, "unused-parameter", "scale")


# Over time


def test_labels_with_a_time_are_followed(ringtrue: Call) -> None:
    rows = [
        f"q{doc % 2},d{doc},{judge},{doc % 3 % 2},2024-05-01 10:{doc:02d}:00" for doc in range(30) for judge in "xy"
    ]
    Path("time.csv").write_text("query,doc,judge,label,time\n" + "\n".join(rows) + "\n")
    drift = ringtrue("agree", "time.csv", "--json").json["drift"]
    assert [period["labels"] for period in drift] == [15] * 4
    assert (drift[0]["first"], drift[-1]["last"]) == ("2024-05-01 10:00:00", "2024-05-01 10:29:00")
    assert [period["agreement"]["value"] for period in drift] == [1] * 4
    assert "over time" in ringtrue("agree", "time.csv").out
    Path("odd.csv").write_text("query,doc,judge,label,time\n" + "\n".join(rows[:-1]) + "\nq1,d29,y,0,tomorrow\n")
    odd = ringtrue("agree", "odd.csv", "--json")
    assert odd.stop == (1, "bad-time", None)
    assert ("row 60" in odd.error["message"], "'tomorrow'" in odd.error["message"]) == (True, True)


# Bad input


def test_one_judge_is_refused_with_what_to_do(ringtrue: Call) -> None:
    answer = ringtrue("agree", "l.csv", "--where", "judge=ann", "--json")
    assert answer.stop == (1, "one-judge", None)
    assert all(part in answer.error["message"] for part in ("all 6 labels", "'ann'", "--gold"))


def test_judges_with_nothing_in_common_are_refused(ringtrue: Call) -> None:
    assert ringtrue("agree", "l.csv", "--where", "judge!=ann", "--json").stop == (1, "no-shared-items", None)


def test_everybody_the_same_is_told_in_words_and_never_as_nan(ringtrue: Call) -> None:
    Path("same.csv").write_text("query,doc,judge,label\n" + "".join(f"q{n // 2},d,{'xy'[n % 2]},1\n" for n in range(8)))
    table = ringtrue("agree", "same.csv").out
    assert "nan" not in table.lower().split()
    assert ("undefined:" in table, "100% of" in table) == (True, True)
    answer = ringtrue("agree", "same.csv", "--json")
    assert (answer.json["overall"]["fleiss_kappa"]["value"], answer.json["overall"]["agreement"]["value"]) == (None, 1)
    assert answer.json["overall"]["fleiss_kappa"]["note_codes"] == ["constant-labels"]
    assert "NaN" not in answer.out


def test_labels_outside_the_scale_are_refused_left_out_or_moved(ringtrue: Call) -> None:
    answer = ringtrue("agree", "l.csv", "--scale", "0-1", "--json")
    assert answer.stop == (1, "labels-outside-scale", None)
    stray = ("l.csv: 4 labels", "2 by ann (2 times)", "2 by ben", "2 by cid")
    assert all(part in answer.error["message"] for part in (*stray, "--outside exclude"))
    left, moved = (
        ringtrue("agree", "l.csv", "--scale", "0-1", "--outside", how, "--json").json for how in ("exclude", "clip")
    )
    assert (left["votes"], moved["votes"], moved["labels"]) == (8, 12, [0, 1])
    assert (left["note_codes"][0], all(part in left["notes"][0] for part in stray)) == ("outside-scale-excluded", True)


def test_repeats_need_a_choice_and_tell_their_lines(ringtrue: Call) -> None:
    Path("again.csv").write_text(LABELS + "bread,d1,ann,0\n")
    answer = ringtrue("agree", "again.csv", "--json")
    assert answer.stop == (1, "repeated-labels", "repeats")
    assert all(part in answer.error["message"] for part in ("again.csv: ", "'ann'", "'d1'", "'bread'", "(2, 0)"))
    assert all(f"--repeats {keep}" in answer.error["message"] for keep in ("first", "last", "all"))
    assert "rows 1, 13" in answer.error["message"]
    raw = {}
    for repeats in ("first", "last", "all"):
        words = ("agree", "again.csv", "--repeats", repeats)
        assert any("0% of" in line and line.endswith(" 50%.") for line in ringtrue(*words).out.splitlines())
        answer = ringtrue(*words, "--json")
        assert ("repeats-count" if repeats == "all" else "repeats-dropped") in answer.notes
        assert answer.json["overall"]["self_consistency"]["value"] == 0
        raw[repeats] = answer.json["overall"]["agreement"]["value"]
    assert raw == pytest.approx({"first": 5 / 6, "last": 4 / 6, "all": (4 + 1 / 3) / 6})


def test_labels_in_words_are_refused_with_their_row(ringtrue: Call) -> None:
    Path("words.csv").write_text("query,doc,judge,label\nq,d,x,1\nq,d,y,good\n")
    answer = ringtrue("agree", "words.csv", "--json")
    assert answer.stop == (1, "bad-label", None)
    assert all(part in answer.error["message"] for part in ("row 2", "'label'", "'good'"))


def test_a_level_that_is_none_is_refused(ringtrue: Call) -> None:
    assert ringtrue("agree", "l.csv", "--level", "95", "--json").stop == (2, "bad-level", "level")
    assert "90% interval" in ringtrue("agree", "l.csv", "--level", "0.9").out


# Real collections: sanity, not snapshots


@pytest.mark.slow
@pytest.mark.real
def test_the_crowd_and_nist_in_one_command(data: Path, ringtrue: Call) -> None:
    words = ("agree", str(data / "nyt17/pilot_labels.csv"), "--gold", str(data / "nyt17/pilot_docs.csv"), "--columns",
             "label=nist_rel", "--resamples", "200", "--json")  # fmt: skip
    found = ringtrue(*words, "--where", "experiment=3P-Doc-High").json
    assert (found["items"], found["queries"], found["labels"]) == (120, 10, [0, 1, 2])
    assert found["consensus"]["n"] == 120
    assert 0.2 < found["consensus"]["kappa"]["value"] < 0.6
    assert found["consensus"]["kappa"]["value"] > found["overall"]["fleiss_kappa"]["value"]  # many eyes see more


@pytest.mark.real
def test_nist_reviewers_and_crowd_compared_in_one_command(data: Path, ringtrue: Call) -> None:
    words = ("agree", str(data / "nyt17/pilot_labels.csv"), "--gold", str(data / "nyt17/pilot_docs.csv"))
    found = ringtrue(
        *words, "--columns", "label=nist_rel", "--panels", "experiment", "--resamples", "200", "--json"
    ).json
    panels = found["panels"]
    assert {"3P-Doc-High", "reviewer_first", "reviewer_revised"} <= set(panels)
    alpha = {name: panel["overall"]["alpha_ordinal"] for name, panel in panels.items()}
    assert alpha["reviewer_revised"]["low"] > alpha["3P-Doc-High"]["high"]  # who talked it over agree far more
    with_gold = found["pairs"][: len(panels)]
    assert {(pair["a"], pair["b"]) for pair in with_gold} == {("gold", name) for name in panels}
    assert with_gold[0]["b"] == "reviewer_revised"  # the closest first
    assert [pair["kappa"]["value"] for pair in with_gold] == sorted(
        (pair["kappa"]["value"] for pair in with_gold), reverse=True
    )


@pytest.mark.slow
@pytest.mark.real
def test_every_kind_of_real_collection_is_read(data: Path, ringtrue: Call) -> None:
    web = ringtrue("agree", str(data / "web5/label.csv"), "--gold", str(data / "web5/truth.csv"), "--resamples", "50",
                   "--pairs", "5", "--json").json  # fmt: skip
    assert (web["items"], web["judges"]) == (2665, 177)
    assert web["overall"]["agreement"]["method"].split() == ["bootstrap", "over", "items"]
    assert web["consensus"]["agreement"]["value"] > web["overall"]["agreement"]["value"]
    arena = ringtrue(
        "agree", str(data / "arena/llmfao.csv"), "--columns", "query=prompt", "--resamples", "50", "--json"
    ).json
    assert 0.75 < arena["transitivity"]["majority"]["value"] < 1
    assert arena["overall"]["alpha_nominal"]["low"] > 0
    passages = str(data / "dl21/human.pref")
    refused = ringtrue("agree", passages, "--json")
    assert (refused.stop, "1,485 other" in refused.error["message"]) == ((1, "unnamed-judges", None), True)
    pairs = ringtrue("agree", passages, "--repeats", "all", "--resamples", "50", "--json").json
    assert pairs["overall"]["self_consistency"]["value"] > 0.5
    assert pairs["overall"]["conger"]["note_codes"] == ["one-judge"]
