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
    ("text", "code", "found"),
    [
        ('{"a": {"b": 1, "b": 1}}', "duplicate-key", "'b'"),
        ("{", "bad-json", "a table"),
        ("[" * 200_000, "bad-json", "a table"),
        ("1" * 5000, "bad-json", "a table"),
    ],
)
def test_what_is_no_json_is_refused_with_the_file(tmp_path: Path, text: str, code: str, found: str) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=found) as refused:
        read_json(Source(str(path)), "a table")
    assert (refused.value.code, refused.value.file) == (code, str(path))


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
    with pytest.raises(FileError) as refused:
        write_gains(tmp_path / "nowhere/gains.json", disagree(LABELS, "1/3", resamples=0))
    assert refused.value.code == "no-such-folder"


def test_whole_numbers_and_labels_below_0_are_gains_too(written: Any) -> None:
    assert read_gains(written({"gains": {"-1": 0, "2": 3}}, "gains.json")) == {-1: 0.0, 2: 3.0}


@pytest.mark.parametrize(
    ("content", "code", "found"),
    [
        ("gains: 1", "bad-json", "gains as JSON"),
        ("", "bad-json", "gains as JSON"),
        ([1, 2], "bad-gains", "no object"),
        ({"weights": {}}, "bad-gains", "weights"),
        ({"gains": [0, 1]}, "bad-gains", "gains"),
        ({"gains": {}}, "empty-gains", "gains"),
        ({"gains": {"Rel": 1}}, "bad-label", "'Rel'"),
        ({"gains": {"1.5": 1}}, "bad-label", "'1.5'"),
        ({"gains": {"1": 1, "01": 2}}, "duplicate-label", "label 1"),
        ('{"gains": {"1": 1, "1": 2}}', "duplicate-key", "'1'"),
        ({"gains": {"0": 0, "1": 0}}, "zero-gains", "0"),
        ({"gains": {"1": -0.5}}, "bad-gain", "-0.5"),
        ('{"gains": {"1": NaN}}', "bad-gain", "NaN"),
        ('{"gains": {"1": Infinity}}', "bad-gain", "Infinity"),
        ('{"gains": {"1": 1' + "0" * 400 + "}}", "bad-gain", "label 1"),
        ({"gains": {"1": "0.5"}}, "bad-gain", '"0.5"'),
        ({"gains": {"1": True}}, "bad-gain", "true"),
        ({"gains": {"1": None}}, "bad-gain", "null"),
    ],
)
def test_what_is_no_gain_is_told_with_the_file(content: object, code: str, found: str, written: Any) -> None:
    path = written(content, "gains.json")
    with pytest.raises(FormatError, match=found) as refused:
        read_gains(path)
    assert (refused.value.code, refused.value.file) == (code, str(path))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError) as refused:
        read_gains(tmp_path / "gains.json")
    assert refused.value.code == "no-such-file"


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
    ("matrix", "counts", "code", "found"),
    [
        ([[0.9, 0.1], [0.5, 0.5]], [[1, 0], [4, 4]], "contradictory-counts", "label 0"),
        ([[0.8, 0.2], [0.5, 0.5]], [[8, 2], [4, 5]], "contradictory-counts", "0.444, 0.5"),
        ([[0.8, 0.2], [None, None]], [[8, 2], [4, 4]], "contradictory-counts", "nothing"),
        ([[0.8, 0.2], [0.5, 0.5]], [[8, 2], [0, 0]], "contradictory-counts", "label 3"),
        ([[0.8, 0.2], [0.5, 0.5]], [[8, 2], [None, None]], "contradictory-counts", "label 3"),
        ([[0.8, 0.2], [0.5, 0.6]], [[8, 2], [5, 6]], "unnormalised-confusion", "label 3 to 1.1"),
    ],
)
def test_counts_that_contradict_the_matrix_are_refused(
    written: Any, matrix: Any, counts: Any, code: str, found: str
) -> None:
    with pytest.raises(FormatError, match=found) as refused:
        read_confusion(written({"labels": [0, 3], "matrix": matrix, "counts": counts}))
    assert refused.value.code == code


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
    ("content", "code", "found"),
    [
        ("{", "bad-json", '{"rows": "gold", "columns": "bronze"'),
        ("[[1, 2], [3, 4]]", "bad-confusion", ""),
        ({"matrix": [[1, 0], [0, 1]]}, "bad-confusion", ""),
        ({"labels": [0, 1]}, "bad-confusion", ""),
        ({"labels": [0], "matrix": [[1]]}, "bad-confusion-labels", "[0]"),
        ({"labels": "01", "matrix": [[1]]}, "bad-confusion-labels", '"01"'),
        ({"labels": ["a", "b"], "matrix": [[1, 0], [0, 1]]}, "bad-confusion-labels", ""),
        ({"labels": [False, True], "matrix": [[1, 0], [0, 1]]}, "bad-confusion-labels", ""),
        ({"labels": [0, 1.5], "matrix": [[1, 0], [0, 1]]}, "bad-confusion-labels", ""),
        ({"labels": [1, 1], "matrix": [[1, 0], [0, 1]]}, "duplicate-label", "label 1"),
        ({"labels": [0, 1, 2], "matrix": [[1, 0], [0, 1]]}, "bad-confusion-shape", "matrix"),
        ({"labels": [0, 1], "counts": [[1, 0], [0]]}, "bad-confusion-shape", "counts"),
        ({"labels": [0, 1], "counts": "none"}, "bad-confusion-shape", "counts"),
        ({"labels": [0, 1], "matrix": [[1.1, -0.1], [0, 1]]}, "bad-confusion-cell", "matrix"),
        ('{"labels": [0, 1], "counts": [[NaN, 1], [0, 1]]}', "bad-confusion-cell", "counts"),
        ('{"labels": [0, 1], "counts": [[Infinity, 1], [0, 1]]}', "bad-confusion-cell", "counts"),
        ({"labels": [0, 3], "matrix": [[0.5, 0.5], [0.7, 0.7]]}, "unnormalised-confusion", "label 3 to 1.4"),
        ({"rows": "bronze", "labels": [0, 1], "matrix": [[1, 0], [0, 1]]}, "turned-confusion", "gold"),
        ({"rows": "ann", "columns": "gold", "labels": [0, 1], "matrix": [[1, 0], [0, 1]]}, "turned-confusion", "gold"),
        ({"rows": "training judge", "columns": "testing judge", "labels": [0, 1], "matrix": [[1, 0], [0, 1]]},
         "turned-confusion", "the testing judge"),
        ({"rows": 7, "labels": [0, 1], "matrix": [[1, 0], [0, 1]]}, "bad-judge-names", "gold and bronze"),
        ({"labels": [0, 1], "matrix": [[1, None], [0, 1]]}, "bad-confusion-cell", "matrix"),
        ({"labels": [0, 3], "matrix": [[1, 0], [0, 0]]}, "unnormalised-confusion", "label 3 to 0"),
        ('{"labels": [0, 1], "labels": [1, 0], "counts": [[1, 0], [0, 1]]}', "duplicate-key", "'labels'"),
        ('{"confusion": {"labels": [0, 1], "counts": [], "counts": []}}', "duplicate-key", "'counts'"),
        ("[" * 200_000, "bad-json", ""),
        ('{"a":' * 200_000, "bad-json", ""),
        ({"labels": [0, 99999999999999999999], "counts": [[1, 0], [0, 1]]}, "bad-label", "99999999999999999999"),
        ({"labels": [0, -(2**31) - 1], "counts": [[1, 0], [0, 1]]}, "bad-label", "-2147483649"),
        ({"labels": [0, 10**4000], "counts": [[1, 0], [0, 1]]}, "bad-label", "0…"),
        ({"labels": [0, 1], "counts": [[True, 0], [0, 1]]}, "bad-confusion-cell", "label 0 has true"),
        ({"labels": [0, 1], "matrix": [[1, 0], [0, "1"]]}, "bad-confusion-cell", 'label 1 has "1"'),
        ({"labels": [0, 1], "counts": [[1, 0], [[1], 1]]}, "bad-confusion-cell", "label 1 has [1]"),
        ({"labels": [0, 1], "counts": [[1, 0], [10**400, 1]]}, "bad-confusion-cell", "counts"),
        ({"labels": [0, 1], "counts": [[1, 0], [1e308, 1e308]]}, "bad-confusion-cell", "9,007,199,254,740,992"),
        ({"labels": [0, 1], "counts": None}, "bad-confusion-shape", "counts"),
        ({"labels": [0, 1], "counts": {"0": [1, 0], "1": [0, 1]}}, "bad-confusion-shape", "counts"),
    ],
)  # fmt: skip
def test_what_is_no_matrix_is_refused_with_the_file_and_the_reason(
    written: Any, content: object, code: str, found: str
) -> None:
    path = written(content)
    with pytest.raises(FormatError) as refused:
        read_confusion(path)
    assert (refused.value.code, refused.value.file) == (code, str(path))
    assert found in refused.value.text


def test_rows_that_do_not_add_up_can_be_made_to(written: Any) -> None:
    with pytest.raises(FormatError) as refused:
        read_confusion(written({"labels": [0, 3], "matrix": [[1, 0], [0, 0]]}))
    assert [hint.arguments for hint in refused.value.note.suggestions] == [{"renormalise": True}]


def test_judges_that_a_file_does_not_name_are_called_as_the_caller_says(written: Any) -> None:
    path = written({"rows": "ann", "labels": [0, 1], "counts": [[8, 2], [1, 9]]})
    found = read_confusion(path, rows="testing judge", columns="training judge")
    assert (found.rows, found.columns) == ("ann", "training judge")
    with pytest.raises(FormatError, match='"rows": "testing judge"'):
        read_confusion(written([]), rows="testing judge", columns="training judge")


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
    with pytest.raises(FormatError, match=r"1e\+308") as refused:
        read_confusion(huge, renormalise=True)
    assert refused.value.code == "bad-confusion-cell"
    empty = written({"labels": [0, 1], "matrix": [[0.9, 0.3], [0, 0]]}, "empty.json")
    with pytest.raises(FormatError, match="label 1 to 0") as refused:
        read_confusion(empty, renormalise=True)
    assert (refused.value.code, refused.value.note.suggestions) == ("unnormalised-confusion", ())


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
    with pytest.raises(FileError) as refused:
        write_confusion(tmp_path / "nowhere" / "x.json", table)
    assert refused.value.code == "no-such-folder"


def test_rows_that_are_known_are_not_written_beside_rows_that_were_counted(tmp_path: Path) -> None:
    path = tmp_path / "mixed.json"
    mixed = Confusion(
        rows="gold", columns="x", labels=(0, 3), counts=np.array([[6.0, 2.0], [0.1, 0.9]]), worth=np.array([8, np.inf])
    )
    with pytest.raises(UsageError, match="8 cases") as refused:
        write_confusion(path, mixed)
    assert refused.value.code == "mixed-worth"
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
    with pytest.raises(UsageError) as refused:
        write_confusion(path, Confusion(rows="gold", columns="x", labels=(0, 1), counts=counts, worth=worth))
    assert refused.value.code == "bad-confusion-cell"
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
