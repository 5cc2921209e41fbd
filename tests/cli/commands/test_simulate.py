"""`ringtrue simulate`: the list of studies, what they take and what they show."""

from __future__ import annotations

import csv
import io

import pytest

from ringtrue.cli.commands.simulate import STUDIES


def words(line: str) -> list[str]:
    return line.split()


def test_without_a_name_the_studies_are_listed(ringtrue) -> None:
    answer = ringtrue("simulate")
    assert answer.code == 0
    assert all(name in answer.out and study.summary in answer.out for name, study in STUDIES.items())
    listed = ringtrue("simulate", "--json").json["studies"]
    assert [one["name"] for one in listed] == list(STUDIES)
    assert list(listed[0]) == ["name", "says", "takes", "settings"]
    (goldberg,) = [one for one in listed if one["name"] == "goldberg"]
    assert (goldberg["takes"], goldberg["settings"]["first"]) == (["replications", "level"], 0.49)
    assert "--set first=0.49" in answer.out


def test_the_published_simulation_with_its_histogram(ringtrue) -> None:
    answer = ringtrue("simulate", "goldberg", "--replications", "3000")
    lines = answer.out.splitlines()
    assert lines[0].split()[-2:] == ["the", "truth"]
    assert any(line.startswith("0.40–0.41   ▶ ") for line in lines)
    assert "█" in answer.out
    assert max(map(len, lines)) <= 100
    assert [line for line in lines if line != line.rstrip()] == []
    found = ringtrue("simulate", "goldberg", "--replications", "3000", "--json").json
    assert found["study"] == "goldberg"
    assert list(found["coverage"]) == ["naive", "wald", "fieller"]
    histogram = found["histogram"]
    assert sum(histogram["naive"]) == sum(histogram["corrected"]) == 3000
    assert len(histogram["edges"]) == len(histogram["naive"]) + 1


def test_a_world_can_be_changed(ringtrue) -> None:
    asked = words("simulate goldberg --replications 500 --set relevant=.6 --set nonrelevant=.5 --json")
    answer = ringtrue(*asked)
    assert answer.json["settings"]["relevant"] == 0.6
    assert answer.json["refused"] > 0.1
    assert answer.notes == ["judge-maybe-at-chance"]
    assert ringtrue(*asked, "--seed", "1").json["coverage"] != answer.json["coverage"]
    rows = list(csv.DictReader(io.StringIO(ringtrue(*asked[:-1], "--format", "csv").out)))
    assert sum(int(row["naive"]) for row in rows) == 500


def test_the_coverage_of_rates_over_a_few_worlds(ringtrue) -> None:
    asked = words("simulate rates --set worlds=4 --set resamples=100 --replications 300")
    found = ringtrue(*asked, "--json").json
    assert list(found) == [
        "study",
        "replications",
        "resamples",
        "level",
        "usual",
        "harder",
        "worlds",
        "seed",
        "notes",
        "note_codes",
    ]
    assert list(found["usual"]) == ["worlds", "fieller", "wald", "bootstrap", "refused", "answered"]
    assert list(found["usual"]["fieller"]) == ["mean", "min", "below_0.9", "below_0.5"]
    assert len(found["worlds"]) == 8
    table = ringtrue(*asked)
    assert "usual worlds" in table.out
    assert "no answer" in table.out
    assert max(map(len, table.out.splitlines())) <= 100
    rows = list(csv.DictReader(io.StringIO(ringtrue(*asked, "--format", "csv").out)))
    assert [row["kind"] for row in rows] == ["usual"] * 4 + ["harder"] * 4


@pytest.mark.parametrize(
    ("words", "error", "near"),
    [
        (["golberg"], ("unknown-study", "name"), "'goldberg'"),
        (["xyzzy"], ("unknown-study", "name"), ""),
        (["goldberg", "--data", "folder"], ("unused-parameter", "data"), ""),
        (["--level", ".9"], ("needs-parameter", "name"), ""),
        (["goldberg", "--set", "quereis=4"], ("unknown-setting", "set"), "'queries'"),
        (["goldberg", "--set", "queries=4.5"], ("bad-value", "set"), ""),
        (["goldberg", "--set", "relevant=high"], ("bad-value", "set"), ""),
        (["goldberg", "--set", "queries"], ("bad-value", "set"), ""),
        (["goldberg", "--set", "queries=1"], ("study-too-small", None), ""),
        (["goldberg", "--set", "relevant=2"], ("not-a-share", None), ""),
        (["rates", "--set", "resamples=0"], ("study-too-small", None), ""),
        (["rates", "--set", "worlds=-1"], ("bad-value", "set"), ""),
    ],
)
def test_what_no_study_takes_is_told_in_one_line(
    ringtrue, words: list[str], error: tuple[str, str | None], near: str
) -> None:
    answer = ringtrue("simulate", *words, "--json")
    assert answer.stop == (2, *error)
    assert near in answer.error["message"]
    assert answer.err.count("\n") == 1
