"""What each label is worth, in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ringtrue.errors import FileError, FormatError
from ringtrue.files import read_gains, write_gains
from ringtrue.judges.disagreement import disagree

LABELS = {"doc": ["a"] * 3 + ["b"] * 3, "judge": list("xyz") * 2, "label": [2, 2, 1, 1, 1, 0]}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(content: object) -> Path:
        path = tmp_path / "gains.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    found = disagree(LABELS, "1/3", resamples=0)
    write_gains(tmp_path / "gains.json.gz", found)
    assert read_gains(tmp_path / "gains.json.gz") == {label: round(gain, 4) for label, gain in found.gains.items()}


def test_the_file_says_where_the_gains_come_from(tmp_path: Path) -> None:
    write_gains(tmp_path / "gains.json", disagree(LABELS, "1/3", resamples=0))
    found = json.loads((tmp_path / "gains.json").read_text())
    assert list(found) == ["gains", "at_least", "p", "cases"]
    assert (found["at_least"], found["p"]["1"]) == ("1/3", pytest.approx(1 / 3))


def test_levels_that_are_words_are_named_beside_their_labels(tmp_path: Path) -> None:
    words = LABELS | {"label": [["Non", "Rel", "Key"][label] for label in LABELS["label"]]}  # type: ignore[call-overload]
    found = disagree(words, "1/3", levels=["Non", "Rel", "Good", "Key"], resamples=0)
    write_gains(tmp_path / "gains.json", found)
    plain = json.loads((tmp_path / "gains.json").read_text())
    assert plain["levels"] == {"0": "Non", "1": "Rel", "2": "Good", "3": "Key"}
    assert plain["p"]["2"] is None
    assert set(read_gains(tmp_path / "gains.json")) == {0, 1, 3}


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no folder"):
        write_gains(tmp_path / "nowhere/gains.json", disagree(LABELS, "1/3", resamples=0))


def test_whole_numbers_and_labels_below_0_are_gains_too(written: Any) -> None:
    assert read_gains(written({"gains": {"-1": 0, "2": 3}})) == {-1: 0.0, 2: 3.0}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("gains: 1", "expected gains as JSON"),
        ("", "expected gains as JSON"),
        ([1, 2], "expected an object with gains.*found no object"),
        ({"weights": {}}, "expected an object with gains.*found weights"),
        ({"gains": [0, 1]}, "expected an object with gains"),
        ({"gains": {}}, "gains is empty"),
        ({"gains": {"Rel": 1}}, "labels are whole numbers, and gains has 'Rel'"),
        ({"gains": {"1.5": 1}}, "labels are whole numbers, and gains has '1.5'"),
        ({"gains": {"1": 1, "01": 2}}, "label 1 stands twice"),
        ('{"gains": {"1": 1, "1": 2}}', "'1' stands twice"),
        ({"gains": {"1": -0.5}}, "the gain of label 1 should be a number of at least 0, found -0.5"),
        ('{"gains": {"1": NaN}}', "found NaN"),
        ('{"gains": {"1": Infinity}}', "found Infinity"),
        ('{"gains": {"1": 1' + "0" * 400 + "}}", "should be a number of at least 0"),
        ({"gains": {"1": "0.5"}}, 'found "0.5"'),
        ({"gains": {"1": True}}, "found true"),
        ({"gains": {"1": None}}, "found null"),
    ],
)
def test_what_is_no_gain_is_told_with_the_file(content: object, message: str, written: Any) -> None:
    with pytest.raises(FormatError, match=message) as raised:
        read_gains(written(content))
    assert "gains.json" in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_gains(tmp_path / "gains.json")
