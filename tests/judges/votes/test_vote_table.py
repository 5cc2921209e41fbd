"""Many judges' labels as positions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import DuplicateError, MismatchError, TableError, UsageError
from ringtrue.judges.votes import Votes, align_with_gold, majority, make_votes, parse_times
from ringtrue.tables import Judgments, Preferences
from strategies import any_ids, examples, judged, judgments, preferences

TABLE = {
    "query": ["q1", "q1", "q2", "q1", "q2"],
    "doc": ["b", "b", "b", "a", "b"],
    "judge": ["ann", "ben", "ann", "ann", "cid"],
    "label": [2, 0, 3, 2, 3],
}
TWICE = {"query": ["q", "q", "r"], "doc": ["d", "d", "d"], "judge": ["ann", "ann", "ann"], "label": [0, 2, 1]}


def told(votes: Votes) -> list[tuple[Any, ...]]:
    """Every vote in the words of the table it came from: query, doc (or the two), judge, label."""
    rows = votes.items.rows()
    return [
        (*rows[item], votes.judges[judge], votes.labels[label])
        for item, judge, label in zip(votes.item, votes.judge, votes.label, strict=True)
    ]


def test_votes_by_hand() -> None:
    votes = make_votes(TABLE)
    assert votes.items.rows() == [("q1", "b"), ("q1", "a"), ("q2", "b")]
    assert (votes.judges, votes.labels, votes.size) == (("ann", "ben", "cid"), (0, 2, 3), 5)
    assert votes.item.tolist() == [0, 0, 2, 1, 2]
    assert votes.judge.tolist() == [0, 1, 0, 0, 2]
    assert votes.label.tolist() == [1, 0, 2, 1, 2]
    assert votes.counts().tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 2]]
    assert votes.tally(votes.judge, 3).tolist() == [[0, 2, 1], [1, 0, 0], [0, 0, 1]]
    assert votes.notes == ()


@given(judgments())
def test_no_vote_is_lost_or_changed(table: Judgments) -> None:
    given_rows = [row for row in table.frame.select("query", "doc", "judge", "label").rows() if row[3] >= 0]
    if not given_rows:
        with pytest.raises(TableError) as refused:
            make_votes(table)
        assert refused.value.code == "nothing-judged"
        return
    votes = make_votes(table)
    assert told(votes) == given_rows
    assert votes.items.n_unique() == votes.items.height == len({row[:2] for row in given_rows})
    assert list(votes.labels) == sorted({row[3] for row in given_rows})
    assert votes.counts().sum() == votes.size


@given(preferences())
def test_a_pair_is_one_item_whichever_stood_left(table: Preferences) -> None:
    votes = make_votes(table)
    grades = {"left": 1, "right": -1}
    expected = []
    for query, left, right, judge, winner in table.frame.rows():
        first, second = sorted([left, right], key=lambda doc: doc.encode())
        grade = grades.get(winner, 0)
        expected.append((query, first, second, judge, grade if left == first else -grade))
    assert told(votes) == expected
    assert votes.others["side"].to_list() == [
        winner if winner in grades else "tie" for winner in table.frame["winner"].to_list()
    ]


def test_the_columns_of_preferences_may_have_any_name() -> None:
    pairs = {"left": ["a", "c"], "right": ["b", "b"], "winner": ["a", "c"], "judge": ["x", "y"]}
    further = {"item": [7, 7], "first": ["no", "no"], "side": [1, 2], "label": [5, 5], "seconds": [1.5, 2.5]}
    votes = make_votes(pairs | further)
    assert told(votes) == [("0", "a", "b", "x", 1), ("0", "b", "c", "y", -1)]
    assert votes.others["seconds"].to_list() == [1.5, 2.5]
    assert votes.others["item"].to_list() == [7, 7]


def test_further_columns_stay_with_their_votes() -> None:
    votes = make_votes(TABLE | {"seconds": [1, 2, 3, 4, 5]})
    assert votes.others.columns == ["seconds"]
    assert votes.keep(votes.judge == 0).others["seconds"].to_list() == [1, 3, 4]


def test_votes_are_themselves() -> None:
    votes = make_votes(TABLE)
    assert make_votes(votes) is votes


@pytest.mark.parametrize(
    "data",
    [
        {"task": ["t1", "t1"], "worker": ["w1", "w2"], "label": [1, 0]},
        pl.DataFrame({"item": ["t1", "t1"], "rater": ["w1", "w2"], "rating": ["1.0", "0.0"]}),
        [{"doc": "t1", "judge": "w1", "label": 1}, {"doc": "t1", "judge": "w2", "label": 0}],
        {"item": ["t1", "t1"], "worker_id": ["w1", "w2"], "truth": [True, False]},
    ],
)
def test_a_table_may_do_without_queries(data: Any) -> None:
    assert told(make_votes(data)) == [("0", "t1", "w1", 1), ("0", "t1", "w2", 0)]


def test_a_dictionary_of_dictionaries_has_one_judge() -> None:
    assert told(make_votes({"q1": {"d1": 2, "d2": 0}})) == [("q1", "d1", "0", 2), ("q1", "d2", "0", 0)]


@pytest.mark.slow
@given(judged(), st.data())
def test_a_wider_scale_changes_no_vote(votes: Votes, data: st.DataObject) -> None:
    further = data.draw(st.lists(st.integers(-3, 9), max_size=4))
    wider = votes.widen_scale(further)
    assert told(wider) == told(votes)
    assert wider.labels == tuple(sorted({*votes.labels, *further}))
    assert wider.counts().sum(axis=1).tolist() == votes.counts().sum(axis=1).tolist()


@given(judged(), st.data())
def test_votes_that_are_kept_keep_their_positions(votes: Votes, data: st.DataObject) -> None:
    rows = np.array(data.draw(st.lists(st.booleans(), min_size=votes.size, max_size=votes.size)), dtype=bool)
    kept = votes.keep(rows)
    assert told(kept) == [vote for vote, stays in zip(told(votes), rows, strict=True) if stays]
    assert (kept.judges, kept.labels, kept.items.height) == (votes.judges, votes.labels, votes.items.height)


# Repeats: one judge labels an item again.


@given(judged())
def test_repeats_are_settled_as_a_dictionary_would(votes: Votes) -> None:
    first: dict[tuple[Any, ...], int] = {}
    last: dict[tuple[Any, ...], int] = {}
    for *who, label in told(votes):
        first.setdefault(tuple(who), label)
        last[tuple(who)] = label
    for choice, expected in (("first", first), ("last", last)):
        settled = votes.resolve_repeats(choice)  # type: ignore[arg-type]
        assert {tuple(who): label for *who, label in told(settled)} == expected
        assert settled.size == len(expected)
        assert not settled.find_repeats().any()
    assert votes.resolve_repeats("all") is votes
    assert votes.find_repeats().sum() == votes.size - len(first)
    if votes.size == len(first):
        assert votes.resolve_repeats(None) is votes
    else:
        with pytest.raises(DuplicateError) as refused:
            votes.resolve_repeats(None)
        assert refused.value.code == "repeated-labels"


def test_a_judge_who_says_it_twice_is_told_with_the_choices() -> None:
    with pytest.raises(DuplicateError) as refused:
        make_votes(TWICE).resolve_repeats(None)
    assert (refused.value.code, refused.value.parameter) == ("repeated-labels", "repeats")
    assert [choice.arguments for choice in refused.value.note.suggestions] == [
        {"repeats": "first"}, {"repeats": "last"}, {"repeats": "all"},
    ]  # fmt: skip
    assert "(0, 2)" in refused.value.text
    assert (refused.value.query, refused.value.doc, refused.value.judge) == ("q", "d", "ann")


def test_many_repeats_are_counted_and_few_are_shown() -> None:
    table = {"item": ["a"] * 6 + ["b"] * 3 + ["c", "c", "d"], "worker": ["w"] * 12, "label": [1, 0, 2, 1, 1, 1] * 2}
    with pytest.raises(DuplicateError) as refused:
        make_votes(table).resolve_repeats(None)
    assert refused.value.code == "repeated-labels"
    assert "6 times (1, 0, 2, 1, …)" in refused.value.text
    assert "2 other cases" in refused.value.text


def test_a_repeated_pair_is_told_by_its_winners() -> None:
    pairs = {"query": ["q"] * 3, "left": ["a", "b", "a"], "right": ["b", "a", "b"], "winner": ["a", "b", "both_bad"]}
    with pytest.raises(DuplicateError) as refused:
        make_votes(pairs | {"judge": ["x"] * 3}).resolve_repeats(None)
    assert refused.value.code == "repeated-labels"
    assert "('a', 'b', tie)" in refused.value.text
    assert refused.value.note.suggestions[0].arguments == {"repeats": "all"}


@pytest.mark.parametrize(
    ("further", "columns"),
    [
        ({"jugde": ["x", "y"]}, [{"judge": "jugde"}]),
        ({"url": [1, 2], "who": ["x", "y"]}, [{"judge": "NAME"}]),
        ({"seconds": [1, 2]}, []),
        ({}, []),
    ],
)
def test_labels_that_are_nobodys_are_told_with_the_column_that_may_say_whose_they_are(
    further: dict[str, Any], columns: list[dict[str, str]]
) -> None:
    with pytest.raises(DuplicateError) as refused:
        make_votes({"query": ["q", "q"], "doc": ["d", "d"], "label": [0, 2]} | further).resolve_repeats(None)
    assert refused.value.code == "unnamed-judges"
    assert suggested_columns(refused.value) == columns
    assert "2 labels (0, 2)" in refused.value.text


def suggested_columns(error: DuplicateError) -> list[Any]:
    """What is offered before the choices of `repeats`."""
    *columns, _, _, _ = error.note.suggestions
    return [suggestion.arguments["columns"] for suggestion in columns]


def test_repeats_may_come_from_queries_that_no_column_names() -> None:
    pairs = {"left": ["a", "b"], "right": ["b", "a"], "winner": ["a", "b"], "worker": ["x", "x"], "prompt": [1, 2]}
    with pytest.raises(DuplicateError) as refused:
        make_votes(pairs).resolve_repeats(None)
    assert refused.value.code == "repeated-labels"
    assert suggested_columns(refused.value) == [{"query": "NAME"}]
    assert "2 times ('a', 'b')" in refused.value.text
    assert [winner for *_, winner in told(make_votes(pairs | {"query": [1, 2]}).resolve_repeats(None))] == [1, -1]


def test_votes_of_nobody_on_a_pair_are_votes() -> None:
    pairs = {"left": ["a", "b"], "right": ["b", "a"], "winner": ["a", "b"]}
    with pytest.raises(DuplicateError) as refused:
        make_votes(pairs).resolve_repeats(None)
    assert refused.value.code == "unnamed-judges"
    assert "2 votes ('a', 'b')" in refused.value.text
    assert suggested_columns(refused.value) == []


@given(judged(), st.sampled_from(["first", "last", "all"]))
def test_the_rows_that_are_kept_are_those_of_the_settled_votes(votes: Votes, repeats: Any) -> None:
    rows = votes.rows_without_repeats(repeats)
    assert told(votes.keep(rows)) == told(votes.resolve_repeats(repeats))
    assert rows.all() == (repeats == "all" or not votes.find_repeats().any())


# The scale.


def test_labels_below_0_are_left_out_with_a_note_unless_a_scale_declares_them() -> None:
    table = {"item": ["a", "a", "b"], "worker": ["x", "y", "y"], "label": [-2, 1, -1]}
    votes = make_votes(table)
    assert told(votes) == [("0", "a", "y", 1)]
    assert votes.judges == ("y",)
    assert [note.code for note in votes.notes] == ["unjudged-labels"]
    assert "2 labels" in votes.notes[0]
    assert votes.notes[0].suggestions[0].arguments == {"scale": ...}
    declared = make_votes(table, scale=[-2, -1, 0, 1])
    assert [vote[3] for vote in told(declared)] == [-2, 1, -1]
    assert declared.notes == ()
    one = make_votes({"item": ["a", "b"], "label": [-1, 0]})
    assert [note.code for note in one.notes] == ["unjudged-labels"]
    assert "1 label " in one.notes[0]


def test_nothing_but_labels_below_0_is_refused() -> None:
    with pytest.raises(TableError) as refused:
        make_votes({"item": ["a"], "label": [-1]})
    assert refused.value.code == "nothing-judged"


def test_a_scale_has_labels_that_nobody_used() -> None:
    votes = make_votes(TABLE, scale=[3, 0, 1, 2, 3])
    assert votes.labels == (0, 1, 2, 3)
    assert votes.counts()[:, 1].tolist() == [0, 0, 0]


STRAY = {"item": ["a", "b", "c", "a"], "worker": ["x", "x", "y", "y"], "label": [0, 5, 10, 1]}


def test_labels_outside_the_scale_are_refused_with_who_gave_them_and_the_choices() -> None:
    with pytest.raises(TableError) as refused:
        make_votes(STRAY, scale=range(4))
    assert refused.value.code == "labels-outside-scale"
    assert "0, 1, 2, 3: 5 by x, 10 by y" in refused.value.text
    assert [choice.arguments for choice in refused.value.note.suggestions] == [
        {"outside": "exclude"}, {"outside": "clip"},
    ]  # fmt: skip
    with pytest.raises(TableError) as refused:
        make_votes(STRAY, scale=[5, 1, 0])
    assert refused.value.code == "labels-outside-scale"
    assert "0, 1, 5: 10 by y" in refused.value.text


def test_labels_outside_the_scale_are_left_out_or_moved_when_asked() -> None:
    left = make_votes(STRAY, scale=range(4), outside="exclude")
    assert told(left) == [("0", "a", "x", 0), ("0", "a", "y", 1)]
    assert [note.code for note in left.notes] == ["outside-scale-excluded"]
    assert "5 by x, 10 by y" in left.notes[0]
    moved = make_votes(STRAY, scale=range(4), outside="clip")
    assert [vote[3] for vote in told(moved)] == [0, 3, 3, 1]
    assert [note.code for note in moved.notes] == ["outside-scale-clipped"]
    assert "5 by x, 10 by y" in moved.notes[0]


@given(judgments(), st.sets(st.integers(-4, 4), min_size=2, max_size=4))
def test_a_clipped_label_is_the_nearest_on_the_scale(table: Judgments, scale: set[int]) -> None:
    votes = make_votes(table, scale=sorted(scale), outside="clip")
    given_labels = table.frame["label"].to_list()
    for before, (*_, after) in zip(given_labels, told(votes), strict=True):
        assert after in scale
        assert abs(after - before) == min(abs(label - before) for label in scale)


def test_many_stray_labels_are_counted_by_judge_and_few_are_shown() -> None:
    table = {"item": list("abcdefg"), "worker": list("xxxyzuv"), "label": [7, 7, 8, 7, 7, 7, 0]}
    with pytest.raises(TableError) as refused:
        make_votes(table, scale=[0, 1])
    assert refused.value.code == "labels-outside-scale"
    assert "7 by x (2 times), 8 by x, 7 by y, 7 by z, …" in refused.value.text


def test_a_scale_that_no_label_fits_is_refused_whatever_is_asked() -> None:
    with pytest.raises(TableError) as refused:
        make_votes(STRAY, scale=[7, 8], outside="exclude")
    assert refused.value.code == "no-label-on-scale"
    assert "7, 8: 0 by x, 5 by x, 10 by y, 1 by y" in refused.value.text


@pytest.mark.parametrize(
    ("scale", "code", "found"),
    [
        ([], "short-scale", "none"),
        ([3], "short-scale", "3"),
        ([3, 3], "short-scale", "3, 3"),
        ([0, 2**31], "large-label", "2147483648"),
    ],
)
def test_what_is_no_scale_is_refused(scale: list[int], code: str, found: str) -> None:
    with pytest.raises(UsageError) as refused:
        make_votes(TABLE, scale=scale, outside="clip")
    assert (refused.value.code, refused.value.parameter) == (code, "scale")
    assert refused.value.text.endswith(f"found {found}")


@pytest.mark.parametrize("data", [{"left": ["a"], "right": ["b"], "winner": ["a"]}, "made"])
def test_preferences_have_no_scale(data: Any) -> None:
    pairs = Preferences.of({"left": ["a"], "right": ["b"], "winner": ["a"]}) if data == "made" else data
    with pytest.raises(UsageError) as refused:
        make_votes(pairs, scale=[0, 1])
    assert refused.value.code == "not-for-preferences"


def test_everybody_may_give_the_same_label() -> None:
    votes = make_votes({"item": ["a", "a", "b"], "worker": ["x", "y", "x"], "label": [2, 2, 2]})
    assert votes.labels == (2,)
    assert votes.counts().tolist() == [[2], [1]]


@pytest.mark.parametrize(
    ("labels", "code", "row", "found"),
    [
        ([1, "relevant"], "bad-label", 2, "'relevant'"),
        (["yes", "2"], "bad-label", 1, "'yes'"),
        ([1, 0.5], "bad-label", 2, "0.5"),
        (["1", "0.5"], "bad-label", 2, "'0.5'"),
        (["true", "false"], "bad-label", 1, "'true'"),
        ([1, float("nan")], "bad-label", 2, "nan"),
        ([1, None], "empty-cell", 2, "1 of 2 rows"),
        ([1, ""], "empty-cell", 2, "1 of 2 rows"),
    ],
)
def test_labels_that_are_no_grades_are_refused(labels: list[Any], code: str, row: int, found: str) -> None:
    with pytest.raises(TableError) as refused:
        make_votes({"item": ["a", "b"], "worker": ["x", "x"], "label": labels})
    assert (refused.value.code, refused.value.note.subject) == (code, f"row {row}")
    assert found in refused.value.text


@pytest.mark.parametrize("labels", [[True, False], ["1", "0.0"], [1.0, 0], [1, "0"]])
def test_labels_of_mixed_types_that_are_whole_numbers_are_grades(labels: list[Any]) -> None:
    assert [vote[3] for vote in told(make_votes({"item": ["a", "b"], "label": labels}))] == [1, 0]


# What is drawn anew.


def test_clusters_are_queries_or_with_a_single_one_the_items() -> None:
    query, count, what = make_votes(TABLE).clusters()
    assert (query.tolist(), count, what) == ([0, 0, 1], 2, "queries")
    item, count, what = make_votes({"item": ["a", "b", "a"], "label": [1, 2, 0]}).clusters()
    assert (item.tolist(), count, what) == ([0, 1], 2, "items")


@given(judged())
def test_items_of_a_query_are_in_one_cluster(votes: Votes) -> None:
    cluster, count, what = votes.clusters()
    assert set(cluster.tolist()) == set(range(count))
    if what == "queries":
        pairs = set(zip(votes.items["query"].to_list(), cluster.tolist(), strict=True))
        assert len(pairs) == count == votes.items["query"].n_unique()


# When.


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        ([3.0, 1.5], [3, 1.5]),
        ([2, 1], [2, 1]),
        (["1e3", "5"], [1000, 5]),
        (["2024-05-01", "2024-05-01 10:00:00"], [1714521600, 1714557600]),
        (["2024-05-01T10:00:00Z", "2024-05-01 10:00:05"], [1714557600, 1714557605]),
        (["2024-05-01T10:00:00+02:00", "2024-05-01T10:00:01+02:00"], [1714550400, 1714550401]),
        (["2024-05-01T10:00Z", "2024-05-01 10:00:00.25"], [1714557600, 1714557600.25]),
        (["2024-05-01 10:00:00-05:30", "2024-05-01 10:00:00,5+02"], [1714577400, 1714550400.5]),
        (["2024-05-01 10:00:00 +0200", " 2024-05-01 "], [1714550400, 1714521600]),
        (["1969-12-31", "1970-01-01T00:00:60Z"], [-86400, 60]),
        ([datetime(2024, 5, 1), datetime(2024, 5, 1, 10, 0, 0, 250_000)], [1714521600, 1714557600.25]),
        ([date(2024, 5, 1), date(2024, 5, 2)], [1714521600, 1714608000]),
    ],
)
def test_times_are_numbers_that_rise(times: list[Any], seconds: list[float]) -> None:
    votes = make_votes({"item": ["a", "b"], "label": [1, 0], "time": times})
    found = votes.times()
    assert found is not None
    assert found.tolist() == seconds
    assert parse_times(pl.Series("time", times)).tolist() == seconds
    assert make_votes(TABLE).times() is None


@pytest.mark.parametrize(
    ("times", "code", "row", "found"),
    [
        (["10:00", "11:00"], "bad-time", 1, "'10:00'"),
        (["Mon May 1", "Tue May 2"], "bad-time", 1, "'Mon May 1'"),
        (["1", ""], "empty-cell", 2, "an empty cell"),
        (["05/06/2024 10:00"], "ambiguous-date", 1, "'05/06/2024 10:00'"),
        (["1.5.2024", "2.5.2024"], "ambiguous-date", 1, "'1.5.2024'"),
        (["2024-05-01", "05-06-24"], "ambiguous-date", 2, "'05-06-24'"),
        (["2024-02-30"], "bad-time", 1, "'2024-02-30'"),
        (["2024-05-01 25:00"], "bad-time", 1, "'2024-05-01 25:00'"),
        (["2024-05-01 10:61"], "bad-time", 1, "'2024-05-01 10:61'"),
        (["2024-05-01 10"], "bad-time", 1, "'2024-05-01 10'"),
        (["2024/05/01"], "bad-time", 1, "'2024/05/01'"),
        (["20:24-05-01"], "bad-time", 1, "'20:24-05-01'"),
        (["1", "2", "soon"], "bad-time", 3, "'soon'"),
        (["2024-05-01 10:00:00", ""], "empty-cell", 2, "an empty cell"),
        (["2024-05-01 10:00:00", "soon"], "bad-time", 2, "'soon'"),
        ([1, None], "empty-cell", 2, "an empty cell"),
        ([1.0, float("inf")], "bad-time", 2, "inf"),
        ([time(10), time(11)], "bad-time", 1, "datetime.time(10, 0)"),
        ([[1], [2]], "bad-time", 1, ""),
    ],
)
def test_what_is_no_time_is_refused_in_our_words(times: list[Any], code: str, row: int, found: str) -> None:
    with pytest.raises(TableError) as refused:
        parse_times(pl.Series("time", times))
    assert (refused.value.code, refused.value.note.subject) == (code, f"row {row}")
    assert f"found {found}" in refused.value.text
    assert bool(refused.value.note.suggestions) == (code == "empty-cell")


# Panels.


PANELS = {
    "doc": ["a", "a", "a", "a", "b", "b", "a"],
    "judge": ["x", "y", "z", "n", "n", "x", "x"],
    "label": [1, 2, 2, 0, 1, 2, 0],
    "panel": ["crowd", "crowd", "crowd", "nist", "nist", "crowd", "nist"],
}


def test_a_panel_is_a_judge_who_says_what_most_of_it_say() -> None:
    together, parts = make_votes(PANELS).split_panels("panel")
    assert sorted(told(together)) == [
        ("0", "a", "crowd", 2), ("0", "a", "nist", 0), ("0", "b", "crowd", 2), ("0", "b", "nist", 1),
    ]  # fmt: skip
    assert list(parts) == ["crowd", "nist"]
    assert parts["nist"].judges == ("x", "n")
    assert sorted(told(parts["nist"])) == [("0", "a", "n", 0), ("0", "a", "x", 0), ("0", "b", "n", 1)]
    assert parts["crowd"].labels == (0, 1, 2)


def test_a_column_that_is_not_there_tells_no_panels() -> None:
    with pytest.raises(UsageError) as refused:
        make_votes(PANELS).split_panels("panl")
    assert refused.value.code == "unknown-column"
    assert "'panel'?" in refused.value.text
    with pytest.raises(UsageError) as refused:
        make_votes(TABLE).split_panels("panel")
    assert refused.value.code == "unknown-column"
    assert "there is none" in refused.value.text


def test_repeats_are_settled_within_a_panel() -> None:
    again = {"doc": ["a"] * 3, "judge": ["x"] * 3, "label": [1, 0, 2], "panel": ["one", "other", "one"]}
    with pytest.raises(DuplicateError) as refused:
        make_votes(again).split_panels("panel")
    assert refused.value.code == "repeated-labels"
    assert "2 times (1, 2)" in refused.value.text
    together, _ = make_votes(again).split_panels("panel", repeats="last")
    assert sorted(told(together)) == [("0", "a", "one", 2), ("0", "a", "other", 0)]


@given(judged(), st.data())
def test_panels_share_out_every_vote(votes: Votes, data: st.DataObject) -> None:
    panel = data.draw(st.lists(st.sampled_from(["p", "q"]), min_size=votes.size, max_size=votes.size))
    mixed = replace(votes, others=pl.DataFrame({"panel": panel}))
    together, parts = mixed.split_panels("panel", repeats="all")
    for name, part in parts.items():
        assert told(part) == [vote for vote, mine in zip(told(votes), panel, strict=True) if mine == name]
        assert part.counts().any(axis=1).all()
        assert set(part.judges) == {vote[2] for vote in told(part)}
    assert together.judges == tuple(dict.fromkeys(panel))
    assert not together.find_repeats().any()
    assert {(item[:2], who) for *item, who, _ in told(together) for item in [tuple(item)]} == {
        (vote[:2], mine) for vote, mine in zip(told(votes), panel, strict=True)
    }


# Gold.


def test_gold_by_hand() -> None:
    gold = make_votes({"query": ["q2", "q1", "q9"], "doc": ["b", "a", "b"], "label": [1, 3, 0]})
    votes, known = align_with_gold(make_votes(TABLE), gold)
    assert votes.labels == (0, 1, 2, 3)
    assert votes.items.rows() == [("q1", "b"), ("q1", "a"), ("q2", "b")]
    assert known.tolist() == [-1, 3, 1]


@examples(40)
@given(judged(), judged())
def test_gold_is_what_a_dictionary_would_say(votes: Votes, gold: Votes) -> None:
    known = {item: label for *item, _, label in told(gold) for item in [tuple(item)]}
    several = any(len({label for *i, _, label in told(gold) if tuple(i) == item}) > 1 for item in known)
    shared = [tuple(item) for item in votes.items.rows() if tuple(item) in known]
    if several:
        with pytest.raises(DuplicateError) as refused:
            align_with_gold(votes, gold)
        assert refused.value.code == "several-labels"
    elif not shared:
        with pytest.raises(MismatchError) as refused:
            align_with_gold(votes, gold)
        assert refused.value.code == "gold-unlabelled"
    else:
        wider, found = align_with_gold(votes, gold)
        assert told(wider) == told(votes)
        assert [wider.labels[label] if label >= 0 else None for label in found] == [
            known.get(tuple(item)) for item in votes.items.rows()
        ]


def test_the_same_gold_label_may_stand_there_several_times() -> None:
    gold = make_votes({"item": ["a", "a", "b"], "worker": ["x", "y", "x"], "label": [1, 1, 0]})
    assert align_with_gold(gold, gold)[1].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ([1, 0, 0, 0], "(0, 1) for document 'a';"),
        ([1, 0, 2, 1], "(0, 1) for document 'a', and for 1 other;"),
    ],
)
def test_gold_that_contradicts_itself_is_refused(labels: list[int], found: str) -> None:
    gold = make_votes({"item": ["a", "a", "b", "b"], "label": labels})
    with pytest.raises(DuplicateError) as refused:
        align_with_gold(make_votes({"item": ["a"], "label": [1]}), gold)
    assert (refused.value.code, refused.value.note.subject) == ("several-labels", "gold")
    assert found in refused.value.text
    assert (refused.value.doc, refused.value.judge) == ("a", None)


def test_gold_pairs_that_contradict_themselves_are_told_by_their_winners() -> None:
    gold = make_votes({"left": ["a", "b"], "right": ["b", "a"], "winner": ["a", "b"], "query": ["q", "q"]})
    with pytest.raises(DuplicateError) as refused:
        align_with_gold(gold, gold)
    assert refused.value.code == "several-labels"
    assert "('b', 'a')" in refused.value.text


def test_gold_about_other_items_shows_one_of_each() -> None:
    judged_items = make_votes({"query": ["q1"], "doc": ["doc-1"], "label": [1]})
    gold = make_votes({"query": ["1"], "doc": ["doc-1"], "label": [1]})
    with pytest.raises(MismatchError) as refused:
        align_with_gold(judged_items, gold)
    assert refused.value.code == "gold-unlabelled"
    assert gold.describe_item(0) in refused.value.text
    assert judged_items.describe_item(0) in refused.value.text


@pytest.mark.parametrize(
    ("judges_have_queries", "code"), [(True, "gold-without-queries"), (False, "labels-without-queries")]
)
def test_gold_with_queries_and_labels_without_are_told_apart(judges_have_queries: bool, code: str) -> None:
    tables = make_votes({"query": ["q"], "doc": ["d"], "label": [1]}), make_votes({"doc": ["d"], "label": [1]})
    with pytest.raises(MismatchError) as refused:
        align_with_gold(*(tables if judges_have_queries else tables[::-1]))
    assert refused.value.code == code
    assert refused.value.note.suggestions[0].arguments == {"columns": {"query": "NAME"}}


def test_gold_of_the_other_kind_is_refused() -> None:
    labels, pairs = make_votes(TABLE), make_votes({"left": ["a"], "right": ["b"], "winner": ["a"]})
    with pytest.raises(MismatchError) as refused:
        align_with_gold(labels, pairs)
    assert refused.value.code == "labels-and-pairs"
    with pytest.raises(MismatchError) as refused:
        align_with_gold(pairs, labels)
    assert refused.value.code == "labels-and-pairs"


# The majority.


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=6))
def test_the_majority_is_what_a_counter_says(counts: list[list[int]]) -> None:
    for ties, pick in (("low", min), ("high", max)):
        found = majority(np.array(counts), ties=ties)  # type: ignore[arg-type]
        for row, label in zip(counts, found, strict=True):
            votes = Counter(dict(enumerate(row)))
            most = max(votes.values())
            assert label == (pick(place for place, count in votes.items() if count == most) if most else -1)


# Real data.


@pytest.mark.real
def test_stray_labels_of_two_model_judges_are_told(data: Path) -> None:
    table = pl.read_csv(data / "llmjudge" / "labels.csv")
    with pytest.raises(TableError) as refused:
        make_votes(table, scale=range(4))
    assert refused.value.code == "labels-outside-scale"
    assert "5 by RMITIR-llama70B (2 times), 10 by h2oloo-zeroshot2" in refused.value.text
    assert make_votes(table).labels == (0, 1, 2, 3, 5, 10)
    left = make_votes(table, scale=range(4), outside="exclude")
    moved = make_votes(table, scale=range(4), outside="clip")
    assert (left.size, moved.size) == (145_956, 145_959)
    assert left.counts()[:, :3].tolist() == moved.counts()[:, :3].tolist()
    assert int((moved.counts() - left.counts())[:, 3].sum()) == 3


@given(any_ids, any_ids)
def test_an_item_is_named_by_its_ids(query: str, doc: str) -> None:
    named = make_votes({"query": [query], "doc": [doc], "label": [1]}).describe_item(0)
    assert named == (f"document '{doc}'" if query == "0" else f"document '{doc}' of query '{query}'")


def test_votes_without_further_columns_can_be_left_out_too() -> None:
    table = {"doc": [*"aabb"], "judge": [*"xyxy"], "label": [0, 1, 1, 1], "site": [*"pqpq"]}
    together, _ = make_votes(table).split_panels("site")
    assert together.keep(together.judge == 0).size == 2
