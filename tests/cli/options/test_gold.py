"""`evaluate --gold` and `compare --gold`: the contract that scripts rely on, what people read, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import random
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from shutil import copy, copytree
from typing import get_args

import numpy as np
import pytest

import ringtrue as rt
from ringtrue.gold.correction import RatesDesign
from ringtrue.gold.correction.proportion import Interval
from ringtrue.gold.correction.results import Method
from ringtrue.gold.designs import Design, Population

ESTIMATE = ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]
CORRECTED = ["runs", "corrected", "gold_only", "methods", "design", "population", "judge", "checks", "bounds",
             "bronze_worth", "notes", "note_codes"]  # fmt: skip
COMPARED = ["measure", "a", "b", "difference", "p_value", "p_adjusted", "test", "effect_size", "wins", "ties", "losses",
            "naive", "notes"]  # fmt: skip
RUNS = ("new.run", "old.run", "far.run")
WORDS = (*RUNS, "--judgments", "bronze.qrels")
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs over 24 queries of 16 documents, the labels of a bronze judge who is kind, and gold of everything."""
    folder, chance = tmp_path_factory.mktemp("shop"), random.Random(7)
    truth = {(q, d): chance.choice([0, 0, 0, 1, 2]) for q in range(24) for d in range(16)}
    bronze = {pair: min(label + (chance.random() < 0.3), 2) for pair, label in truth.items()}
    for name, noise in (("new", 0.8), ("old", 1.2), ("far", 3.0)):
        lines = []
        for q in range(24):
            score = {d: truth[q, d] + chance.gauss(0, noise) for d in range(16)}
            best = sorted(score, key=lambda d: -score[d])[:8]
            lines += [f"q{q:02} Q0 d{d} {rank} {score[d]:.6f} {name}" for rank, d in enumerate(best, start=1)]
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n")
    for file, labels in (("truth.qrels", truth), ("bronze.qrels", bronze)):
        (folder / file).write_text("".join(f"q{q:02} 0 d{d} {label}\n" for (q, d), label in labels.items()))
    return folder


@pytest.fixture
def shop(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of `made` in a folder of one's own, in which the commands are called."""
    copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def gold(made: Path, shop: Path, ringtrue) -> Callable[..., str]:
    """A gold file: drawn with `ringtrue sample` and these words, the labels filled in by who knows them all."""

    def make(*words: str, name: str = "gold.csv") -> str:
        if not words and Path(name).exists():
            return name
        given = words or ("--budget", "120", "--for", "P@5,DCG@5")
        runs = [word for word in given if word.endswith(".run")] or RUNS
        more = [word for word in given if word not in runs]
        answer = ringtrue("sample", *runs, "--judgments", "bronze.qrels", *more, "-o", "drawn.csv")
        assert answer.code == 0, answer.err
        known = labels_in(Path("truth.qrels"))
        write(name, [row | {"label": row.get("label") or known.get((row["query"], row["doc"]), "0")}
                     for row in read("drawn.csv")])  # fmt: skip
        if not words:  # the usual one is drawn once
            copy(name, made)
        return name

    return make


def labels_in(path: Path) -> dict[tuple[str, str], str]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {(query, doc): label for query, _, doc, label in rows}


def read(path: str) -> Rows:
    with Path(path).open() as file:
        return list(csv.DictReader(file))


def write(path: str, rows: Rows) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    Path(path).write_text(text.getvalue())
    return path


def changed(path: str, name: str, change: Callable[[int, dict[str, str]], dict[str, str] | None]) -> str:
    """A copy of a gold file with every row changed, or left out where nothing comes back."""
    rows = [new for place, row in enumerate(read(path)) if (new := change(place, row)) is not None]
    return write(name, rows)


def without(row: dict[str, str], *names: str) -> dict[str, str]:
    return {key: value for key, value in row.items() if key not in names}


def elsewhere(path: str, name: str = "elsewhere.csv") -> str:
    """The same labels, of which nobody says how they were drawn."""
    return changed(path, name, lambda _, row: without(row, "prob", "stratum", "design", "drawn"))


def test_json_has_every_key_of_the_contract(gold, ringtrue) -> None:
    answer = ringtrue("evaluate", *WORDS, "--gold", gold(), "-m", "P@5,DCG@5", "--json")
    found = answer.json
    assert (answer.code, answer.notes) == (0, ["few-gold-of-a-kind"])
    assert answer.err == f"note: {found['notes'][0]}\n"
    assert found["notes"][0].startswith("P@5 of new ")
    assert list(found) == CORRECTED
    for table in ("runs", "corrected", "gold_only"):
        assert list(found[table]) == ["new", "old", "far"]
        assert list(found[table]["new"]) == ["P@5", "DCG@5"]
        assert list(found[table]["new"]["P@5"]) == ESTIMATE
    assert (found["design"], found["population"]) == ("pool_stratified", "like-these")
    assert list(found["judge"]) == ["relevant", "nonrelevant", "youden", "confusion"]
    assert found["judge"]["confusion"]["rows"] == "gold"
    assert {tuple(check) for check in found["checks"]} == {("check", "passed", "p_value", "text", "code")}
    assert "difference" in found["methods"]["P@5"]


def test_the_answer_is_the_library_s(gold, ringtrue) -> None:
    name = gold()
    found = ringtrue("evaluate", *WORDS, "--gold", name, "-m", "P@5", "--level", "0.9", "--json").json
    runs = [rt.read_run(run) for run in RUNS]
    expected = rt.correct(runs, rt.read_judgments("bronze.qrels"), rt.read_judgments(name), "P@5", level=0.9)
    assert found["corrected"]["old"]["P@5"] == expected.corrected["old"]["P@5"].as_dict()
    assert found["gold_only"]["old"]["P@5"] == expected.gold_only["old"]["P@5"].as_dict()
    assert found["checks"] == [check.as_dict() for check in expected.checks]


def test_raw_is_what_bronze_says_and_gold_of_everything_is_the_truth(gold, ringtrue) -> None:
    found = ringtrue("evaluate", *WORDS, "--gold", gold("--budget", "9999", "--for", "P@5"), "-m", "P@5",
                     "--population", "these", "--json").json  # fmt: skip
    for run in ("new", "old", "far"):
        by_bronze, by_gold = (
            ringtrue("evaluate", f"{run}.run", "--judgments", file, "-m", "P@5", "--json").json["runs"][run]["P@5"]
            for file in ("bronze.qrels", "truth.qrels")
        )
        assert found["runs"][run]["P@5"] == by_bronze
        one = found["corrected"][run]["P@5"]
        assert (one["value"], one["low"], one["high"]) == pytest.approx([by_gold["value"]] * 3, abs=1e-9)


def test_the_table_shows_bronze_corrected_and_gold_alone_best_first(gold, ringtrue) -> None:
    answer = ringtrue("evaluate", *WORDS, "--gold", gold(), "-m", "P@5,DCG@5")
    lines = answer.out.splitlines()
    assert lines[0].split("  ")[0] == "run"
    assert [word for word in ("bronze says", "corrected", "95% interval", "gold alone", "gold labels")
            if word not in lines[0]] == []  # fmt: skip
    found = ringtrue("evaluate", *WORDS, "--gold", "gold.csv", "-m", "P@5", "--json").json["corrected"]
    assert [line.split()[0] for line in lines[2:5]] == sorted(found, key=lambda run: -found[run]["P@5"]["value"])
    assert any(line.endswith(" like these") for line in lines)
    assert "\nbronze is " in answer.out
    assert [line for line in lines if line != line.rstrip()] == []


def test_checks_are_listed_and_what_follows_from_a_doubt_stands_below(gold, ringtrue) -> None:
    few = changed(gold("--budget", "12"), "few.csv", lambda _, row: row)
    answer = ringtrue("evaluate", *WORDS, "--gold", few, "-m", "P@5")
    (line,) = [line for line in answer.out.splitlines() if "number of labels  " in line]
    assert line.startswith("look")
    assert "trust" not in line
    assert "of labels: " in answer.out


def test_csv_has_every_digit_and_markdown_and_latex_are_tables(gold, ringtrue) -> None:
    words = ("evaluate", *WORDS, "--gold", gold(), "-m", "P@5")
    rows = list(csv.DictReader(io.StringIO(ringtrue(*words, "--format", "csv").out)))
    found = ringtrue(*words, "--json").json
    assert [(row["run"], row["estimate"]) for row in rows][:4] == [
        ("new", "raw"), ("old", "raw"), ("far", "raw"), ("new", "corrected"),
    ]  # fmt: skip
    assert float(rows[3]["low"]) == found["corrected"]["new"]["P@5"]["low"]
    assert ringtrue(*words, "--format", "markdown").out.splitlines()[2].startswith("| new |")
    assert r"95\% interval" in ringtrue(*words, "--format", "latex").out


def test_these_queries_are_told_more_surely_than_queries_like_these(gold, ringtrue) -> None:
    words = ("evaluate", *WORDS, "--gold", gold(), "-m", "P@5", "--population")
    these, like = (ringtrue(*words, about, "--json").json for about in ("these", "like-these"))
    assert (these["population"], like["population"]) == ("these", "like-these")
    one, other = these["corrected"]["new"]["P@5"], like["corrected"]["new"]["P@5"]
    assert one["value"] == other["value"]
    assert one["se"] < other["se"]
    assert " these queries\n" in ringtrue(*words, "these").out


def test_without_a_measure_single_documents_serve_sums_and_whole_queries_the_usual_ones(gold, ringtrue) -> None:
    by_document = ringtrue("evaluate", *WORDS, "--gold", gold("--budget", "120"), "--json").json
    assert list(by_document["corrected"]["new"]) == ["P@10", "DCG@10"]
    whole = gold("--queries", "12", name="queries.csv")
    by_query = ringtrue("evaluate", *WORDS, "--gold", whole, "--json").json
    assert list(by_query["corrected"]["new"]) == ["nDCG@10", "AP", "P@10", "RR"]
    assert (by_query["design"], by_query["corrected"]["new"]["AP"]["n"]) == ("whole_queries", 12)
    assert by_query["corrected"]["new"]["AP"]["note_codes"][0] == "few-queries"
    compared = ringtrue("compare", *WORDS, "--gold", whole, "--json").json
    assert {one["measure"] for one in compared["comparisons"]} == {"nDCG@10"}
    assert "gold queries" in ringtrue("compare", *WORDS, "--gold", whole).out


def test_gold_alone_can_be_asked_for(gold, ringtrue) -> None:
    words = ("--gold", gold(), "-m", "P@5", "--method", "gold")
    found = ringtrue("evaluate", *WORDS, *words, "--json").json
    assert found["corrected"] == found["gold_only"]
    assert "labels alone" in found["methods"]["P@5"]
    compared = ringtrue("compare", *WORDS, *words, "--json").json
    assert "labels alone" in compared["test"]


def test_the_judge_s_rates_can_be_asked_for_and_carry_what_they_take_for_granted(gold, ringtrue) -> None:
    answer = ringtrue("evaluate", *WORDS, "--gold", gold(), "-m", "P@5", "--method", "confusion", "--json")
    assert answer.json["corrected"]["new"]["P@5"]["method"] == "confusion, fieller"
    assert answer.json["gold_only"] == {}
    assert ("same-error-rates" in answer.notes, "--method difference" in answer.err) == (True, True)


def test_bronze_may_count_as_relevant_from_another_label_on(gold, ringtrue) -> None:
    words = ("evaluate", *WORDS, "--gold", gold(), "-m", "P@5", "--rel", "1")
    found = ringtrue(*words, "--bronze-rel", "2", "--json").json
    strict = ringtrue("evaluate", *WORDS, "-m", "P@5", "--rel", "2", "--json").json["runs"]
    assert found["runs"]["new"]["P@5"]["value"] == strict["new"]["P(rel=2)@5"]["value"]
    same = ringtrue(*words, "--json").json
    here, there = (one["corrected"]["new"]["P@5"]["value"] for one in (found, same))
    assert here == pytest.approx(there, abs=0.05)
    assert found["judge"]["relevant"]["value"] < same["judge"]["relevant"]["value"]


@pytest.mark.slow
def test_the_same_question_has_the_same_answer_and_a_seed_moves_only_what_is_drawn(gold, ringtrue) -> None:
    name = gold()
    words = ("evaluate", *WORDS, "--gold", name, "-m", "DCG@5", "--method", "confusion", "--json")
    assert ringtrue(*words).out == ringtrue(*words).out
    compare = ("compare", *WORDS, "--gold", name, "-m", "P@5", "--json")
    one, other = (ringtrue(*compare, "--seed", seed).json for seed in ("1", "2"))
    assert (one["seed"], other["seed"]) == (1, 2)
    assert one["comparisons"] == other["comparisons"]  # nothing is drawn for a difference


# Comparing.


def test_json_of_a_comparison_has_what_bronze_says_beside_it(gold, ringtrue) -> None:
    words = ("compare", *WORDS, "-m", "P@5")
    answer = ringtrue(*words, "--gold", gold("--budget", "100", "--compare", "--for", "P@5"), "--json")
    assert answer.code == 0
    one = answer.json["comparisons"][0]
    assert [key for key in COMPARED if key not in one] == []
    assert list(one["difference"]) == ESTIMATE
    plain = ringtrue(*words, "--json").json["comparisons"][0]
    assert one["naive"] == {"difference": plain["difference"], "p_value": plain["p_value"]}
    assert (one["wins"], one["ties"], one["losses"]) == (plain["wins"], plain["ties"], plain["losses"])
    assert (one["a"], one["b"], one["test"]) == ("new", "old", "difference")
    assert [key for key in ("test", "adjust", "family", "level", "population", "seed", "notes")
            if key not in answer.json] == []  # fmt: skip
    runs = [rt.read_run(run) for run in RUNS]
    theirs = rt.compare_corrected(runs, rt.read_judgments("bronze.qrels"), rt.read_judgments("gold.csv"), "P@5")
    assert (one["difference"], one["p_adjusted"]) == (theirs[0].difference.as_dict(), theirs[0].p_adjusted)


def test_the_table_of_comparisons_says_who_is_better_and_by_how_much(gold, ringtrue) -> None:
    answer = ringtrue("compare", *WORDS, "--gold", gold(), "-m", "P@5")
    header = answer.out.splitlines()[0]
    assert [word for word in ("bronze a − b", "bronze p", "corrected a − b", "adjusted", "gold labels")
            if word not in header] == []  # fmt: skip
    (better,) = [
        line for line in answer.out.splitlines() if " better than " in line and "far" in line and "new" in line
    ]
    assert all(part in better for part in ("P@5: new is", "far, by 0."))
    legend = [line.partition(": ")[0] for line in answer.out.splitlines()]
    assert {"a − b", "gold labels"} <= set(legend)
    rows = list(csv.DictReader(io.StringIO(ringtrue("compare", *WORDS, "--gold", "gold.csv", "-m", "P@5", "--format",
                                                    "csv").out)))  # fmt: skip
    assert list(rows[0])[-2:] == ["naive_difference", "naive_p"]
    assert len(rows) == 3


def test_many_runs_are_shown_run_by_run_best_first_and_with_baselines_pair_by_pair(gold, ringtrue) -> None:
    for number in range(3):
        for name in ("new", "far"):
            Path(f"{name}{number}.run").write_text(Path(f"{name}.run").read_text())
    gold()
    runs = [f"{name}{number}.run" for number in range(3) for name in ("far", "new")]
    words = ("compare", *runs, "--judgments", "bronze.qrels", "--gold", "gold.csv", "-m", "P@5")
    lines = ringtrue(*words).out.splitlines()
    assert lines[0].split() == ["nr", "run", "better", "than", "worse", "than"]
    assert [line.split()[:2] for line in lines[2:8]] == [
        ["1", "new0"], ["2", "new1"], ["3", "new2"], ["4", "far0"], ["5", "far1"], ["6", "far2"],
    ]  # fmt: skip
    assert lines[2].split()[2:] == ["4–6"]
    assert lines[7].split()[2:] == ["1–3"]
    assert any("6 of 15 comparisons" in line for line in lines)
    assert "▲" not in "".join(lines)
    paired = ringtrue(*words, "--baseline", "far0").out.splitlines()
    assert paired[0].split()[:3] == ["measure", "a", "b"]


def test_what_is_said_of_every_pair_is_said_once(gold, ringtrue) -> None:
    words = ("--gold", elsewhere(gold()), "--design", "external", "-m", "P@5")
    answer = ringtrue("compare", *WORDS, *words)
    assert "gold labels" not in answer.out.splitlines()[0]  # a difference rests on all of them
    shared = ringtrue("compare", *WORDS, *words, "--json").json["comparisons"]
    (note,) = {one["notes"][one["note_codes"].index("equal-errors-on-both-runs")] for one in shared}
    assert answer.out.count(note.partition(": ")[2] or note) == 1
    independent = ringtrue("compare", *WORDS, *words, "--test", "independent", "--json").json
    assert independent["comparisons"][0]["test"] == "independent"
    assert "shared-gold" in independent["comparisons"][0]["note_codes"]


def test_the_published_test_takes_rates_whatever_the_design(gold, ringtrue) -> None:
    answer = ringtrue("compare", *WORDS, "--gold", gold(), "-m", "P@5", "--test", "independent", "--json")
    assert answer.json["comparisons"][0]["test"] == "independent"
    assert answer.json["test"].startswith("z test ")


# Gold from elsewhere.


@pytest.mark.slow
def test_gold_from_elsewhere_is_corrected_by_the_judge_s_rates(gold, ringtrue) -> None:
    words = ("evaluate", *WORDS, "--gold", elsewhere(gold()), "--design", "external", "-m")
    answer = ringtrue(*words, "P@5,DCG@5", "--json")
    found = answer.json
    assert (found["design"], found["gold_only"]) == ("external", {})
    assert found["corrected"]["new"]["P@5"]["method"] == "confusion, fieller"
    assert found["corrected"]["new"]["DCG@5"]["method"].startswith("confusion")
    assert (answer.notes.count("same-error-rates"), answer.err.count("errs on")) == (1, 1)
    assert " like these\n" in ringtrue(*words, "P@5", "--population", "these").out


def matrix(name: str, **given: object) -> str:
    Path(name).write_text(json.dumps({"rows": "gold", "columns": "bronze", "labels": [0, 1]} | given))
    return name


def test_a_confusion_matrix_serves_as_gold_with_counts_or_exactly_known(shop: Path, ringtrue) -> None:
    words = ("evaluate", *WORDS, "-m", "P@5", "--json", "--gold")
    exact = ringtrue(*words, matrix("exact.json", matrix=[[0.7, 0.3], [0.1, 0.9]]))
    counted = ringtrue(*words, matrix("counted.json", counts=[[140, 60], [10, 90]]))
    one, other = (answer.json["corrected"]["new"]["P@5"] for answer in (exact, counted))
    j = exact.json["runs"]["new"]["P@5"]["value"]
    assert one["value"] == pytest.approx((j - 0.3) / 0.6)
    assert other["value"] == pytest.approx(one["value"])
    assert one["high"] - one["low"] < other["high"] - other["low"]
    assert (exact.json["design"], exact.json["checks"]) == ("known", [])
    assert exact.json["judge"]["confusion"]["matrix"] == [[0.7, 0.3], [0.1, 0.9]]
    assert "check" not in ringtrue("evaluate", *WORDS, "-m", "P@5", "--gold", "exact.json").out


def test_a_matrix_that_lacks_a_label_of_bronze_is_told(shop: Path, ringtrue) -> None:
    known = matrix("known.json", matrix=[[0.8, 0.2], [0.1, 0.9]])
    assert ringtrue("evaluate", *WORDS, "-m", "DCG@5", "--gold", known, "--json").stop == (
        1,
        "matrix-lacks-label",
        None,
    )


def test_a_judge_no_better_than_chance_is_refused_in_words(gold, ringtrue) -> None:
    chance = matrix("chance.json", counts=[[20, 20], [20, 20]])
    answer = ringtrue("evaluate", *WORDS, "-m", "P@5", "--gold", chance)
    assert answer.code == 0
    assert [line.split()[2:] for line in answer.out.splitlines()[2:5]] == [["–", "0.000", "to", "1.000"]] * 3
    one = ringtrue("evaluate", *WORDS, "-m", "P@5", "--gold", chance, "--json").json["corrected"]["new"]["P@5"]
    assert (one["value"], one["low"], one["high"], one["note_codes"][0]) == (None, 0, 1, "judge-at-chance")
    assert one["notes"][0] in answer.err
    guessed = changed(gold(), "guessed.csv", lambda place, row: row | {"label": str(place % 3)})
    external = ringtrue("evaluate", *WORDS, "-m", "P@5,DCG@5", "--gold", elsewhere(guessed), "--design", "external",
                        "--json")  # fmt: skip
    for measure in ("P@5", "DCG@5"):
        one = external.json["corrected"]["new"][measure]
        assert (external.code, one["value"], one["note_codes"][0]) == (0, None, "judge-maybe-at-chance")
    compared = ringtrue("compare", *WORDS, "-m", "P@5", "--gold", chance)
    assert not set("▲▼≠") & set(compared.out)
    compared = ringtrue("compare", *WORDS, "-m", "P@5", "--gold", chance, "--json").json["comparisons"]
    assert ["judge-at-chance" in one["note_codes"] for one in compared] == [True] * 3


def test_a_grade_that_gold_never_gave_is_told(gold, ringtrue) -> None:
    some = changed(elsewhere(gold()), "some.csv", lambda _, row: None if row["label"] == "2" else row)
    answer = ringtrue("evaluate", *WORDS, "--gold", some, "--design", "external", "-m", "DCG@5", "--json")
    assert (answer.code, "matrix-not-inverted" in answer.notes) == (0, True)
    assert all(count in answer.err for count in ("2 gold", "3 bronze labels"))


# What is doubtful is told beside the answer.


def test_gold_documents_that_no_run_shows_are_counted_and_left_out(gold, ringtrue) -> None:
    name = gold()
    more = write("more.csv", [*read(name), *(read(name)[0] | {"doc": f"x{place}"} for place in range(3))])
    answer = ringtrue("evaluate", *WORDS, "--gold", more, "-m", "P@5", "--json")
    assert "gold-partly-outside-runs" in answer.notes
    assert all(part in answer.err for part in ("3 of 123 ", "'x0' of"))
    same = [ringtrue("evaluate", *WORDS, "--gold", file, "-m", "P@5", "--json").json["corrected"]
            for file in (name, more)]  # fmt: skip
    assert same[0] == same[1]


def test_documents_without_a_bronze_label_are_a_level_of_their_own(gold, ringtrue) -> None:
    name = gold()
    lines = Path("bronze.qrels").read_text().splitlines()
    Path("bronze.qrels").write_text("\n".join(line for line in lines if " d3 " not in line) + "\n")
    answer = ringtrue("evaluate", *WORDS, "--gold", name, "-m", "P@5", "--json")
    assert (answer.code, "no-bronze-label" in answer.notes) == (0, True)
    assert answer.json["corrected"]["new"]["P@5"]["value"] is not None


def test_a_sample_for_comparing_runs_does_not_evaluate_one_of_them(gold, ringtrue) -> None:
    name = gold("--budget", "100", "--compare", "--for", "P@5")
    answer = ringtrue("evaluate", *WORDS, "--gold", name, "-m", "P@5", "--json")
    assert answer.stop == (1, "drawn-for-comparison", None)
    assert "`ringtrue sample …" in answer.error["message"]
    assert answer.err.count("\n") == 1
    assert ringtrue("compare", *WORDS, "--gold", name, "-m", "P@5").code == 0


def test_a_part_of_a_draw_is_seen_by_its_probabilities_where_nobody_says_how_large_it_was(gold, ringtrue) -> None:
    half = changed(gold(), "half.csv", lambda place, row: without(row, "drawn") if place % 2 else None)
    answer = ringtrue("evaluate", *WORDS, "--gold", half, "-m", "P@5", "--json")
    assert answer.stop == (1, "sample-does-not-fit", None)
    assert answer.err.count("\n") == 1


def test_a_few_documents_that_gold_could_not_judge_are_left_out_with_a_word(gold, ringtrue) -> None:
    some = changed(gold(), "some.csv", lambda place, row: row | {"label": "-1"} if place == 0 else row)
    answer = ringtrue("evaluate", *WORDS, "--gold", some, "-m", "P@5", "--json")
    assert (answer.code, "lost-labels" in answer.notes) == (0, True)
    assert all(count in answer.err for count in ("1 gold label ", "of 120", ": 1 not judged"))


def test_where_bounds_were_cut_the_legend_says_so(gold, ringtrue) -> None:
    name = gold("--budget", "24", "--for", "P(rel=2)@5", name="few.csv")
    rare = {0: "", 5: "2", 15: "2"}
    lost = changed(name, "lost.csv", lambda place, row: row | {"label": rare.get(place, "0")})
    words = (*WORDS, "--gold", lost, "--frame", "drawn.frame.csv", "-m", "P(rel=2)@5")
    lows = [row["P(rel=2)@5"]["low"] for row in ringtrue("evaluate", *words, "--json").json["bounds"].values()]
    assert 0 in lows
    legend = "at the worst and best label seen; cut at 0, as P(rel=2)@5 cannot be beyond"
    assert legend in ringtrue("evaluate", *words).out
    assert "cut at" not in ringtrue("compare", *words).out


@pytest.mark.parametrize("layout", ["pairs", "runs"])
def test_pairs_that_are_out_of_reach_are_withheld_with_the_reason_however_many_runs_there_are(
    gold, ringtrue, layout: str
) -> None:
    for place in range(3):
        copy("new.run", f"new{place}.run")
    name = gold("new.run", "old.run", "--budget", "60", "--for", "P@5", name="near.csv")
    lines = [f"q{q:02} Q0 other{rank} {rank} {9 - rank} other" for q in range(24) for rank in range(1, 6)]
    Path("other.run").write_text("\n".join(lines) + "\n")
    answer = ringtrue(
        "compare", "new.run", "old.run", "new0.run", "new1.run", "other.run", "--judgments", "bronze.qrels",
        "--gold", name, "--frame", "drawn.frame.csv", "-m", "P@5", "--layout", layout,
    )  # fmt: skip
    assert answer.code == 0
    (line,) = [line for line in answer.out.splitlines() if "could not draw" in line]
    assert (line.startswith("P@5 of new − "), " 3 more: 50% of" in line) == (True, True)


# Gold and bronze may come in many ways.


def test_gold_may_come_from_standard_input_labels_or_a_matrix(gold, ringtrue, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("evaluate", *WORDS, "-m", "P@5", "--json", "--gold")
    for name in (gold(), matrix("known.json", matrix=[[0.8, 0.2], [0.1, 0.9]])):
        expected = ringtrue(*words, name).out
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(name).read_bytes())))
        assert ringtrue(*words, "-").out == expected


def test_gold_may_be_a_column_or_some_rows_of_a_larger_table(gold, ringtrue) -> None:
    words = ("evaluate", *WORDS, "-m", "P@5", "--json", "--gold")
    plain = ringtrue(*words, gold()).json
    named = write("named.csv", [{("human" if key == "label" else key): value for key, value in row.items()}
                                for row in read("gold.csv")])  # fmt: skip
    assert ringtrue(*words, named, "--gold-columns", "label=human").json == plain
    both = [row | {"judge": judge, "label": row["label"] if judge == "ann" else "0"}
            for row in read("gold.csv") for judge in ("ann", "bob")]  # fmt: skip
    several = ringtrue(*words, write("both.csv", both))
    assert several.stop == (1, "several-judges", None)
    assert "--gold-where judge=" in several.error["message"]
    assert ringtrue(*words, "both.csv", "--gold-where", "judge=ann").json["corrected"] == plain["corrected"]


def test_one_table_can_hold_both_judges(shop: Path, ringtrue) -> None:
    lines = ["query,doc,judge,label,design"]
    for file, judge in (("bronze.qrels", "model"), ("truth.qrels", "human")):
        rows = [line.split() for line in Path(file).read_text().splitlines()]
        lines += [f"{query},{doc},{judge},{label},pool_random" for query, _, doc, label in rows]
    Path("all.csv").write_text("\n".join(lines) + "\n")
    answer = ringtrue("evaluate", *RUNS, "--judgments", "all.csv", "--judge", "model", "--gold", "all.csv",
                      "--gold-where", "judge=human", "-m", "P@5", "--json")  # fmt: skip
    assert answer.code == 0
    expected = ringtrue("evaluate", "new.run", "--judgments", "truth.qrels", "-m", "P@5", "--json").json["runs"]["new"]
    assert answer.json["corrected"]["new"]["P@5"]["value"] == pytest.approx(expected["P@5"]["value"])


# What cannot be done is told in one line.


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--design", "external"], ("unused-parameter", "design")),
        (["--method", "gold"], ("unused-parameter", "method")),
        (["--population", "these"], ("unused-parameter", "population")),
        (["--bronze-rel", "2"], ("unused-parameter", "bronze_rel")),
        (["--gold-columns", "label=human"], ("unused-parameter", "gold_columns")),
        (["--gold-where", "judge=ann"], ("unused-parameter", "gold_where")),
        (["--gold", "bronze.qrels"], ("gold-is-bronze", "gold")),
        (["--gold", "./bronze.qrels"], ("gold-is-bronze", "gold")),
        (["--gold", "old.run"], ("other-kind", "gold")),
        (["--gold", "gold.csv", "--per-query"], ("conflicting-parameters", "per_query")),
        (["--gold", "gold.csv", "--by", "stratum"], ("conflicting-parameters", "by")),
        (["--gold", "gold.csv", "--judges", "average"], ("conflicting-parameters", "judges")),
        (["--gold", "gold.csv", "--compat", "trec_eval-9"], ("conflicting-parameters", "compat")),
        (["--gold", "gold.csv", "--missing", "skip"], ("conflicting-parameters", "missing")),
        (["--gold", "gold.csv", "--depth", "3"], ("conflicting-parameters", "depth")),
        (["--gold", "gold.csv", "--collection-size", "900"], ("conflicting-parameters", "collection_size")),
        (
            ["--gold", "known.json", "--gold-columns", "label=human"],
            ("unused-parameter", "gold_columns"),
        ),
        (["--gold", "known.json", "--gold-where", "judge=ann"], ("unused-parameter", "gold_where")),
        (
            ["--gold", "gold.csv", "--design", "external"],
            ("design-contradicted", "design"),
        ),
        (["--gold", "elsewhere.csv", "--design", "known"], ("design-does-not-fit", "design")),
        (["--gold", "known.json", "--design", "pool_random"], ("design-does-not-fit", "design")),
        (
            ["--gold", "gold.csv", "--gold-columns", "label=lable"],
            ("unknown-column", "gold_columns"),
        ),
        (["--gold", "gold.csv", "--gold-where", "judge=ann"], ("unknown-column", "gold_where")),
        (["--gold", "gold.csv", "--level", "1.5"], ("bad-level", "level")),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_a_wrong_question_is_told_with_exit_code_2(
    gold, ringtrue, command: str, words: list[str], error: tuple[str, str | None]
) -> None:
    elsewhere(gold())
    matrix("known.json", matrix=[[0.8, 0.2], [0.1, 0.9]])
    answer = ringtrue(command, *WORDS, "-m", "P@5", *words, "--json")
    assert answer.stop == (2, *error)
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--test", "permutation"], ("conflicting-parameters", "test")),
        (["--test", "wilcoxon"], ("conflicting-parameters", "test")),
        (["--adjust", "tukey"], ("tukey-with-gold", "adjust")),
        (["--mid-p"], ("unused-parameter", "mid_p")),
        (["--resamples", "10000"], ("unused-parameter", "resamples")),
        (["--topics", "topics.csv"], ("unused-parameter", "topics")),
        (["--test", "independent", "--method", "difference"], ("independent-without-rates", "independent")),
        (["--baseline", "nwe"], ("unknown-run", "baseline")),
    ],
)
def test_a_wrong_comparison_is_told_with_exit_code_2(
    gold, ringtrue, words: list[str], error: tuple[str, str | None]
) -> None:
    answer = ringtrue("compare", *WORDS, "-m", "P@5", "--gold", gold(), *words, "--json")
    assert answer.stop == (2, *error)
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "option", "known"),
    [
        ("evaluate", "design", Design),
        ("compare", "design", Design),
        ("compare", "method", Method),
        ("compare", "population", Population),
        ("correct", "design", RatesDesign),
        ("correct", "interval", Interval),
    ],
)
def test_an_option_offers_what_the_library_takes(command: str, option: str, known: object) -> None:
    words = import_module(f"ringtrue.cli.commands.{command}").command
    (offered,) = [one.type.choices for one in words.params if one.name == option]
    assert tuple(offered) == get_args(known)


def test_the_published_test_needs_gold(shop: Path, ringtrue) -> None:
    answer = ringtrue("compare", *WORDS, "-m", "P@5", "--test", "independent", "--json")
    assert (answer.stop, "--gold" in answer.error["message"]) == ((2, "needs-parameter", "gold"), True)


def test_gold_that_does_not_say_how_it_was_drawn_is_refused_with_the_designs(gold, ringtrue) -> None:
    plain = changed(gold(), "plain.csv", lambda _, row: {key: row[key] for key in ("query", "doc", "label")})
    for command in ("evaluate", "compare"):
        answer = ringtrue(command, *WORDS, "--gold", plain, "-m", "P@5", "--json")
        assert answer.stop == (1, "undeclared-design", "design")
        designs = ("pool_random", "pool_stratified", "whole_queries", "external")
        assert all(f"--design {name} " in answer.error["message"] for name in designs)
        assert "--frame " in answer.error["message"]
        assert answer.err.count("\n") == 1


BAD: dict[str, tuple[Callable[[int, dict[str, str]], dict[str, str] | None], str]] = {
    "a probability above 1": (
        lambda place, row: row | {"prob": "1.5"} if place == 2 else row,
        "bad-probability",
    ),
    "a probability of 0": (lambda _, row: row | {"prob": "0"}, "bad-probability"),
    "a probability below 0": (lambda _, row: row | {"prob": "-0.2"}, "bad-probability"),
    "a probability that is none": (lambda _, row: row | {"prob": "half"}, "bad-number"),
    "no probability": (
        lambda _, row: {key: value for key, value in row.items() if key != "prob"},
        "no-probabilities",
    ),
    "labels left empty": (
        lambda place, row: row | {"label": ""} if place > 99 else row,
        "too-many-lost",
    ),
    "no labels at all": (
        lambda _, row: {key: value for key, value in row.items() if key != "label"},
        "missing-column",
    ),
    "a label that is no number": (lambda _, row: row | {"label": "good"}, "bad-label"),
    "one gold label": (
        lambda place, row: without(row, "drawn") if place == 0 else None,
        "too-few-gold",
    ),
    "half of a draw": (
        lambda place, row: row if place % 2 else None,
        "too-many-lost",
    ),
    "only labels that say nothing": (
        lambda _, row: row | {"label": "-1"},
        "no-gold-labels",
    ),
    "a tenth that was not judged": (
        lambda place, row: row | {"label": "-1"} if place % 10 == 0 else row,
        "too-many-lost",
    ),
    "a document twice": (
        lambda place, row: row | {"query": "q00", "doc": "d1"} if place < 2 else row,
        "repeated-label",
    ),
    "ids of another kind": (
        lambda _, row: row | {"doc": f"https://{row['doc']}"},
        "gold-outside-runs",
    ),
    "an unknown design": (
        lambda _, row: row | {"design": "pool-random"},
        "unknown-design",
    ),
    "two designs": (
        lambda place, row: row | {"design": "external"} if place else row,
        "several-designs",
    ),
}


@pytest.mark.parametrize("bad", list(BAD))
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_gold_that_cannot_be_used_is_told_with_exit_code_1(gold, ringtrue, command: str, bad: str) -> None:
    change, code = BAD[bad]
    answer = ringtrue(command, *WORDS, "-m", "P@5", "--gold", changed(gold(), "bad.csv", change), "--json")
    assert (answer.code, answer.error["code"]) == (1, code)
    assert answer.err.count("\n") == 1
    assert "bronze.qrels" not in answer.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--gold", "gold.csv", "-m", "nDCG@5"], ("needs-whole-queries", None)),
        (["--gold", "gold.csv", "-m", "AP"], ("needs-whole-queries", None)),
        (
            ["--gold", "elsewhere.csv", "--design", "external", "-m", "nDCG@5"],
            ("rates-do-not-serve", None),
        ),
        (
            ["--gold", "elsewhere.csv", "--design", "external", "--method", "gold", "-m", "P@5"],
            ("not-a-draw", "method"),
        ),
        (["--gold", "one.csv", "--design", "whole_queries", "-m", "RR"], ("too-few-queries", None)),
        (["--gold", "one.csv", "--design", "external", "-m", "P@5"], ("no-gold-of-a-kind", None)),
        (["--gold", "none.csv", "-m", "P@5"], ("no-such-file", None)),
        (["--gold", "empty.csv", "-m", "P@5"], ("no-data", None)),
        (["--gold", "rows.json", "-m", "P@5"], ("unnormalised-confusion", None)),
        (
            ["--gold", "gold.csv", "-m", "DCG@5", "--method", "confusion"],
            ("rates-do-not-serve", None),
        ),
    ],
)
def test_what_the_data_do_not_allow_is_told_with_exit_code_1(
    gold, ringtrue, words: list[str], error: tuple[str, str | None]
) -> None:
    changed(elsewhere(gold()), "one.csv", lambda place, row: row if place == 0 else None)
    Path("empty.csv").write_text("query,doc,label\n")
    matrix("rows.json", matrix=[[0.8, 0.3], [0.1, 0.9]])
    answer = ringtrue("compare" if "confusion" in words else "evaluate", *WORDS, *words, "--json")
    assert answer.stop == (1, *error)
    assert answer.err.count("\n") == 1


def test_standard_input_is_read_once(shop: Path, ringtrue) -> None:
    assert ringtrue("evaluate", *RUNS, "--judgments", "-", "--gold", "-", "--json").stop == (
        2,
        "input-read-twice",
        None,
    )


@pytest.mark.real
def test_a_model_judge_of_trec_is_corrected_and_its_kindness_is_seen(data: Path, tmp_path: Path, ringtrue) -> None:
    folder = data / "dl19"
    runs = [str(folder / f"runs/{name}.run") for name in ("bm25base_p", "idst_bert_p1", "p_bert")]
    words = (*runs, "--judgments", str(folder / "llm-umbrela_gpt4.qrels"), "--rel", "2")
    drawn = tmp_path / "drawn.csv"
    assert ringtrue("sample", *words, "--budget", "300", "--for", "P@10", "-o", str(drawn)).code == 0
    known = labels_in(folder / "human.qrels")
    filled = write(str(tmp_path / "gold.csv"), [row | {"label": known.get((row["query"], row["doc"]), "0")}
                                                for row in read(str(drawn))])  # fmt: skip
    found = ringtrue("evaluate", *words, "--gold", filled, "-m", "P@10", "--population", "these", "--json").json
    truth = ringtrue("evaluate", *runs, "--judgments", str(folder / "human.qrels"), "--rel", "2", "-m", "P@10",
                     "--json").json["runs"]  # fmt: skip
    for name, row in found["corrected"].items():
        one, right = row["P(rel=2)@10"], truth[name]["P(rel=2)@10"]["value"]
        assert found["runs"][name]["P(rel=2)@10"]["value"] > right + 0.05
        assert one["low"] < right < one["high"]
    compared = ringtrue("compare", *words, "--gold", filled, "-m", "P@10", "--json").json["comparisons"]
    assert [one["p_adjusted"] < 0.05 for one in compared] == [True, True, False]
    assert np.sign(compared[0]["difference"]["value"]) == -1
