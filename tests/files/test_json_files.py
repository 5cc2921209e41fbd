"""JSON that people wrote by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import ringtrue as rt
from ringtrue.errors import FileError, FormatError, UsageError
from ringtrue.files import holds_matrix, read_confusion, read_gains, write_confusion, write_gains
from ringtrue.files.byte_source import Source
from ringtrue.files.json_files import is_nonnegative_number, read_json, shorten_json
from ringtrue.judges.disagreement import disagree
from ringtrue.stats.confusion import Confusion


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": {"b": 1, "b": 1}}', "'b' stands twice in one object"),
        ("{", "expected a table; "),
        ("[" * 200_000, "expected a table; "),
        ("1" * 5000, "expected a table; "),
    ],
)
def test_what_is_no_json_is_refused_with_the_file(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(FormatError) as refused:
        read_json(Source(str(path)), "a table")
    assert str(refused.value).startswith(f"{path}: {told}")


def test_one_name_may_stand_in_several_objects(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text('{"a": {"b": 1}, "b": {"a": 2}}')
    assert read_json(Source(str(path)), "a table") == {"a": {"b": 1}, "b": {"a": 2}}


def test_amounts_are_finite_numbers_of_at_least_0() -> None:
    assert all(map(is_nonnegative_number, (0, 0.0, 1, 1e308)))
    assert not any(
        map(is_nonnegative_number, (-1, -1e-9, float("inf"), float("nan"), 10**400, True, False, "1", None, [1]))
    )


def test_long_values_are_cut_in_messages() -> None:
    assert shorten_json([0, 1]) == "[0, 1]"
    assert shorten_json(10**100) == "1" + "0" * 39 + "…"


LABELS = {"doc": ["a"] * 3 + ["b"] * 3, "judge": list("xyz") * 2, "label": [2, 2, 1, 1, 1, 0]}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(content: object, name: str = "matrix.json") -> Path:
        path = tmp_path / name
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
    assert read_gains(written({"gains": {"-1": 0, "2": 3}}, "gains.json")) == {-1: 0.0, 2: 3.0}


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
        read_gains(written(content, "gains.json"))
    assert "gains.json" in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_gains(tmp_path / "gains.json")


def test_counts_are_read_as_they_are(written: Any) -> None:
    found = read_confusion(written({"rows": "gold", "columns": "bronze", "labels": [0, 2], "counts": [[8, 2], [1, 9]]}))
    assert (found.rows, found.columns, found.labels, found.worth) == ("gold", "bronze", (0, 2), None)
    assert found.counts.tolist() == [[8, 2], [1, 9]]
    assert found.matrix.tolist() == [[0.8, 0.2], [0.1, 0.9]]


def test_a_matrix_without_counts_is_taken_for_known(written: Any) -> None:
    found = read_confusion(written({"labels": [0, 1], "matrix": [[0.8, 0.2], [0.1, 0.9]]}))
    assert found.matrix.tolist() == [[0.8, 0.2], [0.1, 0.9]]
    assert found.worth.tolist() == [np.inf, np.inf]


def test_shares_that_were_rounded_are_made_to_add_up(written: Any) -> None:
    found = read_confusion(written({"labels": [0, 1, 2], "matrix": [[0.333, 0.333, 0.333], [0, 1, 0], [0, 0, 1]]}))
    assert found.matrix.sum(axis=1).tolist() == pytest.approx([1, 1, 1])


def test_counts_come_before_a_matrix_that_was_rounded(written: Any) -> None:
    found = read_confusion(
        written({"labels": [0, 1], "matrix": [[0.67, 0.33], [0.1, 0.9]], "counts": [[2, 1], [1, 9]]})
    )
    assert found.counts.tolist() == [[2, 1], [1, 9]]
    assert found.worth is None
    percent = written({"labels": [0, 1], "matrix": [[67, 33], [10, 90]], "counts": [[2, 1], [1, 9]]})
    assert read_confusion(percent, renormalise=True).counts.tolist() == [[2, 1], [1, 9]]


@pytest.mark.parametrize(
    ("matrix", "counts", "told"),
    [
        ([[0.9, 0.1], [0.5, 0.5]], [[1, 0], [4, 4]], "in the row of label 0, matrix says 0.9, 0.1 and counts 1, 0;"),
        (
            [[0.8, 0.2], [0.5, 0.5]],
            [[8, 2], [4, 5]],
            "in the row of label 3, matrix says 0.5, 0.5 and counts 0.444, 0.5",
        ),
        (
            [[0.8, 0.2], [None, None]],
            [[8, 2], [4, 4]],
            "in the row of label 3, matrix says nothing and counts 0.5, 0.5",
        ),
        ([[0.8, 0.2], [0.5, 0.5]], [[8, 2], [0, 0]], "in the row of label 3, matrix says 0.5, 0.5 and counts nothing"),
        (
            [[0.8, 0.2], [0.5, 0.5]],
            [[8, 2], [None, None]],
            "in the row of label 3, matrix says 0.5, 0.5 and counts noth",
        ),
        ([[0.8, 0.2], [0.5, 0.6]], [[8, 2], [5, 6]], "adds up to 1, and that of label 3 to 1.1"),
    ],
)
def test_counts_that_contradict_the_matrix_are_refused(written: Any, matrix: Any, counts: Any, told: str) -> None:
    with pytest.raises(FormatError) as refused:
        read_confusion(written({"labels": [0, 3], "matrix": matrix, "counts": counts}))
    assert told in str(refused.value)


def test_few_cases_do_not_become_certain_on_the_way_through_a_file(tmp_path: Path, written: Any) -> None:
    votes = {"doc": list("aaabbb"), "judge": list("xyz") * 2, "label": [0, 1, 1, 0, 0, 1]}
    table = rt.estimate_confusion(votes)
    assert table.counts.ravel().tolist() == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1 / 3])
    path = tmp_path / "few.json"
    write_confusion(path, table)
    for again in (read_confusion(path), read_confusion(written(table.as_dict()))):
        assert again.worth is None
        assert again.counts.ravel().tolist() == pytest.approx(table.counts.ravel().tolist())


@given(
    arrays(np.float64, (3, 3), elements=st.floats(0, 100).map(lambda cell: round(cell, 2))),
    st.sampled_from(["counted", "worth", "known"]),
)
def test_every_matrix_is_as_certain_after_a_file_as_before(
    tmp_path_factory: pytest.TempPathFactory, counts: Any, kind: str
) -> None:
    worth = {"counted": None, "worth": counts.sum(axis=1) / 2, "known": np.full(3, np.inf)}[kind]
    table = Confusion(rows="gold", columns="ann", labels=(0, 1, 2), counts=counts, worth=worth)
    path = tmp_path_factory.mktemp("matrix") / "ann.json"
    write_confusion(path, table)
    again = read_confusion(path)
    assert again.matrix == pytest.approx(table.matrix, nan_ok=True)
    given_rows = counts.sum(axis=1) > 0
    for before, after in zip(table.interval(), again.interval(), strict=True):
        assert after[given_rows] == pytest.approx(before[given_rows])


@pytest.mark.parametrize("known", [False, True])
def test_what_was_read_reads_the_same_when_written(written: Any, known: bool) -> None:
    counts = np.array([[0.8, 0.2], [0.1, 0.9]]) if known else np.array([[8, 2], [1, 9]])
    table = Confusion(rows="gold", columns="bronze", labels=(0, 1), counts=counts,
                      worth=np.full(2, np.inf) if known else None)  # fmt: skip
    again = read_confusion(written(table.as_dict()))
    assert again.matrix.ravel().tolist() == pytest.approx(table.matrix.ravel().tolist())
    assert (again.worth is None) == (not known)


def test_expected_counts_need_not_be_whole(written: Any) -> None:
    found = read_confusion(written({"labels": [0, 1], "counts": [[7.5, 2.5], [1.2, 8.8]]}))
    assert found.worth is None
    single = read_confusion(written({"labels": [0, 1], "counts": [[1, 0], [0, 1]]}))  # one label each, and whole
    assert single.worth is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "expected a confusion matrix as JSON, such as {\"rows\": \"gold\""),
        ("[[1, 2], [3, 4]]", "expected a confusion matrix with labels and matrix"),
        ({"matrix": [[1, 0], [0, 1]]}, "expected a confusion matrix with labels and matrix"),
        ({"labels": [0, 1]}, "expected a confusion matrix with labels and matrix"),
        ({"labels": [0], "matrix": [[1]]}, "labels should be two whole numbers or more, found [0]"),
        ({"labels": "01", "matrix": [[1]]}, 'labels should be two whole numbers or more, found "01"'),
        ({"labels": ["a", "b"], "matrix": [[1, 0], [0, 1]]}, "labels should be two whole numbers or more"),
        ({"labels": [False, True], "matrix": [[1, 0], [0, 1]]}, "labels should be two whole numbers or more"),
        ({"labels": [0, 1.5], "matrix": [[1, 0], [0, 1]]}, "labels should be two whole numbers or more"),
        ({"labels": [1, 1], "matrix": [[1, 0], [0, 1]]}, "label 1 stands twice in labels"),
        ({"labels": [0, 1, 2], "matrix": [[1, 0], [0, 1]]}, "matrix should have 3 rows and columns, as there are 3"),
        ({"labels": [0, 1], "counts": [[1, 0], [0]]}, "counts should have 2 rows and columns"),
        ({"labels": [0, 1], "counts": "none"}, "counts should have 2 rows and columns"),
        ({"labels": [0, 1], "matrix": [[1.1, -0.1], [0, 1]]}, "matrix should hold numbers of at least 0"),
        ('{"labels": [0, 1], "counts": [[NaN, 1], [0, 1]]}', "counts should hold numbers of at least 0"),
        ('{"labels": [0, 1], "counts": [[Infinity, 1], [0, 1]]}', "counts should hold numbers of at least 0"),
        ({"labels": [0, 3], "matrix": [[0.5, 0.5], [0.7, 0.7]]}, "adds up to 1, and that of label 3 to 1.4"),
        ({"rows": "bronze", "labels": [0, 1], "matrix": [[1, 0], [0, 1]]}, "its rows are bronze; gold belongs into"),
        ({"rows": "ann", "columns": "gold", "labels": [0, 1], "matrix": [[1, 0], [0, 1]]}, "its rows are ann; gold"),
        ({"rows": "training judge", "columns": "testing judge", "labels": [0, 1], "matrix": [[1, 0], [0, 1]]},
         "its rows are training judge; the testing judge belongs into the rows"),
        ({"rows": 7, "labels": [0, 1], "matrix": [[1, 0], [0, 1]]}, "rows and columns name the two judges"),
        ({"labels": [0, 1], "matrix": [[1, None], [0, 1]]}, "matrix should hold numbers of at least 0"),
        ({"labels": [0, 3], "matrix": [[1, 0], [0, 0]]}, "that of label 3 to 0; --renormalise makes them so"),
        ('{"labels": [0, 1], "labels": [1, 0], "counts": [[1, 0], [0, 1]]}', "'labels' stands twice in one object"),
        ('{"confusion": {"labels": [0, 1], "counts": [], "counts": []}}', "'counts' stands twice in one object"),
        ("[" * 200_000, "expected a confusion matrix as JSON, such as"),
        ('{"a":' * 200_000, "expected a confusion matrix as JSON, such as"),
        ({"labels": [0, 99999999999999999999], "counts": [[1, 0], [0, 1]]},
         "the label 99999999999999999999 does not fit 32 bits; labels are small grades"),
        ({"labels": [0, -(2**31) - 1], "counts": [[1, 0], [0, 1]]}, "the label -2147483649 does not fit 32 bits"),
        ({"labels": [0, 10**4000], "counts": [[1, 0], [0, 1]]}, "0… does not fit 32 bits"),
        ({"labels": [0, 1], "counts": [[True, 0], [0, 1]]}, "and the row of label 0 has true"),
        ({"labels": [0, 1], "matrix": [[1, 0], [0, "1"]]}, 'and the row of label 1 has "1"'),
        ({"labels": [0, 1], "counts": [[1, 0], [[1], 1]]}, "and the row of label 1 has [1]"),
        ({"labels": [0, 1], "counts": [[1, 0], [10**400, 1]]}, "counts should hold numbers of at least 0"),
        ({"labels": [0, 1], "counts": [[1, 0], [1e308, 1e308]]},
         "at most 9,007,199,254,740,992, and the row of label 1 has 1e+308"),
        ({"labels": [0, 1], "counts": None}, "counts should have 2 rows and columns"),
        ({"labels": [0, 1], "counts": {"0": [1, 0], "1": [0, 1]}}, "counts should have 2 rows and columns"),
    ],
)  # fmt: skip
def test_what_is_no_matrix_is_refused_with_the_file_and_the_reason(written: Any, content: object, told: str) -> None:
    path = written(content)
    with pytest.raises(FormatError) as refused:
        read_confusion(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ("testing judge", "training judge"),
        ("gold", "training judge (ann)"),
        ("truth", "w1"),
        ("ann", "bob"),
        ("testing judge", "gold"),
    ],
)
def test_the_judges_keep_their_names(written: Any, rows: str, columns: str) -> None:
    found = read_confusion(written({"rows": rows, "columns": columns, "labels": [0, 1], "counts": [[8, 2], [1, 9]]}))
    assert (found.rows, found.columns) == (rows, columns)


def test_rows_that_do_not_add_up_are_made_to_on_request(written: Any) -> None:
    path = written({"labels": [0, 1], "matrix": [[0.9, 0.3], [0.1, 0.9]]})
    assert read_confusion(path, renormalise=True).matrix.ravel().tolist() == pytest.approx([0.75, 0.25, 0.1, 0.9])
    huge = written({"labels": [0, 1], "matrix": [[1e308, 1e308], [0, 1]]}, "huge.json")
    with pytest.raises(FormatError, match=r"at most 9,007,199,254,740,992, and the row of label 0 has 1e\+308"):
        read_confusion(huge, renormalise=True)
    empty = written({"labels": [0, 1], "matrix": [[0.9, 0.3], [0, 0]]}, "empty.json")
    with pytest.raises(FormatError, match="that of label 1 to 0; there is nothing to make 1 of"):
        read_confusion(empty, renormalise=True)


def test_a_row_of_null_is_that_of_a_label_never_given(written: Any) -> None:
    found = read_confusion(written({"labels": [0, 1], "matrix": [[0.9, 0.1], [None, None]]}))
    assert found.matrix[0].tolist() == pytest.approx([0.9, 0.1])
    assert np.isnan(found.matrix[1]).all()


@pytest.mark.parametrize("outside", ["confusion", "judge"])
def test_what_a_command_printed_as_json_is_read_too(written: Any, outside: str) -> None:
    matrix = {
        "rows": "gold",
        "columns": "bronze",
        "labels": [0, 1],
        "matrix": [[0.8, 0.2], [0.1, 0.9]],
        "counts": [[8, 2], [1, 9]],
    }
    printed = (
        {"confusion": matrix} if outside == "confusion" else {"runs": {}, "judge": {"youden": 0.7, "confusion": matrix}}
    )
    assert read_confusion(written(printed)).counts.tolist() == [[8, 2], [1, 9]]


@pytest.mark.parametrize("name", ["judge.json", "judge.json.gz"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    table = Confusion(rows="testing judge", columns="training judge", labels=(0, 2), counts=np.array([[8, 2], [0, 0]]))
    write_confusion(tmp_path / name, table)
    again = read_confusion(tmp_path / name)
    assert (again.rows, again.columns, again.labels) == (table.rows, table.columns, table.labels)
    assert again.counts.tolist() == table.counts.tolist()
    assert list(json.loads(json.dumps(again.as_dict()))) == ["rows", "columns", "labels", "matrix", "counts"]


def test_what_is_exactly_known_is_written_without_counts(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    write_confusion(
        path, Confusion(rows="gold", columns="x", labels=(0, 1), counts=np.eye(2), worth=np.full(2, np.inf))
    )
    assert "counts" not in json.loads(path.read_text())
    assert read_confusion(path).worth.tolist() == [np.inf, np.inf]


def test_counts_are_written_as_what_they_are_worth(tmp_path: Path) -> None:
    path = tmp_path / "expected.json"
    table = Confusion(
        rows="truth", columns="x", labels=(0, 1), counts=np.array([[6.0, 2.0], [0, 0]]), worth=np.array([4.0, 0])
    )
    write_confusion(path, table)
    assert read_confusion(path).counts.tolist() == [[3, 1], [0, 0]]
    with pytest.raises(FileError, match="there is no folder"):
        write_confusion(tmp_path / "nowhere" / "x.json", table)


def test_rows_that_are_known_are_not_written_beside_rows_that_were_counted(tmp_path: Path) -> None:
    path = tmp_path / "mixed.json"
    mixed = Confusion(
        rows="gold", columns="x", labels=(0, 3), counts=np.array([[6.0, 2.0], [0.1, 0.9]]), worth=np.array([8, np.inf])
    )
    with pytest.raises(UsageError, match="the row of label 3 is exactly known, and that of 0 is worth 8 cases"):
        write_confusion(path, mixed)
    assert not path.exists()


def test_a_label_never_given_does_not_matter_to_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    for nothing in (0.0, np.inf):
        worth = np.array([np.inf, nothing])
        write_confusion(path, Confusion(rows="gold", columns="x", labels=(0, 1), counts=[[3, 1], [0, 0]], worth=worth))  # type: ignore[arg-type]
        assert "counts" not in json.loads(path.read_text())
    worth = np.array([4.0, np.inf])
    write_confusion(path, Confusion(rows="gold", columns="x", labels=(0, 1), counts=[[3, 1], [0, 0]], worth=worth))  # type: ignore[arg-type]
    assert read_confusion(path).counts.tolist() == [[3, 1], [0, 0]]


@pytest.mark.parametrize(
    ("counts", "worth"),
    [
        ([[np.nan, 1], [0, 1]], None),
        ([[np.inf, 1], [0, 1]], None),
        ([[-1, 2], [0, 1]], None),
        ([[1, 1], [0, 1]], [np.nan, 1]),
    ],
)
def test_what_no_file_could_say_is_not_written(tmp_path: Path, counts: Any, worth: Any) -> None:
    path = tmp_path / "odd.json"
    with pytest.raises(UsageError, match="holds numbers of at least 0"):
        write_confusion(path, Confusion(rows="gold", columns="x", labels=(0, 1), counts=counts, worth=worth))
    assert not path.exists()


def test_a_missing_file_is_told() -> None:
    with pytest.raises(FileError):
        read_confusion("nowhere.json")


def test_a_matrix_is_told_from_labels(written: Any) -> None:
    assert holds_matrix(written({"labels": [0, 1], "matrix": [[1, 0], [0, 1]]}))
    assert holds_matrix(written(json.dumps({"labels": [0, 1], "counts": [[1, 0], [0, 1]]}, indent=2)))
    assert holds_matrix(written('\n  {"counts": [[1, 0], [0, 1]], "labels": [0, 1]}'))
    assert not holds_matrix(written("q1 0 d1 1\n"))
    assert not holds_matrix(written("query,doc,label,counts\nq,d,1,2\n"))
    assert not holds_matrix(written('{"query": "q", "doc": "d", "label": 1}\n{"query": "q", "doc": "e", "label": 1}\n'))
    assert not holds_matrix(
        written('{"query": "q", "doc": "d", "counts": 1}\n{"query": "q", "doc": "e", "counts": 1}\n')
    )
    assert not holds_matrix(written('{"q1": {"d1": 1}}'))
