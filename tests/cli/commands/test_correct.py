"""`ringtrue correct`: the contract that scripts rely on, and what people read."""

from __future__ import annotations

import csv
import io

import pytest

ESTIMATE = ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]


def words(line: str) -> list[str]:
    return line.split()


EBAY = words("correct --score .6260 --sd .414 --queries 10278 --relevant 43/59 --nonrelevant 67/84")
VERSUS = words("--versus-score .6385 --versus-sd .402 --versus-queries 20604")


def test_json_of_one_score(ringtrue) -> None:
    answer = ringtrue(*EBAY, "--json")
    assert answer.code == 0
    found = answer.json
    assert set(found) == {
        "raw",
        "corrected",
        "versus",
        "comparison",
        "judge",
        "direct",
        "check",
        "notes",
        "note_codes",
        "seed",
    }
    assert list(found["raw"]) == list(found["corrected"]) == ESTIMATE
    assert list(found["judge"]) == ["relevant", "nonrelevant", "youden"]
    assert list(found["judge"]["youden"]) == ESTIMATE
    assert (found["versus"], found["comparison"], found["direct"]) == (None, None, None)
    assert found["corrected"]["value"] == pytest.approx(0.8046976, abs=5e-8)
    assert (found["corrected"]["low"], found["corrected"]["high"]) == (pytest.approx(0.6575, abs=5e-5), 1)
    assert answer.err.splitlines() == [f"note: {note}" for note in found["notes"]]


def test_json_of_two_scores(ringtrue) -> None:
    found = ringtrue(*EBAY, *VERSUS, "--json").json
    assert found["versus"]["corrected"]["value"] == pytest.approx(0.8284423, abs=5e-8)
    assert list(found["comparison"]) == ["shared_judge", "independent", "naive"]
    shared = found["comparison"]["shared_judge"]
    assert (shared["p_value"], shared["p_wald"]) == pytest.approx((0.0116, 0.0171), abs=5e-5)
    assert list(shared["difference"]) == ESTIMATE
    assert list(shared["tipping_points"]) == ["relevant", "nonrelevant"]
    assert shared["tipping_points"]["relevant"]["difference"] == pytest.approx(0.015, abs=5e-4)
    assert found["comparison"]["independent"]["p_value"] == pytest.approx(0.854, abs=5e-4)
    assert found["check"]["p_value"] == pytest.approx(1e-7, rel=0.1)


def test_the_table_tells_raw_and_corrected_the_judge_and_the_comparisons(ringtrue) -> None:
    answer = ringtrue(*EBAY, *VERSUS)
    assert answer.out.splitlines()[0].split() == ["queries", "bronze", "95%", "CI", "corrected", "95%", "CI"]
    rows = [line.split() for line in answer.out.splitlines()]
    assert ["score", "10,278", "0.6260", "0.6180–0.6340", "0.805", "0.657–1.000"] in rows
    assert ["relevant", "documents", "59", "0.729", "0.604–0.826"] in rows
    assert ["one", "judge", "for", "both", "−0.0237", "−0.0460", "to", "−0.0053", "0.012"] in rows
    told = " ".join(answer.out.split())
    assert all(number in told for number in ("about 0.80; ", "0.66 and 1.00.", "Yes, ", "(p = 0.012)"))
    points = [told.index(f" {number} points ") for number in ("0.34", "1.6", "1.5", "6.8")]
    assert points == sorted(points)
    assert max(map(len, answer.out.splitlines())) <= 100
    found = ringtrue(*EBAY, *VERSUS, "--json")
    assert found.notes == ["same-error-rates", "sample-does-not-fit", "equal-errors-on-both-runs", "shared-gold"]
    assert all(number in answer.err for number in (" 42% of", " 143 gold ", " 63% of", "(p = 1e-07)"))


def test_judges_of_their_own_have_rates_and_a_test_of_their_own(ringtrue) -> None:
    answer = ringtrue(*EBAY, *VERSUS, "--versus-relevant", "50/60", "--versus-nonrelevant", "60/80")
    assert ["judges of" in answer.out, "one judge" in answer.out] == [True, False]
    assert "documents, versus" in answer.out
    assert " chance (p = 0.20)." in answer.out


def test_the_same_queries_are_tested_in_pairs(ringtrue) -> None:
    asked = words("correct --score .5 --sd .3 --queries 50 --relevant 90/100 --nonrelevant 80/100")
    asked += words("--versus-score .55 --versus-sd .3 --versus-queries 50 --json")
    alone, paired = (ringtrue(*asked, *more).json["comparison"] for more in ([], ["--difference-sd", ".1"]))
    assert (alone["naive"]["test"], paired["naive"]["test"]) == ("welch", "t")
    assert paired["shared_judge"]["p_value"] < 0.01 < alone["shared_judge"]["p_value"]


def test_a_judge_no_better_than_chance_is_an_answer_without_a_value(ringtrue) -> None:
    asked = words("correct --score .6 --k 1 --queries 400 --relevant 60/100 --nonrelevant 45/100")
    answer = ringtrue(*asked, "--json")
    assert (answer.code, answer.json["corrected"]["value"]) == (0, None)
    assert (answer.json["corrected"]["low"], answer.json["corrected"]["high"]) == (0, 1)
    table = ringtrue(*asked, "--versus-score", ".3", "--versus-queries", "400")
    assert answer.json["corrected"]["note_codes"][0] == "judge-maybe-at-chance"
    assert table.out.count("No score") == 1
    assert "(p = 2.6e-18)" in " ".join(table.out.split())
    assert "nan" not in table.out


def test_a_difference_that_nothing_can_test_is_told(ringtrue) -> None:
    asked = words("correct --score .5 --sd 0 --queries 50 --k 10 --relevant .9 --nonrelevant .8")
    answer = ringtrue(*asked, *words("--versus-score .6 --versus-sd 0 --versus-queries 50 --json"))
    assert answer.json["comparison"]["shared_judge"]["p_value"] is None
    assert "no-spread" in answer.notes


def test_rates_may_be_known_and_a_draw_from_these_documents_tells_more(ringtrue) -> None:
    known = words("correct --score .6 --k 1 --queries 100 --relevant 0.9 --nonrelevant .8")
    assert "known  0.900" in ringtrue(*known).out
    assert "rates-taken-as-known" in ringtrue(*known, "--json").notes
    drawn = ringtrue(*EBAY, "--design", "pool_random")
    assert "by bronze" in drawn.out
    assert ringtrue(*EBAY, "--design", "pool_random", "--json").json["direct"]["value"] == pytest.approx(
        0.5199, abs=5e-4
    )
    assert "sample-does-not-fit" not in ringtrue(*EBAY, "--design", "external", "--json").notes


def test_an_interval_where_no_score_can_be_is_told_as_such(ringtrue) -> None:
    asked = words("correct --score .1 --sd .1 --queries 1000 --relevant 900/1000 --nonrelevant 500/1000")
    assert "−1.18 and −0.85, " in ringtrue(*asked).out
    assert "interval-outside-possible" in ringtrue(*asked, "--json").notes


@pytest.mark.parametrize("interval", ["wald", "bootstrap", "bayes"])
def test_every_interval_can_be_asked_for_and_a_seed_fixes_it(ringtrue, interval: str) -> None:
    one, two, other = (
        ringtrue(*EBAY, "--interval", interval, "--seed", seed, "--resamples", "500", "--json").json for seed in "112"
    )
    assert one == two
    assert one["corrected"]["method"] == f"confusion, {interval}"
    assert (one["corrected"]["low"] == other["corrected"]["low"]) == (interval == "wald")


def test_csv_has_a_row_for_each_estimate_with_every_digit(ringtrue) -> None:
    rows = {row["what"]: row for row in csv.DictReader(io.StringIO(ringtrue(*EBAY, *VERSUS, "--format", "csv").out))}
    assert list(rows)[:2] == ["raw", "corrected"]
    assert {"versus corrected", "judge youden", "shared_judge", "independent", "naive"} <= set(rows)
    assert float(rows["corrected"]["value"]) == pytest.approx(0.8046975852817171)
    assert float(rows["naive"]["p_value"]) == pytest.approx(0.01159775, abs=1e-8)
    assert rows["raw"]["p_value"] == ""


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_other_formats_have_the_same_tables(ringtrue, form: str) -> None:
    assert "0.805" in ringtrue(*EBAY, *VERSUS, "--format", form).out


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"--score": "62.6"}, ("not-a-share", "score")),
        ({"--score": "-1"}, ("not-a-share", "score")),
        ({"--sd": "-0.1"}, ("bad-sd", "sd")),
        ({"--sd": "0.9"}, ("sd-too-large", "sd")),
        ({"--sd": None}, ("needs-parameter", "sd")),
        ({"--relevant": "60/59"}, ("bad-rate", "relevant")),
        ({"--relevant": "0/0"}, ("no-gold-of-a-kind", "relevant")),
        ({"--nonrelevant": "0/0"}, ("no-gold-of-a-kind", "nonrelevant")),
        ({"--relevant": "72.9%"}, ("bad-value", "relevant")),
        ({"--relevant": "most"}, ("bad-value", "relevant")),
        ({"--relevant": "73"}, ("not-a-share", "relevant")),
        ({"--versus-score": ".6"}, ("needs-parameter", "versus_queries")),
        ({"--versus-sd": ".6"}, ("needs-parameter", "versus_score")),
        (
            {"--versus-score": "63", "--versus-queries": "9", "--versus-sd": ".1"},
            ("not-a-share", "versus_score"),
        ),
        ({"--versus-score": ".6", "--versus-queries": "9"}, ("needs-parameter", "versus_sd")),
        ({"--versus-relevant": "1/2"}, ("needs-parameter", "versus_nonrelevant")),
        ({"--difference-sd": ".1"}, ("no-second-score", "difference_sd")),
        ({"--design": "pool_random", "--relevant": ".9"}, ("rates-without-counts", "design")),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    ringtrue, change: dict[str, str | None], error: tuple[str, str | None]
) -> None:
    words = dict(zip(EBAY[1::2], EBAY[2::2], strict=True)) | change
    answer = ringtrue("correct", *(word for pair in words.items() if pair[1] is not None for word in pair), "--json")
    assert answer.stop == (2, *error)
    assert answer.err.count("\n") == 1


def test_one_gold_label_of_each_kind_is_too_few_and_said_so(ringtrue) -> None:
    answer = ringtrue(*EBAY[:7], "--relevant", "1/1", "--nonrelevant", "1/1", "--json")
    assert (answer.code, answer.json["corrected"]["value"]) == (0, None)
    assert answer.json["corrected"]["note_codes"][0] == "judge-maybe-at-chance"
    assert answer.json["corrected"]["notes"][0].count("1 of 1") == 2
