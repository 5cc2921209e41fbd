"""Ids that would match if they were written alike."""

from __future__ import annotations

import polars as pl
import pytest

from ringtrue.doctor.overlap import explain_id_mismatch


@pytest.mark.parametrize(
    ("one", "other", "differ_in"),
    [
        (["Q1", "Q2"], ["q2", "q1"], "capital letters"),
        (["007", "010"], ["7", "10"], "leading zeros"),
        (["MARCO_12", "MARCO_13"], ["13", "12"], "a prefix"),
        (["q007", "q010"], ["10", "7"], "a prefix and leading zeros"),
        (["a12.txt", "b13.txt"], ["a12", "b13"], "an ending"),
    ],
)
def test_what_ids_differ_in_is_told_with_one_of_each_side(one: list[str], other: list[str], differ_in: str) -> None:
    found = explain_id_mismatch(pl.Series(one), pl.Series(other))
    assert found is not None
    assert found.differ_in == differ_in
    assert (found.left_id, found.right_id) == (one[0], next(o for o in other if o.strip("0") and found.right_id == o))
    back = explain_id_mismatch(pl.Series(other), pl.Series(one))
    assert back is not None
    assert back.differ_in == differ_in


def test_ids_of_other_collections_are_not_alike() -> None:
    assert explain_id_mismatch(pl.Series(["301", "302", "303"]), pl.Series(["401", "402"])) is None
    assert explain_id_mismatch(pl.Series(["clueweb-a", "clueweb-b"]), pl.Series(["FBIS-x", "FBIS-y"])) is None


def test_a_chance_match_of_few_is_no_likeness() -> None:
    assert (
        explain_id_mismatch(pl.Series(["d1", "d2", "d3", "d4", "d5"]), pl.Series(["1", "20", "30", "40", "50"])) is None
    )
