"""All methods side by side: which, in what words, and what cannot be compared."""

from __future__ import annotations

import pytest

import ringtrue as rt
from preference.random_votes import random_votes
from ringtrue.errors import TableError, UsageError

GOLD = {"0": {"a": 1, "b": 0, "c": 0}}
VOTES = {"left": [*"aab"] * 2, "right": [*"bcc"] * 2, "winner": [*"aab"] * 2}


def test_one_method_may_be_named_by_itself() -> None:
    assert list(rt.compare_ratings(VOTES, gold=GOLD, methods="elo").methods) == ["elo"]
    with pytest.raises(UsageError) as refused:
        rt.compare_ratings(VOTES, gold=GOLD, methods="eloo")
    assert (refused.value.code, refused.value.parameter) == ("unknown-choice", "methods")
    assert "'elo'?" in refused.value.text


def test_no_method_at_all_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        rt.compare_ratings(VOTES, gold=GOLD, methods=[])
    assert refused.value.code == "no-method"


def test_a_comparison_prints_as_a_small_table() -> None:
    lines = str(rt.compare_ratings(VOTES, gold=GOLD, folds=2)).splitlines()
    assert lines[0].split() == ["method", "AUC", "tau", "log", "loss", "accuracy"]
    assert lines[1].split() == ["win-rate", "1.000", "0.816", "–", "0.750"]
    assert len({len(line) for line in lines}) == 1
    judged = str(rt.compare_ratings(random_votes(0, judges=3), folds=3, repeats="all")).splitlines()
    assert judged[0].split() == ["method", "log", "loss", "accuracy"]
    assert len(judged) == 10


def test_a_comparison_with_nothing_to_tell_prints_its_methods() -> None:
    found = rt.compare_ratings(VOTES, gold={"0": {"a": 1, "b": 1}}, methods=["elo"])
    assert str(found).split() == ["method", "elo"]


def test_one_vote_cannot_be_foretold_by_others() -> None:
    with pytest.raises(TableError) as refused:
        rt.compare_ratings({"left": ["a"], "right": ["b"], "winner": ["a"]}, folds=2)
    assert refused.value.code == "single-vote"
    with pytest.raises(UsageError) as refused:
        rt.compare_ratings(VOTES, folds=7)
    assert (refused.value.code, refused.value.parameter) == ("out-of-range", "folds")
    assert "6 at most; found 7" in refused.value.text


def test_a_path_is_told_what_reads_it() -> None:
    with pytest.raises(TableError) as refused:
        rt.rate("votes.csv")
    assert refused.value.code == "not-a-table"
    assert refused.value.code == "not-a-table"
