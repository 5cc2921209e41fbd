"""`ringtrue simulate like-these` and `comparing`."""

from __future__ import annotations

import csv
import io

import pytest

from ringtrue.simulation.worlds import judged_runs

pytestmark = pytest.mark.usefixtures("each_study_once")
ROW = ["part", "setting", "measure", "queries", "gold", "method", "population", "about", "replications", "coverage",
       "width", "unanswered"]  # fmt: skip


@pytest.mark.slow
def test_intervals_for_queries_like_these(ringtrue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged_runs, "MANY_QUERIES", 500)  # what is shown does not hang on how well the truth is known
    asked = ["simulate", "like-these", "--set", "worlds=1", "--replications"]
    found = ringtrue(*asked, "1", "--json").json
    assert list(found) == ["study", "replications", "level", "rows", "seed", "notes", "note_codes"]
    assert list(found["rows"][0]) == ROW
    assert {row["part"] for row in found["rows"]} == {"documents", "few labels", "whole queries"}
    assert len({row["setting"] for row in found["rows"] if row["part"] == "few labels"}) == 1
    assert found["note_codes"] == ["intervals-for-these"]
    table = ringtrue(*asked, "2")
    assert all(count in table.out for count in ("24 settings", "2 experiments", "60, 150 or 300 documents"))
    assert max(map(len, table.out.splitlines())) <= 100
    rows = list(csv.DictReader(io.StringIO(ringtrue(*asked, "1", "--format", "csv").out)))
    assert [row["setting"] for row in rows] == [row["setting"] for row in found["rows"]]


@pytest.mark.slow
def test_comparisons_of_two_systems(ringtrue) -> None:
    asked = ["simulate", "comparing", "--replications", "4", "--set", "effect=.1"]
    found = ringtrue(*asked, "--json").json
    assert list(found) == ["study", "replications", "level", "effect", "rows", "seed", "notes", "note_codes"]
    assert found["effect"] == 0.1
    assert list(found["rows"][0]) == ["setting", "test", "measure", "queries", "gold", "replications", "type_one",
                                      "power", "promised"]  # fmt: skip
    table = ringtrue(*asked)
    assert all(number in table.out for number in (" 5% of", " 0.1 in P@10"))
    assert max(map(len, table.out.splitlines())) <= 100
    rows = list(csv.DictReader(io.StringIO(ringtrue(*asked, "--format", "csv").out)))
    assert [row["test"] for row in rows] == [row["test"] for row in found["rows"]]


@pytest.mark.parametrize(
    ("study", "setting", "error"),
    [
        ("comparing", "effect=.9", ("not-a-share", None)),
        ("comparing", "effect=-.5", ("not-a-share", None)),
        ("like-these", "worlds=-1", ("bad-value", "set")),
    ],
)
def test_a_world_that_cannot_be_is_refused(ringtrue, study: str, setting: str, error: tuple[str, str | None]) -> None:
    assert ringtrue("simulate", study, "--replications", "2", "--set", setting, "--json").stop == (2, *error)
