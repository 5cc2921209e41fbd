"""`ringtrue plan`: the contract that scripts rely on, and what people read."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

PLAN = [
    "method",
    "queries",
    "gold",
    "cost",
    "half_width",
    "bronze",
    "reached",
    "worth",
    "any_judge",
    "notes",
    "note_codes",
]
KNOWN = ["--score", "0.4", "--sd", "0.3", "--accuracy", ".85,.90", "--cost-bronze", "1", "--cost-gold", "50"]


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs over thirty queries that share six of their ten documents; bronze labels, and gold for some."""
    rng = np.random.default_rng(1)
    runs: dict[str, list[str]] = {"a": [], "b": []}
    bronze, gold = [], ["query,doc,label,prob"]
    for q in range(30):
        easy = rng.beta(2, 3)
        for d in range(14):
            if d < 10:
                runs["a"].append(f"q{q} Q0 d{d} 1 {20 - d} A")
            if d >= 4:
                runs["b"].append(f"q{q} Q0 d{d} 1 {20 - d} B")
            truth = int(rng.random() < easy)
            said = truth if rng.random() < 0.85 else 1 - truth
            bronze.append(f"q{q} 0 d{d} {said}")
            if rng.random() < 0.5:
                gold.append(f"q{q},d{d},{2 * truth},0.5")
    for name, lines in runs.items():
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    (tmp_path / "bronze.qrels").write_text("\n".join(bronze) + "\n")
    (tmp_path / "gold.csv").write_text("\n".join(gold) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_has_a_plan_for_each_method_and_the_cheapest(ringtrue) -> None:
    answer = ringtrue("plan", "--half-width", "0.05", *KNOWN, "--json")
    assert (answer.code, answer.err) == (0, "")
    found = answer.json
    assert list(found) == [
        "plans", "cheapest", "cheapest_any_judge", "why", "asked", "taken", "curve", "judge", "notes", "note_codes",
    ]  # fmt: skip
    assert list(found["plans"][0]) == PLAN
    costs = {one["method"]: one["cost"] for one in found["plans"]}
    assert found["cheapest"] == min(costs, key=costs.get) == "stratified"
    assert all(one["half_width"] <= 0.05 + 1e-9 for one in found["plans"])
    assert list(found["curve"][0]) == ["method", "budget", "cost", "queries", "gold", "half_width"]
    assert found["taken"]["sd"] == {"value": 0.3, "source": "given"}


def test_a_difference_has_power_in_place_of_the_half_width(ringtrue) -> None:
    found = ringtrue("plan", "--difference", "0.05", "--power", "0.9", *KNOWN, "--json").json
    assert all("half_width" not in one and one["power"] >= 0.9 - 1e-6 for one in found["plans"])
    assert found["asked"] == {"difference": 0.05, "power": 0.9, "level": 0.95}
    assert "power" in found["curve"][0]
    assert [one["method"] for one in found["plans"]][-1] == "shared judge"


def test_the_table_says_what_was_taken_what_it_costs_and_why(ringtrue) -> None:
    answer = ringtrue("plan", "--half-width", "0.05", *KNOWN)
    lines = answer.out.splitlines()
    assert lines[0].split() == ["method", "queries", "bronze", "gold", "cost", "half-width", "worth"]
    assert lines[5].startswith("stratified   cheapest")
    assert all(part in answer.out for part in ("\nstratified is ", "\nsd of ", "for stratified", "█"))
    assert max(map(len, lines)) <= 100


def test_guesses_are_told_on_standard_error(ringtrue) -> None:
    answer = ringtrue("plan", "--half-width", "0.05")
    assert "--accuracy" in answer.err
    assert "--cost-gold" in answer.err
    codes = ringtrue("plan", "--half-width", "0.05", "--json").json["note_codes"]
    assert codes == ["accuracy-guessed", "prevalence-guessed", "sd-guessed", "price-guessed"]
    assert "a guess" in answer.out


def test_other_forms(ringtrue) -> None:
    rows = list(csv.DictReader(io.StringIO(ringtrue("plan", "--half-width", ".05", *KNOWN, "--format", "csv").out)))
    assert [row["method"] for row in rows] == ["gold", "gold sample", "difference", "stratified", "confusion"]
    assert int(rows[0]["gold"]) == 10 * int(rows[0]["queries"])
    markdown = ringtrue("plan", "--half-width", ".05", *KNOWN, "--format", "markdown").out
    assert "| stratified | cheapest |" in markdown
    assert "█" not in markdown


def test_accuracy_as_hits_of_cases(ringtrue) -> None:
    words = ["plan", "--half-width", "0.05", "--score", ".626", "--sd", ".414", "-k", "3", "--json"]
    taken = ringtrue(*words, "--accuracy", "43/59,67/84").json["taken"]
    assert taken["relevant"]["value"] == pytest.approx(43 / 59)
    assert taken["prevalence"]["value"] == pytest.approx(0.8047, abs=5e-5)
    assert ringtrue(*words, "--accuracy", "59/59,67/84").json["taken"]["relevant"]["value"] == pytest.approx(59.5 / 60)


def test_queries_that_are_too_few_and_a_judge_who_guesses_are_no_error(ringtrue) -> None:
    few = ringtrue("plan", "--half-width", "0.05", "--queries", "40", *KNOWN, "--json")
    assert (few.code, few.json["cheapest"], few.json["plans"][2]["reached"]) == (0, None, False)
    assert "not reached" in ringtrue("plan", "--half-width", "0.05", "--queries", "40", *KNOWN).out
    guess = ringtrue("plan", "--half-width", "0.05", "--prevalence", ".4", "--accuracy", ".5,.5")
    assert guess.code == 0
    assert "\nconfusion: " in guess.out
    guess = ringtrue("plan", "--half-width", "0.05", "--prevalence", ".4", "--accuracy", ".5,.5", "--json").json
    assert {one["method"]: one["note_codes"] for one in guess["plans"]}["confusion"] == ["judge-at-chance"]


def test_a_budget(ringtrue) -> None:
    found = ringtrue("plan", "--budget", "5000", *KNOWN, "--json").json
    assert found["asked"] == {"level": 0.95, "budget": 5000.0}
    assert all(one["cost"] <= 5000 for one in found["plans"])
    assert "best" in ringtrue("plan", "--budget", "5000", *KNOWN).out


def test_from_files(collection: Path, ringtrue) -> None:
    words = ["--judgments", "bronze.qrels", "--gold", "gold.csv", "--rel", "2", "--bronze-rel", "1"]
    answer = ringtrue("plan", "a.run", *words, "--half-width", "0.05", "-m", "P@10", "--json")
    assert answer.code == 0
    taken = answer.json["taken"]
    assert {name: one["source"] for name, one in taken.items()} == {
        "relevant": "files", "nonrelevant": "files", "prevalence": "files", "score": "files", "sd": "files",
        "gold_sd": "follows",
    }  # fmt: skip
    assert taken["relevant"]["value"] == pytest.approx(0.85, abs=0.1)
    assert answer.json["judge"]["rows"] == "gold"
    assert "the files" in ringtrue("plan", "a.run", *words, "--half-width", "0.05").out
    pair = ringtrue("plan", "a.run", "b.run", *words, "--difference", "0.05", "--json").json
    assert pair["taken"]["unshared"] == {"value": 8.0, "source": "files"}
    these = ringtrue("plan", "a.run", *words, "--half-width", "0.03", "--population", "these", "--json").json
    assert these["plans"][3]["queries"] == 30


def test_a_file_without_gold_leaves_the_judge_to_be_given(collection: Path, ringtrue) -> None:
    answer = ringtrue("plan", "a.run", "--judgments", "bronze.qrels", "--accuracy", ".85,.85", "--half-width", ".05",
                      "--json")  # fmt: skip
    assert answer.json["taken"]["relevant"]["source"] == "given"
    assert answer.json["judge"] is None


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], ("no-goal", None)),
        (["--half-width", "0"], ("not-a-share", "half_width")),
        (["--half-width", "5"], ("not-a-share", "half_width")),
        (["--half-width", "0.6"], ("half-width-too-wide", "half_width")),
        (["--half-width", "wide"], ("bad-value", "half_width")),
        (["--difference", "0.05", "--power", "0.04"], ("bad-power", "power")),
        (["--half-width", ".05", "--score", "62.6"], ("not-a-share", "score")),
        (["--half-width", ".05", "--accuracy", ".85"], ("bad-value", "accuracy")),
        (["--half-width", ".05", "--accuracy", "85/80,9/10"], ("bad-value", "accuracy")),
        (["--half-width", ".05", "--accuracy", "0/0,9/10"], ("bad-value", "accuracy")),
        (["--half-width", ".05", "--cost-gold", "0"], ("bad-price", "cost_gold")),
        (["--half-width", ".05", "--cost-bronze", "-1"], ("bad-price", "cost_bronze")),
        (["--half-width", ".05", "--difference", ".05"], ("two-goals", "half_width")),
        (["--half-width", ".05", "--judgments", "x"], ("unused-parameter", "judgments")),
        (["--half-width", ".05", "--bronze-rel", "2"], ("unused-parameter", "bronze_rel")),
        (["--half-width", ".05", "-m", "P@5", "-k", "10"], ("conflicting-parameters", "k")),
        (["--half-width", ".05", "-m", "nDCG@10"], ("plan-needs-precision", "measure")),
        (["a.run", "--half-width", ".05"], ("needs-parameter", "judgments")),
        (["a.run", "b.run", "--judgments", "bronze.qrels", "--half-width", ".05"], ("wrong-number-of-runs", "runs")),
        (["a.run", "--judgments", "bronze.qrels", "--difference", ".05"], ("wrong-number-of-runs", "runs")),
        (["-", "--judgments", "-", "--half-width", ".05"], ("input-read-twice", None)),
    ],
)  # fmt: skip
def test_a_wrong_question_is_told_in_a_line_and_ends_with_2(
    collection: Path, ringtrue, words: list[str], error: tuple[str, str | None]
) -> None:
    assert ringtrue("plan", *words, "--json").stop == (2, *error)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["none.run", "--judgments", "bronze.qrels"], ("no-such-file", "none.run")),
        (["a.run", "--judgments", "bronze.qrels", "--gold", "none.csv"], ("no-such-file", "none.csv")),
        (["a.run", "--judgments", "bronze.qrels", "--gold", "far.csv"], ("gold-outside-runs", None)),
        (["a.run", "--judgments", "bronze.qrels", "--bronze-rel", "5"], ("all-queries-alike", None)),
        (["a.run", "--judgments", "bronze.qrels", "--gold", "twice.csv"], ("repeated-label", "twice.csv")),
    ],
)
def test_files_that_cannot_be_used_end_with_1(
    collection: Path, ringtrue, words: list[str], error: tuple[str, str | None]
) -> None:
    (collection / "far.csv").write_text("query,doc,label\nq1,x9,1\nq2,x8,0\n")
    (collection / "twice.csv").write_text("query,doc,label\nq1,d1,1\nq1,d1,0\n")
    answer = ringtrue("plan", *words, "--half-width", ".05", "--json")
    assert answer.code == 1
    assert (answer.error["code"], answer.error["file"]) == error
