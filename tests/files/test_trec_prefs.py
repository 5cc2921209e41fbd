from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from polars.testing import assert_frame_equal

from ringtrue.errors import FormatError, RingtrueError, TableError
from ringtrue.files import read_preferences, write_table
from ringtrue.messages import Note
from ringtrue.preference.implied_preferences import implied_preferences
from ringtrue.tables import Judgments, Preferences
from strategies import examples

fresh = settings(examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(tmp_path: Path, table: Judgments | Preferences) -> tuple[list[str], list[str]]:
    """The lines of the file, and the codes of the notes."""
    notes: list[Note] = []
    write_table(table, tmp_path / "a.prefs", note=notes.append)
    return (tmp_path / "a.prefs").read_text().splitlines(), [note.code for note in notes]


def test_labels_are_the_levels_of_one_group_for_each_judge(tmp_path: Path) -> None:
    labels = {"query": ["q"] * 4, "doc": ["a", "b", "a", "b"], "judge": ["x", "x", "y", "y"], "label": [2, 0, 1, 1]}
    assert written(tmp_path, Judgments.of(labels)) == (["q x 0 a 2", "q x 0 b 0", "q y 0 a 1", "q y 0 b 1"], [])


@pytest.mark.slow
@fresh
@given(
    labels=st.dictionaries(
        st.tuples(st.sampled_from("qr"), st.sampled_from("xy"), st.sampled_from("abcd")), st.integers(-1, 3), min_size=2
    )
)
def test_what_labels_imply_comes_back_from_their_levels(
    tmp_path: Path, labels: dict[tuple[str, str, str], int]
) -> None:
    query, judge, doc = zip(*labels, strict=True)
    judgments = Judgments.of({"query": query, "judge": judge, "doc": doc, "label": list(labels.values())})
    try:
        implied = implied_preferences(judgments)
    except RingtrueError:
        assume(False)
    written(tmp_path, judgments)
    assert_frame_equal(read_preferences(tmp_path / "a.prefs").frame, implied.frame)


def test_labels_below_0_and_further_columns_are_told(tmp_path: Path) -> None:
    labels = {"query": ["q"] * 3, "doc": ["a", "b", "c"], "label": [2, -1, 0], "prob": [0.5, 0.5, 0.5]}
    assert written(tmp_path, Judgments.of(labels)) == (
        ["q 0 0 a 2", "q 0 0 c 0"],
        ["lost-unjudged", "lost-columns"],
    )


def test_a_document_that_lost_is_not_called_irrelevant(tmp_path: Path) -> None:
    """trec_eval refuses a document with level 0 in one group and another level elsewhere."""
    chain = {"query": ["q", "q"], "left": ["a", "c"], "right": ["b", "b"], "winner": ["left", "right"]}
    lines, notes = written(tmp_path, Preferences.of(chain))
    assert lines == ["q 0 0 a 2", "q 0 0 b 1", "q 0 1 c 1", "q 0 1 b 2"]
    assert notes == []


@pytest.mark.parametrize(
    ("left", "right", "winner", "judge", "tells"),
    [
        ("ab", "bc", "ab", "xx", False),
        ("aba", "bcc", "aba", "xxx", False),
        ("abc", "bca", "abc", "xxx", True),
        ("aa", "bb", "ab", "xx", True),
        ("aa", "bb", "ab", "xy", False),
    ],
)
def test_circles_that_trec_eval_would_refuse_are_told(
    tmp_path: Path, left: str, right: str, winner: str, judge: str, tells: bool
) -> None:
    columns = {"query": ["q"] * len(left), "left": [*left], "right": [*right], "winner": [*winner], "judge": [*judge]}
    _, notes = written(tmp_path, Preferences.of(columns))
    assert notes == ["circular-preferences"] * tells


def test_kinds_of_tie_have_no_place_and_are_counted(tmp_path: Path) -> None:
    outcomes = ["left", "tie", "both_good", "both_bad"]
    table = Preferences.of({"left": [*"acde"], "right": [*"bdef"], "winner": outcomes, "trap": [1, 0, 0, 0]})
    assert written(tmp_path, table) == (
        ["0 0 0 a 2", "0 0 0 b 1"],
        ["lost-ties", "lost-columns"],
    )


def test_a_document_that_stands_twice_in_a_group_is_named_by_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.prefs"
    path.write_text("# comment\nq x g a 1\nq x g b 0\n\nq x h a 2\nq x g a 2\n")
    with pytest.raises(FormatError, match=r"'a'.*'g'.*'q'.*'x' \(lines 2, 6\)") as refused:
        read_preferences(path)
    error = refused.value
    assert (error.code, error.file, error.line) == ("duplicate-document", str(path), 6)


def test_a_group_of_too_many_documents_is_refused_in_time(tmp_path: Path) -> None:
    path = tmp_path / "a.prefs"
    path.write_text("".join(f"q x g d{number} {number}\n" for number in range(20_000)))
    with pytest.raises(TableError, match=r"a\.prefs: 199,990,000 "):
        read_preferences(path)


@pytest.mark.parametrize("level", ["1e308", "-1e308", "1e-320", "-0.0"])
def test_levels_are_any_numbers(tmp_path: Path, level: str) -> None:
    path = tmp_path / "a.prefs"
    path.write_text(f"q x g a {level}\nq x g b -1.5e308\n")
    assert read_preferences(path).frame["winner"].to_list() == ["left"]
