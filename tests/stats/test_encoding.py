"""Values as positions: whatever the way there, the same positions."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, strategies as st

from ringtrue.stats.encoding import encode_by_hash, encode_column, encode_keys
from strategies import any_ids


def plainly(values: list[str]) -> tuple[list[int], list[str]]:
    names = list(dict.fromkeys(values))
    return [names.index(value) for value in values], names


@given(st.lists(any_ids, min_size=1, max_size=30))
def test_positions_follow_the_order_of_appearance(values: list[str]) -> None:
    found, names = encode_column(pl.Series(values))
    assert found.dtype == np.int32
    assert (found.tolist(), names.to_list()) == plainly(values)


@given(st.integers(1, 40), st.integers(1, 3000), st.integers(0, 2**32 - 1))
def test_few_and_many_different_values_are_treated_alike(different: int, rows: int, seed: int) -> None:
    values = [f"v{n}" for n in np.random.default_rng(seed).integers(different * rows // 20 + 1, size=rows)]
    found, names = encode_column(pl.Series(values))
    assert (np.array(names.to_list())[found] == values).all()
    assert names.to_list() == list(dict.fromkeys(values))


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3)), min_size=1, max_size=20))
def test_hashes_that_clash_are_noticed_and_never_believed(rows: list[tuple[str, int]]) -> None:
    hashes = {value: number << 62 for value, number in rows}  # all of it in the bits that name the slot
    values = [value for value, _ in rows]
    found = encode_by_hash(pl.Series(values), np.array([hashes[value] for value in values], dtype=np.uint64))
    clash = len(set(hashes.values())) < len(hashes)
    assert (found is None) == clash
    if found is not None:
        assert (found[0].tolist(), found[1].to_list()) == plainly(values)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=200))
def test_hashes_that_share_a_slot_are_told_apart(numbers: list[int]) -> None:
    near = np.array([number % 7 + (number % 5 << 40) for number in numbers], dtype=np.uint64)  # the same high bits
    values = [str(number) for number in near]
    found = encode_by_hash(pl.Series(values), near)
    assert found is not None
    assert (found[0].tolist(), found[1].to_list()) == plainly(values)


def test_one_value_hidden_among_many_of_another_is_found() -> None:
    values = ["a"] * 5_001 + ["b"] + ["a"] * 5_000
    found, names = encode_column(pl.Series(values))
    assert names.to_list() == ["a", "b"]
    assert np.flatnonzero(found).tolist() == [5_001]


@given(st.lists(st.integers(-(2**40), 2**40) | st.integers(0, 30), min_size=1))
def test_keys_stand_in_rising_order(keys: list[int]) -> None:
    found, places = encode_keys(np.array(keys))
    assert found.tolist() == sorted(set(keys))
    assert found[places].tolist() == keys
