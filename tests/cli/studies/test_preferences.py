"""`ringtrue simulate preferences`: methods, designs and intervals in a small world."""

from __future__ import annotations

import csv
import io

import pytest

pytestmark = pytest.mark.usefixtures("each_study_once")
SMALL = ["simulate", "preferences"]
for setting in ("topics=2", "docs=10", "workers=12", "designs=0", "coverage=0"):
    SMALL += ["--set", setting]
TWICE = ["--replications", "2"]
ALL = ["--set", "designs=2", "--set", "coverage=2"]


@pytest.mark.slow
def test_methods_designs_and_coverage_stand_in_json(ringtrue) -> None:
    found = ringtrue(*SMALL, *TWICE, *ALL, "--json").json
    parts = ["study", "methods", "steps", "designs", "coverage", "level", "settings", "seed", "notes", "note_codes"]
    assert list(found) == parts
    assert [row["method"] for row in found["methods"][:8]] == [
        "win-rate", "elo", "glicko", "bradley-terry", "elo+em", "bradley-terry+em", "crowd-bt", "sensitivity",
    ]  # fmt: skip
    assert [(row["random"], row["adversarial"]) for row in found["methods"][::8]] == [(0.2, 0.05), (0.4, 0.1)]
    assert all(0 <= row[name] <= 1 for row in found["methods"] for name in ("auc", "ndcg"))
    assert [row["step"].partition(" over ")[::2] for row in found["steps"][:3]] == [
        ("elo", "win-rate"), ("elo+em", "elo"), ("crowd-bt and sensitivity", "elo+em"),
    ]  # fmt: skip
    assert {(row["initial"], row["design"], row["share"]) for row in found["designs"]} == {
        (initial, design, share)
        for initial in (1.0, 2.0)
        for design in ("seed", "random", "swiss", "active")
        for share in (0.25, 0.5, 1.0)
    }
    assert {"setting", "interval", "coverage", "se", "best", "width", "promised", "says"} == set(found["coverage"][0])


@pytest.mark.slow
def test_the_tables_say_what_is_seen(ringtrue) -> None:
    answer = ringtrue(*SMALL, *TWICE, *ALL)
    for words in (
        "AUC: win-rate ",
        "nDCG@10: win-rate ",
        "elo over win-rate: AUC",
        "with a quarter of the",
        "best tenth",
    ):
        assert words in answer.out
    assert max(map(len, answer.out.splitlines())) <= 100


@pytest.mark.slow
def test_parts_can_be_left_out_and_csv_has_a_row_for_each_method(ringtrue) -> None:
    only = [*SMALL, *TWICE]
    found = ringtrue(*only, "--json").json
    assert found["designs"] == []
    assert found["coverage"] == []
    rows = list(csv.DictReader(io.StringIO(ringtrue(*only, "--format", "csv").out)))
    assert len(rows) == 16
    assert "design " not in ringtrue(*only).out


@pytest.mark.slow
def test_k_start_and_scale_are_named_options(ringtrue) -> None:
    only = [*SMALL, *TWICE, "--json"]
    usual, other = ringtrue(*only).json, ringtrue(*only, "--set", "k=90", "--set", "scale=20").json
    start = ringtrue(*only, "--set", "start=1500").json
    values = [{row["method"]: row["auc"] for row in one["methods"][:8]} for one in (usual, other, start)]
    assert values[0]["elo"] != values[1]["elo"]
    assert values[0]["elo"] == pytest.approx(values[2]["elo"])
    assert values[0]["sensitivity"] == values[1]["sensitivity"]


@pytest.mark.slow
def test_with_bad_workers_in_the_majority_there_is_one_world(ringtrue) -> None:
    found = ringtrue(*SMALL, *TWICE, "--set", "random=.6", "--json").json
    assert {(row["random"], row["adversarial"]) for row in found["methods"]} == {(0.6, 0.05)}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--set", "designs=1"], ("bad-value", "set")),
        (["--replications", "1"], ("study-too-small", None)),
        (["--set", "docs=5"], ("world-too-small", None)),
        (["--set", "k=0"], ("out-of-range", "k")),
        (["--set", "scale=-3"], ("out-of-range", "scale")),
        (["--set", "votes=30"], ("crew-too-small", None)),
        (["--set", "adversarial=2"], ("not-a-share", None)),
        (["--set", "poor=-1"], ("below-zero", None)),
    ],
)
def test_what_the_study_cannot_do_is_told_in_one_line(
    ringtrue, words: list[str], error: tuple[str, str | None]
) -> None:
    answer = ringtrue(*SMALL, *words, "--json")
    assert answer.stop == (2, *error)
    assert answer.err.count("\n") == 1
