"""Tasks for people: copies apart, traps among them, sides and order by lot."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import UsageError
from ringtrue.preference.pair_tasks import build_task_table, last_batch_number
from ringtrue.tables import Preferences
from strategies import examples


def asked(copies: dict[str, list[int]]) -> pl.DataFrame:
    """For each query as many pairs as there are numbers, each to be asked so often."""
    rows = [(query, f"a{n}", f"b{n}", count) for query, some in copies.items() for n, count in enumerate(some)]
    return pl.DataFrame(rows, schema=["query", "first", "second", "copies"], orient="row")


def trapped(counts: dict[str, int]) -> Preferences:
    rows = [(query, f"good{n}", f"bad{n}") for query, count in counts.items() for n in range(count)]
    query, left, right = zip(*rows, strict=True)
    return Preferences.of({"query": query, "left": left, "right": right, "winner": ["left"] * len(rows)})


def test_twenty_pairs_with_five_traps_make_full_tasks() -> None:
    table, notes = build_task_table(asked({"q": [4] * 30}), trapped({"q": 9}), rng=np.random.default_rng(0))
    assert notes == ()
    sizes = table.group_by("batch").agg(pl.len(), pl.col("trap").sum()).sort("batch")
    assert sizes.rows() == [(batch, 20, 5) for batch in range(1, 9)]
    assert table.columns == ["batch", "place", "query", "left", "right", "trap", "vote"]
    assert table.filter("trap")["vote"].null_count() == 40
    shown = table.filter("trap").group_by("batch").agg(pl.struct(pl.col("left", "right")).n_unique())
    assert set(shown["left"]) == {5}  # no trap twice in a task


def test_a_task_that_is_not_full_has_its_share_of_traps_rounded_up() -> None:
    table, _ = build_task_table(asked({"q": [1] * 16}), trapped({"q": 9}), rng=np.random.default_rng(0))
    assert table.group_by("batch").agg(pl.len(), pl.col("trap").sum()).sort("batch").rows() == [(1, 11, 3), (2, 11, 3)]
    table, _ = build_task_table(asked({"q": [1]}), trapped({"q": 9}), rng=np.random.default_rng(0))
    assert table["trap"].sum() == 1


@examples(40)
@given(
    st.dictionaries(st.sampled_from(["q", "r", "s"]), st.lists(st.integers(1, 6), min_size=1, max_size=25), min_size=1),
    st.integers(1, 12), st.integers(0, 5), st.integers(0, 99),
)  # fmt: skip
def test_tasks_keep_their_promises(copies: dict[str, list[int]], room: int, traps: int, seed: int) -> None:
    table, _ = build_task_table(asked(copies), trapped({"q": 6, "other": 6}), per_task=room + traps,
                                traps_per_task=traps, rng=np.random.default_rng(seed))  # fmt: skip
    real = table.filter(~pl.col("trap"))
    pair = pl.concat_list("left", "right").list.sort().list.join(" ").alias("pair")
    counted = Counter(real.select("query", pair).rows())
    assert counted == {(query, f"a{n} b{n}"): count for query, some in copies.items() for n, count in enumerate(some)}
    # Copies of a pair are in different tasks, and numbered.
    assert real.select("batch", "query", pair).is_unique().all()
    votes = real.group_by("query", pair).agg(pl.col("vote").sort())["vote"].to_list()
    assert votes == [list(range(1, len(some) + 1)) for some in votes]
    for _, task in table.group_by("batch"):
        own = task.filter(~pl.col("trap"))
        assert own["query"].n_unique() == 1
        assert task.height <= room + traps
        assert task["trap"].sum() == math.ceil(traps * own.height / room)
        assert task["place"].to_list() == list(range(1, task.height + 1))
    for _, tasks in real.group_by("query"):
        sizes = tasks.group_by("batch").len()["len"]
        assert sizes.max() - sizes.min() <= 1  # type: ignore[operator]  # both are numbers
        assert len(sizes) == max(math.ceil(tasks.height / room), tasks["vote"].max())  # type: ignore[type-var]


def test_sides_are_drawn_anew_for_every_copy_and_places_say_nothing_about_traps() -> None:
    table, _ = build_task_table(asked({"q": [4] * 500}), trapped({"q": 40}), rng=np.random.default_rng(1))
    for rows in (table.filter(~pl.col("trap")), table.filter("trap")):
        turned = rows["left"].str.starts_with("b").sum()
        assert abs(turned - rows.height / 2) < 4 * math.sqrt(rows.height) / 2
    mixed = table.filter(~pl.col("trap")).with_columns(pair=pl.concat_list("left", "right").list.sort())
    left = mixed.group_by("pair").agg(pl.col("left").n_unique())["left"]
    assert abs((left == 1).mean() - 1 / 8) < 0.06  # type: ignore[operator]  # four copies, all with the same side
    assert abs(table.filter("trap")["place"].mean() - 10.5) < 0.6  # type: ignore[operator]


def test_traps_come_from_the_query_of_the_task_and_from_others_only_where_it_has_too_few() -> None:
    table, notes = build_task_table(asked({"q": [1] * 15, "r": [1] * 15}), trapped({"q": 5, "r": 2, "z": 9}),
                              rng=np.random.default_rng(0))  # fmt: skip
    tasks = [table.filter(pl.col("batch") == batch) for batch in (1, 2)]
    assert set(tasks[0].filter("trap")["query"]) == {"q"}
    assert Counter(tasks[1].filter("trap")["query"])["r"] == 2
    assert [note.code for note in notes] == ["traps-of-other-queries"]
    assert notes[0].startswith("3 of 10 ")


def test_too_few_traps_are_told() -> None:
    table, notes = build_task_table(asked({"q": [1] * 15}), trapped({"q": 2}), rng=np.random.default_rng(0))
    assert table["trap"].sum() == 2
    assert [note.code for note in notes] == ["too-few-traps"]
    assert notes[0].startswith("2 traps ")


def test_all_traps_are_seen_before_one_comes_again() -> None:
    table, _ = build_task_table(asked({"q": [2] * 15}), trapped({"q": 10}), rng=np.random.default_rng(0))
    assert len({frozenset(pair) for pair in table.filter("trap").select("left", "right").rows()}) == 10


def test_a_pair_that_is_asked_anyway_is_no_trap() -> None:
    traps = Preferences.of({"query": ["q", "q"], "left": ["b0", "x"], "right": ["a0", "y"], "winner": ["left"] * 2})
    table, notes = build_task_table(asked({"q": [1] * 3}), traps, rng=np.random.default_rng(0))
    assert [note.code for note in notes] == ["traps-among-pairs"]
    assert notes[0].startswith("1 of 2 ")
    assert {frozenset(pair) for pair in table.filter("trap").select("left", "right").rows()} == {frozenset("xy")}
    only = Preferences(traps.frame[:1])
    table, notes = build_task_table(asked({"q": [1] * 3}), only, rng=np.random.default_rng(0))
    assert not table["trap"].any()
    assert notes[1].code == "no-trap-left"


def test_a_task_needs_room_for_a_pair() -> None:
    with pytest.raises(UsageError) as refused:
        build_task_table(asked({"q": [1]}), trapped({"q": 1}), per_task=5, rng=np.random.default_rng(0))
    assert (refused.value.code, refused.value.parameter) == ("out-of-range", "traps_per_task")
    with pytest.raises(UsageError) as refused:
        build_task_table(asked({"q": [1]}), None, per_task=0, rng=np.random.default_rng(0))
    assert (refused.value.code, refused.value.parameter) == ("out-of-range", "per_task")


def test_batches_go_on_after_the_last_one() -> None:
    votes = {"left": ["a", "a"], "right": ["b", "b"], "winner": ["a", "b"]}
    assert last_batch_number(Preferences.of(votes)) == 0
    assert last_batch_number(Preferences.of(votes | {"batch": ["9", "10"]})) == 10
    assert last_batch_number(Preferences.of(votes | {"hit": ["x7", None]})) == 0
    table, _ = build_task_table(asked({"q": [1]}), None, before=10, rng=np.random.default_rng(0))
    assert table["batch"].to_list() == [11]
